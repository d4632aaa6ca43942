"""The text with which a test fails: a timeline that a person reads in five seconds.

one charge, two keys: POST /v1/payment_intents  customer=cus_7 amount=4900 usd  metadata[invoice]=in_42
  +0.000 s  key 3f7c…d1 (uuid4, explicit)  → pi_1  executed, response lost     billing/runs.py:88 in charge
  +0.412 s  key 9a2e…07 (uuid4, explicit)  → pi_2  executed                    billing/runs.py:88 in charge
  customer charged 98.00 instead of 49.00
  a retry must send the key of the first attempt: derive it from in_42, or store it before the call (docs: keys)
  two purchases on purpose? fake_stripe.expect_distinct(by="metadata[invoice]")
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import assert_never

from pytest_stripe_idem.core.exchange import Place
from pytest_stripe_idem.core.money_call import MoneyCall
from pytest_stripe_idem.record.charges import LogicalCharge
from pytest_stripe_idem.record.divergence import Divergence
from pytest_stripe_idem.record.exchange import Exchange, key_words

# Currencies whose smallest unit is the currency itself, and those with three decimals.
_NO_DECIMALS = frozenset(
    [
        "bif",
        "clp",
        "djf",
        "gnf",
        "jpy",
        "kmf",
        "krw",
        "mga",
        "pyg",
        "rwf",
        "ugx",
        "vnd",
        "vuv",
        "xaf",
        "xof",
        "xpf",
    ]
)
_THREE_DECIMALS = frozenset(["bhd", "jod", "kwd", "omr", "tnd"])

_VERBS = {
    "charge": "customer charged",
    "capture": "customer charged",
    "invoice": "customer invoiced",
    "subscription": "customer subscribed",
    "refund": "customer refunded",
    "payout": "paid out",
    "transfer": "transferred",
    "topup": "topped up",
}


def failure(found: Iterable[Divergence], root: Path) -> str:
    """All that a failing test shows."""
    return "\n\n".join(text_of(each, root) for each in found)


def text_of(found: Divergence, root: Path) -> str:
    """One divergence: headline, timeline, consequence, advice."""
    lines = [f"{_title(found)}: {headline(found.exchanges[0].call)}"]
    rows = list(rows_of(found.exchanges, root))
    if len({each.call.endpoint for each in found.exchanges}) > 1:
        rows = [
            f"{row}  {each.call.method} {each.call.path}"
            for row, each in zip(rows, found.exchanges, strict=True)
        ]
    lines += [f"  {row}" for row in rows]
    lines += [f"  {each}" for each in (*consequence(found), *advice(found))]
    return "\n".join(lines)


def headline(call: MoneyCall) -> str:
    """Endpoint, who, how much, and the fields that name the purchase."""
    flat = call.flat
    parts = [f"{name}={flat[name]}" for name in _WHO if name in flat]
    amount = flat.get("amount") or flat.get("amount[value]")
    currency = flat.get("currency") or flat.get("amount[currency]") or ""
    parts += [f"amount={amount} {currency}".rstrip()] if amount else []
    named = [f"{name}={value}" for name, value in flat.items() if name.startswith("metadata[")]
    named += [
        f"{name}={flat[name]}" for name in ("client_reference_id", "transfer_group") if name in flat
    ]
    return "  ".join(
        part for part in (f"{call.method} {call.path}", " ".join(parts), " ".join(named)) if part
    )


def rows_of(exchanges: Sequence[Exchange], root: Path) -> Iterable[str]:
    """One line per request, in columns."""
    start = exchanges[0].at
    table = [
        (
            f"+{each.at - start:.3f} s",
            key_words(each.call),
            f"→ {each.made or 'nothing'}",
            outcome_words(each),
            place_words(each.place, root),
        )
        for each in exchanges
    ]
    widths = [max(_LEAST[column], *(len(row[column]) for row in table)) for column in range(4)]
    for row in table:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        yield "  ".join([*cells, row[4]]).rstrip()


# Places begin in the same column in nearly every timeline.
_LEAST = (0, 0, 0, 26)


def outcome_words(each: Exchange) -> str:
    """`executed, response lost`, `replayed`, `402 card_declined`, `409 idempotency_key_in_use`."""
    words: list[str] = []
    if each.status >= 400:
        words.append(f"{each.status} {each.error_code or each.error_type}".rstrip())
    if each.replayed:
        words.append("replayed")
    elif each.succeeded:
        words.append("executed")
    elif not each.status:
        words.append("not executed")
    words += [each.broken] if each.broken else []
    return ", ".join(words)


def place_words(place: Place | None, root: Path) -> str:
    """`billing/runs.py:88 in charge`, relative to the project where it lies inside it."""
    if place is None:
        return ""
    path = Path(place.file)
    if path.is_relative_to(root):
        path = path.relative_to(root)
    return f"{path}:{place.line} in {place.function}"


def money(amount: int, currency: str) -> str:
    """`49.00`, `4900` for yen, `4.900` for dinars."""
    if currency.lower() in _NO_DECIMALS:
        return str(amount)
    decimals = 3 if currency.lower() in _THREE_DECIMALS else 2
    return f"{amount / 10**decimals:.{decimals}f}"


def consequence(found: Divergence) -> Iterable[str]:
    """What it did to the customer, where it did anything."""
    done = [each for each in found.exchanges if each.succeeded]
    if found.kind == "key changed on retry":
        return [f"no harm this time; {found.reason}"]
    if found.kind == "one key for two requests" or len(done) < 2:
        return [found.reason]
    amounts = [each.moved for each in done if each.moved is not None]
    verb = _VERBS.get(done[0].call.money or "")
    if verb and len(amounts) == len(done) and not _only_payable(done):
        currency = done[0].currency
        return [f"{verb} {money(sum(amounts), currency)} instead of {money(amounts[0], currency)}"]
    return [f"{len(done)} objects instead of one: somebody may pay or be paid for each"]


def _only_payable(done: Sequence[Exchange]) -> bool:
    """Payment intents that were not confirmed: made twice, not charged twice."""
    intents = all(each.call.endpoint == "/v1/payment_intents" for each in done)
    return intents and not any(each.call.flat.get("confirm", "").lower() == "true" for each in done)


def advice(found: Divergence) -> Iterable[str]:
    """What to do about it."""
    match found.kind:
        case "two objects for one charge" | "automatic key in a repeated run":
            yield _right_key(found)
            yield _on_purpose(found.charge)
        case "key changed on retry":
            yield _right_key(found)
        case "one key for two requests":
            if "moved" in found.reason:
                yield (
                    "a retry must repeat the request unchanged: compute what moves (times, new"
                    " customers, tokens) once, before the first attempt (docs: keys)"
                )
            else:
                yield (
                    "a key belongs to one charge and one endpoint: add what tells these two apart"
                    " to it (docs: keys)"
                )
        case "retry after the key expired":
            yield (
                "a key is kept for 24 hours at least, no longer: look the charge up before it is"
                " sent again so late (docs: keys)"
            )
        case _:
            assert_never(found.kind)


def _right_key(found: Divergence) -> str:
    if all(each.call.keyless for each in found.exchanges):
        what = "the SDK made a new key for each call"
        if all(each.call.key is None for each in found.exchanges):
            what = "no key was sent"
        return f"{what}: pass idempotency_key=, derived from {_source(found.charge)} (docs: keys)"
    return (
        "a retry must send the key of the first attempt: derive it from"
        f" {_source(found.charge)}, or store it before the call (docs: keys)"
    )


def _source(charge: LogicalCharge) -> str:
    """The value that names the purchase."""
    business = charge.identity.business
    flat = charge.first.call.flat
    if business:
        return business[0][1]
    return flat.get("metadata[id]") or "what identifies the purchase"


def _on_purpose(charge: LogicalCharge) -> str:
    business = charge.identity.business
    by = (
        business[0][0]
        if business
        else next((name for name in (*_WHO, "amount") if name in charge.first.call.flat), "")
    )
    call = f'fake_stripe.expect_distinct(by="{by}")' if by else "fake_stripe.expect_distinct()"
    return f"two purchases on purpose? {call}"


def _title(found: Divergence) -> str:
    match found.kind:
        case "two objects for one charge" | "automatic key in a repeated run":
            count = len(found.charge.keys)
            if all(each.call.key is None for each in found.exchanges):
                return "one charge, no key"
            return f"one charge, {_count(max(count, 2))} keys"
        case "key changed on retry":
            return "one charge, key changed on retry"
        case "one key for two requests":
            return "one key, two requests"
        case "retry after the key expired":
            return "one charge, retried after its key was forgotten"
        case _:
            assert_never(found.kind)


def _count(number: int) -> str:
    words = ("no", "one", "two", "three", "four", "five", "six")
    return words[number] if number < len(words) else str(number)


_WHO = ("customer", "charge", "payment_intent", "destination", "invoice", "subscription")
