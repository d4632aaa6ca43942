"""What nobody documents and this fake had to decide: one table, each row an option.

`docs/plugin/assumptions.md` is made from here by `tools/generate_assumptions.py`. Whoever has a
sandbox key can check a row, and set the option where Stripe turns out to differ.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any


def _assumed(default: Any, claim: str, check: str) -> Any:
    return field(default=default, metadata={"claim": claim, "check": check})


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumptions:
    """Every choice that is not certain. The text of each stands in its field's metadata."""

    key_length_status: int = _assumed(
        400,
        "Status for a key that is empty or longer than 255 characters.",
        "POST /v1/customers with a key of 256 characters.",
    )
    lock_timeout_should_retry: bool = _assumed(
        True,
        "A 429 `lock_timeout` carries `Stripe-Should-Retry: true`.",
        "Update one customer from many threads at once; look at the headers of a 429.",
    )
    connected_accounts_separate: bool = _assumed(
        True,
        "The same key under another `Stripe-Account` is another key.",
        "One key, one body, with and without the header.",
    )
    modes_separate: bool = _assumed(
        True,
        "Live and test mode keep separate keys and separate objects.",
        "Not to be checked without a live account.",
    )
    expand_counts: bool = _assumed(
        True,
        "`expand` is compared like any other parameter.",
        "One key, the second time with `expand[]=customer`: 400 if it counts.",
    )
    parameters_compared_parsed: bool = _assumed(
        True,
        "Parameters are compared parsed and in any order, `x[]` equal to `x[0]`; False compares"
        " the bytes of the body.",
        "One key, the same form in another order.",
    )
    other_path_refused_in_flight: bool = _assumed(
        True,
        "A key in use on one endpoint is refused with 400 on another even while the first request"
        " runs; False answers 409.",
        "Two slow endpoints at once under one key.",
    )
    errors_before_execution_bare: bool = _assumed(
        True,
        "Answers of 409, rate limits and validation carry neither `Original-Request` nor"
        " `Idempotent-Replayed`.",
        "Look at the headers of a 400 `parameter_missing` sent with a key.",
    )
    retention_hours: float = _assumed(
        24.0,
        "A v1 key is forgotten this many hours after its first request (documented: at least 24).",
        "Repeat a request after 24 hours and some minutes.",
    )
    retention_v2_days: float = _assumed(
        30.0,
        "A v2 key is forgotten this many days after its first request.",
        "Repeat a v2 request after 30 days.",
    )
    missing_object_stored: bool = _assumed(
        True,
        "404 `resource_missing` comes from an endpoint that has begun to execute: it is stored.",
        "Capture an unknown charge twice under one key; look for `Idempotent-Replayed`.",
    )
    v2_other_parameters_refused: bool = _assumed(
        True,
        "v2: other parameters under a known key are a 400 `idempotency_error`.",
        "Two different v2 meter events under one key.",
    )
    older_parameters: bool = _assumed(
        True,
        "Parameters that only older API versions know are accepted whatever `Stripe-Version` says.",
        "Documented otherwise: the version decides. Set to False for the newest version alone.",
    )
    unknown_references: str = _assumed(
        "accept",
        "`accept`: an unknown customer, payment method, account, product or price among the"
        " parameters is made on first sight (a customer with a working card), so that tests can"
        " use the ids of their own fixtures. `refuse` answers 400 `resource_missing` as Stripe.",
        "Known: Stripe refuses. This is a convenience.",
    )
    transfers_need_funds: bool = _assumed(
        False,
        "A transfer above the balance is a 400 `balance_insufficient`, as with Stripe; False lets"
        " the balance go below zero, so that tests need not fund the account first. Payouts always"
        " need funds.",
        "Known: Stripe refuses. This is a convenience.",
    )
    funds_available_at_once: bool = _assumed(
        True,
        "What a charge brings is available at once, as after `tok_bypassPending`; False leaves it"
        " pending for two days.",
        "Known: Stripe holds it for some days. This is a convenience.",
    )
    default_page_size: int = _assumed(
        10, "Objects in a page of a list without `limit`.", "List 11 customers."
    )

    def changed(self, given: Mapping[str, Any]) -> Assumptions:
        """A copy with some rows set otherwise.

        Raises:
            ValueError: A name that is none of the rows, or a value of another type.
        """
        known = {each.name: each for each in fields(self)}
        for name, value in given.items():
            if name not in known:
                raise ValueError(f"unknown assumption {name!r}; known are {', '.join(known)}")
            wanted = type(getattr(self, name))
            if not (isinstance(value, wanted) or (wanted is float and isinstance(value, int))):
                raise ValueError(f"assumption {name!r} wants {wanted.__name__}, not {value!r}")
        return replace(self, **given)


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table in the docs."""

    name: str
    default: Any
    claim: str
    check: str


def table() -> tuple[Row, ...]:
    """The rows, in the order of the class."""
    return tuple(
        Row(each.name, each.default, each.metadata["claim"], each.metadata["check"])
        for each in fields(Assumptions)
    )
