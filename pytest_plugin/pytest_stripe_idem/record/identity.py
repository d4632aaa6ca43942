"""Which requests are one logical charge.

The first that applies: the project's own callable; business fields (`metadata[…]`,
`client_reference_id`, `transfer_group`, `invoice`) when one of them names a purchase; else all
parameters but the volatile ones. Account, endpoint with its ids, amount and currency always count.

    metadata[order]=7, metadata[attempt]=2, source=tok_1   ─▶  /v1/charges 4900 usd metadata[order]=7
    customer=cus_7, source=tok_1                           ─▶  /v1/charges 4900 usd customer=cus_7
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass

from pytest_stripe_idem.core.money_call import MoneyCall

# A project's own identity; None leaves it to the rules here.
Identify = Callable[[MoneyCall], Hashable | None]

# Change from one attempt to the next without making another purchase.
VOLATILE = frozenset(
    {
        "card",
        "confirmation_token",
        "description",
        "expand",
        "expires_at",
        "identifier",
        "initiated_at",
        "payment_method",
        "payment_method_data",
        "return_url",
        "cancel_url",
        "success_url",
        "source",
        "statement_descriptor",
        "statement_descriptor_suffix",
        "timestamp",
        "token",
    }
)

# Words of a metadata name, or of a field, that mean this attempt and not the purchase.
_ATTEMPT_WORDS = frozenset(
    {
        "agent", "attempt", "attempts", "correlation", "host", "hostname", "idempotency", "ip",
        "nonce", "now", "pid", "random", "request", "retries", "retry", "session", "span", "time",
        "timestamp", "token", "trace", "try", "ts", "worker",
    }
)  # fmt: skip

# The same, but only beside a field that names the purchase.
_DELIVERY_WORDS = frozenset(
    {"batch", "delivery", "event", "execution", "job", "message", "msg", "run", "task", "uuid"}
)

# Words that name a purchase.
_PURCHASE_WORDS = frozenset(
    {
        "bill", "booking", "cart", "charge", "checkout", "claim", "due", "installment",
        "instalment", "invoice", "order", "orders", "payment", "payout", "purchase", "quote",
        "receipt", "ref", "reference", "refund", "reservation", "ticket", "transaction", "txn",
    }
)  # fmt: skip

_BUSINESS_PARAMS = ("client_reference_id", "transfer_group", "invoice")

# Where the money goes or comes back from: two of these are two payments, whatever the order.
_COUNTERPARTS = frozenset(
    {"charge", "destination", "payment_intent", "transfer_data[destination]", "to[payout_method]"}
)

# Parts of one purchase: it is the description and the price that tell them apart.
_ITEMIZED = frozenset({"/v1/invoiceitems", "/v1/invoices/{}/add_lines"})


@dataclass(frozen=True, slots=True)
class Identity:
    """What makes two requests one charge.

    Attributes:
        where: Account, method and path.
        fields: Name and value of what counts, sorted.
        own: What the project's callable gave.
    """

    where: tuple[str, str, str]
    fields: tuple[tuple[str, str], ...] = ()
    own: Hashable | None = None

    @property
    def business(self) -> tuple[tuple[str, str], ...]:
        """The fields that name the purchase, the best first."""
        named = [pair for pair in self.fields if _names_purchase(pair[0])]
        return tuple(named)


def identify(
    call: MoneyCall, own: Iterable[Identify] = (), volatile: frozenset[str] = frozenset()
) -> Identity:
    """The identity of a money call.

    Args:
        own: The project's callables; the first that gives something decides.
        volatile: Further parameters that do not count.
    """
    where = (call.account, call.method, call.path)
    for each in own:
        given = each(call)
        if given is not None:
            return Identity(where, _amount(call), given)
    named = volatile | VOLATILE
    if call.endpoint in _ITEMIZED:
        named -= {"description"}
    fields = {name: value for name, value in call.flat.items() if not _is_volatile(name, named)}
    if call.endpoint not in _ITEMIZED and any(_names_purchase(name) for name in fields):
        fields = {name: value for name, value in fields.items() if _is_business(name)}
    fields |= dict(_amount(call))
    return Identity(where, tuple(sorted(fields.items())))


def _amount(call: MoneyCall) -> tuple[tuple[str, str], ...]:
    names = ("amount", "currency", "amount[value]", "amount[currency]")
    return tuple((name, call.flat[name].lower()) for name in names if name in call.flat)


def _is_volatile(name: str, volatile: frozenset[str]) -> bool:
    head = name.partition("[")[0]
    if head in volatile or name in volatile:
        return True
    words = _words(name)
    return head == "metadata" and (bool(words & _ATTEMPT_WORDS) or name.endswith("_at]"))


def _names_purchase(name: str) -> bool:
    if name in _BUSINESS_PARAMS:
        return True
    return name.startswith("metadata[") and bool(_words(name) & _PURCHASE_WORDS)


def _is_business(name: str) -> bool:
    if name in _BUSINESS_PARAMS or name in _COUNTERPARTS:
        return True
    return name.startswith("metadata[") and not _words(name) & _DELIVERY_WORDS


def _words(name: str) -> frozenset[str]:
    """`metadata[orderId]` and `metadata[order_id]` to `order`, `id`."""
    inside = name.partition("[")[2] or name
    return frozenset(
        word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+", inside)
    )
