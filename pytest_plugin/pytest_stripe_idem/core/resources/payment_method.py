"""Payment methods and tokens."""

from __future__ import annotations

from pytest_stripe_idem.core import errors, testcards
from pytest_stripe_idem.core.call import Call, merge_metadata, plain
from pytest_stripe_idem.core.payments import card_details, make_payment_method, use_payment_method
from pytest_stripe_idem.core.resources.customer import attach
from pytest_stripe_idem.core.world import Json


def create(call: Call) -> Json:
    """A payment method; one of type `card` from a number or a token."""
    kind = str(call.params.get("type", "card"))
    values = {
        "type": kind,
        "metadata": call.metadata(),
        **plain(call.take("billing_details", "allow_redisplay")),
    }
    if kind == "card":
        made = make_payment_method(call, card_given(call.params.get("card")), values=values)
    else:
        made = call.world.add(
            "payment_method", call.now, {**values, kind: plain(call.params.get(kind) or {})}
        )
    if call.params.get("customer"):
        attach(call, made, call.lookup(str(call.params["customer"]), "customer", "customer"))
    return made


def card_given(given: object) -> testcards.TestCard:
    """The test card meant by `card[number]` or `card[token]`; a working Visa where neither is."""
    if isinstance(given, str):
        return testcards.named(given)
    if not isinstance(given, dict):
        return testcards.VISA
    return testcards.named(str(given.get("number") or given.get("token") or ""))


def update(call: Call) -> Json:
    method = call.owned("payment_method")
    method.update(plain(call.take("billing_details", "allow_redisplay")))
    merge_metadata(method, call.params.get("metadata"))
    call.emit("payment_method.updated", method)
    return method


def attach_to_customer(call: Call) -> Json:
    method = use_payment_method(call, call.ids[0], "payment_method")
    customer = call.named("customer", "customer")
    if customer is None:
        raise errors.missing("customer")
    attach(call, method, customer)
    return method


def detach(call: Call) -> Json:
    method = call.owned("payment_method")
    if method.get("customer") is None:
        raise errors.invalid(
            "The payment method is not attached to a customer.", param="payment_method"
        )
    owner = call.world.find(method["customer"])
    if owner and owner["invoice_settings"]["default_payment_method"] == method["id"]:
        owner["invoice_settings"]["default_payment_method"] = None
    method["customer"] = None
    call.emit("payment_method.detached", method)
    return method


def create_token(call: Call) -> Json:
    """A token for one use."""
    card = card_given(call.params.get("card"))
    kind = "bank_account" if "bank_account" in call.params else "card"
    made = call.world.add("token", call.now, {"type": kind, "used": False})
    if kind == "card":
        made["card"] = {"object": "card", **card_details(card)}
    call.world.cards[made["id"]] = card
    return made


def make_on_sight(call: Call, id: str) -> Json:
    """A payment method that a test's own data names."""
    return make_payment_method(call, testcards.named(id), id=id)


ROUTES = {
    "POST /v1/payment_methods": create,
    "POST /v1/payment_methods/{}": update,
    "POST /v1/payment_methods/{}/attach": attach_to_customer,
    "POST /v1/payment_methods/{}/detach": detach,
    "POST /v1/tokens": create_token,
}
MAKERS = {"payment_method": make_on_sight}
