"""A fake in front of every client of this process, for tests that look at it from inside.

The plugin's own fixtures are tested in runs of their own (`test_plugin.py`); here nothing depends on
whether the plugin is loaded in this run.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pytest_stripe_idem.harness import FakeStripe
from pytest_stripe_idem.options import Options
from pytest_stripe_idem.transports import children, sdk
from pytest_stripe_idem.transports.install import patches
from pytest_stripe_idem.transports.loopback import Loopback
from pytest_stripe_idem.transports.switch import switch


@pytest.fixture(scope="module")
def loopback() -> Iterator[Loopback]:
    """The loopback server of this run; children started meanwhile find it."""
    patches.install()
    refused = len(switch.refused)
    running = Loopback(lambda: switch.handler).start()
    with children.reached(running.port):
        yield running
    running.stop()
    # Refused on purpose here: nothing that the summary of this run should tell.
    del switch.refused[refused:]


@pytest.fixture
def fake(loopback: Loopback) -> Iterator[FakeStripe]:
    """A fake that answers every client, with the SDK's own retries off."""
    stripe = pytest.importorskip("stripe")
    made = FakeStripe(Options())
    put_back = sdk.prepare(stripe)
    try:
        with made.answering():
            yield made
    finally:
        put_back()
