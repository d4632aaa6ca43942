"""Running code again on purpose shows what only a second run can show."""

from __future__ import annotations

import asyncio
import uuid
from pathlib import Path
from typing import Any

import pytest

from pytest_stripe_idem.harness import FakeStripe
from pytest_stripe_idem.replaying import FreshInterpreterError
from pytest_stripe_idem.transports.errors import ProcessKilled

stripe = pytest.importorskip("stripe")

# The SDK's own calls into httpx.
pytestmark = [
    pytest.mark.filterwarnings("ignore:Use 'content=<...>'"),
    pytest.mark.filterwarnings("ignore:`verify=<str>`"),
]

PAY = {"amount": 4900, "currency": "usd", "customer": "cus_7", "confirm": True}


def pay(key: str, **more: Any) -> Any:
    return stripe.PaymentIntent.create(**PAY, **more, idempotency_key=key)


class TestReplay:
    def test_a_stable_key_survives_a_lost_response(self, fake: FakeStripe) -> None:
        made = fake.replay(pay, "k")
        assert made.id == "pi_1"
        assert [each.broken for each in fake.exchanges] == ["response lost", ""]
        assert fake.complaints() == []

    def test_a_fresh_key_does_not(self, fake: FakeStripe) -> None:
        fake.replay(lambda: pay(str(uuid.uuid4())))
        assert len(fake.complaints()) == 1

    def test_every_run_but_the_last_loses_its_response(self, fake: FakeStripe) -> None:
        fake.replay(pay, "k", times=4)
        assert [each.broken != "" for each in fake.exchanges] == [True, True, True, False]

    def test_a_run_without_a_money_call_leaves_no_fault_behind(self, fake: FakeStripe) -> None:
        fake.replay(lambda: stripe.Customer.create())
        assert fake.faults.waiting == ()
        assert pay("k").status == "succeeded"

    def test_a_coroutine_function_is_run_to_its_end(self, fake: FakeStripe) -> None:
        pytest.importorskip("httpx")

        async def once() -> Any:
            return await stripe.PaymentIntent.create_async(**PAY, idempotency_key="k")

        assert fake.replay(once).id == "pi_1"

    def test_inside_a_running_loop_it_is_awaited(self, fake: FakeStripe) -> None:
        pytest.importorskip("httpx")

        async def once() -> Any:
            return await stripe.PaymentIntent.create_async(**PAY, idempotency_key="k")

        async def a_test() -> Any:
            return await fake.replay(once)

        assert asyncio.run(a_test()).id == "pi_1"
        assert [each.broken for each in fake.exchanges] == ["response lost", ""]

    def test_the_last_run_is_not_forgiven(self, fake: FakeStripe) -> None:
        with pytest.raises(ZeroDivisionError):
            fake.replay(lambda: 1 // 0)

    def test_once_is_no_replay(self, fake: FakeStripe) -> None:
        with pytest.raises(ValueError, match="at least twice"):
            fake.replay(pay, "k", times=1)


class TestConcurrently:
    def test_threads_with_one_key_give_one_success_and_one_409(self, fake: FakeStripe) -> None:
        found = fake.concurrently(pay, "k")
        refused: list[Any] = [each for each in found if isinstance(each, Exception)]
        assert [each.error.code for each in refused] == ["idempotency_key_in_use"]
        assert fake.complaints() == []

    def test_tasks_too_inside_a_loop_and_outside(self, fake: FakeStripe) -> None:
        pytest.importorskip("httpx")

        async def once(key: str) -> Any:
            return await stripe.PaymentIntent.create_async(**PAY, idempotency_key=key)

        async def inside() -> Any:
            return await fake.concurrently(once, "inside")

        for found in (fake.concurrently(once, "outside"), asyncio.run(inside())):
            assert sum(isinstance(each, Exception) for each in found) == 1

    def test_a_gap_between_check_and_act_shows(self, fake: FakeStripe) -> None:
        paid: list[str] = []

        def guarded() -> None:
            if not paid:
                pay(str(uuid.uuid4()))
                paid.append("yes")

        fake.concurrently(guarded)
        assert len(fake.complaints()) == 1

    def test_a_lock_around_the_call_is_no_deadlock(self, fake: FakeStripe) -> None:
        import threading

        lock = threading.Lock()

        def locked() -> Any:
            with lock:
                return pay("k")

        found = fake.concurrently(locked)
        assert [each.id for each in found] == ["pi_1", "pi_1"]

    def test_a_worker_that_sends_nothing_is_not_waited_for(self, fake: FakeStripe) -> None:
        turns = iter([True, False])
        found = fake.concurrently(lambda: pay("k") if next(turns) else None)
        assert sum(each is None for each in found) == 1


MODULE = """\
import stripe
import uuid

DRAWN = str(uuid.uuid4())

def by_hash(customer):
    key = str(hash((customer, "2026-10")))
    return stripe.Charge.create(amount=100, currency="usd", customer=customer, idempotency_key=key).id

def by_module(customer):
    return stripe.Charge.create(amount=100, currency="usd", customer=customer, idempotency_key=DRAWN).id

def by_words(customer):
    key = f"{customer}-2026-10"
    return stripe.Charge.create(amount=100, currency="usd", customer=customer, idempotency_key=key).id

def broken():
    raise LookupError("no such customer")
"""


class TestFreshInterpreter:
    @pytest.fixture
    def billing(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
        (tmp_path / "billing_runs.py").write_text(MODULE)
        monkeypatch.syspath_prepend(tmp_path)
        return "billing_runs"

    @pytest.mark.parametrize("function", ["by_hash", "by_module"])
    def test_what_belongs_to_one_process_shows(
        self, fake: FakeStripe, billing: str, function: str
    ) -> None:
        made = [fake.in_fresh_interpreter(f"{billing}:{function}", "cus_7") for _ in range(2)]
        assert made == ["ch_1", "ch_2"]
        [text] = fake.complaints()
        assert "one charge, two keys" in text
        assert f"billing_runs.py:{8 if function == 'by_hash' else 11} in {function}" in text

    def test_a_key_from_the_data_holds(self, fake: FakeStripe, billing: str) -> None:
        made = [fake.in_fresh_interpreter(f"{billing}:by_words", "cus_7") for _ in range(2)]
        assert made == ["ch_1", "ch_1"]
        assert fake.complaints() == []

    def test_what_is_raised_there_is_told_here(self, fake: FakeStripe, billing: str) -> None:
        with pytest.raises(FreshInterpreterError, match="no such customer"):
            fake.in_fresh_interpreter(f"{billing}:broken")

    def test_a_function_that_has_no_name_cannot_be_sent(self, fake: FakeStripe) -> None:
        with pytest.raises(ValueError, match="cannot be found by its name"):
            fake.in_fresh_interpreter(lambda: None)


class Books:
    """A small billing run over two invoices with a database of its own."""

    def __init__(self, key: str) -> None:
        self.key = key
        self.paid: set[str] = set()
        self.started: set[str] = set()

    def reset(self) -> None:
        self.paid.clear()
        self.started.clear()

    def run(self) -> None:
        for invoice in ("in_1", "in_2"):
            if invoice in self.paid:
                continue
            if self.key == "guard" and invoice in self.started:
                continue  # "somebody is at it already"
            self.started.add(invoice)
            key = str(uuid.uuid4()) if self.key != "stable" else f"charge-{invoice}"
            try:
                pay(key, metadata={"invoice": invoice})
            except stripe.APIError as error:
                if self.key != "stable" or error.http_status != 500:
                    raise
            self.paid.add(invoice)


class TestCrashPoints:
    def test_a_stable_key_holds_at_every_point(self, fake: FakeStripe) -> None:
        books = Books("stable")
        result = fake.crash_points(books.run, books.run, reset=books.reset)
        assert result.failures == ()
        assert len(result.points) == 8
        assert str(result) == ("8 crash points, all of them recovered: 2 charges, once each")

    def test_a_fresh_key_charges_twice_where_the_outcome_was_lost(self, fake: FakeStripe) -> None:
        books = Books("fresh")
        result = fake.crash_points(books.run, books.run, reset=books.reset)
        assert {failure.problem for failure in result.failures} == {"charged twice"}
        assert {failure.point.call for failure in result.failures} == {1, 2}
        assert "killed before the request" not in {f.point.fault for f in result.failures}
        assert "6 of 8 crash points do not recover:" in str(result)
        assert "metadata[invoice]=in_1" in str(result)

    def test_a_guard_that_skips_for_ever_is_as_wrong(self, fake: FakeStripe) -> None:
        books = Books("guard")
        result = fake.crash_points(books.run, books.run, reset=books.reset)
        assert {failure.problem for failure in result.failures} == {"never charged"}
        assert {failure.point.fault for failure in result.failures} == {"killed before the request"}

    def test_what_happens_inside_does_not_count_for_the_test(self, fake: FakeStripe) -> None:
        pay("before")
        books = Books("fresh")
        fake.crash_points(books.run, books.run, reset=books.reset)
        assert fake.complaints() == []
        assert [each.call.key for each in fake.exchanges] == ["before"]

    def test_ids_of_the_callers_own_database_may_differ(self, fake: FakeStripe) -> None:
        def run() -> None:
            pay("stable", metadata={"order_id": row})

        row = "1"
        result = fake.crash_points(run, run)
        assert result.failures == ()

    def test_coroutines_are_run_from_a_test_that_is_none(self, fake: FakeStripe) -> None:
        async def pay_later() -> None:
            pay("k")

        assert fake.crash_points(pay_later, pay_later).failures == ()

        async def a_test() -> None:
            fake.crash_points(pay_later, pay_later)

        with pytest.raises(RuntimeError, match="not asynchronous"):
            asyncio.run(a_test())

    def test_a_kill_is_no_exception(self) -> None:
        assert not issubclass(ProcessKilled, Exception)
