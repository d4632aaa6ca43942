"""Money taken from a card and given back: what payment intents, charges and invoices share."""

from __future__ import annotations

from typing import Any

from pytest_stripe_idem.core import errors, testcards
from pytest_stripe_idem.core.call import Call
from pytest_stripe_idem.core.ledger import DAY
from pytest_stripe_idem.core.testcards import TestCard
from pytest_stripe_idem.core.world import Json

PENDING_DAYS = 2


def book(call: Call, amount: int, currency: str, kind: str, source: str) -> str:
    """Posts to the ledger of the account of this call; the id of the balance transaction."""
    waits = amount > 0 and not call.assumptions.funds_available_at_once
    available_on = call.now + (PENDING_DAYS * DAY if waits else 0)
    entry = call.world.ledger.post(
        amount, currency, kind=kind, source=source, now=call.now, available_on=available_on
    )
    return str(entry["id"])


def need_funds(call: Call, amount: int, currency: str) -> None:
    """Refuses what the available balance cannot pay; the refusal is stored like any execution."""
    if amount > call.world.ledger.available(currency, call.now):
        raise errors.invalid(
            "The available balance is too small for this amount.",
            param="amount",
            code="balance_insufficient",
        )


def use_payment_method(call: Call, reference: str, param: str = "payment_method") -> Json:
    """The payment method named; one of the documented test names becomes a new object."""
    found = call.world.find(reference)
    if found is not None and found["object"] in {"payment_method", "card", "source"}:
        return found
    if testcards.known(reference):
        return make_payment_method(call, testcards.named(reference))
    return call.lookup(reference, "payment_method", param)


def make_payment_method(
    call: Call, card: TestCard, id: str | None = None, values: Json | None = None
) -> Json:
    """A payment method of type `card`."""
    made = call.world.add(
        "payment_method",
        call.now,
        {
            "type": "card",
            "card": card_details(card),
            "billing_details": {"address": None, "email": None, "name": None, "phone": None},
            "metadata": {},
            **(values or {}),
        },
        id=id,
    )
    call.world.cards[made["id"]] = card
    return made


def card_details(card: TestCard) -> Json:
    """The `card` hash of a payment method."""
    return {
        "brand": card.brand,
        "checks": {"address_line1_check": None, "address_postal_code_check": None},
        "country": "US",
        "exp_month": 12,
        "exp_year": 2034,
        "fingerprint": fingerprint(card),
        "funding": "credit",
        "last4": card.last4,
        "networks": {"available": [card.brand], "preferred": None},
        "three_d_secure_usage": {"supported": True},
        "wallet": None,
    }


def fingerprint(card: TestCard) -> str:
    """The same for every payment method made from one card."""
    return f"fp_{card.number[-8:]}"


def default_method(customer: Json | None) -> str | None:
    """What a customer pays with when nothing is said."""
    if customer is None:
        return None
    settings = customer.get("invoice_settings") or {}
    return settings.get("default_payment_method") or customer.get("default_source")


def card_of(call: Call, id: str) -> TestCard:
    """What the bank says about a payment method, source or token."""
    return call.world.cards.get(id) or testcards.named(id)


def make_charge(
    call: Call, amount: int, currency: str, method: Json, captured: bool, values: Json
) -> Json:
    """A charge that went through. Nothing is booked for one that is only authorized."""
    card = card_of(call, method["id"])
    charge = call.world.add(
        "charge",
        call.now,
        {
            "amount": amount,
            "amount_captured": amount if captured else 0,
            "currency": currency,
            "captured": captured,
            "paid": True,
            "status": "succeeded",
            "payment_method": method["id"],
            "payment_method_details": {"type": "card", "card": card_details(card)},
            "billing_details": {"address": None, "email": None, "name": None, "phone": None},
            "outcome": {"network_status": "approved_by_network", "type": "authorized"},
            "metadata": {},
            **values,
        },
    )
    if captured:
        charge["balance_transaction"] = book(call, amount, currency, "charge", charge["id"])
    call.emit("charge.succeeded", charge)
    if card.disputed:
        _dispute(call, charge)
    return charge


def make_failed_charge(
    call: Call, amount: int, currency: str, method: Json, card: TestCard, values: Json
) -> Json:
    """The record of a decline."""
    charge = call.world.add(
        "charge",
        call.now,
        {
            "amount": amount,
            "currency": currency,
            "status": "failed",
            "payment_method": method["id"],
            "payment_method_details": {"type": "card", "card": card_details(card)},
            "failure_code": card.code,
            "failure_message": testcards.MESSAGES[card.code],
            "outcome": {"network_status": "declined_by_network", "type": "issuer_declined"},
            "metadata": {},
            **values,
        },
    )
    call.emit("charge.failed", charge)
    return charge


def decline(card: TestCard, **more: Any) -> errors.ApiError:
    """The 402 of a card that declines."""
    return errors.declined(testcards.MESSAGES[card.code], card.code, card.decline_code, **more)


def capture_charge(call: Call, charge: Json, amount: int) -> None:
    """Books what is captured of an authorized charge; the rest is released."""
    charge["captured"] = True
    charge["amount_captured"] += amount
    charge["balance_transaction"] = book(call, amount, charge["currency"], "charge", charge["id"])
    call.emit("charge.captured", charge)


def refund_charge(call: Call, charge: Json, amount: int | None, values: Json) -> Json:
    """Gives back a part or all that is left of a charge, never more.

    Raises:
        ApiError: The charge failed, was not captured, or less than `amount` is left of it.
    """
    left = charge["amount_captured"] - charge["amount_refunded"]
    if charge["status"] != "succeeded" or not charge["captured"]:
        raise errors.invalid("Only a captured charge can be refunded.", param="charge")
    if left <= 0:
        raise errors.invalid("The charge is refunded already.", code="charge_already_refunded")
    wanted = left if amount is None else amount
    if wanted > left:
        raise errors.invalid(
            f"The refund of {wanted} is greater than the {left} left of the charge.",
            param="amount",
        )
    card = card_of(call, charge["payment_method"] or "")
    refund = call.world.add(
        "refund",
        call.now,
        {
            "amount": wanted,
            "charge": charge["id"],
            "currency": charge["currency"],
            "payment_intent": charge["payment_intent"],
            "status": "pending" if card.refund == "waits" else "succeeded",
            "metadata": {},
            **values,
        },
    )
    refund["balance_transaction"] = book(call, -wanted, charge["currency"], "refund", refund["id"])
    charge["amount_refunded"] += wanted
    charge["refunded"] = charge["amount_refunded"] == charge["amount_captured"]
    call.emit("charge.refunded", charge)
    call.emit("refund.created", refund)
    if card.refund != "succeeded":
        call.world.later(lambda now: _end_refund(call.of_itself(now), refund, card))
    return refund


def _end_refund(call: Call, refund: Json, card: TestCard) -> None:
    """What the bank says to a refund in the end, unless it was canceled meanwhile."""
    if card.refund == "fails later":
        refund["failure_reason"] = "expired_or_canceled_card"
        undo_refund(call, refund, "failed")
    elif refund["status"] == "pending":
        refund["status"] = "succeeded"
        _refund_changed(call, refund)


def undo_refund(call: Call, refund: Json, status: str) -> None:
    """Takes a refund back into the balance."""
    refund["status"] = status
    refund["failure_balance_transaction"] = book(
        call, refund["amount"], refund["currency"], "refund_failure", refund["id"]
    )
    charge = call.world.find(refund["charge"] or "", "charge")
    if charge is not None:
        charge["amount_refunded"] -= refund["amount"]
        charge["refunded"] = False
    _refund_changed(call, refund)
    if status == "failed":
        call.emit("refund.failed", refund)


def _refund_changed(call: Call, refund: Json) -> None:
    call.emit("refund.updated", refund)
    call.emit("charge.refund.updated", refund)


def _dispute(call: Call, charge: Json) -> None:
    dispute = call.world.add(
        "dispute",
        call.now,
        {
            "amount": charge["amount"],
            "charge": charge["id"],
            "currency": charge["currency"],
            "payment_intent": charge["payment_intent"],
            "reason": "fraudulent",
            "status": "needs_response",
            "metadata": {},
        },
    )
    charge["disputed"], charge["dispute"] = True, dispute["id"]
    call.emit("charge.dispute.created", dispute)
