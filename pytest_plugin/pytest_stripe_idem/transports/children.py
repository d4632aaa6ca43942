"""Child processes of a test: forked, spawned, or started as programs of their own.

A forked child has the parent's memory but not its state from then on: it is switched over to the
loopback server. Any other Python is told by the environment, and by a `sitecustomize` on its path
that puts the same patches in place. A child that drops `PYTHONPATH` (`python -I`) is not reached.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from pytest_stripe_idem.transports import sdk
from pytest_stripe_idem.transports.forward import Forward
from pytest_stripe_idem.transports.install import patches
from pytest_stripe_idem.transports.switch import name_run, switch

PORT = "STRIPE_IDEM_PORT"
RUN = "STRIPE_IDEM_RUN"
SDK_RETRIES = "STRIPE_IDEM_SDK_RETRIES"
SITE = str(Path(__file__).parent / "child_site")


@contextmanager
def reached(port: int, *, sdk_retries: bool = False) -> Iterator[None]:
    """Children started inside reach the fake behind that port.

    Args:
        sdk_retries: Leave the SDK's own retries on in them.
    """
    global _port
    outer = _port
    before = {name: os.environ.get(name) for name in (PORT, SDK_RETRIES, "PYTHONPATH")}
    paths = [SITE, *filter(None, [before["PYTHONPATH"]])]
    os.environ[PORT] = str(port)
    os.environ[SDK_RETRIES] = "1" if sdk_retries else ""
    os.environ["PYTHONPATH"] = os.pathsep.join(paths)
    _port = port
    _watch_forks()
    try:
        yield
    finally:
        _port = outer
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def join(port: int) -> None:
    """Called in a fresh Python: every request to Stripe goes to the fake behind that port."""
    patches.also("stripe", _prepare)
    patches.install()
    switch.forward = Forward(port)
    name_run(os.environ.get(RUN, ""))


def leave() -> Callable[[], None]:
    """Called by a pytest that runs inside a test of another: it has fakes of its own.

    What is returned brings back what was before.
    """
    forward, port = switch.forward, os.environ.pop(PORT)
    switch.forward = None

    def come_back() -> None:
        switch.forward = forward
        os.environ[PORT] = port

    return come_back


def _prepare(module: ModuleType) -> Callable[[], None]:
    return sdk.prepare(module, keep_retries=bool(os.environ.get(SDK_RETRIES)))


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
