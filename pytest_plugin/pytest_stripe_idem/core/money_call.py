"""One request as a project's own code sees it: in predicates of faults and in identities."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from pytest_stripe_idem.core.form import flatten
from pytest_stripe_idem.core.request import StripeRequest
from pytest_stripe_idem.core.world import PLATFORM

# These are told apart by an identifier of their own, which does what a key does.
IDENTIFIED = frozenset({"/v1/billing/meter_events", "/v2/billing/meter_events"})


@dataclass(frozen=True, slots=True)
class MoneyCall:
    """A request to Stripe.

    Attributes:
        endpoint: The path with `{}` for ids; empty for an unknown one.
        params: Its parameters, nested, values as sent.
        account: The connected account it is for; `acct_platform` without one.
        key: The idempotency key as sent; None where there was none.
        automatic: The SDK made the key.
        money: The class of money movement (`charge`, `refund`, …); None for calls that move none.
        guarded: The object's state refuses a second execution.
    """

    method: str
    path: str
    endpoint: str = ""
    params: Mapping[str, Any] = field(default_factory=dict)
    account: str = PLATFORM
    key: str | None = None
    automatic: bool = False
    money: str | None = None
    guarded: bool = False

    @property
    def moves_money(self) -> bool:
        """Whether executing it can move money or make something payable."""
        return self.money is not None

    @property
    def metadata(self) -> Mapping[str, str]:
        given = self.params.get("metadata")
        return given if isinstance(given, dict) else {}

    @property
    def flat(self) -> Mapping[str, str]:
        """Parameters by the name a person writes: `metadata[order_id]`."""
        return {name: str(value) for name, value in flatten(dict(self.params))}

    @property
    def counted_key(self) -> str | None:
        """What Stripe tells this request apart by: the key, or an identifier of its own."""
        if self.endpoint in IDENTIFIED and self.params.get("identifier"):
            return f"identifier {self.params['identifier']}"
        return self.key

    @property
    def keyless(self) -> bool:
        """No key of the user's own: none at all, or one the SDK made."""
        return self.counted_key is None or (self.automatic and self.counted_key == self.key)


def read_call(request: StripeRequest, automatic: bool) -> MoneyCall:
    """The view of a request; parameters that cannot be read are empty."""
    route = request.route()
    try:
        params = request.params()
    except ValueError:
        params = {}
    endpoint = route.endpoint if route else None
    return MoneyCall(
        method=request.method,
        path=request.path,
        endpoint=endpoint.path if endpoint else "",
        params=MappingProxyType(params),
        account=request.account_header or PLATFORM,
        key=request.idempotency_key,
        automatic=automatic,
        money=endpoint.money if endpoint and not endpoint.test_helper else None,
        guarded=endpoint.guarded if endpoint else False,
    )
