"""The monthly run: puts usage and seats on each customer's next invoice.

Started by cron on several hosts, `python -m billing.monthly 2026-10`; whoever gets the lock works.
"""

import logging
import sys
import uuid

import redis
import stripe
from sqlalchemy import select

from billing import keys, settings
from billing.models import Session, Subscription, Usage

log = logging.getLogger(__name__)
store = redis.Redis.from_url(settings.REDIS_URL)


def bill_usage(period: str) -> None:
    run = uuid.uuid4().hex[:12]
    log.info("usage of %s: run %s", period, run)
    with store.lock(f"bill-usage:{period}", timeout=settings.LOCK_SECONDS), Session() as session:
        todo = select(Usage).where(Usage.period == period, Usage.billed.is_(False))
        for usage in session.scalars(todo).all():
            stripe.InvoiceItem.create(
                customer=usage.subscription.customer.stripe_customer,
                amount=usage.cents,
                currency=settings.CURRENCY,
                description=f"Usage {period}",
                idempotency_key=f"usage-{run}-{usage.id}",
            )
            usage.billed = True
            session.commit()


def bill_seats(period: str) -> None:
    with store.lock(f"bill-seats:{period}", timeout=settings.LOCK_SECONDS), Session() as session:
        for subscription in session.scalars(select(Subscription)).all():
            stripe.InvoiceItem.create(
                customer=subscription.customer.stripe_customer,
                amount=subscription.seats * subscription.seat_cents,
                currency=settings.CURRENCY,
                description=f"Seats {period}",
                idempotency_key=keys.of("seats", period, subscription.id),
            )


def main() -> None:
    logging.basicConfig(level=logging.INFO)
    period = sys.argv[1]
    bill_seats(period)
    bill_usage(period)


if __name__ == "__main__":
    main()
