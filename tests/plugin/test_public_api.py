"""What a billing repository's tests import and call, typed: mypy reads this file as they would."""

from __future__ import annotations

from collections.abc import Hashable

import pytest

import pytest_stripe_idem
from pytest_stripe_idem import (
    CrashResult,
    FakeStripe,
    MoneyCall,
    ProcessKilled,
    ServerView,
    Webhook,
)


def same_payment(call: MoneyCall) -> Hashable | None:
    """A project's own identity."""
    return call.metadata.get("cart") or call.params.get("transfer_group")


def typed_test(fake_stripe: FakeStripe, fake_stripe_server: ServerView) -> None:
    """Never run: every line has to pass the type checker."""
    fake_stripe.faults.lose_response(nth=2)
    fake_stripe.faults.decline(endpoint="POST /v1/charges", decline_code="insufficient_funds")
    fake_stripe.faults.slow(1.5, when=lambda call: call.moves_money)
    with fake_stripe.faults.hold(key="k") as held:
        held.wait()
    fake_stripe.clock.advance(hours=25)
    fake_stripe.expect_distinct(by="metadata[order_id]")
    fake_stripe.spend_cap(4900 * 1.10, currency="usd", refuse=True)
    result: CrashResult = fake_stripe.crash_points(lambda: None, lambda: None, reset=lambda: None)
    told: list[str] = [str(failure) for failure in result.failures]
    hook: Webhook = fake_stripe.webhook("charge.succeeded")
    payload: bytes = hook.payload
    url: str = fake_stripe_server.url
    balance: int = fake_stripe.balance("usd")
    names: list[str] = [each.kind for each in fake_stripe.divergences]
    assert told or payload or url or balance or names


def test_every_public_name_is_there() -> None:
    for name in pytest_stripe_idem.__all__:
        assert getattr(pytest_stripe_idem, name).__name__ == name


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'FakeStrip'"):
        _ = pytest_stripe_idem.FakeStrip


def test_a_kill_is_a_base_exception_of_its_own() -> None:
    assert issubclass(ProcessKilled, BaseException)
    assert not issubclass(ProcessKilled, Exception)
