"""What a transport does beyond answering: refusing, breaking, waiting, reaching children."""

from __future__ import annotations

import ast
import asyncio
import multiprocessing
import os
import pickle
import signal
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
import venv
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from plugin.clients import (
    API,
    CLIENTS,
    Client,
    aiohttp_once,
    all_words,
    charge_in_child,
    wanted,
)
from plugin.sending import SECRET
from pytest_stripe_idem.harness import FakeStripe
from pytest_stripe_idem.transports import environment
from pytest_stripe_idem.transports.errors import LiveKeyRefused, ProcessKilled, StripeRefused
from pytest_stripe_idem.transports.install import patches
from pytest_stripe_idem.transports.loopback import Loopback
from pytest_stripe_idem.transports.switch import switch

pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=<...>'")

CHARGE = {"amount": 4900, "currency": "usd", "source": "tok_visa"}

# Seconds that a test waits for its children: it fails then, and holds nobody up.
CHILD_LIMIT = 60

IN_PROCESS = [each for each in CLIENTS if each.name not in {"forked child", "other program"}]


def charge(key: str) -> Any:
    return wanted("POST", "/v1/charges", CHARGE, key)


class TestRefusal:
    @pytest.mark.parametrize("client", IN_PROCESS, ids=lambda each: each.name)
    def test_outside_a_test_with_the_fake_the_fixture_is_named(
        self, client: Client, loopback: Loopback
    ) -> None:
        assert switch.handler is None
        with pytest.raises(Exception, match=r"Stripe|refused") as caught:
            client.send(charge("k"))
        assert "fake_stripe" in all_words(caught.value)

    def test_every_refusal_is_noted(self, loopback: Loopback) -> None:
        before = len(switch.refused)
        with pytest.raises(StripeRefused):
            next(each for each in CLIENTS if each.name == "http.client").send(charge("k"))
        assert switch.refused[before:] == ["POST https://api.stripe.com/v1/charges"]

    def test_a_raw_socket_does_not_get_there_either(self, loopback: Loopback) -> None:
        for host in ("api.stripe.com", "files.stripe.com", "API.STRIPE.COM."):
            with pytest.raises(StripeRefused):
                socket.create_connection((host, 443), timeout=1)

    def test_other_hosts_are_left_alone(self, fake: FakeStripe, loopback: Loopback) -> None:
        """The loopback server is reached as any other host: by the real client."""
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(f"{loopback.url}/_idem/", timeout=5)
        assert fake.exchanges == ()

    @pytest.mark.parametrize(
        "error",
        [
            StripeRefused("POST", "api.stripe.com", "/v1/charges"),
            LiveKeyRefused("sk_live_abcdefghijkl"),
            ProcessKilled(),
        ],
        ids=lambda each: type(each).__name__,
    )
    def test_a_child_can_send_them_to_its_parent(self, error: BaseException) -> None:
        """A pool whose result cannot be read waits for ever."""
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is type(error)
        assert str(again) == str(error)
        assert len(str(error)) > 50
        assert "abcd" not in repr(error)


class TestUnderAsyncio:
    def test_five_creates_with_one_key_give_one_success(self, fake: FakeStripe) -> None:
        stripe = pytest.importorskip("stripe")
        pytest.importorskip("httpx")

        async def create() -> Any:
            return await stripe.Charge.create_async(**CHARGE, idempotency_key="k")

        async def five() -> list[Any]:
            return await asyncio.gather(*(create() for _ in range(5)), return_exceptions=True)

        found = asyncio.run(five())
        refused = [each for each in found if isinstance(each, stripe.StripeError)]
        assert len(found) - len(refused) == 1
        assert [each.http_status for each in refused] == [409] * 4
        assert {each.error.code for each in refused} == {"idempotency_key_in_use"}
        assert len(fake.objects("charge")) == 1

    def test_aiohttp_finds_the_first_in_flight_too(self, fake: FakeStripe) -> None:
        pytest.importorskip("aiohttp")

        async def five() -> list[int]:
            replies = await asyncio.gather(*(aiohttp_once(charge("k")) for _ in range(5)))
            return sorted(reply.status for reply in replies)

        assert asyncio.run(five()) == [200, 409, 409, 409, 409]

    def test_under_trio_too(self, fake: FakeStripe) -> None:
        trio = pytest.importorskip("trio")
        httpx = pytest.importorskip("httpx")
        statuses: list[int] = []

        async def once() -> None:
            want = charge("k")
            async with httpx.AsyncClient() as client:
                got = await client.post(want.url, content=want.body, headers=dict(want.headers))
            statuses.append(got.status_code)

        async def both() -> None:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(once)
                nursery.start_soon(once)

        trio.run(both)
        assert sorted(statuses) == [200, 409]

    def test_a_local_timeout_leaves_the_request_running(self, fake: FakeStripe) -> None:
        stripe = pytest.importorskip("stripe")
        pytest.importorskip("httpx")
        fake.faults.slow(0.2, real=True)

        async def impatient() -> None:
            call = stripe.Charge.create_async(**CHARGE, idempotency_key="k")
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(call, timeout=0.05)
            while not fake.objects("charge"):
                await asyncio.sleep(0.01)

        asyncio.run(impatient())
        [exchange] = fake.exchanges
        assert (exchange.executed, exchange.delivered) == (True, False)
        assert exchange.broken == "client gave up"


class TestKilling:
    def test_no_except_exception_survives(self, fake: FakeStripe) -> None:
        stripe = pytest.importorskip("stripe")
        fake.faults.kill()

        def careless() -> None:
            try:
                stripe.Charge.create(**CHARGE)
            except Exception:  # noqa: BLE001 - that it catches nothing is the point
                pytest.fail("caught")

        with pytest.raises(ProcessKilled):
            careless()
        assert len(fake.objects("charge")) == 1

    @pytest.mark.parametrize("client", IN_PROCESS, ids=lambda each: each.name)
    def test_each_client_lets_the_kill_through(self, client: Client, fake: FakeStripe) -> None:
        for after in (False, True):
            fake.faults.kill(after_commit=after)
            with pytest.raises(ProcessKilled):
                client.send(charge("k"))
            assert len(fake.objects("charge")) == int(after)

    def test_a_child_is_killed_for_real(self, fake: FakeStripe) -> None:
        fake.faults.kill()
        child = os.fork()
        if child == 0:
            next(each for each in CLIENTS if each.name == "urllib").send(charge("k"))
            os._exit(0)
        _, status = os.waitpid(child, 0)
        assert os.WTERMSIG(status) == signal.SIGKILL
        assert len(fake.objects("charge")) == 1


@contextmanager
def killed_after(seconds: float) -> Iterator[None]:
    """Kills the children of `multiprocessing` that are still there then: nobody waits for ever."""

    def kill() -> None:
        for child in multiprocessing.active_children():
            child.kill()

    timer = threading.Timer(seconds, kill)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


class TestChildren:
    def test_children_that_never_end_are_killed(self) -> None:
        with (
            pytest.raises(BrokenProcessPool),
            killed_after(0.5),
            ProcessPoolExecutor(1) as pool,
        ):
            pool.submit(signal.pause).result(timeout=CHILD_LIMIT)

    @pytest.mark.parametrize("way", multiprocessing.get_all_start_methods())
    def test_multiprocessing_reaches_the_same_fake(self, fake: FakeStripe, way: str) -> None:
        context = multiprocessing.get_context(way)
        with killed_after(CHILD_LIMIT), context.Pool(2) as pool:
            charges = pool.map_async(partial(charge_in_child, CHARGE), ["a", "b", "a"])
            assert charges.get(timeout=CHILD_LIMIT).count(200) >= 2
        assert len(fake.objects("charge")) == 2

    @pytest.mark.parametrize("way", multiprocessing.get_all_start_methods())
    def test_an_executor_of_processes_too(self, fake: FakeStripe, way: str) -> None:
        context = multiprocessing.get_context(way)
        with killed_after(CHILD_LIMIT), ProcessPoolExecutor(2, mp_context=context) as pool:
            found = pool.map(partial(charge_in_child, CHARGE), ["a", "b"], timeout=CHILD_LIMIT)
            assert list(found) == [200, 200]
        assert len(fake.objects("charge")) == 2

    def test_the_key_of_the_sdk_is_known_as_such_in_a_child(self, fake: FakeStripe) -> None:
        pytest.importorskip("stripe")
        program = (
            "import stripe\n"
            "stripe.Charge.create(amount=1, currency='usd', source='tok_visa')\n"
            "stripe.Charge.create(amount=2, currency='usd', source='tok_visa', idempotency_key='k')"
        )
        subprocess.run([sys.executable, "-c", program], check=True)
        assert [each.call.automatic for each in fake.exchanges] == [True, False]

    def test_one_that_imports_no_client_imports_nothing_of_ours(self, fake: FakeStripe) -> None:
        program = "import json, sys; assert not [m for m in sys.modules if 'stripe_idem' in m]"
        # Coverage measures children too, and imports `socket` in them.
        plain = {name: value for name, value in os.environ.items() if "COVERAGE" not in name}
        subprocess.run([sys.executable, "-c", program], check=True, env=plain)

    def test_the_clients_it_waits_for_are_those_with_a_patch(self) -> None:
        """Read, not imported: it would act at once."""
        [told] = [
            node.value
            for node in ast.parse((Path(environment.SITE) / "sitecustomize.py").read_text()).body
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "CLIENTS"
        ]
        assert isinstance(told, ast.Call)
        others = {each for each in patches.modules if not each.startswith("pytest_stripe_idem")}
        assert set(ast.literal_eval(told.args[0])) == {*others, "stripe"}

    def test_another_environment_reaches_it_and_gets_nothing_else(
        self, fake: FakeStripe, tmp_path: Path
    ) -> None:
        venv.create(tmp_path, with_pip=False)
        program = (
            "import importlib.util as i, urllib.request as r\n"
            "assert [i.find_spec(n) for n in ('pytest', 'stripe', '_pytest')] == [None] * 3\n"
            f"r.urlopen(r.Request('{API}/v1/customers', b'', {{'Authorization': 'Bearer {SECRET}'}}))"
        )
        folder = "Scripts" if os.name == "nt" else "bin"
        subprocess.run([tmp_path / folder / "python", "-c", program], check=True)
        assert len(fake.objects("customer")) == 1

    def test_a_sitecustomize_that_was_there_still_runs(
        self, fake: FakeStripe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "sitecustomize.py").write_text("import sys\nsys.was_here = True\n")
        path = os.pathsep.join([os.environ["PYTHONPATH"], str(tmp_path)])
        monkeypatch.setenv("PYTHONPATH", path)
        subprocess.run([sys.executable, "-c", "import sys; assert sys.was_here"], check=True)

    def test_a_child_after_the_test_is_refused(self, fake: FakeStripe) -> None:
        program = (
            "import urllib.request as r\n"
            "try: r.urlopen('https://api.stripe.com/v1/charges')\n"
            "except Exception as e: print(e)"
        )
        switch.handler = None
        done = subprocess.run(
            [sys.executable, "-c", program], check=True, capture_output=True, text=True
        )
        assert "fake_stripe" in done.stdout


class TestUrllib3:
    def test_its_own_retries_are_honoured(self, fake: FakeStripe) -> None:
        urllib3 = pytest.importorskip("urllib3")
        retry = urllib3.Retry(3, status_forcelist=[503], allowed_methods=None)
        fake.faults.unavailable()
        fake.faults.reset_before(nth=2)
        want = charge("k")
        got = urllib3.PoolManager(retries=retry).request(
            want.method, want.url, body=want.body, headers=dict(want.headers)
        )
        assert got.status == 200
        assert [each.status for each in fake.exchanges] == [503, 0, 200]

    def test_a_short_timeout_gives_up_on_a_slow_request(self, fake: FakeStripe) -> None:
        requests = pytest.importorskip("requests")
        fake.faults.slow(30)
        want = charge("k")
        with pytest.raises(requests.ReadTimeout):
            requests.post(want.url, data=want.body, headers=dict(want.headers), timeout=5)
        fake.faults.slow(30)
        got = requests.post(want.url, data=want.body, headers=dict(want.headers), timeout=60)
        assert got.status_code == 200
        assert len(fake.objects("charge")) == 1


class TestPatches:
    def test_they_stay_over_those_of_others(self, loopback: Loopback) -> None:
        httpx = pytest.importorskip("httpx")
        ours = httpx.HTTPTransport.handle_request

        def theirs(self: Any, request: Any) -> Any:
            return "theirs"

        httpx.HTTPTransport.handle_request = theirs
        try:
            with patches.kept_on_top():
                assert httpx.HTTPTransport.handle_request is not theirs
            assert httpx.HTTPTransport.handle_request is theirs
        finally:
            httpx.HTTPTransport.handle_request = ours

    def test_a_module_imported_later_is_patched_then(self) -> None:
        program = (
            "from pytest_stripe_idem.transports.install import patches; patches.install()\n"
            "import sys; assert 'http.client' not in sys.modules\n"
            "import http.client as c; assert hasattr(c.HTTPConnection.connect, '__stripe_idem__')\n"
            "patches.uninstall(); assert not hasattr(c.HTTPConnection.connect, '__stripe_idem__')"
        )
        # Isolated: the children of this run have the patches from their start.
        subprocess.run([sys.executable, "-I", "-c", program], check=True)


def test_threads_of_a_test_share_the_fake(fake: FakeStripe) -> None:
    client = next(each for each in CLIENTS if each.name == "urllib")
    threads = [
        threading.Thread(target=client.send, args=(charge(f"k{number}"),)) for number in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(fake.objects("charge")) == 8
