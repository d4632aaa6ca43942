"""Hooks of this plugin, for a project's conftest.py."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pytest_stripe_idem.core.money_call import MoneyCall


@pytest.hookspec(firstresult=True)
def pytest_stripe_idem_identity(call: MoneyCall) -> Hashable | None:
    """Which purchase a money call belongs to: calls with an equal answer are one charge.

    Return None to leave a call to the rules of the plugin.
    """
