"""A Python program that a run of pytest has started: its requests to Stripe go to that run.

Where no test has the fake they are refused there. It is imported in every such program that imports
a client, so it imports little itself.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from types import ModuleType

from pytest_stripe_idem.transports.environment import PORT, RUN, SDK_RETRIES
from pytest_stripe_idem.transports.install import patches

_SWITCH = f"{__package__}.switch"


def join() -> None:
    """Called once, before a client is imported: from here on the port in the environment counts."""
    patches.also("stripe", _prepare)
    patches.also(_SWITCH, _forward)
    patches.install()


def leave() -> Callable[[], None]:
    """Called by a pytest that runs inside a test of another: it has fakes of its own.

    What is returned brings back what was before.
    """
    global _left
    port = os.environ.pop(PORT)
    switched = sys.modules.get(_SWITCH)
    forward = switched.switch.forward if switched is not None else None
    _left = True
    if switched is not None:
        switched.switch.forward = None

    def come_back() -> None:
        global _left
        _left = False
        os.environ[PORT] = port
        if switched is not None:
            switched.switch.forward = forward

    return come_back


# Whether a pytest of its own runs in this process.
_left = False


def _forward(module: ModuleType) -> Callable[[], None]:
    if not _left:
        from pytest_stripe_idem.transports.forward import Forward

        module.switch.forward = Forward(int(os.environ[PORT]))
        module.name_run(os.environ.get(RUN, ""))
    return _nothing


def _prepare(module: ModuleType) -> Callable[[], None]:
    if _left:
        return _nothing
    from pytest_stripe_idem.transports import sdk

    return sdk.prepare(module, keep_retries=bool(os.environ.get(SDK_RETRIES)))


def _nothing() -> None:
    """Undoes nothing: the patches of a child stay until it ends."""
