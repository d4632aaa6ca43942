"""Payment intents: the state machine of a payment.

requires_payment_method ─▶ requires_confirmation ─▶ requires_action ─▶ requires_capture ─▶ succeeded
          ▲                        │ confirm              │                   │ capture
          └──── declined ──────────┴──────────────────────┘                   │
any state before succeeded ─▶ canceled ◀──────────────────────────────────────┘
"""

from __future__ import annotations

from typing import Any

from pytest_stripe_idem.core import errors, testcards
from pytest_stripe_idem.core.call import Call, merge_metadata, plain
from pytest_stripe_idem.core.payments import (
    capture_charge,
    card_of,
    decline,
    default_method,
    make_charge,
    make_failed_charge,
    make_payment_method,
    use_payment_method,
)
from pytest_stripe_idem.core.resources.customer import attach
from pytest_stripe_idem.core.resources.payment_method import card_given
from pytest_stripe_idem.core.world import Json

_ECHOED = (
    "application_fee_amount", "automatic_payment_methods", "capture_method", "confirmation_method",
    "description", "mandate", "on_behalf_of", "payment_method_options", "payment_method_types",
    "receipt_email", "setup_future_usage", "shipping", "statement_descriptor",
    "statement_descriptor_suffix", "transfer_data", "transfer_group",
)  # fmt: skip

_EDITABLE = frozenset({"requires_payment_method", "requires_confirmation", "requires_action"})
_CONFIRMABLE = frozenset({"requires_payment_method", "requires_confirmation"})
_CANCELABLE = _EDITABLE | {"requires_capture", "processing"}


def create(call: Call) -> Json:
    """A payment intent; with `confirm` it is confirmed in the same request."""
    amount, currency = call.amount(), call.currency()
    customer = call.named("customer", "customer")
    method = _method_given(call)
    id = call.world.new_id("payment_intent")
    intent = call.world.add(
        "payment_intent",
        call.now,
        {
            "amount": amount,
            "currency": currency,
            "capture_method": "automatic",
            "confirmation_method": "automatic",
            "payment_method_types": ["card"],
            **plain(call.take(*_ECHOED)),
            "client_secret": f"{id}_secret_1",
            "customer": customer["id"] if customer else None,
            "metadata": call.metadata(),
            "payment_method": method["id"] if method else None,
            "status": "requires_confirmation" if method else "requires_payment_method",
        },
        id=id,
    )
    call.emit("payment_intent.created", intent)
    return _confirmed(call, intent) if call.params.get("confirm") else intent


def update(call: Call) -> Json:
    intent = call.owned("payment_intent")
    if "amount" in call.params and intent["status"] not in _EDITABLE:
        raise _state(intent, "change the amount of")
    if "amount" in call.params:
        intent["amount"] = call.amount()
    if "customer" in call.params:
        customer = call.named("customer", "customer")
        intent["customer"] = customer["id"] if customer else None
    _take_method(call, intent)
    intent.update(plain(call.take("currency", *_ECHOED)))
    merge_metadata(intent, call.params.get("metadata"))
    return intent


def confirm(call: Call) -> Json:
    intent = call.owned("payment_intent")
    if intent["status"] == "requires_action" and call.params.get("payment_method") is None:
        raise _state(intent, "confirm")
    if intent["status"] not in _EDITABLE:
        raise _state(intent, "confirm")
    _take_method(call, intent)
    intent.update(plain(call.take("receipt_email", "setup_future_usage", "shipping")))
    return _confirmed(call, intent)


def capture(call: Call) -> Json:
    """Takes what was authorized, in one part or, with `final_capture=false`, in several."""
    intent = call.owned("payment_intent")
    if intent["status"] != "requires_capture":
        raise _state(intent, "capture")
    amount = int(call.params.get("amount_to_capture") or intent["amount_capturable"])
    if not 0 < amount <= intent["amount_capturable"]:
        raise errors.invalid(
            f"Only {intent['amount_capturable']} can be captured.",
            param="amount_to_capture",
            code="amount_too_large",
        )
    charge = call.world.find(intent["latest_charge"], "charge")
    assert charge is not None, "an intent that can be captured has its charge"
    capture_charge(call, charge, amount)
    intent["amount_received"] += amount
    merge_metadata(intent, call.params.get("metadata"))
    if call.params.get("final_capture", True) or amount == intent["amount_capturable"]:
        intent["amount_capturable"] = 0
        _succeed(call, intent)
    else:
        intent["amount_capturable"] -= amount
    return intent


def increment(call: Call) -> Json:
    """Raises an authorization to a greater amount."""
    intent = call.owned("payment_intent")
    if intent["status"] != "requires_capture":
        raise _state(intent, "increment the authorization of")
    amount = call.amount()
    if amount <= intent["amount"]:
        raise errors.invalid(
            f"The new amount must be greater than {intent['amount']}.", param="amount"
        )
    charge = call.world.find(intent["latest_charge"], "charge")
    assert charge is not None, "an intent that can be captured has its charge"
    intent["amount_capturable"] += amount - intent["amount"]
    intent["amount"] = charge["amount"] = amount
    intent.update(plain(call.take("description")))
    merge_metadata(intent, call.params.get("metadata"))
    call.emit("payment_intent.amount_capturable_updated", intent)
    return intent


def cancel(call: Call) -> Json:
    intent = call.owned("payment_intent")
    if intent["status"] not in _CANCELABLE:
        raise _state(intent, "cancel")
    intent.update(
        status="canceled",
        canceled_at=call.now,
        cancellation_reason=call.params.get("cancellation_reason"),
        amount_capturable=0,
        next_action=None,
    )
    call.emit("payment_intent.canceled", intent)
    return intent


def apply_customer_balance(call: Call) -> Json:
    """Pays from the customer's cash balance: there is always enough of it here."""
    intent = call.owned("payment_intent")
    if intent["status"] not in _EDITABLE:
        raise _state(intent, "apply a customer balance to")
    method = make_payment_method(call, testcards.VISA, values={"type": "customer_balance"})
    intent["payment_method"] = method["id"]
    return _charged(call, intent, method)


def verify_microdeposits(call: Call) -> Json:
    """Ends a bank debit that waited for its deposits to be named."""
    intent = call.owned("payment_intent")
    waiting = (intent["next_action"] or {}).get("type") == "verify_with_microdeposits"
    if intent["status"] != "requires_action" or not waiting:
        raise _state(intent, "verify the microdeposits of")
    method = call.world.find(intent["payment_method"])
    assert method is not None, "an intent that waits has its payment method"
    return _charged(call, intent, method)


def settle(call: Call, intent: Json) -> Json:
    """Ends a payment whose customer has authenticated (the harness plays the customer)."""
    method = call.world.find(intent["payment_method"])
    assert method is not None, "an intent that waits has its payment method"
    return _charged(call, intent, method)


def pay_now(call: Call, values: Json, method: Json) -> Json:
    """A payment intent made and confirmed by something else: an invoice, a checkout.

    Args:
        values: `amount`, `currency`, `customer`, `metadata` and whatever else it has.

    Raises:
        ApiError: 402 where the card declines; the intent stays, unpaid.
    """
    id = call.world.new_id("payment_intent")
    given = {
        "capture_method": "automatic",
        "client_secret": f"{id}_secret_1",
        "confirmation_method": "automatic",
        "payment_method_types": ["card"],
        "metadata": {},
        **values,
        "payment_method": method["id"],
        "status": "requires_confirmation",
    }
    intent = call.world.add("payment_intent", call.now, given, id=id)
    call.emit("payment_intent.created", intent)
    return _confirmed(call, intent, off_session=True)


def _method_given(call: Call) -> Json | None:
    """The payment method of the request, if it names or describes one."""
    if reference := call.params.get("payment_method"):
        return use_payment_method(call, str(reference))
    if data := call.params.get("payment_method_data"):
        kind = str(data.get("type", "card"))
        values = {"type": kind, **({} if kind == "card" else {kind: plain(data.get(kind) or {})})}
        return make_payment_method(call, card_given(data.get("card")), values=values)
    if token := call.params.get("confirmation_token"):
        return make_payment_method(call, testcards.named(str(token)))
    return None


def _take_method(call: Call, intent: Json) -> None:
    method = _method_given(call)
    if method is not None:
        intent["payment_method"] = method["id"]
        if intent["status"] in _EDITABLE:
            intent.update(status="requires_confirmation", next_action=None)


def _confirmed(call: Call, intent: Json, off_session: bool | None = None) -> Json:
    customer = call.world.find(intent["customer"], "customer") if intent["customer"] else None
    reference = intent["payment_method"] or default_method(customer)
    if not reference:
        raise errors.unexpected_state(
            "A payment intent without a payment method cannot be confirmed.",
            "payment_intent_unexpected_state",
            payment_intent=intent,
        )
    method = use_payment_method(call, str(reference))
    intent["payment_method"] = method["id"]
    card = card_of(call, method["id"])
    absent = call.params.get("off_session") if off_session is None else off_session
    if card.answer == "declines" or (card.answer == "asks" and _truthy(absent)):
        raise _refused(call, intent, method, card)
    if card.answer == "asks":
        return _wait(intent, "redirect_to_url" if intent.get("return_url") else "use_stripe_sdk")
    if method.get("type") == "us_bank_account" and "instant" not in str(method):
        return _wait(intent, "verify_with_microdeposits")
    if intent["setup_future_usage"] and customer and method.get("customer") is None:
        attach(call, method, customer)
    return _charged(call, intent, method)


def _truthy(value: Any) -> bool:
    return value not in (None, False, "", "false", "False")


def _wait(intent: Json, action: str) -> Json:
    intent.update(status="requires_action", next_action={"type": action, action: {}})
    return intent


def _charged(call: Call, intent: Json, method: Json) -> Json:
    held = intent["capture_method"] == "manual"
    charge = make_charge(
        call, intent["amount"], intent["currency"], method, not held, _handed_down(intent)
    )
    intent.update(latest_charge=charge["id"], next_action=None, last_payment_error=None)
    if held:
        intent.update(status="requires_capture", amount_capturable=intent["amount"])
        call.emit("payment_intent.amount_capturable_updated", intent)
        return intent
    intent["amount_received"] = intent["amount"]
    return _succeed(call, intent)


def _succeed(call: Call, intent: Json) -> Json:
    intent["status"] = "succeeded"
    call.emit("payment_intent.succeeded", intent)
    return intent


def _refused(call: Call, intent: Json, method: Json, card: testcards.TestCard) -> errors.ApiError:
    charge = make_failed_charge(
        call, intent["amount"], intent["currency"], method, card, _handed_down(intent)
    )
    error = decline(card, charge=charge["id"])
    intent.update(
        latest_charge=charge["id"],
        payment_method=None,
        status="requires_payment_method",
        last_payment_error={**error.body()["error"], "payment_method": dict(method)},
    )
    call.emit("payment_intent.payment_failed", intent)
    error.more["payment_intent"] = dict(intent)
    return error


def _handed_down(intent: Json) -> Json:
    """What a charge has from its intent."""
    names = (
        "application_fee_amount", "customer", "description", "on_behalf_of", "receipt_email",
        "shipping", "statement_descriptor", "transfer_data", "transfer_group",
    )  # fmt: skip
    given = {name: intent[name] for name in names}
    return {**given, "metadata": dict(intent["metadata"]), "payment_intent": intent["id"]}


def _state(intent: Json, verb: str) -> errors.ApiError:
    return errors.unexpected_state(
        f"Cannot {verb} a payment intent with the status {intent['status']}.",
        "payment_intent_unexpected_state",
        payment_intent=dict(intent),
    )


ROUTES = {
    "POST /v1/payment_intents": create,
    "POST /v1/payment_intents/{}": update,
    "POST /v1/payment_intents/{}/confirm": confirm,
    "POST /v1/payment_intents/{}/capture": capture,
    "POST /v1/payment_intents/{}/increment_authorization": increment,
    "POST /v1/payment_intents/{}/cancel": cancel,
    "POST /v1/payment_intents/{}/apply_customer_balance": apply_customer_balance,
    "POST /v1/payment_intents/{}/verify_microdeposits": verify_microdeposits,
}
