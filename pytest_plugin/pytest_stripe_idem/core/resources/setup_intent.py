"""Setup intents: a payment method is kept for later; no money moves."""

from __future__ import annotations

from pytest_stripe_idem.core import errors
from pytest_stripe_idem.core.call import Call, merge_metadata, plain
from pytest_stripe_idem.core.payments import (
    card_of,
    decline,
    make_payment_method,
    use_payment_method,
)
from pytest_stripe_idem.core.resources.customer import attach
from pytest_stripe_idem.core.resources.payment_method import card_given
from pytest_stripe_idem.core.world import Json

_ECHOED = (
    "automatic_payment_methods", "description", "on_behalf_of", "payment_method_options",
    "payment_method_types", "usage",
)  # fmt: skip

_OPEN = frozenset({"requires_payment_method", "requires_confirmation", "requires_action"})


def create(call: Call) -> Json:
    customer = call.named("customer", "customer")
    method = _method_given(call)
    id = call.world.new_id("setup_intent")
    intent = call.world.add(
        "setup_intent",
        call.now,
        {
            "payment_method_types": ["card"],
            "usage": "off_session",
            **plain(call.take(*_ECHOED)),
            "client_secret": f"{id}_secret_1",
            "customer": customer["id"] if customer else None,
            "metadata": call.metadata(),
            "payment_method": method,
            "status": "requires_confirmation" if method else "requires_payment_method",
        },
        id=id,
    )
    call.emit("setup_intent.created", intent)
    return _confirmed(call, intent) if call.params.get("confirm") else intent


def update(call: Call) -> Json:
    intent = call.owned("setup_intent")
    _need_open(intent, "change")
    if "customer" in call.params:
        customer = call.named("customer", "customer")
        intent["customer"] = customer["id"] if customer else None
    method = _method_given(call)
    if method:
        intent.update(payment_method=method, status="requires_confirmation")
    intent.update(plain(call.take(*_ECHOED)))
    merge_metadata(intent, call.params.get("metadata"))
    return intent


def confirm(call: Call) -> Json:
    intent = call.owned("setup_intent")
    _need_open(intent, "confirm")
    intent["payment_method"] = _method_given(call) or intent["payment_method"]
    return _confirmed(call, intent)


def cancel(call: Call) -> Json:
    intent = call.owned("setup_intent")
    _need_open(intent, "cancel")
    intent.update(status="canceled", cancellation_reason=call.params.get("cancellation_reason"))
    call.emit("setup_intent.canceled", intent)
    return intent


def verify_microdeposits(call: Call) -> Json:
    intent = call.owned("setup_intent")
    if intent["status"] != "requires_action":
        raise _state(intent, "verify the microdeposits of")
    return _succeed(call, intent)


def _method_given(call: Call) -> str | None:
    if reference := call.params.get("payment_method"):
        return str(use_payment_method(call, str(reference))["id"])
    if data := call.params.get("payment_method_data"):
        kind = str(data.get("type", "card"))
        made = make_payment_method(call, card_given(data.get("card")), values={"type": kind})
        return str(made["id"])
    return None


def _confirmed(call: Call, intent: Json) -> Json:
    if not intent["payment_method"]:
        raise _state(intent, "confirm")
    method = use_payment_method(call, intent["payment_method"])
    card = card_of(call, method["id"])
    if card.answer == "declines" and not card.attaches:
        intent.update(status="requires_payment_method", payment_method=None)
        call.emit("setup_intent.setup_failed", intent)
        raise decline(card, setup_intent=dict(intent))
    if card.answer == "asks" or method.get("type") == "us_bank_account":
        intent.update(status="requires_action", next_action={"type": "use_stripe_sdk"})
        return intent
    return _succeed(call, intent)


def _succeed(call: Call, intent: Json) -> Json:
    customer = call.world.find(intent["customer"] or "", "customer")
    method = call.world.find(intent["payment_method"] or "", "payment_method")
    if customer and method and method.get("customer") is None:
        attach(call, method, customer)
    intent.update(status="succeeded", next_action=None)
    call.emit("setup_intent.succeeded", intent)
    return intent


def _need_open(intent: Json, verb: str) -> None:
    if intent["status"] not in _OPEN:
        raise _state(intent, verb)


def _state(intent: Json, verb: str) -> errors.ApiError:
    return errors.unexpected_state(
        f"Cannot {verb} a setup intent with the status {intent['status']}.",
        "setup_intent_unexpected_state",
        setup_intent=dict(intent),
    )


ROUTES = {
    "POST /v1/setup_intents": create,
    "POST /v1/setup_intents/{}": update,
    "POST /v1/setup_intents/{}/confirm": confirm,
    "POST /v1/setup_intents/{}/cancel": cancel,
    "POST /v1/setup_intents/{}/verify_microdeposits": verify_microdeposits,
}
