"""The money of one account: balance transactions, and what is left after all of them.

No fees: what is charged less what is refunded, transferred and paid out is the balance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

DAY = 86_400


class Ledger:
    """Entries in the order they were made; each is the `balance_transaction` object itself."""

    def __init__(self, new_id: Callable[[], str]) -> None:
        self._new_id = new_id
        self._entries: list[dict[str, Any]] = []
        self._sums: dict[str, int] = {}

    def post(
        self, amount: int, currency: str, *, kind: str, source: str, now: int, available_on: int
    ) -> dict[str, Any]:
        """Books an amount in the smallest unit; negative takes money out.

        Args:
            kind: Stripe's `type`: `charge`, `refund`, `payout`, `transfer`, `topup`, …
            source: Id of the object it comes from.
            available_on: When it counts as available, in seconds since 1970.
        """
        entry = {
            "id": self._new_id(),
            "object": "balance_transaction",
            "amount": amount,
            "available_on": available_on,
            "balance_type": "payments",
            "created": now,
            "currency": currency,
            "description": None,
            "exchange_rate": None,
            "fee": 0,
            "fee_details": [],
            "net": amount,
            "reporting_category": kind,
            "source": source,
            "status": "available" if available_on <= now else "pending",
            "type": kind,
        }
        self._entries.append(entry)
        self._sums[currency] = self._sums.get(currency, 0) + amount
        return entry

    def entries(self) -> Iterator[Mapping[str, Any]]:
        """All bookings, oldest first."""
        return iter(self._entries)

    def total(self, currency: str) -> int:
        """Available and pending together."""
        return self._sums.get(currency, 0)

    def available(self, currency: str, now: float) -> int:
        """What a payout may take."""
        waiting = sum(
            each["amount"]
            for each in self._entries
            if each["currency"] == currency
            and each["status"] == "pending"
            # A pending entry becomes available with time alone.
            and not self._ripened(each, now)
        )
        return self.total(currency) - int(waiting)

    def currencies(self) -> tuple[str, ...]:
        return tuple(sorted(self._sums))

    @staticmethod
    def _ripened(entry: dict[str, Any], now: float) -> bool:
        if entry["available_on"] <= now:
            entry["status"] = "available"
        return bool(entry["status"] == "available")
