"""The calls to Stripe that more than one part of the service needs."""

from __future__ import annotations

from typing import Any

import stripe
from tenacity import retry, retry_if_exception_type, stop_after_attempt, wait_exponential

from billing import keys, settings
from billing.models import Customer, Order

stripe.api_key = settings.STRIPE_API_KEY

patiently = retry(
    retry=retry_if_exception_type(stripe.APIConnectionError),
    stop=stop_after_attempt(4),
    wait=wait_exponential(max=20),
    reraise=True,
)


def charge(
    customer: Customer, cents: int, key: str, metadata: dict[str, str] | None = None
) -> stripe.PaymentIntent:
    """Charges the customer's saved card at once."""
    return stripe.PaymentIntent.create(
        amount=cents,
        currency=settings.CURRENCY,
        customer=customer.stripe_customer,
        payment_method=customer.stripe_payment_method,
        confirm=True,
        off_session=True,
        metadata=metadata or {},
        idempotency_key=key,
    )


@patiently
def refund_part(order: Order, cents: int, reason: str) -> stripe.Refund:
    params: dict[str, Any] = {
        "payment_intent": order.payment_intent,
        "amount": cents,
        "metadata": {"order": order.id, "reason": reason},
    }
    params["idempotency_key"] = keys.unique(f"refund:{order.id}")
    return stripe.Refund.create(**params)


@patiently
def refund_shipping(order: Order) -> stripe.Refund:
    return stripe.Refund.create(
        payment_intent=order.payment_intent,
        amount=order.shipping_cents,
        metadata={"order": order.id, "reason": "shipping"},
        idempotency_key=keys.of("refund-shipping", order.id),
    )


def charge_invoice(customer: Customer, cents: int, number: str, key: str) -> stripe.PaymentIntent:
    options = {"idempotency_key": key, "stripe_version": "2025-03-31.basil"}
    return stripe.PaymentIntent.create(
        amount=cents,
        currency=settings.CURRENCY,
        customer=customer.stripe_customer,
        payment_method=customer.stripe_payment_method,
        confirm=True,
        off_session=True,
        description=f"Invoice {number}",
        **options,
    )
