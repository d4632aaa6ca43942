"""Transfers to connected accounts and their reversals."""

from __future__ import annotations

from pytest_stripe_idem.core import errors
from pytest_stripe_idem.core.call import Call, merge_metadata
from pytest_stripe_idem.core.payments import book, need_funds
from pytest_stripe_idem.core.world import Json, listing


def create(call: Call) -> Json:
    """Moves money from the platform's balance to that of `destination`."""
    amount, currency = call.amount(), call.currency()
    destination = call.named("destination", "account")
    assert destination is not None, "destination is a required parameter"
    source = call.named("source_transaction", "charge")
    if source is None and call.assumptions.transfers_need_funds:
        need_funds(call, amount, currency)
    if source is not None and amount > source["amount_captured"] - _transferred(call, source):
        raise errors.invalid(
            "The transfers of a charge cannot be more than the charge.", param="amount"
        )
    id = call.world.new_id("transfer")
    transfer = call.world.add(
        "transfer",
        call.now,
        {
            "amount": amount,
            "currency": currency,
            "description": call.params.get("description"),
            "destination": destination["id"],
            "metadata": call.metadata(),
            "reversals": listing([], f"/v1/transfers/{id}/reversals"),
            "source_transaction": source["id"] if source else None,
            "source_type": call.params.get("source_type", "card"),
            "transfer_group": call.params.get("transfer_group"),
        },
        id=id,
    )
    transfer["balance_transaction"] = book(call, -amount, currency, "transfer", id)
    _arrive(call, destination["id"], amount, currency, id)
    call.emit("transfer.created", transfer)
    return transfer


def update(call: Call) -> Json:
    transfer = call.owned("transfer")
    transfer.update(call.take("description"))
    merge_metadata(transfer, call.params.get("metadata"))
    call.emit("transfer.updated", transfer)
    return transfer


def reverse(call: Call) -> Json:
    """Takes a part or all that is left of a transfer back."""
    transfer = call.owned("transfer")
    left = transfer["amount"] - transfer["amount_reversed"]
    amount = call.amount() if "amount" in call.params else left
    if left <= 0 or amount > left:
        raise errors.invalid(f"Only {left} is left of the transfer.", param="amount")
    reversal = call.world.add(
        "transfer_reversal",
        call.now,
        {
            "amount": amount,
            "currency": transfer["currency"],
            "metadata": call.metadata(),
            "transfer": transfer["id"],
        },
    )
    reversal["balance_transaction"] = book(
        call, amount, transfer["currency"], "transfer_refund", reversal["id"]
    )
    _arrive(call, transfer["destination"], -amount, transfer["currency"], reversal["id"])
    transfer["amount_reversed"] += amount
    transfer["reversed"] = transfer["amount_reversed"] == transfer["amount"]
    transfer["reversals"]["data"].insert(0, reversal)
    call.emit("transfer.reversed", transfer)
    return reversal


def make_account(call: Call, id: str) -> Json:
    """A connected account that a test's own data names."""
    values = {"charges_enabled": True, "payouts_enabled": True, "metadata": {}}
    return call.world.add("account", call.now, values, id=id)


def _arrive(call: Call, account: str, amount: int, currency: str, source: str) -> None:
    ledger = call.worlds(account).ledger
    ledger.post(
        amount, currency, kind="payment", source=source, now=call.now, available_on=call.now
    )


def _transferred(call: Call, source: Json) -> int:
    return sum(
        each["amount"] - each["amount_reversed"]
        for each in call.world.all("transfer")
        if each["source_transaction"] == source["id"]
    )


ROUTES = {
    "POST /v1/transfers": create,
    "POST /v1/transfers/{}": update,
    "POST /v1/transfers/{}/reversals": reverse,
}
MAKERS = {"account": make_account}
