"""Refunds: parts or all of a charge, never more than was taken."""

from __future__ import annotations

from pytest_stripe_idem.core import errors
from pytest_stripe_idem.core.call import Call, merge_metadata
from pytest_stripe_idem.core.payments import refund_charge, undo_refund
from pytest_stripe_idem.core.world import Json


def create(call: Call) -> Json:
    amount = call.amount() if "amount" in call.params else None
    values = {"metadata": call.metadata(), **call.take("reason", "instructions_email")}
    return refund_charge(call, _charge(call), amount, values)


def update(call: Call) -> Json:
    refund = call.owned("refund")
    merge_metadata(refund, call.params.get("metadata"))
    call.emit("refund.updated", refund)
    return refund


def cancel(call: Call) -> Json:
    """Only a refund that still waits can be canceled; most are done at once."""
    refund = call.owned("refund")
    if refund["status"] not in {"pending", "requires_action"}:
        raise errors.invalid(
            f"A refund with the status {refund['status']} cannot be canceled.", param="refund"
        )
    undo_refund(call, refund, "canceled")
    return refund


def expire(call: Call) -> Json:
    """A test helper: a refund that waited for the customer too long."""
    refund = call.owned("refund")
    if refund["status"] != "requires_action":
        raise errors.invalid("Only a refund that requires action expires.", param="refund")
    undo_refund(call, refund, "failed")
    return refund


def _charge(call: Call) -> Json:
    if call.params.get("charge"):
        return call.lookup(str(call.params["charge"]), "charge", "charge")
    if not call.params.get("payment_intent"):
        raise errors.missing("charge", "A refund needs a charge or a payment intent.")
    intent = call.lookup(str(call.params["payment_intent"]), "payment_intent", "payment_intent")
    charge = call.world.find(intent["latest_charge"] or "", "charge")
    if charge is None or charge["status"] != "succeeded":
        raise errors.invalid(
            "The payment intent has no successful charge.",
            param="payment_intent",
            code="resource_missing",
        )
    return charge


ROUTES = {
    "POST /v1/refunds": create,
    "POST /v1/refunds/{}": update,
    "POST /v1/refunds/{}/cancel": cancel,
    "POST /v1/test_helpers/refunds/{}/expire": expire,
}
