"""What the shop and the support desk call over HTTP."""

from typing import Annotated

import stripe
from fastapi import APIRouter, Header, HTTPException
from pydantic import BaseModel, PositiveInt

from billing import gateway, keys, tasks
from billing.models import Order, Session

router = APIRouter()


class Tip(BaseModel):
    cents: PositiveInt


class PartialRefund(BaseModel):
    cents: PositiveInt
    reason: str


@router.post("/orders/{order_id}/pay")
def pay_order(order_id: int) -> dict[str, str]:
    with Session() as session:
        order = session.get(Order, order_id)
        if order is None:
            raise HTTPException(404)
        if order.status == "paid":
            return {"status": "paid"}
        try:
            intent = gateway.charge(
                order.customer,
                order.total_cents,
                key=keys.unique(f"order:{order.id}"),
                metadata={"order": str(order.id)},
            )
        except stripe.CardError as error:
            raise HTTPException(402, error.user_message) from error
        order.payment_intent = intent.id
        order.status = "paid"
        session.commit()
    return {"status": "paid", "payment_intent": intent.id}


@router.post("/orders/{order_id}/tip")
def tip_seller(
    order_id: int, tip: Tip, idempotency_key: Annotated[str, Header()]
) -> dict[str, str]:
    """The shop sends the same header for as long as the customer looks at the same form."""
    with Session() as session:
        order = session.get(Order, order_id)
        if order is None:
            raise HTTPException(404)
        intent = gateway.charge(
            order.customer, tip.cents, key=keys.of("tip", order.id, idempotency_key)
        )
    return {"status": "paid", "payment_intent": intent.id}


@router.post("/orders/{order_id}/refunds")
def refund_order(order_id: int, wanted: PartialRefund) -> dict[str, str]:
    with Session() as session:
        order = session.get(Order, order_id)
        if order is None or order.payment_intent is None:
            raise HTTPException(404)
        refund = gateway.refund_part(order, wanted.cents, wanted.reason)
    return {"refund": refund.id}


@router.post("/orders/{order_id}/lost")
def parcel_lost(order_id: int) -> dict[str, str]:
    with Session() as session:
        order = session.get(Order, order_id)
        if order is None or order.payment_intent is None:
            raise HTTPException(404)
        refund = gateway.refund_shipping(order)
    return {"refund": refund.id}


@router.post("/invoices/{invoice_id}/collect", status_code=202)
def collect_invoice(invoice_id: int) -> dict[str, str]:
    tasks.collect.delay(invoice_id)
    return {"status": "queued"}
