"""Work for the queue. A task is delivered again when its worker dies, so it must bear that."""

import stripe
from celery import Celery

from billing import gateway, keys, settings
from billing.models import Invoice, Session, Subscription

app = Celery("billing", broker=settings.BROKER_URL)


@app.task(acks_late=True, autoretry_for=(stripe.APIConnectionError,), retry_backoff=True)
def collect(invoice_id: int) -> None:
    with Session() as session:
        invoice = session.get_one(Invoice, invoice_id)
        if invoice.status == "paid":
            return
        intent = gateway.charge_invoice(
            invoice.subscription.customer,
            invoice.cents,
            invoice.number,
            keys.invoice_key(invoice),
        )
        invoice.payment_intent = intent.id
        invoice.status = "paid"
        session.commit()


@app.task(acks_late=True, autoretry_for=(stripe.APIConnectionError,), retry_backoff=True)
def charge_setup_fee(subscription_id: int) -> None:
    with Session() as session:
        subscription = session.get_one(Subscription, subscription_id)
        gateway.charge(
            subscription.customer,
            subscription.setup_cents,
            key=keys.of("setup-fee", subscription.id),
        )
