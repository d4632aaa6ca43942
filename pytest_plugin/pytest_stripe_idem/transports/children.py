"""Child processes of a test, seen from the test: forked, spawned, or programs of their own.

A forked child has the parent's memory but not its state from then on: it is switched over to the
loopback server. Any other Python is told by the environment, and by a `sitecustomize` on its path
that puts the same patches in place (`child.py`). A child that drops `PYTHONPATH` (`python -I`) is
not reached.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from pytest_stripe_idem.transports import environment
from pytest_stripe_idem.transports.forward import Forward
from pytest_stripe_idem.transports.switch import switch


@contextmanager
def reached(port: int, *, sdk_retries: bool = False) -> Iterator[None]:
    """Children started inside reach the fake behind that port.

    Args:
        sdk_retries: Leave the SDK's own retries on in them.
    """
    global _port
    outer, _port = _port, port
    retries = "1" if sdk_retries else ""
    put_back = environment.tell(**{environment.PORT: str(port), environment.SDK_RETRIES: retries})
    _watch_forks()
    try:
        yield
    finally:
        _port = outer
        put_back()


# The port of the running test, for forks.
_port: int | None = None
_watching = False


def _watch_forks() -> None:
    global _watching
    if not _watching and hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_in_fork)
    _watching = True


def _in_fork() -> None:
    if _port is not None and switch.handler is not None:
        switch.handler = None
        switch.forward = Forward(_port)
