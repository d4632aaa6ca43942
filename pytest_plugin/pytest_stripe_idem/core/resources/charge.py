"""Charges: taken at once, or authorized and captured."""

from __future__ import annotations

from pytest_stripe_idem.core import errors
from pytest_stripe_idem.core.call import Call, merge_metadata, plain
from pytest_stripe_idem.core.payments import (
    capture_charge,
    card_of,
    decline,
    default_method,
    make_charge,
    make_failed_charge,
    refund_charge,
    use_payment_method,
)
from pytest_stripe_idem.core.resources.customer import use_token
from pytest_stripe_idem.core.world import Json

_ECHOED = (
    "application_fee_amount", "description", "on_behalf_of", "receipt_email", "shipping",
    "statement_descriptor", "statement_descriptor_suffix", "transfer_data", "transfer_group",
)  # fmt: skip


def create(call: Call) -> Json:
    """Charges a source, or what the customer pays with.

    Raises:
        ApiError: 402 of a card that declines (the failed charge is kept), 400 without anything to
            charge.
    """
    amount, currency = call.amount(), call.currency()
    customer = call.named("customer", "customer")
    method = _method(call, customer)
    values = {
        **plain(call.take(*_ECHOED)),
        "customer": customer["id"] if customer else None,
        "metadata": call.metadata(),
    }
    card = card_of(call, method["id"])
    if card.answer != "pays":
        failed = make_failed_charge(call, amount, currency, method, card, values)
        raise decline(card, charge=failed["id"])
    captured = bool(call.params.get("capture", True))
    return make_charge(call, amount, currency, method, captured, values)


def update(call: Call) -> Json:
    charge = call.owned("charge")
    charge.update(plain(call.take("description", "receipt_email", "shipping", "transfer_group")))
    merge_metadata(charge, call.params.get("metadata"))
    call.emit("charge.updated", charge)
    return charge


def capture(call: Call) -> Json:
    """Takes an authorized charge, once.

    Raises:
        ApiError: `charge_already_captured`, or more than was authorized.
    """
    charge = call.owned("charge")
    if charge["captured"]:
        raise errors.unexpected_state(
            f"The charge {charge['id']} is captured already.", "charge_already_captured"
        )
    amount = int(call.params.get("amount") or charge["amount"])
    if not 0 < amount <= charge["amount"]:
        raise errors.invalid(
            f"Only {charge['amount']} was authorized.", param="amount", code="amount_too_large"
        )
    capture_charge(call, charge, amount)
    return charge


def refund_old(call: Call) -> Json:
    """`/v1/charges/{}/refund`: answers the charge."""
    charge = call.owned("charge")
    refund_charge(call, charge, call.params.get("amount"), {"metadata": call.metadata()})
    return charge


def refunds_of(call: Call) -> Json:
    """`/v1/charges/{}/refunds`: the old address of `/v1/refunds`."""
    charge = call.owned("charge")
    return refund_charge(call, charge, call.params.get("amount"), {"metadata": call.metadata()})


def _method(call: Call, customer: Json | None) -> Json:
    source = call.params.get("source")
    if isinstance(source, dict):
        source = str(source.get("number") or "tok_visa")
    reference = source or default_method(customer)
    if not reference:
        raise errors.invalid(
            "Nothing to charge: give a source, or a customer that has one.",
            param="source",
            code="missing",
        )
    known = call.world.find(str(reference))
    if known is not None and known["object"] == "token":
        card = use_token(call, str(reference))
        call.world.cards[f"{reference}_card"] = card
        return call.world.add("card", call.now, {"last4": card.last4}, id=f"{reference}_card")
    return known or use_payment_method(call, str(reference), "source")


ROUTES = {
    "POST /v1/charges": create,
    "POST /v1/charges/{}": update,
    "POST /v1/charges/{}/capture": capture,
    "POST /v1/charges/{}/refund": refund_old,
    "POST /v1/charges/{}/refunds": refunds_of,
}
