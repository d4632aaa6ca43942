"""The clock on the wall, which no test moves: for limits and for latency that is real."""

from __future__ import annotations

import time

# In a tuple, because freezegun replaces module attributes that are clocks.
_REAL = (time.monotonic,)


def wall() -> float:
    """Seconds since some moment, only ever forward."""
    return _REAL[0]()
