"""Short ways to put a request to the machine, for tests that need no transport."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from pytest_stripe_idem.core.form import flatten
from pytest_stripe_idem.core.machine import Decline, Machine, Override
from pytest_stripe_idem.core.request import StripeRequest
from pytest_stripe_idem.core.response import StripeResponse

SECRET = "sk_test_123"

NOON = 1_790_000_000.0


def request(
    method: str,
    path: str,
    params: Mapping[str, Any] | None = None,
    *,
    key: str | None = None,
    **headers: str,
) -> StripeRequest:
    """A request as the SDK would send it; header names with `_` for `-`."""
    sent = {"authorization": f"Bearer {SECRET}"}
    sent |= {name.replace("_", "-"): value for name, value in headers.items()}
    if key is not None:
        sent["idempotency-key"] = key
    if path.startswith("/v2/") and method == "POST":
        body = json.dumps(params or {}).encode()
        return StripeRequest(method, path, headers=sent, body=body)
    spelled = encoded(params or {})
    if method == "POST":
        return StripeRequest(method, path, headers=sent, body=spelled.encode())
    return StripeRequest(method, path, query=spelled, headers=sent)


def encoded(params: Mapping[str, Any]) -> str:
    """The form Stripe's SDK sends: `metadata[a]=1&confirm=true`."""
    return urlencode([(name, _word(value)) for name, value in flatten(dict(params))])


def _word(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


class Desk:
    """One machine and one clock, with the verbs of a test.

    Attributes:
        now: Seconds since 1970; move it by hand.
    """

    def __init__(self, **assumptions: Any) -> None:
        from pytest_stripe_idem.core.assumptions import Assumptions

        self.machine = Machine(Assumptions().changed(assumptions))
        self.now = NOON

    def send(
        self,
        method: str,
        path: str,
        params: Mapping[str, Any] | None = None,
        *,
        key: str | None = None,
        override: Override | Decline | None = None,
        **headers: str,
    ) -> StripeResponse:
        sent = request(method, path, params, key=key, **headers)
        return self.machine.step(sent, self.now, override)

    def post(self, path: str, params: Mapping[str, Any] | None = None, **more: Any) -> Any:
        """The JSON of a POST that must succeed."""
        return self._good(self.send("POST", path, params, **more))

    def get(self, path: str, params: Mapping[str, Any] | None = None) -> Any:
        return self._good(self.send("GET", path, params))

    def delete(self, path: str, params: Mapping[str, Any] | None = None) -> Any:
        return self._good(self.send("DELETE", path, params))

    def error(self, path: str, params: Mapping[str, Any] | None = None, **more: Any) -> Any:
        """`(status, error)` of a POST that must fail."""
        response = self.send("POST", path, params, **more)
        assert response.status >= 400, response.body
        return response.status, response.json()["error"]

    def balance(self, currency: str = "usd") -> int:
        """What the ledger says, of the platform."""
        return self.machine.world().ledger.total(currency)

    @staticmethod
    def _good(response: StripeResponse) -> Any:
        assert response.status == 200, response.body.decode()
        return response.json()
