"""Payouts, top-ups and the balance they change."""

from __future__ import annotations

from pytest_stripe_idem.core import errors
from pytest_stripe_idem.core.call import Call, merge_metadata
from pytest_stripe_idem.core.ledger import DAY
from pytest_stripe_idem.core.payments import book, need_funds
from pytest_stripe_idem.core.world import Json


def create(call: Call) -> Json:
    """Pays out of the available balance, or answers `balance_insufficient`, which is stored."""
    amount, currency = call.amount(), call.currency()
    need_funds(call, amount, currency)
    payout = call.world.add(
        "payout",
        call.now,
        {
            "amount": amount,
            "arrival_date": call.now + 2 * DAY,
            "currency": currency,
            "destination": call.params.get("destination") or "ba_default",
            "metadata": call.metadata(),
            "method": call.params.get("method", "standard"),
            "source_type": call.params.get("source_type", "card"),
            "status": "pending",
            "type": "bank_account",
            **call.take("description", "statement_descriptor"),
        },
    )
    payout["balance_transaction"] = book(call, -amount, currency, "payout", payout["id"])
    call.emit("payout.created", payout)
    return payout


def update(call: Call) -> Json:
    payout = call.owned("payout")
    merge_metadata(payout, call.params.get("metadata"))
    call.emit("payout.updated", payout)
    return payout


def cancel(call: Call) -> Json:
    """A payout that has not left yet comes back."""
    payout = call.owned("payout")
    if payout["status"] != "pending":
        raise errors.invalid(
            f"A payout with the status {payout['status']} cannot be canceled.",
            code="payouts_not_allowed",
        )
    payout["status"] = "canceled"
    payout["failure_balance_transaction"] = book(
        call, payout["amount"], payout["currency"], "payout_cancel", payout["id"]
    )
    call.emit("payout.canceled", payout)
    return payout


def reverse(call: Call) -> Json:
    """Brings a payout back, once; the reversal is a payout of its own."""
    original = call.owned("payout")
    if original["reversed_by"] is not None or original["status"] not in {"pending", "paid"}:
        raise errors.invalid("The payout cannot be reversed any more.", param="payout")
    reversal = call.world.add(
        "payout",
        call.now,
        {
            **{name: original[name] for name in ("currency", "destination", "method", "type")},
            "amount": -original["amount"],
            "arrival_date": call.now + 2 * DAY,
            "metadata": call.metadata(),
            "original_payout": original["id"],
            "status": "pending",
        },
    )
    original["reversed_by"] = reversal["id"]
    reversal["balance_transaction"] = book(
        call, original["amount"], original["currency"], "payout_cancel", reversal["id"]
    )
    call.emit("payout.created", reversal)
    return reversal


def top_up(call: Call) -> Json:
    """Puts money into the balance."""
    amount, currency = call.amount(), call.currency()
    made = call.world.add(
        "topup",
        call.now,
        {
            "amount": amount,
            "currency": currency,
            "metadata": call.metadata(),
            "status": "succeeded",
            **call.take("description", "statement_descriptor", "transfer_group"),
        },
    )
    made["balance_transaction"] = book(call, amount, currency, "topup", made["id"])
    call.emit("topup.succeeded", made)
    return made


def update_top_up(call: Call) -> Json:
    found = call.owned("topup")
    found.update(call.take("description"))
    merge_metadata(found, call.params.get("metadata"))
    return found


def cancel_top_up(call: Call) -> Json:
    """Only one that waits can be canceled; those here are done at once, unless seeded."""
    found = call.owned("topup")
    if found["status"] != "pending":
        raise errors.invalid(f"A top-up with the status {found['status']} cannot be canceled.")
    found["status"] = "canceled"
    call.emit("topup.canceled", found)
    return found


def balance(call: Call) -> Json:
    """What is there, by currency."""
    ledger = call.world.ledger
    currencies = ledger.currencies() or ("usd",)
    ready = {each: ledger.available(each, call.now) for each in currencies}
    waiting = {each: ledger.total(each) - ready[each] for each in currencies}
    return {
        "object": "balance",
        "available": [_part(each, ready[each]) for each in currencies],
        "connect_reserved": [],
        "instant_available": [_part(each, ready[each]) for each in currencies],
        "livemode": call.world.live,
        "pending": [_part(each, waiting[each]) for each in currencies],
    }


def balance_transaction(call: Call) -> Json:
    for each in call.world.ledger.entries():
        if each["id"] == call.ids[0]:
            return dict(each)
    raise errors.not_found("balance_transaction", call.ids[0])


def _part(currency: str, amount: int) -> Json:
    return {"amount": amount, "currency": currency, "source_types": {"card": amount}}


ROUTES = {
    "POST /v1/payouts": create,
    "POST /v1/payouts/{}": update,
    "POST /v1/payouts/{}/cancel": cancel,
    "POST /v1/payouts/{}/reverse": reverse,
    "POST /v1/topups": top_up,
    "POST /v1/topups/{}": update_top_up,
    "POST /v1/topups/{}/cancel": cancel_top_up,
    "GET /v1/balance": balance,
    "GET /v1/balance_transactions/{}": balance_transaction,
}
