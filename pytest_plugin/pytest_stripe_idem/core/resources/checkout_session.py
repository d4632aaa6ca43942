"""Checkout sessions: a page where a customer may pay; `complete` plays the customer."""

from __future__ import annotations

from pytest_stripe_idem.core import errors, testcards
from pytest_stripe_idem.core.call import Call, merge_metadata, plain
from pytest_stripe_idem.core.ledger import DAY
from pytest_stripe_idem.core.payments import make_payment_method
from pytest_stripe_idem.core.pricing import line_of
from pytest_stripe_idem.core.resources.payment_intent import pay_now
from pytest_stripe_idem.core.world import Json, listing

_ECHOED = (
    "cancel_url", "client_reference_id", "customer_email", "expires_at", "locale", "mode",
    "payment_method_types", "return_url", "success_url", "ui_mode", "allow_promotion_codes",
    "billing_address_collection", "payment_method_collection", "submit_type",
)  # fmt: skip


def create(call: Call) -> Json:
    """An open session; what it costs is the sum of its line items."""
    customer = call.named("customer", "customer")
    id = call.world.new_id("checkout.session")
    lines = [_line(call, given) for given in call.params.get("line_items") or []]
    total = sum(line["amount_total"] for line in lines)
    mode = call.params.get("mode", "payment")
    if mode != "setup" and not lines:
        raise errors.missing("line_items")
    session = call.world.add(
        "checkout.session",
        call.now,
        {
            "amount_subtotal": total,
            "amount_total": total,
            "currency": lines[0]["currency"] if lines else call.params.get("currency"),
            "expires_at": call.now + DAY,
            "payment_method_types": ["card"],
            **plain(call.take(*_ECHOED)),
            "customer": customer["id"] if customer else None,
            "metadata": call.metadata(),
            "mode": mode,
            "payment_status": "unpaid" if total else "no_payment_required",
            "status": "open",
            "url": f"https://checkout.stripe.com/c/pay/{id}",
        },
        id=id,
    )
    call.world.singletons[f"lines {id}"] = {"data": lines}
    call.world.singletons[f"payment {id}"] = plain(call.params.get("payment_intent_data") or {})
    return session


def update(call: Call) -> Json:
    session = call.owned("checkout.session")
    merge_metadata(session, call.params.get("metadata"))
    return session


def expire(call: Call) -> Json:
    session = call.owned("checkout.session")
    if session["status"] != "open":
        raise errors.invalid(
            f"A session with the status {session['status']} cannot be expired.", param="session"
        )
    session.update(status="expired", url=None)
    call.emit("checkout.session.expired", session)
    return session


def line_items(call: Call) -> Json:
    session = call.owned("checkout.session")
    return listing(call.world.singletons[f"lines {session['id']}"]["data"], call.path)


def complete(call: Call, session: Json) -> Json:
    """The customer pays with a card that works (the harness calls this)."""
    if session["status"] != "open":
        raise errors.invalid(f"A session with the status {session['status']} cannot be paid.")
    if session["mode"] == "payment" and session["amount_total"]:
        data = call.world.singletons[f"payment {session['id']}"]
        values = {
            "amount": session["amount_total"],
            "currency": session["currency"],
            "customer": session["customer"],
            "metadata": data.get("metadata") or {},
        }
        method = make_payment_method(call, testcards.VISA)
        session["payment_intent"] = pay_now(call, values, method)["id"]
        session["payment_status"] = "paid"
    session.update(status="complete", url=None)
    call.emit("checkout.session.completed", session)
    return session


def _line(call: Call, given: Json) -> Json:
    line = line_of(call, given, str(call.params.get("currency") or "usd"))
    return {
        "id": call.world.new_id("item"),
        "object": "item",
        "amount_discount": 0,
        "amount_subtotal": line.amount,
        "amount_tax": 0,
        "amount_total": line.amount,
        "currency": line.currency,
        "description": line.description,
        "price": line.price,
        "quantity": line.quantity,
    }


ROUTES = {
    "POST /v1/checkout/sessions": create,
    "POST /v1/checkout/sessions/{}": update,
    "POST /v1/checkout/sessions/{}/expire": expire,
    "GET /v1/checkout/sessions/{}/line_items": line_items,
}
