"""A fake Stripe for tests: it keeps Stripe's promises about idempotency keys, and a test fails when
one charge gets two of them.

This module is imported at every start of pytest, so it imports nothing itself; names are fetched
when they are first asked for.
"""

from __future__ import annotations

__all__ = ["Assumptions", "Machine", "StripeRequest", "StripeResponse"]

_HOMES = {
    "Assumptions": "core.assumptions",
    "Machine": "core.machine",
    "StripeRequest": "core.request",
    "StripeResponse": "core.response",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
