"""The plugin in runs of pytest of its own: verdict, options, marker, summary, reports, neighbours."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

pytest.importorskip("stripe")

HEAD = """\
import contextlib
import uuid

import pytest
import stripe


def charge(key=None, **more):
    given = dict(amount=4900, currency="usd", customer="cus_7", confirm=True)
    given |= {"metadata": {"invoice": "in_42"}, **more}
    if key:
        given["idempotency_key"] = key
    return stripe.PaymentIntent.create(**given)


def attempt(*args, **more):
    with contextlib.suppress(stripe.StripeError):
        charge(*args, **more)

"""


CHILD = """
import subprocess
import sys

PROGRAM = '''
import urllib.request
head = {"Authorization": "Bearer sk_test_1"}
sent = urllib.request.Request("https://api.stripe.com/v1/customers", b"", head)
try:
    print(urllib.request.urlopen(sent, timeout=10).status)
except OSError as error:
    print(error)
'''

def child():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    return done.stdout + done.stderr

"""


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    return Run(pytester)


class Run:
    """Runs a test file with the plugin, in this process."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self.pytester = pytester

    def __call__(self, body: str, *args: str, plugins: tuple[str, ...] = ()) -> pytest.RunResult:
        self.pytester.makepyfile(test_billing=HEAD + body)
        loaded = [f"-p{name}" for name in ("pytest_stripe_idem.plugin", *plugins)]
        return self.pytester.runpytest_inprocess("-pno:cacheprovider", *loaded, *args)

    def apart(self, body: str, *args: str, plugins: tuple[str, ...] = ()) -> pytest.RunResult:
        """In a process of its own, where this run has imported nothing yet."""
        self.pytester.makepyfile(test_billing=HEAD + body)
        loaded = [f"-p{name}" for name in ("pytest_stripe_idem.plugin", *plugins)]
        return self.pytester.runpytest_subprocess("-pno:cacheprovider", *loaded, *args)


class TestVerdict:
    def test_a_divergent_test_fails_in_its_call_with_the_timeline(self, run: Run) -> None:
        result = run(
            """
def test_monthly_run(fake_stripe):
    fake_stripe.faults.lose_response()
    with pytest.raises(stripe.APIConnectionError):
        charge("3f7c0000-0000-4000-8000-0000000000d1")
    charge("9a2e0000-0000-4000-8000-000000000007")
"""
        )
        result.assert_outcomes(failed=1)
        head = "one charge, two keys: POST /v1/payment_intents  customer=cus_7 amount=4900 usd"
        place = "test_billing.py:13 in charge"
        stored = "or store it before the call (docs: keys)"
        distinct = 'fake_stripe.expect_distinct(by="metadata[[]invoice[]]")'
        lost, done = "executed, response lost   ", "executed                  "
        result.stdout.fnmatch_lines(
            [
                f"{head}  metadata[[]invoice[]]=in_42",
                f"  +0.000 s  key 3f7c…d1 (uuid4, explicit)  → pi_1  {lost}  {place}",
                f"  +0.??? s  key 9a2e…07 (uuid4, explicit)  → pi_2  {done}  {place}",
                "  customer charged 98.00 instead of 49.00",
                f"  a retry must send the key of the first attempt: derive it from in_42, {stored}",
                f"  two purchases on purpose? {distinct}",
            ],
            consecutive=True,
        )
        assert "error" not in result.parseoutcomes()

    def test_the_text_is_the_one_of_the_guide_to_the_letter(self, run: Run) -> None:
        guide = Path(__file__).parent.parent.parent / "docs/plugin/guide.md"
        [wanted] = [
            block.strip("\n")
            for block in guide.read_text(encoding="utf-8").split("```")
            if block.startswith("\none charge, two keys:")
        ]
        folder = run.pytester.mkpydir("billing")
        source = """
def charge(key):
    return stripe.PaymentIntent.create(customer="cus_7", amount=4900, currency="usd", confirm=True,
                                       metadata={"invoice": "in_42"}, idempotency_key=key)
"""
        (folder / "runs.py").write_text("import stripe\n" + "\n" * 84 + source)
        run.pytester.makeini("[pytest]\npythonpath = .\n")
        result = run(
            """
from billing import runs

def test_monthly_run(fake_stripe, monkeypatch):
    monkeypatch.setattr("time.time", lambda: 1_790_000_000.0)
    fake_stripe.faults.lose_response()
    with pytest.raises(stripe.APIConnectionError):
        runs.charge("3f7c0000-0000-4000-8000-0000000000d1")
    fake_stripe.clock.advance(seconds=0.412)
    runs.charge("9a2e0000-0000-4000-8000-000000000007")
"""
        )
        result.assert_outcomes(failed=1)
        assert wanted in str(result.stdout)

    def test_a_test_that_fails_by_itself_gets_the_timeline_as_well(self, run: Run) -> None:
        result = run(
            """
def test_counts(fake_stripe):
    fake_stripe.faults.lose_response()
    attempt("a")
    attempt("b")
    assert len(fake_stripe.objects("charge")) == 1
"""
        )
        result.assert_outcomes(failed=1)
        result.stdout.fnmatch_lines(["*assert 2 == 1*", "*fake Stripe*", "one charge, two keys:*"])

    @pytest.mark.parametrize(
        "body",
        [
            """
def test_two_equal_purchases_declared_distinct(fake_stripe):
    fake_stripe.expect_distinct(by="metadata[invoice]")
    charge()
    charge()
""",
            """
def test_a_new_key_after_a_delivered_decline(fake_stripe):
    with pytest.raises(stripe.CardError):
        charge("a", payment_method="pm_card_visa_chargeDeclined")
    charge("b")
""",
            """
def test_two_different_partial_refunds(fake_stripe):
    made = stripe.Charge.create(amount=4900, currency="usd", source="tok_visa")
    stripe.Refund.create(charge=made.id, amount=1000)
    stripe.Refund.create(charge=made.id, amount=1500)
    assert fake_stripe.balance() == 2400
""",
            """
def test_a_second_capture_is_refused(fake_stripe):
    made = charge("a", capture_method="manual")
    fake_stripe.faults.lose_response()
    with pytest.raises(stripe.APIConnectionError):
        stripe.PaymentIntent.capture(made.id, idempotency_key="b")
    with pytest.raises(stripe.InvalidRequestError):
        stripe.PaymentIntent.capture(made.id, idempotency_key="c")
    assert fake_stripe.balance() == 4900
""",
        ],
    )
    def test_these_four_situations_pass(self, run: Run, body: str) -> None:
        run(body).assert_outcomes(passed=1)

    def test_judge_false_leaves_the_verdict_to_the_test(self, run: Run) -> None:
        result = run(
            """
@pytest.mark.fake_stripe(judge=False)
def test_looks_itself(fake_stripe):
    charge()
    charge()
    assert [each.kind for each in fake_stripe.divergences] == ["two objects for one charge"]
"""
        )
        result.assert_outcomes(passed=1)

    def test_a_unittest_case_is_judged_as_well(self, run: Run) -> None:
        result = run(
            """
import unittest

@pytest.mark.usefixtures("fake_stripe")
class Billing(unittest.TestCase):
    def test_run(self):
        charge()
        charge()
"""
        )
        result.assert_outcomes(failed=1)
        result.stdout.fnmatch_lines(["one charge, two keys:*"])

    def test_the_spend_cap_of_the_marker(self, run: Run) -> None:
        result = run(
            """
@pytest.mark.fake_stripe(spend_cap=5000)
def test_run(fake_stripe):
    charge("a")
    charge("b", customer="cus_8", metadata={"invoice": "in_43"})
"""
        )
        result.assert_outcomes(failed=1)
        result.stdout.fnmatch_lines(["spend cap exceeded: 98.00 usd were charged, 50.00 is*"])


class TestOptions:
    def test_the_marker_alone_gives_the_fixture(self, run: Run) -> None:
        run("@pytest.mark.fake_stripe\ndef test_run():\n    charge()\n").assert_outcomes(passed=1)

    @pytest.mark.parametrize(
        ("marker", "words"),
        [
            ("strickt=True", "unknown option 'strickt'"),
            ("strict='yes'", "strict: 'yes' is neither True nor False"),
            ("spend_cap='lots'", "spend_cap: 'lots' is no amount"),
            ("identity='billing.same'", "identity: 'billing.same' is not pkg.mod:name"),
            ("identity='no.such:thing'", "identity: No module named 'no'"),
            ("assumptions={'expand': True}", "unknown assumption 'expand'"),
            ("'strict'", "unknown option 'strict'"),
        ],
    )
    def test_a_wrong_option_is_an_error_at_its_test(
        self, run: Run, marker: str, words: str
    ) -> None:
        if marker == "'strict'":
            words = "strict"
        result = run(
            f"@pytest.mark.fake_stripe({marker})\ndef test_run():\n    pass\n"
            "def test_other(fake_stripe):\n    pass\n"
        )
        result.assert_outcomes(errors=1, passed=1)
        result.stdout.fnmatch_lines([f"*@pytest.mark.fake_stripe at *test_run*{words}*"])
        assert "During handling" not in str(result.stdout)

    def test_the_command_line_goes_before_ini_and_the_marker_before_both(self, run: Run) -> None:
        run.pytester.makeini("[pytest]\nstripe_idem_strict = true\n")
        body = """
def test_ini(fake_stripe):
    charge("a")
    charge("b")

@pytest.mark.fake_stripe(strict=False)
def test_marker(fake_stripe):
    charge("a")
    charge("b")
"""
        run(body).assert_outcomes(failed=1, passed=1)
        run.pytester.makeini("[pytest]\n")
        run(body).assert_outcomes(passed=2)
        run(body, "--stripe-idem-strict").assert_outcomes(failed=1, passed=1)

    def test_assumptions_and_volatile_parameters_from_ini(self, run: Run) -> None:
        run.pytester.makeini(
            "[pytest]\nstripe_idem_volatile = metadata[node]\n"
            "stripe_idem_assumptions =\n    retention_hours = 2\n    unknown_references = 'refuse'\n"
        )
        result = run(
            """
def test_refused(fake_stripe):
    with pytest.raises(stripe.InvalidRequestError, match="cus_7"):
        charge()

@pytest.mark.fake_stripe(assumptions={"unknown_references": "accept"}, judge=False)
def test_volatile(fake_stripe):
    charge(metadata={"node": "a"})
    charge(metadata={"node": "b"})
    assert len(fake_stripe.divergences) == 1
"""
        )
        result.assert_outcomes(passed=2)

    def test_a_bad_ini_line_is_an_error_at_the_test(self, run: Run) -> None:
        run.pytester.makeini("[pytest]\nstripe_idem_assumptions = retention hours\n")
        result = run("def test_run(fake_stripe):\n    pass\n")
        result.assert_outcomes(errors=1)
        result.stdout.fnmatch_lines(["*'retention hours' is not `name = value`*"])

    def test_the_identity_of_marker_ini_and_hook(self, run: Run) -> None:
        run.pytester.makepyfile(
            same="def by_cart(call):\n    return call.metadata.get('cart')\n",
        )
        body = """
def both():
    charge("a", metadata={"cart": "c", "order": "1"})
    charge("b", metadata={"cart": "c", "order": "2"})

@pytest.mark.fake_stripe(strict=True)
def test_plain():
    both()

@pytest.mark.fake_stripe(strict=True, identity="same:by_cart")
def test_marker():
    both()

@pytest.mark.fake_stripe(strict=True, identity=lambda call: call.metadata.get("cart"))
def test_callable():
    both()
"""
        run.pytester.syspathinsert()
        run(body).assert_outcomes(passed=1, failed=2)
        run.pytester.makeini("[pytest]\nstripe_idem_identity = same:by_cart\n")
        run(body).assert_outcomes(failed=3)
        run.pytester.makeini("[pytest]\n")
        run.pytester.makeconftest(
            "def pytest_stripe_idem_identity(call):\n    return call.metadata.get('cart')\n"
        )
        run(body).assert_outcomes(failed=3)

    def test_the_sdks_own_retries_are_off_unless_wanted(self, run: Run) -> None:
        result = run(
            """
stripe.max_network_retries = 2

def test_off(fake_stripe):
    assert stripe.max_network_retries == 0

@pytest.mark.fake_stripe(sdk_retries=True)
def test_on():
    assert stripe.max_network_retries == 2

def test_put_back():
    assert stripe.max_network_retries == 2
"""
        )
        result.assert_outcomes(passed=3)


class TestIsolation:
    def test_each_test_has_a_fake_of_its_own(self, run: Run) -> None:
        result = run(
            """
@pytest.mark.parametrize("number", range(3))
def test_first(fake_stripe, number):
    assert charge("k").id == "pi_1"
    fake_stripe.clock.advance(hours=25)
"""
        )
        result.assert_outcomes(passed=3)

    def test_a_test_without_it_is_refused_and_the_summary_says_so(self, run: Run) -> None:
        result = run(
            """
stripe.api_key = "sk_test_1"

def test_with(fake_stripe):
    charge()

def test_without():
    with pytest.raises(stripe.APIConnectionError, match="fixture `fake_stripe`"):
        charge()
"""
        )
        result.assert_outcomes(passed=2)
        result.stdout.fnmatch_lines(
            ["1 request to Stripe outside a test*", "  POST https://api.stripe.com/v1/payment_int*"]
        )

    def test_a_child_of_such_a_test_is_refused_too(self, run: Run) -> None:
        result = run.apart(
            CHILD
            + """
def test_before_any_fake():
    assert "fixture `fake_stripe`" in child()

def test_with(fake_stripe):
    assert "200" in child()

def test_after():
    assert "fixture `fake_stripe`" in child()
"""
        )
        result.assert_outcomes(passed=3)

    def test_a_fork_server_older_than_the_fake_reaches_it(self, run: Run) -> None:
        run.pytester.makepyfile(
            paying="""
import urllib.request

def pay(_):
    head = {"Authorization": "Bearer sk_test_1"}
    sent = urllib.request.Request("https://api.stripe.com/v1/customers", b"", head)
    return urllib.request.urlopen(sent, timeout=10).status
"""
        )
        run.pytester.syspathinsert()
        result = run.apart(
            """
import multiprocessing
import paying

def in_child():
    with multiprocessing.get_context("forkserver").Pool(1) as pool:
        return pool.map_async(paying.pay, [1]).get(timeout=60)

def test_without():
    with pytest.raises(Exception, match="fixture `fake_stripe`"):
        in_child()

def test_with(fake_stripe):
    assert in_child() == [200]
"""
        )
        result.assert_outcomes(passed=2)

    def test_a_pytest_within_has_fakes_of_its_own(self, run: Run) -> None:
        run.pytester.makepyfile(
            inner="""
import stripe

def test_inner(fake_stripe):
    stripe.Customer.create()
    assert len(fake_stripe.objects("customer")) == 1

def test_without():
    major = int(stripe.VERSION.partition(".")[0])
    assert stripe.max_network_retries == (2 if major >= 11 else 0)
"""
        )
        result = run.apart(
            """
import subprocess
import sys

def test_outer(fake_stripe):
    # What pytest warns of: the package has been imported before it could be rewritten.
    options = ["-Werror::pytest.PytestWarning", "-ppytest_stripe_idem.plugin", "-pno:cacheprovider"]
    subprocess.run([sys.executable, "-m", "pytest", *options, "inner.py"], check=True)
    assert fake_stripe.exchanges == ()
"""
        )
        result.assert_outcomes(passed=1)

    def test_it_is_gone_after_the_run(self, run: Run) -> None:
        import urllib3

        before = urllib3.HTTPConnectionPool.urlopen
        run("def test_run(fake_stripe):\n    charge()\n").assert_outcomes(passed=1)
        assert urllib3.HTTPConnectionPool.urlopen is before


class TestHelpers:
    def test_webhooks_are_signed_as_stripe_signs_them(self, run: Run) -> None:
        result = run(
            """
def test_webhook(fake_stripe):
    charge("k")
    charge("k")
    hook = fake_stripe.webhook("payment_intent.succeeded", secret="whsec_1")
    event = stripe.Webhook.construct_event(hook.payload, hook.signature, "whsec_1")
    assert event.data.object.id == "pi_1"
    assert event["request"]["idempotency_key"] == "k"
    assert len(fake_stripe.events("payment_intent.succeeded")) == 1
    with pytest.raises(stripe.SignatureVerificationError):
        stripe.Webhook.construct_event(hook.payload, hook.signature, "whsec_2")
    with pytest.raises(LookupError):
        fake_stripe.webhook("charge.refunded")
"""
        )
        result.assert_outcomes(passed=1)

    def test_the_harness_plays_the_customer(self, run: Run) -> None:
        result = run(
            """
def test_checkout(fake_stripe):
    lines = [{"price_data": {"currency": "usd", "unit_amount": 500,
              "product_data": {"name": "Tea"}}, "quantity": 2}]
    made = stripe.checkout.Session.create(mode="payment", line_items=lines)
    fake_stripe.complete_checkout(made.id)
    assert stripe.checkout.Session.retrieve(made.id).payment_status == "paid"
    assert fake_stripe.balance() == 1000

def test_authentication(fake_stripe):
    made = charge(payment_method="pm_card_authenticationRequired")
    assert made.status == "requires_action"
    fake_stripe.authenticate(made.id)
    assert stripe.PaymentIntent.retrieve(made.id).status == "succeeded"

def test_seed(fake_stripe):
    fake_stripe.seed("dispute", id="du_9", status="needs_response", amount=100)
    assert stripe.Dispute.retrieve("du_9").amount == 100
"""
        )
        result.assert_outcomes(passed=3)

    def test_the_server_has_the_same_state(self, run: Run) -> None:
        result = run(
            """
import json
import urllib.request

def test_server(fake_stripe_server, fake_stripe):
    charge("k")
    request = urllib.request.Request(f"{fake_stripe_server.url}/v1/payment_intents/pi_1",
                                     headers={"Authorization": "Bearer sk_test_1"})
    with urllib.request.urlopen(request) as answer:
        assert json.load(answer)["amount"] == 4900
    with urllib.request.urlopen(f"{fake_stripe_server.url}/_idem/charges") as answer:
        assert len(json.load(answer)) == 1
"""
        )
        result.assert_outcomes(passed=1)


class TestReports:
    body = """
def test_good(fake_stripe):
    charge("k")
    charge("k")

def test_bad(fake_stripe):
    charge(metadata={"invoice": "<script>alert(1)</script>"})
    charge(metadata={"invoice": "<script>alert(1)</script>"})

def test_unused_fault(fake_stripe):
    fake_stripe.faults.lose_response(nth=2)
    charge("k")
"""

    def test_json_tells_the_story_of_each_test(self, run: Run) -> None:
        path = run.pytester.path / "out" / "report.json"
        result = run(self.body, f"--stripe-idem-report={path}")
        result.stdout.fnmatch_lines(
            [
                "*fake Stripe*",
                "3 tests, 3 logical charges, 1 divergence",
                "*a fault met no request: response lost (nth=2)",
                f"report written to {path}",
            ]
        )
        told = json.loads(path.read_text(encoding="utf-8"))
        assert told["totals"] == {"tests": 3, "charges": 3, "divergences": 1, "warnings": 0}
        good, bad, _ = told["tests"]
        assert (good["outcome"], bad["outcome"]) == ("passed", "failed")
        [one] = good["charges"]
        assert [each["outcome"] for each in one["requests"]] == ["executed", "replayed"]
        assert one["executed"] == 1
        assert bad["divergences"][0]["kind"] == "two objects for one charge"

    def test_html_keeps_hostile_text_text(self, run: Run) -> None:
        path = run.pytester.path / "report.html"
        run(self.body, f"--stripe-idem-report={path}")
        page = path.read_text(encoding="utf-8")
        assert "<script" not in page
        assert "&lt;script&gt;alert(1)" in page
        assert page.count("<svg") == 3
        assert "http" not in page.replace("http-equiv", "")

    def test_another_ending_is_an_error(self, run: Run) -> None:
        result = run("def test_run(fake_stripe):\n    pass\n", "--stripe-idem-report=out.xml")
        assert result.ret != 0
        result.stderr.fnmatch_lines(["*FILE.json or FILE.html*"])


class TestBare:
    def test_it_loads_where_warnings_are_errors_and_imports_no_client(self, run: Run) -> None:
        run.pytester.makepyfile(
            test_bare="""
import sys

def test_nothing_was_imported():
    for name in ("stripe", "httpx", "respx", "requests", "urllib3", "aiohttp", "asyncio",
                 "http.client", "pytest_stripe_idem.core.machine"):
        assert name not in sys.modules, name
"""
        )
        result = run.pytester.runpytest_subprocess(
            "-Werror", "-pno:cacheprovider", "-ppytest_stripe_idem.plugin", "test_bare.py"
        )
        result.assert_outcomes(passed=1)

    def test_without_any_client_the_extra_is_named(self, run: Run) -> None:
        run.pytester.makeconftest(
            """
import importlib.util
real = importlib.util.find_spec
CLIENTS = {"stripe", "requests", "httpx", "httpx2", "aiohttp", "urllib3"}
importlib.util.find_spec = lambda name, *a: None if name in CLIENTS else real(name, *a)
"""
        )
        run.pytester.makepyfile(test_bare="def test_run(fake_stripe):\n    pass\n")
        result = run.pytester.runpytest_subprocess(
            "-pno:cacheprovider", "-ppytest_stripe_idem.plugin", "test_bare.py"
        )
        result.assert_outcomes(errors=1)
        result.stdout.fnmatch_lines(['*pip install "stripe-idem-lint[[]pytest[]]"*'])

    def test_it_is_listed_with_its_options(self, run: Run) -> None:
        result = run.pytester.runpytest_inprocess(
            "--markers", "-pno:cacheprovider", "-ppytest_stripe_idem.plugin"
        )
        result.stdout.fnmatch_lines(["@pytest.mark.fake_stripe(identity=*"])


class TestNeighbours:
    """Beside other plugins that take the same places."""

    def test_responses(self, run: Run) -> None:
        pytest.importorskip("responses")
        result = run(
            """
import requests
import responses

@responses.activate
def test_both(fake_stripe):
    responses.add(responses.GET, "https://rates.example/usd", json={"rate": 2})
    responses.add_passthru("https://api.stripe.com")
    assert requests.get("https://rates.example/usd").json() == {"rate": 2}
    assert charge("k").id == "pi_1"
"""
        )
        result.assert_outcomes(passed=1)

    def test_respx_as_a_router_sync_and_async(self, run: Run) -> None:
        pytest.importorskip("respx")
        result = run(
            """
import asyncio

import httpx
import respx

FORM = {"amount": "4900", "currency": "usd", "source": "tok_visa"}
HEADERS = {"Authorization": "Bearer sk_test_1", "Idempotency-Key": "k"}
URL = "https://api.stripe.com/v1/charges"

@respx.mock(assert_all_called=False)
def test_sync(respx_mock, fake_stripe):
    route = respx_mock.route(host__in=("api.stripe.com",))
    route.mock(side_effect=fake_stripe.respx_side_effect)
    respx_mock.get("https://rates.example/usd").respond(json={"rate": 2})
    assert httpx.get("https://rates.example/usd").json() == {"rate": 2}
    first = httpx.post(URL, data=FORM, headers=HEADERS)
    again = httpx.post(URL, data=FORM, headers=HEADERS)
    assert again.headers["idempotent-replayed"] == "true"
    assert first.content == again.content
    assert route.call_count == 2
    fake_stripe.faults.lose_response()
    with pytest.raises(httpx.ReadTimeout):
        httpx.post(URL, data=FORM, headers=HEADERS)

@respx.mock(assert_all_called=False)
def test_async(respx_mock, fake_stripe):
    respx_mock.route(host__in=("api.stripe.com",)).mock(side_effect=fake_stripe.respx_side_effect)

    async def five():
        async with httpx.AsyncClient() as client:
            posts = (client.post(URL, data=FORM, headers=HEADERS) for _ in range(5))
            return sorted(r.status_code for r in await asyncio.gather(*posts))

    assert asyncio.run(five()) == [200, 409, 409, 409, 409]

@respx.mock
def test_respx_for_others_only(respx_mock, fake_stripe):
    respx_mock.get("https://rates.example/usd").respond(json={"rate": 2})
    assert httpx.get("https://rates.example/usd").json() == {"rate": 2}
    assert httpx.post(URL, data=FORM, headers=HEADERS).status_code == 200
"""
        )
        result.assert_outcomes(passed=3)

    def test_pytest_httpx(self, run: Run) -> None:
        pytest.importorskip("pytest_httpx")
        result = run(
            """
import httpx

def test_both(fake_stripe, httpx_mock):
    httpx_mock.add_response(url="https://rates.example/usd", json={"rate": 2})
    assert httpx.get("https://rates.example/usd").json() == {"rate": 2}
    headers = {"Authorization": "Bearer sk_test_1"}
    assert httpx.get("https://api.stripe.com/v1/balance", headers=headers).status_code == 200
""",
            plugins=("pytest_httpx",),
        )
        result.assert_outcomes(passed=1)

    def test_pytest_asyncio_and_anyio(self, run: Run) -> None:
        pytest.importorskip("pytest_asyncio")
        pytest.importorskip("anyio")
        run.pytester.makeini("[pytest]\nasyncio_default_fixture_loop_scope = function\n")
        result = run(
            """
async def pay():
    return await stripe.Charge.create_async(amount=100, currency="usd", source="tok_visa")

@pytest.mark.asyncio
async def test_asyncio(fake_stripe):
    assert (await pay()).id == "ch_1"

@pytest.mark.asyncio
async def test_judged(fake_stripe):
    await pay()
    await pay()

@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_anyio(fake_stripe, anyio_backend):
    assert (await pay()).id == "ch_1"
""",
            plugins=("asyncio", "anyio"),
        )
        result.assert_outcomes(passed=2, failed=1)
        result.stdout.fnmatch_lines(["one charge, two keys:*"])

    def test_pytest_xdist(self, run: Run) -> None:
        pytest.importorskip("xdist")
        path = run.pytester.path / "report.json"
        result = run.apart(
            """
stripe.api_key = "sk_test_1"

@pytest.mark.parametrize("number", range(4))
def test_many(fake_stripe, number):
    charge("k")

def test_refused():
    with pytest.raises(stripe.APIConnectionError):
        charge()
""",
            "-n2",
            f"--stripe-idem-report={path}",
            plugins=("xdist",),
        )
        result.assert_outcomes(passed=5)
        result.stdout.fnmatch_lines(
            ["4 tests, 4 logical charges, 0 divergences", "1 request to Stripe outside*"]
        )
        assert len(json.loads(path.read_text(encoding="utf-8"))["tests"]) == 4

    def test_pytest_socket(self, run: Run) -> None:
        pytest.importorskip("pytest_socket")
        result = run.apart(
            CHILD
            + """
def test_no_socket(fake_stripe):
    charge("k")
    assert len(fake_stripe.objects("charge")) == 1
    assert "200" in child()
""",
            "--disable-socket",
            plugins=("pytest_socket",),
        )
        result.assert_outcomes(passed=1)

    @pytest.mark.parametrize("library", ["freezegun", "time_machine"])
    def test_a_clock_that_others_move_moves_the_fake(self, run: Run, library: str) -> None:
        pytest.importorskip(library)
        freeze = "freezegun.freeze_time" if library == "freezegun" else "time_machine.travel"
        result = run(
            f"""
import {library}

def test_both(fake_stripe):
    with {freeze}("2026-10-01 12:00"):
        first = charge("k")
        assert first.created == 1790856000
        assert charge("k").id == first.id
        hook = fake_stripe.webhook("payment_intent.succeeded")
        stripe.Webhook.construct_event(hook.payload, hook.signature, "whsec_test")
    with {freeze}("2026-10-02 13:00"):
        fake_stripe.expect_distinct()
        assert charge("k").id != first.id
        fake_stripe.concurrently(charge, "c")
"""
        )
        result.assert_outcomes(failed=1)  # the same key a day later is a second charge
        result.stdout.fnmatch_lines(["one charge, retried after its key was forgotten:*"])

    def test_pytest_django(self, run: Run) -> None:
        pytest.importorskip("django")
        pytest.importorskip("pytest_django")
        run.pytester.makepyfile(
            settings="SECRET_KEY = 'x'\n"
            "DATABASES = {'default': {'ENGINE': 'django.db.backends.sqlite3', 'NAME': ':memory:'}}\n"
        )
        run.pytester.makeini("[pytest]\nDJANGO_SETTINGS_MODULE = settings\npythonpath = .\n")
        result = run.apart(
            """
from django.test import TestCase

@pytest.mark.django_db
def test_function(fake_stripe):
    charge("k")

@pytest.mark.usefixtures("fake_stripe")
class Case(TestCase):
    def test_method(self):
        charge()
        charge()
""",
            plugins=("django",),
        )
        result.assert_outcomes(passed=1, failed=1)
