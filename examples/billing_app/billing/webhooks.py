"""Stripe's events: they come at least once, and in any order."""

import stripe
from fastapi import APIRouter, HTTPException, Request
from sqlalchemy import select

from billing import keys, settings
from billing.models import Order, Session

router = APIRouter()


@router.post("/stripe/events")
async def receive(request: Request) -> dict[str, str]:
    payload = await request.body()
    signature = request.headers.get("stripe-signature", "")
    try:
        event = stripe.Webhook.construct_event(payload, signature, settings.STRIPE_WEBHOOK_SECRET)
    except stripe.SignatureVerificationError as error:
        raise HTTPException(400) from error
    match event.type:
        case "payment_intent.succeeded":
            pay_seller(event.data.object)
        case "charge.dispute.created":
            take_back(event.data.object)
    return {"status": "ok"}


def pay_seller(intent: stripe.PaymentIntent) -> None:
    with Session() as session:
        order = session.scalar(select(Order).where(Order.payment_intent == intent.id))
        if order is None:
            return
        fee = intent.amount * settings.PLATFORM_FEE_PERCENT // 100
        transfer = stripe.Transfer.create(
            amount=intent.amount - fee,
            currency=settings.CURRENCY,
            destination=order.seller.stripe_account,
            transfer_group=f"order-{order.id}",
        )
        order.transfer = transfer.id
        session.commit()


def take_back(dispute: stripe.Dispute) -> None:
    with Session() as session:
        order = session.scalar(select(Order).where(Order.payment_intent == dispute.payment_intent))
        if order is None or order.transfer is None:
            return
        stripe.Transfer.create_reversal(
            order.transfer,
            amount=min(dispute.amount, order.total_cents),
            metadata={"dispute": dispute.id},
            idempotency_key=keys.of("take-back", dispute.id),
        )
