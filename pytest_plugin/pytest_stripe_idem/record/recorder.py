"""Keeps the exchanges of a test, in the order in which they began."""

from __future__ import annotations

from collections import deque
from typing import Any

from pytest_stripe_idem.core.exchange import Caller
from pytest_stripe_idem.core.machine import Answer
from pytest_stripe_idem.core.money_call import MoneyCall
from pytest_stripe_idem.core.response import Break
from pytest_stripe_idem.record.exchange import Exchange, Run

_BROKEN = {
    Break.READ_TIMEOUT: "response lost",
    Break.RESET: "connection reset",
    Break.KILLED: "process killed",
}


class Recorder:
    """Not locked: its caller holds the lock of the fake.

    Args:
        kept: How many exchanges are kept, the newest; None for all.
    """

    def __init__(self, kept: int | None = None) -> None:
        self._exchanges: deque[Exchange] = deque(maxlen=kept)
        self._count = 0
        self._order = 0

    def all(self) -> tuple[Exchange, ...]:
        """The exchanges kept, oldest first."""
        return tuple(self._exchanges)

    @property
    def count(self) -> int:
        """How many there have been."""
        return self._count

    def begin(self, call: MoneyCall, caller: Caller, now: float, run: Run | None) -> Exchange:
        """Notes that a request came."""
        self._count += 1
        self._order += 1
        made = Exchange(
            number=self._count,
            at=now,
            call=call,
            client=caller.client,
            place=caller.place,
            worker=caller.worker,
            run=run or Run.read(caller.run),
            began=self._order,
        )
        self._exchanges.append(made)
        return made

    def answered(self, exchange: Exchange, answer: Answer) -> None:
        """Notes what the fake answered."""
        body = _json(answer)
        error = body.get("error")
        error = error if isinstance(error, dict) else {}
        exchange.status = answer.response.status
        exchange.executed, exchange.replayed = answer.executed, answer.replayed
        exchange.made = answer.made
        exchange.error_type = str(error.get("type") or "")
        exchange.error_code = str(error.get("code") or "")
        if exchange.executed:
            exchange.moved, exchange.currency = _amount(body, exchange.call)

    def end(self, exchange: Exchange, broken: Break | None, gone: bool) -> None:
        """Notes what reached the client."""
        self._order += 1
        exchange.ended = self._order
        exchange.delivered = broken is None and not gone
        exchange.broken = _BROKEN[broken] if broken else "client gave up" if gone else ""
        if broken is Break.KILLED:
            self._forget(exchange.process)

    def _forget(self, process: str) -> None:
        """A process that was killed takes with it what it had been told."""
        for each in self._exchanges:
            if each.process == process and not each.forgotten:
                each.forgotten = self._order


def _json(answer: Answer) -> dict[str, Any]:
    found = answer.response.json()
    return found if isinstance(found, dict) else {}


def _amount(body: dict[str, Any], call: MoneyCall) -> tuple[int | None, str]:
    """What was moved, from the object that answered, else from the request."""
    for name in ("amount", "amount_total", "amount_due", "amount_paid", "total"):
        value = body.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return value, str(body.get("currency") or "")
    given = call.params.get("amount")
    if isinstance(given, dict):  # v2: {"value": 100, "currency": "usd"}
        return int(given.get("value") or 0), str(given.get("currency") or "")
    text = str(given or "")
    currency = str(call.params.get("currency") or "")
    return (int(text), currency) if text.lstrip("-").isdigit() else (None, currency)
