"""Subscriptions: an agreement that makes an invoice now and with every period.

Periods do not end by themselves: the clock of a test is moved by hand, and what Stripe would bill
by then is not simulated.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from pytest_stripe_idem.core import errors
from pytest_stripe_idem.core.call import Call, merge_metadata, plain
from pytest_stripe_idem.core.ledger import DAY
from pytest_stripe_idem.core.payments import default_method
from pytest_stripe_idem.core.pricing import line_of, price_of
from pytest_stripe_idem.core.resources.invoice import (
    add_line,
    collect,
    make_invoice,
    open_up,
    take_pending,
)
from pytest_stripe_idem.core.world import Json, listing

_ECHOED = (
    "application_fee_percent", "automatic_tax", "cancel_at", "cancel_at_period_end",
    "collection_method", "days_until_due", "default_payment_method", "default_source",
    "description", "on_behalf_of", "pause_collection", "payment_settings", "transfer_data",
    "trial_settings",
)  # fmt: skip

# What can name the price of an item.
_PRICED = frozenset({"price", "plan", "price_data", "pricing"})

_DAYS = {"day": 1, "week": 7}


def create(call: Call) -> Json:
    """Starts a subscription and charges its first invoice.

    Raises:
        ApiError: 400 without items or anything to charge; 402 where the card declines and
            `payment_behavior` is `error_if_incomplete`.
    """
    if call.ids:
        call.params.setdefault("customer", call.ids[0])
    customer = call.named("customer", "customer")
    if customer is None:
        raise errors.missing("customer")
    entries = call.params.get("items") or []
    if not entries:
        raise errors.missing("items")
    if not all(_PRICED & entry.keys() for entry in entries):
        raise errors.missing("items[0][price]", "An item needs a price.")
    _need_method(call, customer)
    id = call.world.new_id("subscription")
    subscription = call.world.add(
        "subscription",
        call.now,
        {
            "collection_method": "charge_automatically",
            **plain(call.take(*_ECHOED)),
            "billing_cycle_anchor": call.now,
            "billing_mode": {"type": "flexible"},
            "customer": customer["id"],
            "currency": customer["currency"] or "usd",
            "items": listing([], f"/v1/subscription_items?subscription={id}"),
            "metadata": call.metadata(),
            "start_date": call.now,
            "status": "active",
        },
        id=id,
    )
    for entry in entries:
        _add_item(call, subscription, entry)
    _begin_trial(call, subscription)
    _first_invoice(call, subscription, customer)
    call.emit("customer.subscription.created", subscription)
    return subscription


def update(call: Call) -> Json:
    """Changes items and settings; `proration_behavior=always_invoice` bills the items again."""
    subscription = _owned(call)
    if subscription["status"] in {"canceled", "incomplete_expired"}:
        raise errors.invalid(
            f"A subscription with the status {subscription['status']} cannot be changed."
        )
    subscription.update(plain(call.take(*_ECHOED)))
    merge_metadata(subscription, call.params.get("metadata"))
    for entry in call.params.get("items") or []:
        _change_items(call, subscription, entry)
    if call.params.get("trial_end") == "now" and subscription["status"] == "trialing":
        subscription.update(status="active", trial_end=call.now)
    if call.params.get("proration_behavior") == "always_invoice" and call.params.get("items"):
        _bill(call, subscription, "subscription_update")
    call.emit("customer.subscription.updated", subscription)
    return subscription


def cancel(call: Call) -> Json:
    subscription = _owned(call)
    if subscription["status"] == "canceled":
        raise errors.not_found("subscription", subscription["id"])
    subscription.update(status="canceled", canceled_at=call.now, ended_at=call.now)
    if call.params.get("invoice_now"):
        _bill(call, subscription, "subscription_update")
    call.emit("customer.subscription.deleted", subscription)
    return subscription


def pause(call: Call) -> Json:
    subscription = call.owned("subscription")
    if subscription["status"] != "active":
        raise errors.invalid("Only an active subscription can be paused.")
    subscription["status"] = "paused"
    call.emit("customer.subscription.paused", subscription)
    return subscription


def resume(call: Call) -> Json:
    """Continues a paused subscription and bills its new period."""
    subscription = call.owned("subscription")
    if subscription["status"] != "paused":
        raise errors.invalid("Only a paused subscription can be resumed.")
    subscription.update(status="active", billing_cycle_anchor=call.now)
    _bill(call, subscription, "subscription_cycle")
    call.emit("customer.subscription.resumed", subscription)
    return subscription


def migrate(call: Call) -> Json:
    subscription = call.owned("subscription")
    subscription["billing_mode"] = plain(call.params["billing_mode"])
    return subscription


def create_item(call: Call) -> Json:
    subscription = call.lookup(str(call.params["subscription"]), "subscription", "subscription")
    item = _add_item(call, subscription, call.params)
    item["metadata"] = call.metadata()
    if call.params.get("proration_behavior") == "always_invoice":
        _bill(call, subscription, "subscription_update")
    return item


def update_item(call: Call) -> Json:
    item = call.owned("subscription_item")
    _apply(call, item, call.params)
    merge_metadata(item, call.params.get("metadata"))
    return item


def delete_item(call: Call) -> Json:
    item = call.owned("subscription_item")
    owner = call.world.find(item["subscription"], "subscription")
    if owner is not None:
        owner["items"]["data"] = [
            each for each in owner["items"]["data"] if each["id"] != item["id"]
        ]
    call.world.remove(item["id"])
    return {"id": item["id"], "object": "subscription_item", "deleted": True}


def _owned(call: Call) -> Json:
    return call.owned("subscription", len(call.ids) - 1)


def _need_method(call: Call, customer: Json) -> None:
    given = call.params.get("default_payment_method") or call.params.get("default_source")
    lenient = call.params.get("payment_behavior") == "default_incomplete"
    sent = call.params.get("collection_method") == "send_invoice"
    trial = call.params.get("trial_period_days") or call.params.get("trial_end")
    if not (given or lenient or sent or trial or default_method(customer)):
        raise errors.invalid(
            "The customer has no payment method to charge.", code="resource_missing"
        )


def _add_item(call: Call, subscription: Json, given: Json) -> Json:
    price = price_of(call, given)
    if price is None:
        raise errors.missing("items[0][price]", "An item needs a price.")
    item = call.world.add(
        "subscription_item",
        call.now,
        {
            "current_period_end": _period_end(call.now, price),
            "current_period_start": call.now,
            "metadata": dict(given.get("metadata") or {}),
            "plan": price,
            "price": price,
            "quantity": int(given.get("quantity") or 1),
            "subscription": subscription["id"],
        },
    )
    subscription["items"]["data"].append(item)
    subscription.update(
        currency=price["currency"],
        current_period_start=item["current_period_start"],
        current_period_end=item["current_period_end"],
    )
    return item


def _change_items(call: Call, subscription: Json, given: Json) -> None:
    rows = subscription["items"]["data"]
    found = next((each for each in rows if each["id"] == given.get("id")), None)
    if found is None:
        _add_item(call, subscription, given)
    elif str(given.get("deleted")).lower() == "true":
        rows.remove(found)
        call.world.remove(found["id"])
    else:
        _apply(call, found, given)


def _apply(call: Call, item: Json, given: Json) -> None:
    price = price_of(call, given)
    if price is not None:
        item["price"] = item["plan"] = price
    if given.get("quantity") not in (None, ""):
        item["quantity"] = int(given["quantity"])


def _begin_trial(call: Call, subscription: Json) -> None:
    days = call.params.get("trial_period_days")
    end: Any = call.params.get("trial_end")
    if days:
        end = call.now + int(days) * DAY
    if end not in (None, "", "now") and int(end) > call.now:
        subscription.update(status="trialing", trial_start=call.now, trial_end=int(end))


def _first_invoice(call: Call, subscription: Json, customer: Json) -> None:
    behavior = call.params.get("payment_behavior", "allow_incomplete")
    invoice = _draft(call, subscription, "subscription_create", customer)
    open_up(call, invoice)
    if invoice["status"] == "paid" or subscription["collection_method"] == "send_invoice":
        return
    if behavior == "default_incomplete":
        subscription["status"] = "incomplete"
        return
    try:
        collect(call, invoice, subscription["default_payment_method"])
    except errors.ApiError as error:
        if error.status != 402 or behavior == "error_if_incomplete":
            for item in subscription["items"]["data"]:
                call.world.remove(item["id"])
            call.world.remove(subscription["id"])
            raise
        subscription["status"] = "incomplete"


def _draft(call: Call, subscription: Json, reason: str, customer: Json | None) -> Json:
    invoice = make_invoice(call, customer, reason, {"subscription": subscription["id"]})
    invoice["collection_method"] = subscription["collection_method"]
    for item in subscription["items"]["data"] if subscription["status"] != "trialing" else []:
        kind = item["price"]["object"]
        line = line_of(call, {kind: item["price"]["id"], "quantity": item["quantity"]})
        add_line(call, invoice, line, {"subscription": subscription["id"]})
    for given in call.params.get("add_invoice_items") or []:
        add_line(call, invoice, line_of(call, given), {"subscription": subscription["id"]})
    take_pending(call, invoice)
    subscription["latest_invoice"] = invoice["id"]
    call.emit("invoice.created", invoice)
    return invoice


def _bill(call: Call, subscription: Json, reason: str) -> None:
    customer = call.world.find(subscription["customer"], "customer")
    invoice = _draft(call, subscription, reason, customer)
    open_up(call, invoice)
    if invoice["status"] == "open" and subscription["collection_method"] != "send_invoice":
        collect(call, invoice, subscription["default_payment_method"])


def _period_end(now: int, price: Json) -> int:
    rhythm = price.get("recurring") or price
    interval, count = rhythm.get("interval") or "month", int(rhythm.get("interval_count") or 1)
    if interval in _DAYS:
        return now + _DAYS[interval] * count * DAY
    start = datetime.fromtimestamp(now, UTC)
    months = start.month - 1 + count * (12 if interval == "year" else 1)
    year, month = start.year + months // 12, months % 12 + 1
    # The day that every month has: the end of a month is not simulated.
    return int(start.replace(year=year, month=month, day=min(start.day, 28)).timestamp())


ROUTES = {
    "POST /v1/subscriptions": create,
    "POST /v1/customers/{}/subscriptions": create,
    "POST /v1/subscriptions/{}": update,
    "POST /v1/customers/{}/subscriptions/{}": update,
    "DELETE /v1/subscriptions/{}": cancel,
    "POST /v1/subscriptions/{}/pause": pause,
    "POST /v1/subscriptions/{}/resume": resume,
    "POST /v1/subscriptions/{}/migrate": migrate,
    "POST /v1/subscription_items": create_item,
    "POST /v1/subscription_items/{}": update_item,
    "DELETE /v1/subscription_items/{}": delete_item,
}
