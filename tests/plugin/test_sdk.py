"""What the SDK does with keys: how they travel, how they get lost, what it retries.

The facts are about the `stripe` package; the fake must see them as Stripe would. They hold for each
version these tests are run with, unless a test says otherwise.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable
from typing import Any

import pytest

from plugin.clients import sdk_major
from plugin.sending import SECRET
from pytest_stripe_idem.harness import FakeStripe

stripe: Any = pytest.importorskip("stripe")

MAJOR = sdk_major()

pytestmark = [
    pytest.mark.skipif(MAJOR < 8, reason="older versions have no StripeClient"),
    # The SDK's own calls into httpx.
    pytest.mark.filterwarnings("ignore:Use 'content=<...>'"),
    pytest.mark.filterwarnings("ignore:`verify=<str>`"),
    # Ways that the newest version would rather not see.
    pytest.mark.filterwarnings(r"ignore:\s*StripeClient\.charges is deprecated"),
    pytest.mark.filterwarnings(r"ignore:\s*The `save` method is deprecated"),
]

CHARGE = {"amount": 4900, "currency": "usd", "source": "tok_visa"}
Way = Callable[[], Any]


def client(**more: Any) -> Any:
    return stripe.StripeClient(SECRET, **more)


def charges(**more: Any) -> Any:
    """The service for charges of a client made here."""
    made = client(**more)
    return made.v1.charges if MAJOR >= 13 else made.charges


def held() -> Any:
    """A payment intent that waits for its capture."""
    return stripe.PaymentIntent.create(
        amount=4900,
        currency="usd",
        capture_method="manual",
        confirm=True,
        payment_method="pm_card_visa",
        idempotency_key="first",
    )


def waiting() -> Any:
    return stripe.PaymentIntent.create(
        amount=4900, currency="usd", payment_method="pm_card_visa", idempotency_key="first"
    )


def saved() -> Any:
    customer = stripe.Customer.create(idempotency_key="first")
    customer.name = "Ann"
    return customer.save(idempotency_key="k")


def asynchronous(call: Callable[[], Any]) -> Any:
    async def once() -> Any:
        return await call()

    return asyncio.run(once())


WAYS: dict[str, Way] = {
    "create": lambda: stripe.Charge.create(**CHARGE, idempotency_key="k"),
    "modify": lambda: stripe.Customer.modify("cus_1", name="Ann", idempotency_key="k"),
    "capture by id": lambda: stripe.PaymentIntent.capture(held().id, idempotency_key="k"),
    "capture of an instance": lambda: held().capture(idempotency_key="k"),
    "confirm": lambda: stripe.PaymentIntent.confirm(waiting().id, idempotency_key="k"),
    "nested": lambda: stripe.Customer.create_balance_transaction(
        "cus_1", amount=1, currency="usd", idempotency_key="k"
    ),
    "save": saved,
    "service": lambda: client().charges.create(dict(CHARGE), {"idempotency_key": "k"}),
}
if MAJOR >= 9:
    WAYS["async"] = lambda: asynchronous(
        lambda: stripe.Charge.create_async(**CHARGE, idempotency_key="k")
    )
if MAJOR >= 13:
    WAYS["service below v1"] = lambda: client().v1.charges.create(
        dict(CHARGE), {"idempotency_key": "k"}
    )
if MAJOR >= 11:
    WAYS["raw request"] = lambda: client().raw_request(
        "post", "/v1/charges", **CHARGE, idempotency_key="k"
    )


class TestKeysTravel:
    @pytest.mark.parametrize("way", WAYS)
    def test_the_key_that_was_given_arrives_as_the_users_own(
        self, fake: FakeStripe, way: str
    ) -> None:
        WAYS[way]()
        sent = fake.exchanges[-1].call
        assert (sent.key, sent.automatic) == ("k", False)

    def test_without_one_each_post_has_one_of_the_sdks_own(self, fake: FakeStripe) -> None:
        for _ in range(2):
            stripe.Charge.create(**CHARGE)
        charges().create(dict(CHARGE))
        calls = [each.call for each in fake.exchanges]
        assert [each.automatic for each in calls] == [True] * 3
        assert len({each.key for each in calls}) == 3
        assert all(len(each.key or "") == 36 for each in calls)


class TestKeysGetLost:
    """Money moves under a random key, or Stripe refuses: a naive mock shows neither."""

    @pytest.mark.parametrize("key", [None, ""])
    def test_no_key_or_an_empty_one_is_replaced(self, fake: FakeStripe, key: str | None) -> None:
        stripe.Charge.create(**CHARGE, idempotency_key=key)
        [sent] = fake.exchanges
        assert sent.call.automatic
        assert sent.executed

    def test_options_of_a_resource_method_become_parameters(self, fake: FakeStripe) -> None:
        with pytest.raises(stripe.InvalidRequestError) as caught:
            stripe.Charge.create(**CHARGE, options={"idempotency_key": "k"})
        assert "options" in str(caught.value.param)
        assert fake.objects("charge") == []

    def test_a_key_among_the_parameters_of_a_service_is_refused(self, fake: FakeStripe) -> None:
        with pytest.raises(stripe.InvalidRequestError) as caught:
            charges().create({**CHARGE, "idempotency_key": "k"})
        assert caught.value.param == "idempotency_key"
        assert fake.objects("charge") == []

    def test_a_service_takes_no_key_as_argument(self, fake: FakeStripe) -> None:
        with pytest.raises(TypeError):
            charges().create(dict(CHARGE), idempotency_key="k")
        assert fake.exchanges == ()

    @pytest.mark.parametrize("key", [uuid.uuid4(), 42, "ключ"], ids=["uuid", "int", "not latin-1"])
    def test_what_cannot_be_a_header_never_leaves(self, fake: FakeStripe, key: Any) -> None:
        with pytest.raises((stripe.APIConnectionError, UnicodeError)):
            stripe.Charge.create(**CHARGE, idempotency_key=key)
        assert fake.objects("charge") == []


class TestItsRetries:
    """`client.py` of the SDK decides; the fake gives what it decides by."""

    @pytest.mark.parametrize("fault", ["lose_response", "reset_before", "server_error"])
    @pytest.mark.parametrize("key", ["k", None])
    def test_they_repeat_key_and_parameters(
        self, fake: FakeStripe, monkeypatch: pytest.MonkeyPatch, fault: str, key: str | None
    ) -> None:
        """500 too: it comes back as it was stored, so the call fails all the same."""
        monkeypatch.setattr("time.sleep", lambda seconds: None)
        getattr(fake.faults, fault)()
        call = charges(max_network_retries=1).create
        options = {"idempotency_key": key} if key else {}
        if fault == "server_error":
            with pytest.raises(stripe.APIError):
                call(dict(CHARGE), options)
        else:
            assert call(dict(CHARGE), options).amount == 4900
        sent = [each.call for each in fake.exchanges]
        assert len(sent) == (1 if fault == "server_error" else 2)
        assert len({each.key for each in sent}) == 1
        assert len({str(each.params) for each in sent}) == 1
        assert len(fake.objects("charge")) == 1

    def test_a_client_of_its_own_retries_nothing_unless_told(self, fake: FakeStripe) -> None:
        fake.faults.unavailable()
        with pytest.raises(stripe.APIError):
            charges().create(dict(CHARGE))
        assert len(fake.exchanges) == 1

    @pytest.mark.parametrize(("fault", "requests"), [("rate_limit", 1), ("lock_timeout", 2)])
    def test_a_429_is_repeated_only_where_the_answer_says_so(
        self, fake: FakeStripe, monkeypatch: pytest.MonkeyPatch, fault: str, requests: int
    ) -> None:
        monkeypatch.setattr("time.sleep", lambda seconds: None)
        getattr(fake.faults, fault)()
        with pytest.raises(stripe.RateLimitError):
            charges(max_network_retries=1).create(dict(CHARGE))
        assert len(fake.exchanges) == requests

    def test_a_409_is_repeated_and_finds_the_end_of_its_twin(
        self, fake: FakeStripe, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        import threading

        held = fake.faults.hold()
        options = {"idempotency_key": "k"}
        first = threading.Thread(target=charges().create, args=(dict(CHARGE), options))

        def pause(seconds: float) -> None:
            """The SDK waits before its retry; meanwhile the twin ends."""
            held.release()
            first.join(timeout=10)

        first.start()
        held.wait()
        monkeypatch.setattr("time.sleep", pause)
        made = charges(max_network_retries=1).create(dict(CHARGE), options)
        assert made.id == "ch_1"
        assert sorted(each.status for each in fake.exchanges) == [200, 200, 409]
        assert len(fake.objects("charge")) == 1

    def test_module_calls_retry_as_often_as_the_version_says(self, fake: FakeStripe) -> None:
        """The fixture turns them off; what it puts back is 0 up to 10, 2 from 11 on."""
        import subprocess
        import sys

        program = "import stripe; print(stripe.max_network_retries)"
        done = subprocess.run(
            [sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == ("2" if MAJOR >= 11 else "0")
        assert stripe.max_network_retries == 0


class TestItsErrors:
    def test_another_use_of_a_key_is_an_idempotency_error(self, fake: FakeStripe) -> None:
        stripe.Charge.create(**CHARGE, idempotency_key="k")
        with pytest.raises(stripe.IdempotencyError) as caught:
            stripe.Charge.create(**{**CHARGE, "amount": 1}, idempotency_key="k")
        assert caught.value.http_status == 400

    def test_a_409_is_a_plain_error_whose_code_is_inside(self, fake: FakeStripe) -> None:
        import threading

        held = fake.faults.hold()
        first = threading.Thread(
            target=stripe.Charge.create, kwargs={**CHARGE, "idempotency_key": "k"}
        )
        first.start()
        held.wait()
        with pytest.raises(stripe.APIError) as caught:
            stripe.Charge.create(**CHARGE, idempotency_key="k")
        held.release()
        first.join(timeout=10)
        assert type(caught.value) is stripe.APIError
        assert caught.value.code is None
        assert caught.value.error.code == "idempotency_key_in_use"

    @pytest.mark.parametrize(
        ("fault", "error"),
        [
            ("rate_limit", stripe.RateLimitError),
            ("lock_timeout", stripe.RateLimitError),
            ("decline", stripe.CardError),
            ("server_error", stripe.APIError),
            ("lose_response", stripe.APIConnectionError),
            ("reset_before", stripe.APIConnectionError),
        ],
    )
    def test_each_fault_raises_what_the_service_would(
        self, fake: FakeStripe, fault: str, error: type[Exception]
    ) -> None:
        getattr(fake.faults, fault)()
        with pytest.raises(error):
            stripe.Charge.create(**CHARGE)

    def test_no_answer_makes_the_sdk_warn(self, fake: FakeStripe) -> None:
        """`Stripe-Notice` would."""
        made = stripe.Charge.create(**CHARGE)
        assert "stripe-notice" not in {name.lower() for name in made.last_response.headers}


class TestForms:
    def test_what_the_sdk_writes_is_read_back(self, fake: FakeStripe) -> None:
        stripe.PaymentIntent.create(
            amount=4900,
            currency="usd",
            payment_method_types=["card"],
            metadata={"order": "7", "note": ""},
            description=None,
            off_session=True,
            confirm=True,
            payment_method="pm_card_visa",
        )
        sent = fake.exchanges[0].call
        assert sent.params["payment_method_types"] == ["card"]
        assert sent.params["metadata"] == {"order": "7", "note": ""}
        assert "description" not in sent.params
        assert sent.flat["confirm"].lower() == "true"  # older versions write `True`

    def test_what_differs_between_two_calls_is_no_other_parameter(self, fake: FakeStripe) -> None:
        """Telemetry in a header tells how long the last call took."""
        made = [stripe.Charge.create(**CHARGE, idempotency_key="k") for _ in range(3)]
        assert {each.id for each in made} == {"ch_1"}


def test_every_host_of_stripe_is_answered(fake: FakeStripe) -> None:
    requests = pytest.importorskip("requests")
    head = {"Authorization": f"Bearer {SECRET}"}
    for host in ("api", "connect", "files", "meter-events"):
        got = requests.post(f"https://{host}.stripe.com/v1/nowhere", headers=head, timeout=5)
        assert got.status_code == 404
        assert got.json()["error"]["type"] == "invalid_request_error"
