"""The fake's clock: another clock, shifted.

A base that is frozen (freezegun, time-machine) freezes this one too; `advance` moves it alone.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta


class Clock:
    """Seconds since 1970, from `base`, plus what was advanced."""

    def __init__(self, base: Callable[[], float]) -> None:
        self._base = base
        self._ahead = 0.0

    def now(self) -> float:
        return self._base() + self._ahead

    def advance(
        self, *, seconds: float = 0, minutes: float = 0, hours: float = 0, days: float = 0
    ) -> None:
        """Moves the clock of the fake forward, never back.

        Raises:
            ValueError: A negative step.
        """
        step = timedelta(seconds=seconds, minutes=minutes, hours=hours, days=days).total_seconds()
        if step < 0:
            raise ValueError("the clock of the fake only moves forward")
        self._ahead += step

    def today(self) -> datetime:
        """The time of the fake as a UTC datetime."""
        return datetime.fromtimestamp(self.now(), UTC)
