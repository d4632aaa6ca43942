"""A request to Stripe, as every transport hands it over."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from pytest_stripe_idem.core import form
from pytest_stripe_idem.core.catalog import Route, find

API_HOST = "api.stripe.com"

# The four that belong to Stripe's API; nothing else is ever intercepted.
STRIPE_HOSTS = frozenset(
    {API_HOST, "connect.stripe.com", "files.stripe.com", "meter-events.stripe.com"}
)


@dataclass(frozen=True, slots=True)
class StripeRequest:
    """Method, host, path (decoded by nobody yet), query without `?`, headers in lower case."""

    method: str
    path: str
    query: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    host: str = API_HOST

    @property
    def api(self) -> str:
        """`v1` or `v2`, by the path."""
        return "v2" if self.path.startswith("/v2/") else "v1"

    @property
    def idempotency_key(self) -> str | None:
        """The header as sent; `None` when there is none."""
        return self.headers.get("idempotency-key")

    @property
    def account_header(self) -> str | None:
        """The connected account the request is made for."""
        return self.headers.get("stripe-account") or self.headers.get("stripe-context") or None

    @property
    def secret(self) -> str | None:
        """The API key: from `Bearer`, or the user name of `Basic`."""
        scheme, _, value = self.headers.get("authorization", "").partition(" ")
        match scheme.lower():
            case "bearer":
                return value.strip() or None
            case "basic":
                return _user_name(value) or None
            case _:
                return None

    @property
    def live(self) -> bool:
        return is_live(self.secret or "")

    def route(self) -> Route | None:
        """The endpoint and the ids in the path."""
        if self.host not in STRIPE_HOSTS:
            return None
        found = find(self.method, self.path)
        return found and Route(found.endpoint, tuple(unquote(each) for each in found.ids))

    def params(self) -> dict[str, Any]:
        """The parameters of query and body.

        Raises:
            ValueError: A v2 body that is no JSON object, or a form that is no UTF-8.
        """
        content_type = self.headers.get("content-type", "")
        given = form.decode_form(self.query)
        if content_type.startswith("multipart/form-data"):
            return given | form.decode_multipart(self.body, content_type)
        if self.api == "v2" or content_type.startswith("application/json"):
            return given | form.decode_json(self.body)
        return given | form.decode_form(self.body.decode("utf-8"))


def is_live(secret: str) -> bool:
    """Whether an API key would reach real money."""
    return secret.startswith(("sk_live_", "rk_live_"))


def _user_name(encoded: str) -> str:
    try:
        return base64.b64decode(encoded.strip(), validate=True).decode("utf-8").partition(":")[0]
    except (binascii.Error, UnicodeDecodeError):
        return ""
