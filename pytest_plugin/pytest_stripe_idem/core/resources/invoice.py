"""Invoices and what stands on them.

draft ─ finalize ─▶ open ─ pay ─▶ paid        (a total of 0 is paid when it is finalized)
  │                  ├─ void ─▶ void
  └ delete           └─ mark_uncollectible ─▶ uncollectible ─ pay / void ─▶ …
"""

from __future__ import annotations

from typing import Any

from pytest_stripe_idem.core import errors
from pytest_stripe_idem.core.call import Call, merge_metadata, plain
from pytest_stripe_idem.core.ledger import DAY
from pytest_stripe_idem.core.payments import default_method, use_payment_method
from pytest_stripe_idem.core.pricing import Line, line_of
from pytest_stripe_idem.core.resources.payment_intent import pay_now
from pytest_stripe_idem.core.world import Json, listing

_ECHOED = (
    "account_tax_ids", "application_fee_amount", "auto_advance", "automatic_tax",
    "collection_method", "custom_fields", "default_payment_method", "default_source",
    "description", "due_date", "effective_at", "footer", "on_behalf_of", "payment_settings",
    "rendering", "statement_descriptor", "transfer_data",
)  # fmt: skip


def create(call: Call) -> Json:
    """A draft. Pending items of the customer come along with `pending_invoice_items_behavior`."""
    customer = call.named("customer", "customer")
    invoice = make_invoice(call, customer, "manual", plain(call.take(*_ECHOED, "subscription")))
    invoice["metadata"] = call.metadata()
    invoice["currency"] = str(call.params.get("currency") or "usd").lower()
    if call.params.get("days_until_due") is not None:
        invoice["due_date"] = call.now + int(call.params["days_until_due"]) * DAY
    if customer and call.params.get("pending_invoice_items_behavior") == "include":
        _take_pending(call, invoice, customer["id"])
    call.emit("invoice.created", invoice)
    return invoice


def make_invoice(call: Call, customer: Json | None, reason: str, values: Json) -> Json:
    """An empty draft for a customer."""
    id = call.world.new_id("invoice")
    transitions = dict.fromkeys(("finalized_at", "marked_uncollectible_at", "paid_at", "voided_at"))
    return call.world.add(
        "invoice",
        call.now,
        {
            "auto_advance": False,
            "billing_reason": reason,
            "collection_method": "charge_automatically",
            "currency": "usd",
            "customer": customer["id"] if customer else None,
            "customer_email": customer["email"] if customer else None,
            "customer_name": customer["name"] if customer else None,
            "lines": listing([], f"/v1/invoices/{id}/lines"),
            "metadata": {},
            "paid": False,
            "payment_intent": None,
            "charge": None,
            "subscription": None,
            "payments": listing([], "/v1/invoice_payments"),
            "period_end": call.now,
            "period_start": call.now,
            "status": "draft",
            "status_transitions": transitions,
            **values,
        },
        id=id,
    )


def add_line(call: Call, invoice: Json, line: Line, values: Json) -> Json:
    """Puts a line on an invoice and adds it up."""
    made = call.world.add(
        "line_item",
        call.now,
        {
            "amount": line.amount,
            "subtotal": line.amount,
            "currency": line.currency,
            "description": line.description,
            "discountable": True,
            "invoice": invoice["id"],
            "metadata": {},
            "period": {"end": call.now, "start": call.now},
            "price": line.price,
            "pricing": _pricing(line),
            "quantity": line.quantity,
            **values,
        },
    )
    invoice["lines"]["data"].append(made)
    invoice["currency"] = line.currency
    sum_up(invoice)
    return made


def sum_up(invoice: Json) -> None:
    """Totals from the lines."""
    total = sum(line["amount"] for line in invoice["lines"]["data"])
    invoice.update(
        subtotal=total,
        total=total,
        total_excluding_tax=total,
        subtotal_excluding_tax=total,
        amount_due=max(total, 0),
        amount_remaining=max(total, 0) - invoice["amount_paid"],
    )


def update(call: Call) -> Json:
    invoice = call.owned("invoice")
    money = {"application_fee_amount", "collection_method", "due_date", "transfer_data"}
    if invoice["status"] != "draft" and money & call.params.keys():
        raise _not_editable(invoice)
    invoice.update(plain(call.take(*_ECHOED)))
    merge_metadata(invoice, call.params.get("metadata"))
    call.emit("invoice.updated", invoice)
    return invoice


def finalize(call: Call) -> Json:
    """Closes a draft; an automatic invoice with `auto_advance` is charged at once."""
    invoice = call.owned("invoice")
    if invoice["status"] != "draft":
        raise errors.unexpected_state(
            f"The invoice is finalized already (its status is {invoice['status']}).",
            "invoice_not_editable",
        )
    if "auto_advance" in call.params:
        invoice["auto_advance"] = call.params["auto_advance"]
    open_up(call, invoice)
    return invoice


def open_up(call: Call, invoice: Json) -> None:
    """From draft to open, or to paid where nothing is due."""
    invoice["status_transitions"]["finalized_at"] = call.now
    invoice["status"] = "open"
    invoice["number"] = invoice["number"] or f"INV-{invoice['id'].rpartition('_')[2].zfill(4)}"
    invoice["hosted_invoice_url"] = f"https://invoice.stripe.com/i/{invoice['id']}"
    invoice["invoice_pdf"] = f"https://pay.stripe.com/invoice/{invoice['id']}/pdf"
    call.emit("invoice.finalized", invoice)
    if invoice["amount_due"] == 0:
        mark_paid(call, invoice)


def pay(call: Call) -> Json:
    """Charges an open invoice, once.

    Raises:
        ApiError: 400 for an invoice that is paid or void, 402 where the card declines.
    """
    invoice = call.owned("invoice")
    if invoice["status"] == "draft":
        open_up(call, invoice)
    if invoice["status"] == "paid":
        raise errors.invalid("The invoice is paid already.", code="invoice_already_paid")
    if invoice["status"] not in {"open", "uncollectible"}:
        raise errors.invalid(f"An invoice with the status {invoice['status']} cannot be paid.")
    if call.params.get("paid_out_of_band"):
        invoice["paid_out_of_band"] = True
        mark_paid(call, invoice)
        return invoice
    collect(call, invoice, call.params.get("payment_method") or call.params.get("source"))
    return invoice


def collect(call: Call, invoice: Json, method: Any = None) -> None:
    """Takes what is due from the payment method, the invoice's or the customer's default."""
    customer = call.world.find(invoice["customer"] or "", "customer")
    named = [method, invoice["default_payment_method"], invoice["default_source"]]
    reference = next((each for each in named if each), None) or default_method(customer)
    if not reference:
        raise errors.invalid(
            "The customer has no payment method to charge.", code="resource_missing"
        )
    invoice["attempted"] = True
    invoice["attempt_count"] += 1
    values = {
        "amount": invoice["amount_remaining"],
        "currency": invoice["currency"],
        "customer": invoice["customer"],
        "description": invoice["description"],
    }
    try:
        intent = pay_now(call, values, use_payment_method(call, str(reference)))
    except errors.ApiError:
        call.emit("invoice.payment_failed", invoice)
        raise
    _record_payment(call, invoice, intent)
    mark_paid(call, invoice)


def mark_paid(call: Call, invoice: Json) -> None:
    invoice.update(
        amount_paid=invoice["amount_due"],
        amount_remaining=0,
        paid=True,
        status="paid",
    )
    invoice["status_transitions"]["paid_at"] = call.now
    call.emit("invoice.paid", invoice)
    call.emit("invoice.payment_succeeded", invoice)


def void(call: Call) -> Json:
    invoice = call.owned("invoice")
    if invoice["status"] not in {"open", "uncollectible"}:
        raise errors.invalid(f"An invoice with the status {invoice['status']} cannot be voided.")
    invoice["status"] = "void"
    invoice["status_transitions"]["voided_at"] = call.now
    call.emit("invoice.voided", invoice)
    return invoice


def mark_uncollectible(call: Call) -> Json:
    invoice = call.owned("invoice")
    if invoice["status"] != "open":
        raise errors.invalid(
            f"An invoice with the status {invoice['status']} cannot be written off."
        )
    invoice["status"] = "uncollectible"
    invoice["status_transitions"]["marked_uncollectible_at"] = call.now
    call.emit("invoice.marked_uncollectible", invoice)
    return invoice


def send(call: Call) -> Json:
    """Sends an invoice to its customer; a draft is finalized by it."""
    invoice = call.owned("invoice")
    if invoice["status"] == "draft":
        open_up(call, invoice)
    if invoice["status"] not in {"open", "paid"}:
        raise errors.invalid(f"An invoice with the status {invoice['status']} cannot be sent.")
    call.emit("invoice.sent", invoice)
    return invoice


def delete(call: Call) -> Json:
    """Only a draft can be deleted."""
    invoice = call.owned("invoice")
    if invoice["status"] != "draft":
        raise _not_editable(invoice)
    call.world.remove(invoice["id"])
    call.emit("invoice.deleted", invoice)
    return {"id": invoice["id"], "object": "invoice", "deleted": True}


def attach_payment(call: Call) -> Json:
    """Counts a payment made elsewhere towards an open invoice."""
    invoice = call.owned("invoice")
    if invoice["status"] != "open":
        raise errors.invalid("A payment can be attached to an open invoice only.")
    intent = call.named("payment_intent", "payment_intent")
    if intent is not None:
        _record_payment(call, invoice, intent)
        if intent["status"] == "succeeded":
            mark_paid(call, invoice)
    return invoice


def preview(call: Call) -> Json:
    """What the next invoice would be; nothing is kept."""
    customer = call.named("customer", "customer")
    invoice = make_invoice(call, customer, "upcoming", {})
    for given in call.params.get("invoice_items") or []:
        add_line(call, invoice, line_of(call, given), {})
    subscription = call.world.find(str(call.params.get("subscription") or ""), "subscription")
    for item in subscription["items"]["data"] if subscription else []:
        entry = {"price": item["price"]["id"], "quantity": item["quantity"]}
        add_line(call, invoice, line_of(call, entry), {})
    call.world.remove(invoice["id"])
    return invoice


def add_lines(call: Call) -> Json:
    invoice = _draft(call)
    for given in call.params["lines"]:
        line = line_of(call, given, invoice["currency"])
        add_line(call, invoice, line, {"metadata": dict(given.get("metadata") or {})})
    return _changed(call, invoice)


def remove_lines(call: Call) -> Json:
    invoice = _draft(call)
    gone = {str(given.get("id")) for given in call.params["lines"]}
    invoice["lines"]["data"] = [line for line in invoice["lines"]["data"] if line["id"] not in gone]
    return _changed(call, invoice)


def update_lines(call: Call) -> Json:
    invoice = _draft(call)
    for given in call.params["lines"]:
        _change_line(call, invoice, str(given.get("id")), given)
    return _changed(call, invoice)


def update_line(call: Call) -> Json:
    invoice = _draft(call)
    line = _change_line(call, invoice, call.ids[1], call.params)
    _changed(call, invoice)
    return line


def lines(call: Call) -> Json:
    invoice = call.owned("invoice")
    return {**invoice["lines"], "url": call.path}


def create_item(call: Call) -> Json:
    """An amount that waits for the customer's next invoice, or goes on a draft at once."""
    customer = call.named("customer", "customer")
    if customer is None:
        raise errors.missing("customer")
    line = line_of(call, call.params)
    invoice = call.named("invoice", "invoice")
    if invoice is not None and invoice["status"] != "draft":
        raise _not_editable(invoice)
    item = call.world.add(
        "invoiceitem",
        call.now,
        {
            "amount": line.amount,
            "currency": line.currency,
            "customer": customer["id"],
            "date": call.now,
            "description": line.description,
            "discountable": True,
            "invoice": invoice["id"] if invoice else None,
            "metadata": call.metadata(),
            "period": plain(call.params.get("period")) or {"end": call.now, "start": call.now},
            "price": line.price,
            "pricing": _pricing(line),
            "quantity": line.quantity,
            "subscription": call.params.get("subscription"),
        },
    )
    if invoice is not None:
        _put_item(call, invoice, item)
    call.emit("invoiceitem.created", item)
    return item


def update_item(call: Call) -> Json:
    item = call.owned("invoiceitem")
    invoice = call.world.find(item["invoice"] or "", "invoice")
    if invoice is not None and invoice["status"] != "draft":
        raise _not_editable(invoice)
    if {"amount", "unit_amount_decimal", "price", "pricing", "price_data"} & call.params.keys():
        line = line_of(call, {"quantity": item["quantity"], **call.params}, item["currency"])
        item.update(amount=line.amount, quantity=line.quantity)
    item.update(call.take("description"))
    merge_metadata(item, call.params.get("metadata"))
    if invoice is not None:
        for row in invoice["lines"]["data"]:
            if row["invoice_item"] == item["id"]:
                row.update(amount=item["amount"], subtotal=item["amount"])
        sum_up(invoice)
    return item


def _take_pending(call: Call, invoice: Json, customer: str) -> None:
    waiting = [
        item
        for item in call.world.all("invoiceitem")
        if item["customer"] == customer and item["invoice"] is None
    ]
    for item in reversed(waiting):
        item["invoice"] = invoice["id"]
        _put_item(call, invoice, item)


def take_pending(call: Call, invoice: Json) -> None:
    """Puts the customer's waiting items on an invoice (a subscription's invoice does)."""
    if invoice["customer"]:
        _take_pending(call, invoice, invoice["customer"])


def _put_item(call: Call, invoice: Json, item: Json) -> None:
    line = Line(
        item["amount"], item["currency"], item["quantity"], item["price"], item["description"]
    )
    add_line(call, invoice, line, {"invoice_item": item["id"], "metadata": dict(item["metadata"])})


def _pricing(line: Line) -> Json | None:
    if line.price is None:
        return None
    details = {"price": line.price["id"], "product": line.price.get("product")}
    unit = str(line.price.get("unit_amount") or line.price.get("amount") or 0)
    return {"type": "price_details", "price_details": details, "unit_amount_decimal": unit}


def _record_payment(call: Call, invoice: Json, intent: Json) -> None:
    invoice["payment_intent"], invoice["charge"] = intent["id"], intent["latest_charge"]
    payment = call.world.add(
        "invoice_payment",
        call.now,
        {
            "amount_paid": intent["amount_received"],
            "amount_requested": intent["amount"],
            "currency": intent["currency"],
            "invoice": invoice["id"],
            "is_default": True,
            "payment": {"payment_intent": intent["id"], "type": "payment_intent"},
            "status": "paid" if intent["status"] == "succeeded" else "open",
            "status_transitions": {"canceled_at": None, "paid_at": call.now},
        },
    )
    invoice["payments"]["data"].append(payment)


def _draft(call: Call) -> Json:
    invoice = call.owned("invoice")
    if invoice["status"] != "draft":
        raise _not_editable(invoice)
    return invoice


def _changed(call: Call, invoice: Json) -> Json:
    sum_up(invoice)
    merge_metadata(invoice, call.params.get("invoice_metadata"))
    call.emit("invoice.updated", invoice)
    return invoice


def _change_line(call: Call, invoice: Json, id: str, given: Json) -> Json:
    found: Json | None = next((line for line in invoice["lines"]["data"] if line["id"] == id), None)
    if found is None:
        raise errors.not_found("line_item", id, "line_item_id")
    if {"amount", "price", "pricing", "price_data"} & given.keys():
        line = line_of(call, {"quantity": found["quantity"], **given}, invoice["currency"])
        found.update(amount=line.amount, subtotal=line.amount, quantity=line.quantity)
    if "description" in given:
        found["description"] = given["description"]
    merge_metadata(found, given.get("metadata"))
    return found


def _not_editable(invoice: Json) -> errors.ApiError:
    return errors.invalid(
        f"An invoice with the status {invoice['status']} cannot be changed.",
        code="invoice_not_editable",
    )


ROUTES = {
    "POST /v1/invoices": create,
    "POST /v1/invoices/create_preview": preview,
    "GET /v1/invoices/upcoming": preview,
    "POST /v1/invoices/{}": update,
    "DELETE /v1/invoices/{}": delete,
    "POST /v1/invoices/{}/finalize": finalize,
    "POST /v1/invoices/{}/pay": pay,
    "POST /v1/invoices/{}/void": void,
    "POST /v1/invoices/{}/mark_uncollectible": mark_uncollectible,
    "POST /v1/invoices/{}/send": send,
    "POST /v1/invoices/{}/attach_payment": attach_payment,
    "POST /v1/invoices/{}/add_lines": add_lines,
    "POST /v1/invoices/{}/remove_lines": remove_lines,
    "POST /v1/invoices/{}/update_lines": update_lines,
    "POST /v1/invoices/{}/lines/{}": update_line,
    "GET /v1/invoices/{}/lines": lines,
    "POST /v1/invoiceitems": create_item,
    "POST /v1/invoiceitems/{}": update_item,
}
