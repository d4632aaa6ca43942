"""A fake Stripe for tests: it keeps Stripe's promises about idempotency keys, and a test fails when
one charge gets two of them.

This module is imported at every start of pytest, so it imports nothing itself; names are fetched
when they are first asked for.

PYTEST_DONT_REWRITE: a pytest that a test starts has imported it before, and need not warn of that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_stripe_idem.core.assumptions import Assumptions
    from pytest_stripe_idem.core.machine import Machine
    from pytest_stripe_idem.core.money_call import MoneyCall
    from pytest_stripe_idem.core.request import StripeRequest
    from pytest_stripe_idem.core.response import StripeResponse
    from pytest_stripe_idem.core.webhooks import Webhook
    from pytest_stripe_idem.harness import FakeStripe
    from pytest_stripe_idem.replaying import CrashResult, FreshInterpreterError
    from pytest_stripe_idem.session import ServerView
    from pytest_stripe_idem.transports.errors import LiveKeyRefused, ProcessKilled, StripeRefused

__all__ = [
    "Assumptions",
    "CrashResult",
    "FakeStripe",
    "FreshInterpreterError",
    "LiveKeyRefused",
    "Machine",
    "MoneyCall",
    "ProcessKilled",
    "ServerView",
    "StripeRefused",
    "StripeRequest",
    "StripeResponse",
    "Webhook",
]

_HOMES = {
    "Assumptions": "core.assumptions",
    "CrashResult": "replaying",
    "FakeStripe": "harness",
    "FreshInterpreterError": "replaying",
    "LiveKeyRefused": "transports.errors",
    "Machine": "core.machine",
    "MoneyCall": "core.money_call",
    "ProcessKilled": "transports.errors",
    "ServerView": "session",
    "StripeRefused": "transports.errors",
    "StripeRequest": "core.request",
    "StripeResponse": "core.response",
    "Webhook": "core.webhooks",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
