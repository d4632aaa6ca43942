"""What a line costs: by price, plan, price data or plain amount."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pytest_stripe_idem.core import errors
from pytest_stripe_idem.core.call import Call, plain
from pytest_stripe_idem.core.world import Json


@dataclass(frozen=True, slots=True)
class Line:
    """One line: `amount` is the unit amount times the quantity."""

    amount: int
    currency: str
    quantity: int
    price: Json | None
    description: str | None


def line_of(call: Call, given: Json, fallback_currency: str = "usd") -> Line:
    """Reads one entry of `line_items`, `items` or an invoice item.

    Raises:
        ApiError: Neither a price nor an amount, or a price that does not exist.
    """
    quantity = int(given.get("quantity") or 1)
    price = price_of(call, given)
    if price is not None:
        unit = price.get("unit_amount") or price.get("amount") or 0
        name = price.get("nickname") or _product_name(call, price)
        description = given.get("description") or name
        return Line(int(unit) * quantity, str(price["currency"]), quantity, price, description)
    amount = given.get("amount")
    if amount is None and given.get("unit_amount") is not None:
        amount = int(given["unit_amount"]) * quantity
    if amount is None and given.get("unit_amount_decimal") is not None:
        amount = round(float(given["unit_amount_decimal"]) * quantity)
    if amount is None:
        raise errors.missing("price", "A line needs a price or an amount.")
    currency = str(given.get("currency") or fallback_currency).lower()
    return Line(int(amount), currency, quantity, None, given.get("description"))


def price_of(call: Call, given: Json) -> Json | None:
    """The price that an entry names or describes."""
    nested = given.get("pricing")
    named = given.get("price") or (nested.get("price") if isinstance(nested, dict) else None)
    if named:
        return call.lookup(str(named), "price", "price")
    if given.get("plan"):
        return call.lookup(str(given["plan"]), "plan", "plan")
    data: Any = given.get("price_data")
    if not isinstance(data, dict):
        return None
    return make_price(
        call,
        {
            "currency": str(data.get("currency", "usd")).lower(),
            "product": data.get("product") or _inline_product(call, data),
            "recurring": recurring(data.get("recurring")),
            "unit_amount": _cents(data),
        },
    )


def make_price(call: Call, values: Json, id: str | None = None) -> Json:
    """A price object."""
    kind = "recurring" if values.get("recurring") else "one_time"
    amount = values.get("unit_amount")
    return call.world.add(
        "price",
        call.now,
        {
            "active": True,
            "billing_scheme": "per_unit",
            "metadata": {},
            "type": kind,
            "unit_amount_decimal": None if amount is None else str(amount),
            **values,
        },
        id=id,
    )


def recurring(given: Any) -> Json | None:
    """The `recurring` hash of a price, complete."""
    if not isinstance(given, dict):
        return None
    return {
        "interval": given.get("interval", "month"),
        "interval_count": int(given.get("interval_count") or 1),
        "meter": given.get("meter"),
        "trial_period_days": None,
        "usage_type": given.get("usage_type", "licensed"),
    }


def _cents(data: Json) -> int:
    if data.get("unit_amount") is not None:
        return int(data["unit_amount"])
    return round(float(data.get("unit_amount_decimal") or 0))


def _inline_product(call: Call, data: Json) -> str:
    given = plain(data.get("product_data") or {})
    made = call.world.add("product", call.now, {"active": True, "metadata": {}, **given})
    return str(made["id"])


def _product_name(call: Call, price: Json) -> str | None:
    product = call.world.find(str(price.get("product") or ""), "product")
    return product["name"] if product else None
