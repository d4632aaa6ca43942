"""Picks up, when the service starts, what the last process left half done."""

import logging
import uuid
from datetime import UTC, datetime

import stripe
from sqlalchemy import select

from billing import settings
from billing.models import Payout, Session

log = logging.getLogger(__name__)


def resume_payouts() -> None:
    """Sends the ordinary payouts that were under way."""
    with Session() as session:
        for payout in session.scalars(unfinished(instant=False)).all():
            log.warning("payout %s was under way, sending it again", payout.id)
            stripe.Payout.create(
                amount=payout.cents,
                currency=settings.CURRENCY,
                stripe_account=payout.seller.stripe_account,
                metadata={"payout": payout.id},
                idempotency_key=str(uuid.uuid4()),
            )
            payout.status = "sent"
            session.commit()


def resume_instant_payouts() -> None:
    """Sends the instant payouts that were under way."""
    with Session() as session:
        for payout in session.scalars(unfinished(instant=True)).all():
            if not payout.request_key:
                payout.request_key = str(uuid.uuid4())
                session.commit()
            stripe.Payout.create(
                amount=payout.cents,
                currency=settings.CURRENCY,
                method="instant",
                stripe_account=payout.seller.stripe_account,
                metadata={"payout": payout.id},
                idempotency_key=payout.request_key,
            )
            payout.status = "sent"
            session.commit()


def unfinished(*, instant: bool):
    oldest = datetime.now(UTC) - settings.RESUME_WITHIN
    return select(Payout).where(
        Payout.status == "sending", Payout.instant.is_(instant), Payout.created > oldest
    )
