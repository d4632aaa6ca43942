"""Webhooks as Stripe signs them: `Stripe-Signature: t=…,v1=…`."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass

from pytest_stripe_idem.core.response import encode
from pytest_stripe_idem.core.world import Json

TEST_SECRET = "whsec_test"


@dataclass(frozen=True, slots=True)
class Webhook:
    """One delivery.

    Attributes:
        payload: The body.
        headers: What goes with it.
    """

    payload: bytes
    headers: dict[str, str]

    @property
    def signature(self) -> str:
        """What `stripe.Webhook.construct_event` wants as `sig_header`."""
        return self.headers["Stripe-Signature"]


def sign(event: Json, secret: str, now: int) -> Webhook:
    """The delivery of an event, signed with an endpoint's secret."""
    payload = encode(event)
    signed = f"{now}.".encode() + payload
    digest = hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()
    headers = {
        "Content-Type": "application/json; charset=utf-8",
        "Stripe-Signature": f"t={now},v1={digest}",
    }
    return Webhook(payload, headers)
