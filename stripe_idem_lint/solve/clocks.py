"""Arithmetic on clock readings: how many units a second has, and so whether a quotient is a clock or a window.

time.time() // 300                     # five minutes: a window
int(time.time() * 1000) // 1000        # a second: still a clock
time.time_ns() // 1_000_000            # a millisecond: still a clock
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stripe_idem_lint.solve.alternatives import coarser
from stripe_idem_lint.solve.values import Born, Known, Lazy, Text, Val

if TYPE_CHECKING:
    from stripe_idem_lint.solve.evaluate import Evaluator

_WINDOW = 60
"""Seconds from which on a quotient is a window."""
_KEEPING = frozenset({"int", "round", "float", "timestamp", "floor", "trunc"})


def quotient(ev: Evaluator, left: Val, right: Lazy) -> Val | None:
    """What dividing a clock reading, whole or scaled, gives; None where `left` is none."""
    told = clock_units(ev, left)
    if told is None:
        return None
    clock, per_second = told
    wide = number(ev, right) >= _WINDOW * per_second
    return Val(coarser(clock.what) if wide else clock.what, clock.frame, clock.at, clock.needs)


def clock_units(ev: Evaluator, val: Val, depth: int = 0) -> tuple[Val, float] | None:
    """The clock that a value counts, and its units per second; None if it counts none."""
    match val.what:
        case Born("clock" | "window", text):
            return val, 1e9 if text.endswith("_ns") else 1.0
        case Text("*" | "/", (one, two)) if depth < 4:
            for part, factor in ((one, two), (two, one)):
                for inner in ev.resolve(part):
                    told = clock_units(ev, inner, depth + 1)
                    if told is not None:
                        scale = number(ev, factor) or 1.0
                        return told[0], told[1] * scale if val.what.op == "*" else told[1] / scale
        case Text(op, (part,)) if op.lstrip(".") in _KEEPING and depth < 4:
            for inner in ev.resolve(part):
                return clock_units(ev, inner, depth + 1)
        case _:
            pass
    return None


def number(ev: Evaluator, lazy: Lazy, depth: int = 0) -> float:
    """The number a value is (`60 * 60`); 0 if that cannot be told."""
    for val in ev.resolve(lazy):
        match val.what:
            case Known(int() | float() as value):
                return float(value)
            case Text("*" | "**", (one, two)) if depth < 4:
                left, right = number(ev, one, depth + 1), number(ev, two, depth + 1)
                return left * right if val.what.op == "*" else left ** min(right, 12.0)
            case _:
                continue
    return 0.0
