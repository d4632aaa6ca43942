"""Prices, plans and products."""

from __future__ import annotations

from pytest_stripe_idem.core import errors
from pytest_stripe_idem.core.call import Call, plain
from pytest_stripe_idem.core.pricing import make_price, recurring
from pytest_stripe_idem.core.resources import generic
from pytest_stripe_idem.core.world import Json

# What a price costs that only a test's own data names.
UNKNOWN_UNIT_AMOUNT = 1000


def create(call: Call) -> Json:
    product = call.params.get("product")
    if product:
        call.lookup(str(product), "product", "product")
    elif isinstance(call.params.get("product_data"), dict):
        values = {"active": True, "metadata": {}, **plain(call.params["product_data"])}
        product = call.world.add("product", call.now, values)["id"]
    else:
        raise errors.missing("product", "A price needs a product.")
    decimal = call.params.get("unit_amount_decimal")
    price = make_price(
        call,
        {
            **call.take("active", "billing_scheme", "lookup_key", "nickname", "tax_behavior"),
            "currency": call.currency(),
            "metadata": call.metadata(),
            "product": product,
            "recurring": recurring(call.params.get("recurring")),
            "unit_amount": call.params.get(
                "unit_amount", None if decimal is None else round(decimal)
            ),
        },
    )
    call.emit("price.created", price)
    return price


def create_plan(call: Call) -> Json:
    product = call.params.get("product")
    if isinstance(product, dict):
        values = {"active": True, "metadata": {}, **plain(product)}
        product = call.world.add("product", call.now, values)["id"]
    plan = call.world.add(
        "plan",
        call.now,
        {
            "active": True,
            "interval_count": 1,
            **call.take("amount", "interval", "interval_count", "nickname", "trial_period_days"),
            "currency": call.currency(),
            "metadata": call.metadata(),
            "product": product,
        },
        id=_own_id(call, "plan"),
    )
    call.emit("plan.created", plan)
    return plan


def create_product(call: Call) -> Json:
    values = {
        "active": True,
        **plain(
            call.take("active", "description", "images", "name", "shippable", "tax_code", "url")
        ),
        **plain(call.take("statement_descriptor", "unit_label", "marketing_features")),
        "metadata": call.metadata(),
        "type": "service",
        "updated": call.now,
    }
    product = call.world.add("product", call.now, values, id=_own_id(call, "product"))
    data = call.params.get("default_price_data")
    if isinstance(data, dict):
        price = make_price(
            call,
            {
                "currency": str(data.get("currency", "usd")),
                "product": product["id"],
                "recurring": recurring(data.get("recurring")),
                "unit_amount": int(data.get("unit_amount") or 0),
            },
        )
        product["default_price"] = price["id"]
    call.emit("product.created", product)
    return product


def create_coupon(call: Call) -> Json:
    id = _own_id(call, "coupon")
    if id is not None:
        made = call.world.add("coupon", call.now, {}, id=id)
        generic.change(call, made, "coupon")
        return {**made}
    return generic.create(call)


def price_on_sight(call: Call, id: str) -> Json:
    """A monthly price that a test's own data names."""
    return make_price(
        call,
        {
            "currency": "usd",
            "product": "prod_unknown",
            "recurring": recurring({"interval": "month"}),
            "unit_amount": UNKNOWN_UNIT_AMOUNT,
        },
        id=id,
    )


def plan_on_sight(call: Call, id: str) -> Json:
    """A monthly plan that a test's own data names."""
    values = {"active": True, "amount": UNKNOWN_UNIT_AMOUNT, "currency": "usd", "metadata": {}}
    return call.world.add("plan", call.now, {**values, "interval": "month"}, id=id)


def product_on_sight(call: Call, id: str) -> Json:
    """A product that a test's own data names."""
    return call.world.add("product", call.now, {"active": True, "metadata": {}, "name": id}, id=id)


def _own_id(call: Call, kind: str) -> str | None:
    """An id that the client chose, which must be free."""
    id = call.params.get("id")
    if id and call.world.find(str(id)):
        raise errors.invalid(
            f"There is a {kind} with this id already.", param="id", code="resource_already_exists"
        )
    return str(id) if id else None


ROUTES = {
    "POST /v1/prices": create,
    "POST /v1/plans": create_plan,
    "POST /v1/products": create_product,
    "POST /v1/coupons": create_coupon,
}
MAKERS = {"price": price_on_sight, "plan": plan_on_sight, "product": product_on_sight}
