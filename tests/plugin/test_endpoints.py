"""Every POST endpoint of the API answers, with the object its class is made from."""

from __future__ import annotations

import re
from typing import Any

import pytest

from plugin.clients import sdk_major
from plugin.sending import Desk
from pytest_stripe_idem.core import catalog, resources
from pytest_stripe_idem.core.catalog import Endpoint
from pytest_stripe_idem.core.payments import make_payment_method
from pytest_stripe_idem.core.testcards import VISA
from pytest_stripe_idem.core.world import World

LISTED = tuple(each for each in catalog.endpoints() if each.listed)

SAMPLES = {"i": 100, "f": 1.5, "b": True, "s": "x", "a": ["x"], "h": {"a": "b"}, "x": "x"}

# What an endpoint needs beyond its required parameters.
MORE: dict[str, dict[str, Any]] = {
    "/v1/charges": {"amount": 100, "currency": "usd", "source": "tok_visa"},
    "/v1/checkout/sessions": {"line_items": [{"price": "price_7"}]},
    "/v1/invoiceitems": {"amount": 100, "currency": "usd", "customer": "cus_7"},
    "/v1/invoices/{}/add_lines": {"lines": [{"amount": 100}]},
    "/v1/invoices/{}/remove_lines": {"lines": [{"id": "il_9"}]},
    "/v1/invoices/{}/update_lines": {"lines": [{"id": "il_9", "amount": 5}]},
    "/v1/payment_intents/{}/increment_authorization": {"amount": 9000},
    "/v1/payment_methods/{}/attach": {"customer": "cus_7"},
    "/v1/payouts": {"amount": 10},
    "/v1/prices": {"product": "prod_7"},
    "/v1/refunds": {"charge": "charge_1"},
    "/v1/subscription_items": {"subscription": "subscription_1", "price": "price_7"},
    "/v1/subscriptions": {"customer": "cus_7", "items": [{"price": "price_7"}]},
    "/v1/transfers": {"amount": 100},
}

# The state an object must be in before an action on it.
STATES: dict[str, dict[str, Any]] = {
    "/v1/charges/{}/capture": {"captured": False, "amount_captured": 0},
    "/v1/invoices/{}/mark_uncollectible": {"status": "open"},
    "/v1/invoices/{}/void": {"status": "open"},
    "/v1/invoices/{}/attach_payment": {"status": "open"},
    "/v1/payment_intents/{}/capture": {"status": "requires_capture"},
    "/v1/payment_intents/{}/increment_authorization": {"status": "requires_capture"},
    "/v1/payment_intents/{}/verify_microdeposits": {
        "status": "requires_action",
        "next_action": {"type": "verify_with_microdeposits"},
    },
    "/v1/refunds/{}/cancel": {"status": "pending"},
    "/v1/setup_intents/{}/verify_microdeposits": {"status": "requires_action"},
    "/v1/subscriptions/{}/resume": {"status": "paused"},
    "/v1/test_helpers/refunds/{}/expire": {"status": "requires_action"},
    "/v1/topups/{}/cancel": {"status": "pending"},
    # Born active: activated is what was switched off before.
    "/v1/billing/alerts/{}/activate": {"status": "inactive"},
    "/v1/billing/meters/{}/reactivate": {"status": "inactive"},
    "/v1/invoice_rendering_templates/{}/unarchive": {"status": "archived"},
    "/v2/core/event_destinations/{}/enable": {"status": "disabled"},
    "/v2/money_management/recipient_verifications/{}/acknowledge": {
        "status": "awaiting_acknowledgement"
    },
    "/v1/test_helpers/issuing/personalization_designs/{}/activate": {"status": "review"},
}

# What an object of a kind has besides the defaults of its class.
BIRTH: dict[str, dict[str, Any]] = {
    "checkout.session": {"status": "open"},
    "customer": {"balance": 0},
    "charge": {
        "amount": 5000,
        "amount_captured": 5000,
        "captured": True,
        "currency": "usd",
        "status": "succeeded",
    },
    "invoice": {
        "currency": "usd",
        "status": "draft",
        "status_transitions": {},
        "customer": "cus_7",
        "payments": {"data": []},
    },
    "payment_intent": {
        "amount": 5000,
        "amount_capturable": 5000,
        "capture_method": "automatic",
        "currency": "usd",
        "metadata": {},
        "status": "requires_confirmation",
        "payment_method": "pm_9",
        "latest_charge": "charge_9",
    },
    "payout": {"amount": 10, "currency": "usd", "status": "pending"},
    "refund": {"amount": 10, "currency": "usd", "charge": "charge_9", "status": "succeeded"},
    "setup_intent": {"status": "requires_confirmation", "payment_method": "pm_9"},
    "subscription": {"status": "active", "collection_method": "send_invoice", "customer": "cus_7"},
    "transfer": {"amount": 50, "currency": "usd", "destination": "acct_9"},
}


def sample(endpoint: Endpoint) -> dict[str, Any]:
    """The fewest parameters an endpoint takes."""
    required = [param for param in endpoint.params.values() if param.required]
    params = {param.name: SAMPLES[param.kind] for param in required}
    if "currency" in params:
        params["currency"] = "usd"
    return params | MORE.get(endpoint.path, {})


def seeded(desk: Desk, endpoint: Endpoint) -> str:
    """The path of an endpoint with ids of objects that exist and are in the right state."""
    world = desk.machine.world()
    world.ledger.post(10_000, "usd", kind="topup", source="tu_0", now=0, available_on=0)
    _common(world)
    if endpoint.path == "/v1/apps/secrets/delete":
        world.add("apps.secret", 0, {"name": "x"})
    segments, kinds = endpoint.path.split("/"), []
    for place, segment in enumerate(segments):
        if segment == "{}":
            kinds.append(_kind(segments[: place + 1], endpoint))
            segments[place] = f"{kinds[-1].rpartition('.')[2]}_1"
            _seed(world, kinds[-1], segments[place], endpoint)
    return "/".join(segments)


def _common(world: World) -> None:
    make_payment_method(_call(world), VISA, id="pm_9")
    world.add("charge", 0, {**BIRTH["charge"], "captured": False, "amount_captured": 0}, "charge_9")
    for kind in ("charge", "subscription"):
        _seed(world, kind, f"{kind}_1", None)
    world.add("customer", 0, {"invoice_settings": {"default_payment_method": "pm_9"}}, "cus_7")


def _call(world: World) -> Any:
    class Bare:
        now = 0

    bare = Bare()
    bare.world = world  # type: ignore[attr-defined]
    return bare


def _seed(world: World, kind: str, id: str, endpoint: Endpoint | None) -> None:
    values = dict(BIRTH.get(kind, {}))
    if kind == "invoice":
        line = world.add("line_item", 0, {"amount": 5000, "quantity": 1}, "il_9")
        values["lines"] = {"data": [line, {**line, "id": "line_item_1"}]}
        values |= {"amount_due": 5000, "amount_remaining": 5000, "status_transitions": {}}
    if kind == "payment_method":
        values |= {"type": "card", "customer": _owner(endpoint)}
    if kind == "subscription":
        values["items"] = {"data": []}
    if kind == "customer":
        values["invoice_settings"] = {"default_payment_method": None}
    if kind == "transfer":
        values["reversals"] = {"data": []}
    if endpoint is not None:
        values |= STATES.get(endpoint.path, {})
    if world.find(id) is None or endpoint is not None:
        world.add(kind, 0, values, id)


def _owner(endpoint: Endpoint | None) -> str | None:
    return "cus_7" if endpoint and endpoint.path.endswith("/detach") else None


def _kind(segments: list[str], endpoint: Endpoint) -> str:
    path = re.sub(r"/\w+_1(?=/|$)", "/{}", "/".join(segments))
    for candidate in (path, path.replace("/test_helpers/", "/", 1)):
        for method in ("GET", "POST"):
            found = catalog.find(method, candidate)
            if found and found.endpoint.made:
                return found.endpoint.made
    return endpoint.made or "card"


def test_all_330_endpoints_are_listed_with_their_parameters() -> None:
    assert len(LISTED) == 330
    assert len({each.path for each in LISTED}) == 330
    assert sum(1 for each in LISTED if each.money) == 62
    for each in LISTED:
        assert each.params or each.api == "v2", each.path


@pytest.mark.parametrize("endpoint", LISTED, ids=lambda each: each.path)
def test_every_post_endpoint_answers_with_its_object(endpoint: Endpoint) -> None:
    desk = Desk()
    path = seeded(desk, endpoint)
    answer = desk.send("POST", path, sample(endpoint), key="k")
    assert answer.status == 200, answer.body.decode()
    body = answer.json()
    assert body.get("object", "") == (endpoint.made or body.get("object", ""))
    fields = set(catalog.fields(endpoint.made))
    assert fields <= set(body), fields - set(body)
    assert desk.send("POST", path, sample(endpoint), key="k").status == 200


@pytest.mark.skipif(sdk_major() < 16, reason="the endpoints are those of the SDK's version 16")
@pytest.mark.parametrize(
    "endpoint", [each for each in LISTED if each.made], ids=lambda each: each.path
)
def test_the_answer_becomes_the_class_of_the_newest_sdk(endpoint: Endpoint) -> None:
    import stripe

    desk = Desk()
    answer = desk.send("POST", seeded(desk, endpoint), sample(endpoint))
    client: Any = stripe.StripeClient("sk_test_1")
    made = client.deserialize(answer.json(), api_mode=endpoint.api.upper())
    assert endpoint.made == type(made).OBJECT_NAME
    assert made.object == endpoint.made


# Guarded by a state that the generic resource does not keep: nothing moves in the ledger there.
NOT_GUARDED_HERE = {
    "/v1/terminal/readers/{}/confirm_payment_intent",
    "/v1/terminal/readers/{}/process_payment_intent",
    "/v1/treasury/credit_reversals",
    "/v1/treasury/debit_reversals",
}


@pytest.mark.parametrize(
    "endpoint",
    [
        each
        for each in LISTED
        if each.money and each.guarded and each.api == "v1" and each.path not in NOT_GUARDED_HERE
    ],
    ids=lambda each: each.path,
)
def test_a_guarded_endpoint_refuses_the_second_execution(endpoint: Endpoint) -> None:
    desk = Desk()
    path = seeded(desk, endpoint)
    assert desk.send("POST", path, sample(endpoint), key="one").status == 200
    again = desk.send("POST", path, sample(endpoint), key="two")
    assert again.status == 400, again.body.decode()


def test_an_unknown_endpoint_is_none() -> None:
    assert catalog.find("POST", "/v1/chargess") is None
    assert catalog.find("PUT", "/v1/charges") is None
    assert catalog.find("POST", "/v1/charges/") is None


def test_a_literal_goes_before_a_place_holder() -> None:
    found = catalog.find("POST", "/v1/invoices/create_preview")
    assert found is not None
    assert (found.endpoint.path, found.ids) == ("/v1/invoices/create_preview", ())


def test_every_route_that_a_resource_names_exists() -> None:
    """A misspelled route would fall to the generic resource in silence."""
    known = {f"{each.method} {each.path}" for each in catalog.endpoints()}
    assert set(resources._handlers()) <= known | {
        "DELETE /v1/customers/{}/sources/{}",
    }
