"""When a test fails and when it does not: detectors, identity and the text, through a real client."""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest

from pytest_stripe_idem.core.money_call import MoneyCall
from pytest_stripe_idem.harness import FakeStripe
from pytest_stripe_idem.options import Options
from pytest_stripe_idem.record.exchange import look_of, short
from pytest_stripe_idem.record.identity import identify
from pytest_stripe_idem.report import timeline
from pytest_stripe_idem.transports.errors import ProcessKilled

stripe = pytest.importorskip("stripe")


def pay(key: str | None = None, amount: int = 4900, **more: Any) -> Any:
    """One payment, confirmed at once."""
    given = {"amount": amount, "currency": "usd", "customer": "cus_7", "confirm": True, **more}
    given |= {} if key is None else {"idempotency_key": key}
    return stripe.PaymentIntent.create(**given)


def try_to(call: Callable[[], Any]) -> None:
    with contextlib.suppress(stripe.StripeError):
        call()


def kinds(fake: FakeStripe, severity: str = "error") -> list[str]:
    return [each.kind for each in fake.divergences if each.severity == severity]


ORDER: dict[str, Any] = {"metadata": {"order_id": "o_7"}}


class TestFails:
    @pytest.mark.parametrize(
        "break_it",
        [
            lambda faults: faults.lose_response(),
            lambda faults: faults.lose_response(reset=True),
            lambda faults: faults.server_error(),
        ],
        ids=["timeout", "reset", "500 after the effect"],
    )
    def test_a_new_key_after_an_outcome_nobody_knows(
        self, fake: FakeStripe, break_it: Callable[[Any], None]
    ) -> None:
        break_it(fake.faults)
        try_to(lambda: pay("one", **ORDER))
        pay("two", **ORDER)
        assert kinds(fake) == ["two objects for one charge"]

    @pytest.mark.parametrize("fault", ["reset_before", "rate_limit", "lock_timeout", "unavailable"])
    def test_a_new_key_that_did_no_harm_this_time(self, fake: FakeStripe, fault: str) -> None:
        getattr(fake.faults, fault)()
        try_to(lambda: pay("one", **ORDER))
        pay("two", **ORDER)
        assert kinds(fake) == ["key changed on retry"]

    def test_no_key_at_all_however_the_first_one_ended(self, fake: FakeStripe) -> None:
        pay(**ORDER)
        pay(**ORDER)
        assert kinds(fake) == ["two objects for one charge"]
        [found] = fake.divergences
        assert "none of your own" in found.reason

    def test_two_workers_at_one_time_under_two_keys(self, fake: FakeStripe) -> None:
        fake.concurrently(lambda: pay(str(uuid.uuid4()), **ORDER))
        [found] = fake.divergences
        assert (found.kind, found.severity) == ("two objects for one charge", "error")
        assert found.reason == "both were under way at one time"

    def test_one_key_on_two_endpoints(self, fake: FakeStripe) -> None:
        pay("k")
        try_to(lambda: stripe.Charge.create(**TOKEN, idempotency_key="k"))
        [found] = fake.divergences
        assert (found.kind, found.reason) == ("one key for two requests", "the key is too coarse")

    def test_one_key_on_two_charges(self, fake: FakeStripe) -> None:
        pay("k", metadata={"order_id": "o_7"})
        try_to(lambda: pay("k", metadata={"order_id": "o_8"}))
        assert kinds(fake) == ["one key for two requests"]

    def test_a_parameter_that_moves_under_a_stable_key(self, fake: FakeStripe) -> None:
        pay("k", description="at 12:00", **ORDER)
        try_to(lambda: pay("k", description="at 12:01", **ORDER))
        [found] = fake.divergences
        assert found.reason == "the parameters moved under a stable key"

    def test_a_retry_after_the_key_was_forgotten(self, fake: FakeStripe) -> None:
        pay("k", **ORDER)
        fake.clock.advance(hours=25)
        pay("k", **ORDER)
        assert kinds(fake) == ["retry after the key expired"]

    def test_an_automatic_key_where_the_identity_cannot_know(self, fake: FakeStripe) -> None:
        """A fresh id in the metadata makes each run another purchase; the line is the same."""
        fake.replay(lambda: pay(metadata={"order_id": uuid.uuid4().hex}))
        assert kinds(fake) == ["automatic key in a repeated run"]

    def test_a_one_use_token_hides_nothing(self, fake: FakeStripe) -> None:
        fake.faults.lose_response()
        for key, token in (("one", "tok_visa"), ("two", "tok_mastercard")):
            given = {**TOKEN, "source": token, "customer": "cus_7"}
            try_to(lambda key=key, given=given: stripe.Charge.create(**given, idempotency_key=key))  # type: ignore[misc]
        assert kinds(fake) == ["two objects for one charge"]

    def test_a_process_that_was_killed_has_forgotten_what_it_was_told(
        self, fake: FakeStripe
    ) -> None:
        """Two dues in one run; the kill is at the second, the rerun charges the first again."""

        def run() -> None:
            for due in ("in_1", "in_2"):
                pay(str(uuid.uuid4()), metadata={"invoice": due})

        fake.faults.kill(nth=2, after_commit=False)
        with pytest.raises(ProcessKilled):
            run()
        run()
        [first, second] = fake.divergences
        assert (first.kind, first.severity) == ("two objects for one charge", "error")
        assert first.reason == "the process that had been told of the first was killed"
        assert second.kind == "key changed on retry"

    def test_strict_takes_a_delivered_success_as_well(self, fake: FakeStripe) -> None:
        pay("one", **ORDER)
        pay("two", **ORDER)
        assert (kinds(fake), kinds(fake, "warning")) == ([], ["two objects for one charge"])
        fake.options = fake.options.changed({"strict": True}, "here")
        assert kinds(fake) == ["two objects for one charge"]


TOKEN = {"amount": 4900, "currency": "usd", "source": "tok_visa"}


class TestPasses:
    def test_a_retry_with_the_first_key(self, fake: FakeStripe) -> None:
        fake.faults.lose_response()
        try_to(lambda: pay("one", **ORDER))
        pay("one", **ORDER)
        assert fake.divergences == ()

    def test_two_equal_purchases_declared_distinct(self, fake: FakeStripe) -> None:
        fake.expect_distinct(by="metadata[order_id]")
        pay(**ORDER)
        pay(**ORDER)
        assert fake.divergences == ()

    def test_declared_distinct_by_another_field_does_not_help(self, fake: FakeStripe) -> None:
        fake.expect_distinct(by="metadata[subscription]")
        pay(**ORDER)
        pay(**ORDER)
        assert kinds(fake) == ["two objects for one charge"]

    @pytest.mark.parametrize("method", ["pm_card_visa_chargeDeclined", "pm_card_visa"])
    def test_a_new_key_after_a_delivered_decline(self, fake: FakeStripe, method: str) -> None:
        if method == "pm_card_visa":
            fake.faults.decline()
        try_to(lambda: pay("one", payment_method=method, **ORDER))
        pay("two", **ORDER)
        assert fake.divergences == ()

    def test_a_new_key_after_a_delivered_400(self, fake: FakeStripe) -> None:
        try_to(lambda: stripe.Payout.create(amount=100, currency="usd", idempotency_key="one"))
        fake.fund(100)
        stripe.Payout.create(amount=100, currency="usd", idempotency_key="two")
        assert fake.divergences == ()

    def test_but_not_after_a_decline_that_was_lost(self, fake: FakeStripe) -> None:
        fake.faults.decline()
        fake.faults.lose_response()
        try_to(lambda: pay("one", **ORDER))
        pay("two", **ORDER)
        assert kinds(fake) == ["key changed on retry"]

    def test_two_different_partial_refunds(self, fake: FakeStripe) -> None:
        charge = stripe.Charge.create(**TOKEN)
        for amount in (1000, 1500):
            stripe.Refund.create(charge=charge.id, amount=amount)
        assert kinds(fake) == []

    def test_a_second_capture_that_state_refused(self, fake: FakeStripe) -> None:
        charge = stripe.Charge.create(**TOKEN, capture=False)
        fake.faults.lose_response()
        for key in ("one", "two"):
            try_to(lambda key=key: stripe.Charge.capture(charge.id, idempotency_key=key))  # type: ignore[misc]
        assert kinds(fake) == []
        assert fake.balance() == 4900

    def test_two_customers_and_two_orders_are_two_charges(self, fake: FakeStripe) -> None:
        pay("a")
        pay("b", customer="cus_8")
        pay("c", metadata={"order_id": "o_8"})
        pay("d", metadata={"order_id": "o_9"})
        assert fake.divergences == ()
        assert len(fake.charges) == 4

    def test_calls_that_move_no_money(self, fake: FakeStripe) -> None:
        fake.faults.lose_response(endpoint="POST /v1/customers")
        for _ in range(2):
            try_to(lambda: stripe.Customer.create(name="A"))
        assert fake.divergences == ()

    def test_a_meter_event_with_an_identifier_of_its_own(self, fake: FakeStripe) -> None:
        fake.faults.lose_response()
        for _ in range(2):
            try_to(
                lambda: stripe.billing.MeterEvent.create(
                    event_name="e", payload={"value": "1"}, identifier="i_1"
                )
            )
        assert kinds(fake) == []


def call(params: dict[str, Any], **more: Any) -> MoneyCall:
    given = {"method": "POST", "path": "/v1/charges", "endpoint": "/v1/charges", "money": "charge"}
    return MoneyCall(**{**given, "params": params, **more})


class TestIdentity:
    base: ClassVar = {"amount": "4900", "currency": "usd", "customer": "cus_7"}

    def same(self, one: dict[str, Any], other: dict[str, Any]) -> bool:
        return identify(call({**self.base, **one})) == identify(call({**self.base, **other}))

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ({"source": "tok_1"}, {"source": "tok_2"}),
            ({"payment_method": "pm_1"}, {"payment_method": "pm_2"}),
            ({"description": "a"}, {"description": "b"}),
            ({"metadata": {"attempt": "1"}}, {"metadata": {"attempt": "2"}}),
            ({"metadata": {"request_id": "1"}}, {"metadata": {"request_id": "2"}}),
            ({"metadata": {"created_at": "1"}}, {"metadata": {"created_at": "2"}}),
            (
                {"metadata": {"order": "7", "job_id": "1"}},
                {"metadata": {"order": "7", "job_id": "2"}},
            ),
            (
                {"metadata": {"order": "7"}, "customer": "cus_7"},
                {"metadata": {"order": "7"}, "customer": "cus_8"},
            ),
            ({"currency": "USD"}, {"currency": "usd"}),
        ],
    )
    def test_what_moves_between_attempts_does_not_count(self, one: Any, other: Any) -> None:
        assert self.same(one, other)

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ({"amount": "1"}, {"amount": "2"}),
            ({"currency": "usd"}, {"currency": "eur"}),
            ({"customer": "cus_7"}, {"customer": "cus_8"}),
            ({"metadata": {"order": "7"}}, {"metadata": {"order": "8"}}),
            ({"metadata": {"orderId": "7"}}, {"metadata": {"orderId": "8"}}),
            ({"metadata": {"period": "2026-10"}}, {"metadata": {"period": "2026-11"}}),
            (
                {"metadata": {"order": "7", "period": "1"}},
                {"metadata": {"order": "7", "period": "2"}},
            ),
            ({"transfer_group": "a"}, {"transfer_group": "b"}),
        ],
    )
    def test_what_tells_purchases_apart_counts(self, one: Any, other: Any) -> None:
        assert not self.same(one, other)

    def test_two_counterparts_of_one_order_are_two_payments(self) -> None:
        order = {"amount": "4900", "currency": "usd", "transfer_group": "o_7"}
        for name in ("destination", "charge", "payment_intent"):
            one, other = (call({**order, name: value}) for value in ("x_1", "x_2"))
            assert identify(one) != identify(other)

    def test_lines_of_one_invoice_are_told_apart_by_their_description(self) -> None:
        line = {"amount": "4900", "currency": "usd", "invoice": "in_7", "customer": "cus_7"}
        where = {"path": "/v1/invoiceitems", "endpoint": "/v1/invoiceitems"}
        one, other = (call({**line, "description": text}, **where) for text in ("Seat", "Desk"))
        assert identify(one) != identify(other)
        assert identify(one) == identify(call({**line, "description": "Seat"}, **where))

    def test_accounts_and_paths_count(self) -> None:
        assert identify(call({})) != identify(call({}, account="acct_9"))
        assert identify(call({})) != identify(call({}, path="/v1/charges/ch_1/capture"))

    def test_the_projects_own_goes_first(self, fake: FakeStripe) -> None:
        def own(money: MoneyCall) -> str | None:
            return money.metadata.get("cart")

        fake.options = Options().changed({"identity": own}, "here")
        fake.faults.lose_response()
        try_to(lambda: pay("one", metadata={"cart": "c_1", "order_id": "a"}))
        pay("two", metadata={"cart": "c_1", "order_id": "b"})
        assert kinds(fake) == ["two objects for one charge"]

    def test_a_project_names_its_own_volatile_parameters(self) -> None:
        volatile = frozenset({"metadata[node]"})
        one, other = (call({**self.base, "metadata": {"node": n}}) for n in "ab")
        assert identify(one) != identify(other)
        assert identify(one, volatile=volatile) == identify(other, volatile=volatile)


class TestText:
    def test_it_is_the_timeline_a_person_reads(self, fake: FakeStripe) -> None:
        fake.faults.lose_response()
        one, two = "3f7c0000-0000-4000-8000-0000000000d1", "9a2e0000-0000-4000-8000-000000000007"
        try_to(lambda: pay(one, metadata={"invoice": "in_42"}))
        fake.clock.advance(seconds=0.412)
        pay(two, metadata={"invoice": "in_42"})
        [text] = fake.complaints()
        lines = text.splitlines()
        assert lines[0] == (
            "one charge, two keys: POST /v1/payment_intents  customer=cus_7 amount=4900 usd"
            "  metadata[invoice]=in_42"
        )
        assert lines[1].startswith(
            "  +0.000 s  key 3f7c…d1 (uuid4, explicit)  → pi_1  executed, response lost  "
        )
        assert lines[2].lstrip().startswith("+0.4")
        assert "key 9a2e…07 (uuid4, explicit)  → pi_2  executed  " in lines[2]
        for line in lines[1:3]:
            assert "tests/plugin/test_divergence.py:" in line
            assert line.endswith("in pay")
        stored = "or store it before the call (docs: keys)"
        assert lines[3:] == [
            "  customer charged 98.00 instead of 49.00",
            f"  a retry must send the key of the first attempt: derive it from in_42, {stored}",
            '  two purchases on purpose? fake_stripe.expect_distinct(by="metadata[invoice]")',
        ]

    def test_without_any_key_of_its_own(self, fake: FakeStripe) -> None:
        pay(**ORDER)
        pay(**ORDER)
        [text] = fake.complaints()
        assert "(uuid" in text
        assert "automatic)" in text
        assert "pass idempotency_key=, derived from o_7" in text

    @pytest.mark.parametrize(
        ("amount", "currency", "text"),
        [(4900, "usd", "49.00"), (4900, "jpy", "4900"), (4900, "kwd", "4.900"), (5, "eur", "0.05")],
    )
    def test_money_is_written_as_people_write_it(
        self, amount: int, currency: str, text: str
    ) -> None:
        assert timeline.money(amount, currency) == text

    @pytest.mark.parametrize(
        ("key", "look"),
        [
            ("3f7c0000-0000-4000-8000-0000000000d1", "uuid4"),
            ("3f7c0000-0000-5000-8000-0000000000d1", "uuid5"),
            ("3f7c0000-0000-0000-8000-0000000000d1", "uuid"),
            ("a" * 64, "hash"),
            ("-8812231", "number"),
            ("order-7:charge", "words"),
            ("%%%", "text"),
        ],
    )
    def test_a_key_has_a_look(self, key: str, look: str) -> None:
        assert look_of(key) == look

    def test_a_short_key_is_shown_whole(self) -> None:
        assert (short("order-7"), short("3f7c0000-0000-4000-8000-0000000000d1")) == (
            "order-7",
            "3f7c…d1",
        )

    def test_a_payable_object_is_no_charge_yet(self, fake: FakeStripe) -> None:
        fake.faults.lose_response()
        for key in ("one", "two"):
            try_to(lambda key=key: pay(key, confirm=False, **ORDER))  # type: ignore[misc]
        assert "2 objects instead of one" in fake.complaints()[0]


@pytest.fixture
def cap(fake: FakeStripe) -> FakeStripe:
    fake.spend_cap(4900 * 1.10)
    return fake


class TestSpendCap:
    def test_more_than_the_cap_is_a_complaint(self, cap: FakeStripe) -> None:
        pay("a")
        assert cap.complaints() == []
        pay("b", customer="cus_8")
        assert cap.complaints() == [
            "spend cap exceeded: 98.00 usd were charged, 53.90 is the most this test allows"
        ]
        assert cap.spent == 9800

    def test_it_can_answer_as_a_restricted_key_would(self, fake: FakeStripe) -> None:
        fake.spend_cap(5000, refuse=True)
        pay("a")
        with pytest.raises(stripe.PermissionError):
            pay("b", customer="cus_8")
        assert pay("a").amount == 4900
        assert fake.complaints() == []


def test_places_outside_the_project_are_shown_whole() -> None:
    from pytest_stripe_idem.core.exchange import Place

    place = Place("/elsewhere/pay.py", 3, "charge")
    assert timeline.place_words(place, Path("/project")) == "/elsewhere/pay.py:3 in charge"
