"""Laws that hold for any interleaving of faults, retries, clock moves and concurrent requests.

- One key, one endpoint, one set of parameters: one object, as long as the key is remembered.
- Whoever was told of a success was told of the one there is.
- Money is conserved: charges less refunds are the balance, and no refund exceeds its charge.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from plugin.sending import NOON, request
from pytest_stripe_idem.core.assumptions import Assumptions
from pytest_stripe_idem.core.exchange import Caller, Handling
from pytest_stripe_idem.core.response import Outcome, StripeResponse
from pytest_stripe_idem.engine import Engine

KEYS = st.sampled_from(["k1", "k2", "k3"])
AMOUNTS = st.sampled_from([100, 250, 4900])
FAULTS = st.sampled_from(
    ["lose_response", "reset_before", "server_error", "rate_limit", "lock_timeout", "unavailable",
     "decline"]
)  # fmt: skip
DAY = 24 * 3600


class Laws(RuleBasedStateMachine):
    """A client that charges, refunds, retries and gives up in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.now = NOON
        self.engine = Engine(Assumptions(), lambda: self.now)
        # For each key: what was sent first, when, and the charge it was told of.
        self.first: dict[str, tuple[int, float]] = {}
        self.told: dict[str, set[str]] = {}
        self.flying: list[tuple[str, int, Handling]] = []
        self.charged: set[str] = set()

    def begin(self, amount: int, key: str) -> Handling:
        params = {"amount": amount, "currency": "usd", "source": "tok_visa"}
        sent = request("POST", "/v1/charges", params, key=key)
        return self.engine.handle(sent, Caller(client="test"))

    def finish(self, handling: Handling) -> Outcome:
        try:
            while True:
                next(handling)
        except StopIteration as end:
            outcome: Outcome = end.value
            return outcome

    def take(self, key: str, amount: int, outcome: Outcome) -> None:
        """Notes what a client was told and checks it against what it was told before."""
        if not isinstance(outcome, StripeResponse):
            return
        same = self.first.get(key, (amount, 0))[0] == amount
        if outcome.status == 200:
            charge = outcome.json()
            assert charge["amount"] == amount
            self.told.setdefault(key, set()).add(charge["id"])
            assert len(self.told[key]) == 1, "one key was told of two charges"
        elif outcome.status == 400:
            assert not same, "the same request was refused under its own key"
            assert outcome.json()["error"]["type"] == "idempotency_error"

    def remember(self, key: str, amount: int) -> None:
        """The first request under a key that is not remembered any more starts a new one."""
        known = self.first.get(key)
        if known is None or self.now - known[1] >= DAY:
            stored = any(
                name.key == key and self.engine.machine.keys.look_up(name, self.now)
                for name in list(self.engine.machine.keys._entries)
            )
            if not stored:
                self.first.pop(key, None)
                self.told.pop(key, None)
                self.first[key] = (amount, self.now)

    @rule(key=KEYS, amount=AMOUNTS)
    def charge(self, key: str, amount: int) -> None:
        self.remember(key, amount)
        self.take(key, amount, self.finish(self.begin(amount, key)))
        self.settle_first(key)

    @rule(key=KEYS, amount=AMOUNTS)
    @precondition(lambda self: len(self.flying) < 3)
    def start_charge(self, key: str, amount: int) -> None:
        self.remember(key, amount)
        handling = self.begin(amount, key)
        try:
            next(handling)
        except StopIteration as end:
            self.take(key, amount, end.value)
            self.settle_first(key)
        else:
            self.flying.append((key, amount, handling))

    @rule(place=st.integers(0, 2))
    @precondition(lambda self: bool(self.flying))
    def end_charge(self, place: int) -> None:
        key, amount, handling = self.flying.pop(place % len(self.flying))
        self.take(key, amount, self.finish(handling))

    @rule(fault=FAULTS)
    def something_goes_wrong(self, fault: str) -> None:
        getattr(self.engine.faults, fault)()

    @rule(seconds=st.sampled_from([60.0, DAY / 2, DAY + 1.0]))
    @precondition(lambda self: not self.flying)
    def time_passes(self, seconds: float) -> None:
        self.now += seconds

    @rule(share=st.sampled_from([0.3, 0.5, 1.0]), key=KEYS)
    @precondition(lambda self: any(self.engine.machine.world().all("charge")))
    def refund(self, share: float, key: str) -> None:
        charge = next(iter(self.engine.machine.world().all("charge")))
        amount = max(1, int(charge["amount"] * share))
        sent = request("POST", "/v1/refunds", {"charge": charge["id"], "amount": amount})
        self.finish(self.engine.handle(sent, Caller(client="test")))

    def settle_first(self, key: str) -> None:
        """Where nothing was stored (the edge, a reset), the key is as new as before."""
        names = self.engine.machine.keys._entries
        if not any(name.key == key for name in names):
            self.first.pop(key, None)

    @invariant()
    def money_is_conserved(self) -> None:
        world = self.engine.machine.world()
        charges = [each for each in world.all("charge") if each["captured"]]
        refunds = list(world.all("refund"))
        taken = sum(each["amount_captured"] for each in charges)
        given = sum(each["amount"] for each in refunds)
        assert world.ledger.total("usd") == taken - given
        for charge in charges:
            own = sum(each["amount"] for each in refunds if each["charge"] == charge["id"])
            assert own == charge["amount_refunded"] <= charge["amount_captured"]

    @invariant()
    def one_key_made_one_charge_while_it_was_remembered(self) -> None:
        done: dict[str, list[Any]] = {}
        for each in self.engine.recorder.all():
            if each.succeeded and each.call.key:
                done.setdefault(each.call.key, []).append(each)
        for exchanges in done.values():
            times = sorted(each.at for each in exchanges)
            gaps = [late - early for early, late in pairwise(times)]
            assert all(gap >= DAY for gap in gaps), "one key was executed twice within a day"


TestLaws = Laws.TestCase
TestLaws.settings = settings(
    max_examples=60,
    stateful_step_count=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)


@pytest.mark.parametrize("workers", [2, 8])
def test_threads_under_one_key_make_one_charge(workers: int) -> None:
    """The same law with real threads, which no state machine can order."""
    import threading

    from pytest_stripe_idem.transports.driving import drive

    engine = Engine(Assumptions(), lambda: NOON)
    params = {"amount": 100, "currency": "usd", "source": "tok_visa"}
    outcomes: list[Outcome] = []

    def send() -> None:
        for _ in range(50):
            sent = request("POST", "/v1/charges", params, key="k")
            outcomes.append(drive(engine.handle(sent, Caller(client="test"))))

    threads = [threading.Thread(target=send) for _ in range(workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    statuses = [each.status for each in outcomes if isinstance(each, StripeResponse)]
    assert set(statuses) <= {200, 409}
    assert len(list(engine.machine.world().all("charge"))) == 1
