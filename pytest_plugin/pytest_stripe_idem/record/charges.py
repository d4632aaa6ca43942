"""Exchanges put together into logical charges."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pytest_stripe_idem.core.money_call import MoneyCall
from pytest_stripe_idem.record.exchange import Exchange
from pytest_stripe_idem.record.identity import Identify, Identity, identify


@dataclass(frozen=True, slots=True)
class LogicalCharge:
    """One charge, however often it was sent.

    Attributes:
        exchanges: All requests for it, in the order they began.
    """

    identity: Identity
    exchanges: tuple[Exchange, ...]

    @property
    def first(self) -> Exchange:
        return self.exchanges[0]

    @property
    def keys(self) -> tuple[str | None, ...]:
        """The keys in the order they were first sent; each request without one counts."""
        found: list[str | None] = []
        for each in self.exchanges:
            key = each.call.counted_key
            if key is None or key not in found:
                found.append(key)
        return tuple(found)

    @property
    def executed(self) -> tuple[Exchange, ...]:
        """Those that had an effect."""
        return tuple(each for each in self.exchanges if each.succeeded)


@dataclass(frozen=True, slots=True)
class Grouping:
    """How requests are put together.

    Attributes:
        own: The project's callables.
        volatile: Further parameters that do not count.
        distinct: Fields whose requests are separate purchases on purpose; `*` for all.
    """

    own: tuple[Identify, ...] = ()
    volatile: frozenset[str] = frozenset()
    distinct: tuple[str, ...] = ()

    def identity(self, call: MoneyCall) -> Identity:
        found = identify(call, self.own, self.volatile)
        if not self.apart(call):
            return found
        # Separate on purpose: only requests under one key belong together.
        return Identity(found.where, found.fields, ("distinct", call.counted_key))

    def apart(self, call: MoneyCall) -> bool:
        """Whether the test declared requests like this one separate purchases."""
        return any(name == "*" or name in call.flat for name in self.distinct)


def logical_charges(exchanges: Iterable[Exchange], grouping: Grouping) -> tuple[LogicalCharge, ...]:
    """The charges among some exchanges, in the order of their first requests."""
    found: dict[Identity, list[Exchange]] = {}
    for each in exchanges:
        if each.call.method != "POST" or not each.call.moves_money:
            continue
        found.setdefault(grouping.identity(each.call), []).append(each)
    return tuple(LogicalCharge(identity, tuple(group)) for identity, group in found.items())
