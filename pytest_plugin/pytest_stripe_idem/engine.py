"""One fake Stripe at work: faults, machine, recorder, faults again, under one lock.

    client ─▶ transport ─▶ handle ─▶ faults before ─▶ begin ─▶ (in flight) ─▶ finish ─▶ faults after

It is the `Handler` that every transport drives. What it yields are the points at which others may
run; it holds its lock at none of them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass

from pytest_stripe_idem.core.assumptions import Assumptions
from pytest_stripe_idem.core.clock import Clock
from pytest_stripe_idem.core.errors import ApiError
from pytest_stripe_idem.core.exchange import Caller, Handling, Pause
from pytest_stripe_idem.core.machine import Answer, Claim, Decline, Machine, Override
from pytest_stripe_idem.core.money_call import MoneyCall, read_call
from pytest_stripe_idem.core.request import StripeRequest
from pytest_stripe_idem.core.response import Break, ConnectionBroken, Outcome
from pytest_stripe_idem.faults.kinds import (
    Edge,
    Hold,
    Instead,
    KillAfter,
    KillBefore,
    Kind,
    LoseResponse,
    Reset,
    Slow,
)
from pytest_stripe_idem.faults.script import Faults
from pytest_stripe_idem.faults.wall import wall
from pytest_stripe_idem.record.exchange import Exchange, Run
from pytest_stripe_idem.record.recorder import Recorder


@dataclass(frozen=True, slots=True)
class Cap:
    """What a test may spend.

    Attributes:
        amount: In the smallest unit of the currency; executed debits above it are too much.
        currency: Only that one; None for all together.
        refuse: Answer what would go above with 403, as a restricted key would.
    """

    amount: float
    currency: str | None = None
    refuse: bool = False


class Gate:
    """Where the workers of `concurrently` wait for each other, so that all are under way at once.

    Each worker stops at it once before the key store is read and once before the commit. Who has
    ended is not waited for, and nobody waits longer than `LIMIT` seconds: the code under test may
    hold a lock of its own.
    """

    LIMIT = 0.5

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._ended = 0
        self._arrived = {"begin": 0, "commit": 0}
        self._lock = threading.Lock()

    def ended(self) -> None:
        """A worker has nothing more to send."""
        with self._lock:
            self._ended += 1

    def passed(self, stage: str) -> None:
        """A worker goes past a stage without stopping at it."""
        with self._lock:
            self._arrived[stage] += 1

    def arrive(self, stage: str) -> Callable[[], bool]:
        """Says when a worker that stops here may go on."""
        self.passed(stage)
        until = wall() + self.LIMIT
        return lambda: self._open(stage) or wall() > until

    def _open(self, stage: str) -> bool:
        with self._lock:
            return self._arrived[stage] + self._ended >= self._workers


class Worker:
    """One of the workers behind a gate; only its first money call stops there."""

    def __init__(self, gate: Gate) -> None:
        self.gate = gate
        self.fresh = True


# Set inside the threads and tasks of a repetition.
current_worker: ContextVar[Worker | None] = ContextVar("stripe_idem_worker", default=None)
current_run: ContextVar[Run | None] = ContextVar("stripe_idem_run", default=None)


class Engine:
    """State, faults and record of one fake.

    Args:
        base: The clock it runs on, seconds since 1970.
        kept: How many exchanges are kept; None for all.
    """

    def __init__(
        self,
        assumptions: Assumptions,
        base: Callable[[], float],
        *,
        kept: int | None = None,
    ) -> None:
        self.machine = Machine(assumptions)
        self.clock = Clock(base)
        self.faults = Faults(wall)
        self.recorder = Recorder(kept)
        self.cap: Cap | None = None
        self.complaints: list[str] = []
        # The run that goes on in this process as a whole; a worker's own goes before it.
        self.run: Run | None = None
        self.lock = threading.RLock()

    def handle(self, request: StripeRequest, caller: Caller) -> Handling:
        """Answers one request; see the module."""
        call = read_call(request, caller.automatic)
        worker = self._gated(call)
        if worker is not None:
            yield Pause(worker.gate.arrive("begin"))
        with self.lock:
            due = self.faults.due(call)
            exchange = self.recorder.begin(
                call, caller, self.clock.now(), current_run.get() or self.run
            )
            exchange.faults += [each.name for each in due]
            answer, broken = self._before(request, due)
            begun = answer or (None if broken else self.machine.begin(request, self.clock.now()))
            begun = self._spare(begun)
        gone = False
        try:
            if isinstance(begun, Claim):
                gone = (yield Pause()) == "gone"
                for pause in self._waits(due, caller, worker):
                    gone = (yield pause) == "gone" or gone
        except GeneratorExit:
            self._abandon(begun, exchange)
            raise
        if worker is not None and not isinstance(begun, Claim):
            worker.gate.passed("commit")
        with self.lock:
            if isinstance(begun, Claim):
                begun = self.machine.finish(begun, self.clock.now(), _override(due))
            broken = broken or self._broken(due, caller)
            if begun is not None:
                self.recorder.answered(exchange, begun)
            self.recorder.end(exchange, broken, gone)
        return _outcome(begun, broken)

    def _gated(self, call: MoneyCall) -> Worker | None:
        worker = current_worker.get()
        if worker is None or not worker.fresh or not call.moves_money:
            return None
        worker.fresh = False
        return worker

    def _before(
        self, request: StripeRequest, due: tuple[Kind, ...]
    ) -> tuple[Answer | None, Break | None]:
        """Route and authorization, then what happens before the key store is touched."""
        refused = self.machine.check_access(request)
        if refused is not None:
            return refused, None
        for each in due:
            match each:
                case KillBefore():
                    return None, Break.KILLED
                case Reset():
                    return None, Break.RESET
                case Edge():
                    return self.machine.refuse(each.error()), None
        return None, None

    def _spare(self, begun: Answer | Claim | None) -> Answer | Claim | None:
        """Refuses what would go above the cap, where the test wants that."""
        cap = self.cap
        if cap is None or not cap.refuse or not isinstance(begun, Claim):
            return begun
        endpoint = begun.route.endpoint
        amount = begun.call.params.get("amount")
        if endpoint.money not in DEBITS or not isinstance(amount, int):
            return begun
        if self.spent(cap.currency) + amount <= cap.amount:
            return begun
        self.machine.abandon(begun)
        message = f"This key may not spend more than {cap.amount:g} in this test."
        return self.machine.refuse(ApiError(403, "invalid_request_error", message))

    def _waits(self, due: tuple[Kind, ...], caller: Caller, worker: Worker | None) -> list[Pause]:
        """Where this request waits while it is in flight."""
        pauses = [] if worker is None else [Pause(worker.gate.arrive("commit"))]
        for each in due:
            match each:
                case Hold():
                    pauses.append(Pause(self._held(each)))
                case Slow(seconds=seconds, real=True):
                    pauses.append(Pause(_after(min(seconds, caller.timeout or seconds))))
        return pauses

    def _held(self, hold: Hold) -> Callable[[], bool]:
        may_go = hold.held.arrive()

        def may_go_or_complain() -> bool:
            go = may_go()
            if go and hold.held.overdue:
                limit = f"{hold.held.LIMIT:g}"
                self.complaints.append(
                    f"a held request was never released (gave up after {limit} seconds)"
                )
            return go

        return may_go_or_complain

    def _broken(self, due: tuple[Kind, ...], caller: Caller) -> Break | None:
        broken: Break | None = None
        for each in due:
            match each:
                case KillAfter():
                    return Break.KILLED
                case LoseResponse(how=how):
                    broken = how
                case Slow(seconds=seconds, real=real):
                    if not real:
                        self.clock.advance(seconds=min(seconds, caller.timeout or seconds))
                    if caller.timeout is not None and seconds > caller.timeout:
                        broken = broken or Break.READ_TIMEOUT
        return broken

    def _abandon(self, begun: Answer | Claim | None, exchange: Exchange) -> None:
        with self.lock:
            if isinstance(begun, Claim):
                self.machine.abandon(begun)
            self.recorder.end(exchange, Break.RESET, gone=True)

    def spent(self, currency: str | None = None) -> int:
        """Executed debits of all accounts: what customers were charged, in the smallest unit."""
        return sum(
            entry["amount"]
            for world in self.machine.worlds()
            for entry in world.ledger.entries()
            if entry["type"] == "charge" and currency in (None, entry["currency"])
        )


# Classes of money movement that charge a customer.
DEBITS = frozenset({"charge", "capture", "invoice", "subscription", "checkout"})


def _after(seconds: float) -> Callable[[], bool]:
    """Says when that much time has passed on the wall."""
    until = wall() + seconds
    return lambda: wall() >= until


def _override(due: tuple[Kind, ...]) -> Override | Decline | None:
    return next((each.override for each in due if isinstance(each, Instead)), None)


def _outcome(begun: Answer | Claim | None, broken: Break | None) -> Outcome:
    if broken is not None:
        return ConnectionBroken(broken)
    assert isinstance(begun, Answer), "what is not broken has been answered"
    return begun.response
