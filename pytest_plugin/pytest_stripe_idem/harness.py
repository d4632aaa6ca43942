"""What the fixture `fake_stripe` gives to a test."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pytest_stripe_idem import replaying
from pytest_stripe_idem.core import resources
from pytest_stripe_idem.core.call import Call
from pytest_stripe_idem.core.catalog import find
from pytest_stripe_idem.core.clock import Clock
from pytest_stripe_idem.core.exchange import Caller, Handling
from pytest_stripe_idem.core.request import StripeRequest
from pytest_stripe_idem.core.resources import checkout_session, payment_intent
from pytest_stripe_idem.core.webhooks import TEST_SECRET, Webhook, sign
from pytest_stripe_idem.core.world import PLATFORM, Json, World
from pytest_stripe_idem.engine import Cap, Engine
from pytest_stripe_idem.faults.script import Faults
from pytest_stripe_idem.options import Options
from pytest_stripe_idem.record.charges import Grouping, LogicalCharge, logical_charges
from pytest_stripe_idem.record.divergence import Divergence, find_divergences
from pytest_stripe_idem.record.exchange import Exchange
from pytest_stripe_idem.record.identity import Identify
from pytest_stripe_idem.replaying import CrashResult
from pytest_stripe_idem.report import timeline
from pytest_stripe_idem.transports.switch import switch


class FakeStripe:
    """A fake Stripe and the record of what was sent to it.

    Every request of this process and its children to Stripe's hosts comes here. Money amounts are
    in the smallest unit of a currency.

    Args:
        hook: The project's `pytest_stripe_idem_identity`.
        root: Places in reports are relative to it.
        kept: How many requests are remembered; None for all.
    """

    def __init__(
        self,
        options: Options,
        *,
        hook: Identify | None = None,
        root: Path | None = None,
        kept: int | None = None,
    ) -> None:
        self.options = options
        self._hook = hook
        self._root = root or Path.cwd()
        self._kept = kept
        self._distinct: list[str] = []
        self._engine = self._new_engine()
        if options.spend_cap is not None:
            self.spend_cap(options.spend_cap)

    def handle(self, request: StripeRequest, caller: Caller) -> Handling:
        """Answers one request; transports call this."""
        return self._engine.handle(request, caller)

    @property
    def faults(self) -> Faults:
        """What shall go wrong: `faults.lose_response(nth=2)`."""
        return self._engine.faults

    @property
    def clock(self) -> Clock:
        """The clock of the fake: `clock.advance(hours=25)`."""
        return self._engine.clock

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        """Every request so far and what became of it."""
        with self._engine.lock:
            return self._engine.recorder.all()

    @property
    def charges(self) -> tuple[LogicalCharge, ...]:
        """The logical charges so far, each with all its requests."""
        return logical_charges(self.exchanges, self._grouping())

    @property
    def divergences(self) -> tuple[Divergence, ...]:
        """What went wrong so far, warnings included."""
        return find_divergences(self.charges, strict=self.options.strict)

    def expect_distinct(self, by: str | None = None) -> None:
        """Requests alike in this field are separate purchases on purpose.

        Args:
            by: A parameter as a person writes it (`metadata[order_id]`, `customer`); without it all
                requests are.
        """
        self._distinct.append(by or "*")

    def spend_cap(
        self, amount: float, *, currency: str | None = None, refuse: bool = False
    ) -> None:
        """The test fails when executed debits exceed this amount.

        Args:
            amount: In the smallest unit: `expected * 1.10`.
            currency: Only that one; without it all debits together.
            refuse: Answer 403 to what would go above, as a restricted key would.
        """
        self._engine.cap = Cap(amount, currency, refuse)

    @property
    def spent(self) -> int:
        """Executed debits so far, all currencies and accounts together."""
        with self._engine.lock:
            return self._engine.spent()

    def balance(self, currency: str = "usd", *, account: str = PLATFORM) -> int:
        """What is left of all money movements of an account."""
        with self._engine.lock:
            return self._world(account).ledger.total(currency)

    def fund(self, amount: int, currency: str = "usd", *, account: str = PLATFORM) -> None:
        """Puts money into a balance, so that a payout finds some."""
        with self._engine.lock:
            now = int(self.clock.now())
            self._world(account).ledger.post(
                amount, currency, kind="topup", source="fund", now=now, available_on=now
            )

    def objects(self, kind: str, *, account: str = PLATFORM) -> list[Json]:
        """All objects of a kind (`charge`, `payment_intent`), the oldest first."""
        with self._engine.lock:
            return list(self._world(account).all(kind))[::-1]

    def seed(
        self, kind: str, *, account: str = PLATFORM, id: str | None = None, **values: Any
    ) -> Json:
        """Puts an object in place without a request: a dispute, a mandate, a review."""
        with self._engine.lock:
            return self._world(account).add(kind, int(self.clock.now()), values, id)

    def events(self, type: str | None = None, *, account: str = PLATFORM) -> list[Json]:
        """Events so far, oldest first; of one type only where it is given."""
        with self._engine.lock:
            found = self._world(account).events()
        return [event for event in found if type in (None, event["type"])]

    def webhook(self, event: Json | str, secret: str = TEST_SECRET) -> Webhook:
        """The signed delivery of an event, or of the newest one of a type.

        `stripe.Webhook.construct_event(hook.payload, hook.signature, secret)` accepts it.

        Raises:
            LookupError: There is no event of that type.
        """
        if isinstance(event, str):
            found = self.events(event)
            if not found:
                raise LookupError(f"no event of the type {event!r} was emitted")
            event = found[-1]
        return sign(event, secret, int(time.time()))

    def complete_checkout(self, session: str, *, account: str = PLATFORM) -> Json:
        """The customer pays a checkout session."""
        with self._engine.lock:
            call = self._call("POST", f"/v1/checkout/sessions/{session}", account)
            return checkout_session.complete(call, call.owned("checkout.session"))

    def authenticate(self, intent: str, *, account: str = PLATFORM) -> Json:
        """The customer passes the check that a payment intent waits for."""
        with self._engine.lock:
            call = self._call("POST", f"/v1/payment_intents/{intent}", account)
            found = call.owned("payment_intent")
            if found["status"] != "requires_action":
                raise ValueError(f"{intent} does not wait for its customer: {found['status']}")
            return payment_intent.settle(call, found)

    def replay(self, fn: Callable[..., Any], *args: Any, times: int = 2, **kwargs: Any) -> Any:
        """Runs `fn`, loses its first response, and runs it again: what a retry does.

        What the earlier runs raise ends there; the result of the last one is returned. Inside a
        running event loop a coroutine function is to be awaited: `await fake_stripe.replay(fn)`.
        """
        return replaying.replay(self._engine, fn, args, kwargs, times)

    def concurrently(
        self, fn: Callable[..., Any], *args: Any, times: int = 2, **kwargs: Any
    ) -> Any:
        """Runs `fn` in so many workers at one time, and lets them commit together.

        Returns:
            What each returned or raised, in order. Inside a running event loop: to be awaited.
        """
        return replaying.concurrently(self._engine, fn, args, kwargs, times)

    def in_fresh_interpreter(
        self, target: str | Callable[..., Any], *args: Any, timeout: float = 60, **kwargs: Any
    ) -> Any:
        """Runs `pkg.mod:fn` in another process with another `PYTHONHASHSEED`.

        Arguments and result are pickled.

        Raises:
            FreshInterpreterError: It raised there, or the process died.
        """
        return replaying.in_fresh_interpreter(target, args, kwargs, timeout)

    def crash_points(
        self,
        scenario: Callable[[], Any],
        recover: Callable[[], Any],
        *,
        reset: Callable[[], Any] | None = None,
    ) -> CrashResult:
        """Runs a scenario with a crash at each of its writes, then `recover`, and counts charges.

        Each run starts from a clean fake; `reset` brings the caller's own state back. What happens
        inside does not count for this test.
        """
        kept = self._engine
        try:
            return replaying.crash_points(
                self._put_fresh_engine, scenario, recover, reset, self._grouping()
            )
        finally:
            self._engine = kept

    @property
    def respx_side_effect(self) -> Callable[[Any], Any]:
        """For a respx route to Stripe's hosts. Asking for it leaves httpx to respx in this test."""
        from pytest_stripe_idem.transports.respx_router import side_effect

        switch.respx = True
        return side_effect

    def reset(self) -> None:
        """Forgets everything: objects, keys, faults, record, clock."""
        self._put_fresh_engine()
        self._distinct.clear()

    def complaints(self) -> list[str]:
        """Why the test fails, in words; empty when it does not."""
        found = [each for each in self.divergences if each.severity == "error"]
        told = [timeline.failure(found, self._root)] if found and self.options.judge else []
        return [*told, *self._overspent(), *self._engine.complaints]

    def remarks(self) -> list[str]:
        """What is worth a line in the summary without failing the test."""
        warnings = [each for each in self.divergences if each.severity == "warning"]
        told = [timeline.text_of(each, self._root) for each in warnings]
        return [*told, *(f"a fault met no request: {each}" for each in self.faults.waiting)]

    @contextmanager
    def answering(self) -> Iterator[None]:
        """Requests of this process come here while inside."""
        before = (switch.handler, switch.respx)
        switch.handler, switch.respx = self, False
        try:
            yield
        finally:
            switch.handler, switch.respx = before

    def _overspent(self) -> list[str]:
        cap = self._engine.cap
        if cap is None:
            return []
        spent = self._engine.spent(cap.currency)
        if spent <= cap.amount:
            return []
        currency = cap.currency or next(
            (each.currency for each in self.exchanges if each.currency), "usd"
        )
        told = f"{timeline.money(spent, currency)} {currency} were charged"
        most = timeline.money(int(cap.amount), currency)
        return [f"spend cap exceeded: {told}, {most} is the most this test allows"]

    def _grouping(self) -> Grouping:
        own = tuple(each for each in (self.options.identity, self._hook) if each is not None)
        return Grouping(own, frozenset(self.options.volatile), tuple(self._distinct))

    def _new_engine(self) -> Engine:
        return Engine(self.options.assumptions, lambda: time.time(), kept=self._kept)

    def _put_fresh_engine(self) -> Engine:
        self._engine = self._new_engine()
        return self._engine

    def _world(self, account: str) -> World:
        return self._engine.machine.world(account)

    def _call(self, method: str, path: str, account: str) -> Call:
        """A call of the customer's: no request, no key."""
        route = find(method, path)
        assert route is not None, "the paths here exist"
        machine = self._engine.machine
        return Call(
            endpoint=route.endpoint,
            path=path,
            ids=route.ids,
            params={},
            world=machine.world(account),
            now=int(self.clock.now()),
            request=None,
            key=None,
            assumptions=machine.assumptions,
            worlds=machine.world,
            makers=resources.makers(),
        )
