"""The last net: a name of Stripe's that is looked up after all is refused.

Whatever client has no patch of its own (a raw socket, a library nobody thought of) asks for the
address first. Nothing reaches the real service. `socket` is imported at every start of pytest, so
this module imports nothing until a name of Stripe's is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from pytest_stripe_idem.transports.patches import Patch


def plan(module: ModuleType) -> Sequence[Patch]:
    return [Patch(module, "getaddrinfo", _refusing)]


def _refusing(original: Callable[..., Any]) -> Callable[..., Any]:
    def getaddrinfo(host: Any, *args: Any, **more: Any) -> Any:
        name = host.decode("ascii", "replace") if isinstance(host, bytes) else host
        if isinstance(name, str) and name.lower().rstrip(".").endswith(".stripe.com"):
            _refuse(name)
        return original(host, *args, **more)

    return getaddrinfo


def _refuse(name: str) -> None:
    from pytest_stripe_idem.transports.errors import StripeRefused
    from pytest_stripe_idem.transports.switch import takes

    if takes(name):
        raise StripeRefused("a connection to", name, "")
