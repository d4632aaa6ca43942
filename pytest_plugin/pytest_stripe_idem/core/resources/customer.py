"""Customers, the cards kept with them, and their credit balance."""

from __future__ import annotations

from pytest_stripe_idem.core import errors, testcards
from pytest_stripe_idem.core.call import Call, merge_metadata, plain
from pytest_stripe_idem.core.payments import (
    card_of,
    decline,
    fingerprint,
    make_payment_method,
    use_payment_method,
)
from pytest_stripe_idem.core.world import Json, World, listing

_ECHOED = (
    "address", "balance", "description", "email", "name", "phone", "preferred_locales", "shipping",
    "tax_exempt", "business_name", "individual_name", "test_clock",
)  # fmt: skip


def create(call: Call) -> Json:
    """A customer; with `payment_method` or `source` one that can be charged."""
    customer = call.world.add("customer", call.now, {**_blank(), **_given(call)})
    customer["metadata"] = call.metadata()
    if method := call.params.get("payment_method"):
        attach(call, use_payment_method(call, str(method)), customer)
    if source := call.params.get("source"):
        add_source(call, customer, str(source))
    call.emit("customer.created", customer)
    return customer


def update(call: Call) -> Json:
    customer = call.owned("customer")
    customer.update(_given(call))
    merge_metadata(customer, call.params.get("metadata"))
    for name in ("source", "default_source"):
        if value := call.params.get(name):
            known = call.world.find(str(value))
            add_source(call, customer, str(value)) if known is None else None
            customer["default_source"] = known["id"] if known else customer["default_source"]
    call.emit("customer.updated", customer)
    return customer


def attach(call: Call, method: Json, customer: Json) -> None:
    """Ties a payment method to a customer.

    Raises:
        ApiError: 402 for a card that cannot be attached, 400 for one that has another customer.
    """
    card = card_of(call, method["id"])
    if not card.attaches:
        raise decline(card)
    if method.get("customer") not in (None, customer["id"]):
        raise errors.invalid(
            "The payment method is attached to another customer.", param="payment_method"
        )
    method["customer"] = customer["id"]
    call.emit("payment_method.attached", method)


def add_source(call: Call, customer: Json, reference: str) -> Json:
    """A card from a token; the first one becomes the default."""
    card = use_token(call, reference)
    made = call.world.add(
        "card",
        call.now,
        {
            "brand": card.brand.capitalize(),
            "country": "US",
            "customer": customer["id"],
            "exp_month": 12,
            "exp_year": 2034,
            "fingerprint": fingerprint(card),
            "funding": "credit",
            "last4": card.last4,
            "metadata": {},
        },
    )
    call.world.cards[made["id"]] = card
    customer["default_source"] = customer["default_source"] or made["id"]
    return made


def use_token(call: Call, reference: str) -> testcards.TestCard:
    """The card behind a token; one made by `/v1/tokens` works once."""
    token = call.world.find(reference, "token")
    card = card_of(call, reference)
    if token is not None:
        if token["used"]:
            raise errors.invalid(
                f"The token {reference} was used already.",
                param="source",
                code="token_already_used",
            )
        token["used"] = True
    if not card.attaches:
        raise decline(card)
    return card


def create_source(call: Call) -> Json:
    customer = call.owned("customer")
    made = add_source(call, customer, str(call.params["source"]))
    made["metadata"] = call.metadata()
    call.emit("customer.source.created", made)
    return made


def detach_source(call: Call) -> Json:
    """Removes a card, and the default with it."""
    customer = call.owned("customer")
    found = call.world.find(call.ids[1])
    if found is None:
        raise errors.not_found("source", call.ids[1])
    call.world.remove(found["id"])
    if customer["default_source"] == found["id"]:
        customer["default_source"] = None
    return {"id": found["id"], "object": found["object"], "deleted": True}


def credit(call: Call) -> Json:
    """Moves the customer's credit balance; a negative amount is credit."""
    customer = call.owned("customer")
    amount = int(call.params["amount"])
    customer["balance"] += amount
    made = call.world.add(
        "customer_balance_transaction",
        call.now,
        {
            "amount": amount,
            "currency": call.currency(),
            "customer": customer["id"],
            "description": call.params.get("description"),
            "ending_balance": customer["balance"],
            "metadata": call.metadata(),
            "type": "adjustment",
        },
    )
    call.emit("customer.updated", customer)
    return made


def payment_methods(call: Call) -> Json:
    customer = call.owned("customer")
    rows = [
        each for each in call.world.all("payment_method") if each.get("customer") == customer["id"]
    ]
    return listing(rows[: int(call.params.get("limit", 100))], call.path)


def sources_of(world: World, customer: Json) -> Json:
    """The cards made from tokens; an answer has them only where they are expanded."""
    rows = [each for each in world.all("card") if each.get("customer") == customer["id"]]
    return listing(rows[::-1], f"/v1/customers/{customer['id']}/sources")


def make_on_sight(call: Call, id: str) -> Json:
    """A customer that a test's own data names: it has a card that works."""
    customer = call.world.add("customer", call.now, _blank(), id=id)
    method = make_payment_method(call, testcards.VISA, values={"customer": id})
    customer["invoice_settings"]["default_payment_method"] = method["id"]
    return customer


def _blank() -> Json:
    settings = {"custom_fields": None, "default_payment_method": None, "footer": None}
    return {"balance": 0, "default_source": None, "invoice_settings": settings, "metadata": {}}


def _given(call: Call) -> Json:
    given = {name: plain(value) for name, value in call.take(*_ECHOED).items()}
    settings = call.params.get("invoice_settings")
    if isinstance(settings, dict):
        base = _blank()["invoice_settings"]
        if call.ids:
            base = call.owned("customer")["invoice_settings"]
        given["invoice_settings"] = {**base, **plain(settings)}
    return given


ROUTES = {
    "POST /v1/customers": create,
    "POST /v1/customers/{}": update,
    "POST /v1/customers/{}/sources": create_source,
    "POST /v1/customers/{}/cards": create_source,
    "DELETE /v1/customers/{}/sources/{}": detach_source,
    "POST /v1/customers/{}/balance_transactions": credit,
    "GET /v1/customers/{}/payment_methods": payment_methods,
}
MAKERS = {"customer": make_on_sight}
INCLUDED = {("customer", "sources"): sources_of}
