"""The detectors: each looks at the logical charges of a test for one thing that went wrong.

A pair of requests is reported once, by the first detector in `DETECTORS` that sees it.

An error: the client could not know what became of the first request (response lost, timeout, 5xx,
409, 429, both at one time, its process killed since), one of the keys was none of the user's own, or both are runs of one
piece of work. A warning: the first success had been delivered, so it may be a second purchase.
Nothing: after a delivered refusal (402, 400) another key is right; other amounts are other refunds;
what an object's state refused did no harm.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from pytest_stripe_idem.record.charges import LogicalCharge
from pytest_stripe_idem.record.exchange import Exchange, Known, Run

Severity = Literal["error", "warning"]
Kind = Literal[
    "two objects for one charge",
    "key changed on retry",
    "automatic key in a repeated run",
    "one key for two requests",
    "retry after the key expired",
]


@dataclass(frozen=True, slots=True)
class Divergence:
    """One thing that went wrong.

    Attributes:
        charge: The logical charge it is about.
        exchanges: The requests that show it, in order.
        reason: Why it counts, in a few words.
    """

    kind: Kind
    severity: Severity
    charge: LogicalCharge
    exchanges: tuple[Exchange, ...]
    reason: str


Detector = Callable[[Sequence[LogicalCharge]], Iterator[Divergence]]


def find_divergences(
    charges: Sequence[LogicalCharge], *, strict: bool = False
) -> tuple[Divergence, ...]:
    """All of them, one per charge and detector.

    Args:
        strict: Warnings count as errors.
    """
    seen: set[tuple[int, int]] = set()
    found: list[Divergence] = []
    for detect in DETECTORS:
        for each in detect(charges):
            pair = (each.exchanges[0].number, each.exchanges[-1].number)
            if pair in seen:
                continue
            seen.update((a.number, b.number) for a, b in combinations(each.charge.exchanges, 2))
            seen.add(pair)
            found.append(_hardened(each) if strict else each)
    return tuple(sorted(found, key=lambda each: each.exchanges[0].number))


def retry_after_expiry(charges: Sequence[LogicalCharge]) -> Iterator[Divergence]:
    """The right key, sent again after Stripe had forgotten it: executed a second time."""
    for charge in charges:
        for first, late in combinations(charge.executed, 2):
            # Under a key that is still known the second request would have been a replay.
            if _differ(first, late):
                continue
            yield Divergence(
                "retry after the key expired",
                "error",
                charge,
                (first, late),
                "the key had been forgotten when it was sent again",
            )
            break


def two_objects(charges: Sequence[LogicalCharge]) -> Iterator[Divergence]:
    """Two executed requests for one charge under different keys."""
    for charge in charges:
        pairs = [
            (first, second, reason)
            for first, second in combinations(charge.executed, 2)
            if _differ(first, second) and (reason := _why(charge, first, second))
        ]
        errors = [pair for pair in pairs if pair[2] is not _DELIVERED]
        if not pairs:
            continue
        first, _, reason = (errors or pairs)[0]
        yield Divergence(
            "two objects for one charge",
            "error" if errors else "warning",
            charge,
            tuple(each for each in charge.exchanges if first.number <= each.number),
            reason,
        )


def key_changed_on_retry(charges: Sequence[LogicalCharge]) -> Iterator[Divergence]:
    """A retry under another key although nobody could know what became of the first attempt.

    It may have done no harm this time (nothing was executed before, or the retry failed); the next
    time it charges twice.
    """
    for charge in charges:
        for first, second in combinations(charge.exchanges, 2):
            if not _differ(first, second) or second.call.guarded:
                continue
            if second.status in {400, 401, 403, 404} and not second.executed:
                continue
            if _knowledge(charge, first, second) is Known.NOTHING:
                reason = _unknown(charge, first, second)
                shown = (first, second)
                yield Divergence("key changed on retry", "error", charge, shown, reason)
                break


def automatic_key_in_repeated_run(charges: Sequence[LogicalCharge]) -> Iterator[Divergence]:
    """The same line sends a money call in two runs of one piece of work, without a key of its own.

    Here the charges themselves may differ in something volatile that the identity could not know.
    """
    calls: dict[tuple[str, object, str], tuple[LogicalCharge, Exchange]] = {}
    for charge in charges:
        for each in charge.executed:
            if each.run is None or not each.call.keyless or each.place is None:
                continue
            where = (each.run.scope, each.place, each.call.endpoint)
            charge_before, before = calls.setdefault(where, (charge, each))
            if before.run is None or before.run.number == each.run.number:
                continue
            yield Divergence(
                "automatic key in a repeated run",
                "error",
                charge_before,
                (before, each),
                "each run had a key that nobody can send again",
            )


def one_key_for_two(charges: Sequence[LogicalCharge]) -> Iterator[Divergence]:
    """One key on two charges, two endpoints, or one charge whose parameters moved."""
    first_with: dict[tuple[str, str], Exchange] = {}
    by_exchange = {each.number: charge for charge in charges for each in charge.exchanges}
    for each in sorted(
        (each for charge in charges for each in charge.exchanges), key=lambda each: each.number
    ):
        key = each.call.counted_key
        if key is None:
            continue
        before = first_with.setdefault((each.call.account, key), each)
        if each.error_type == "idempotency_error" and before is not each:
            same = by_exchange[before.number] is by_exchange[each.number]
            yield Divergence(
                "one key for two requests",
                "error",
                by_exchange[each.number],
                (before, each),
                "the parameters moved under a stable key" if same else "the key is too coarse",
            )


DETECTORS: tuple[Detector, ...] = (
    retry_after_expiry,
    two_objects,
    key_changed_on_retry,
    one_key_for_two,
    automatic_key_in_repeated_run,
)

_DELIVERED = "the first success had been delivered: a second purchase, or a second charge"


def _hardened(found: Divergence) -> Divergence:
    return Divergence(found.kind, "error", found.charge, found.exchanges, found.reason)


def _differ(first: Exchange, second: Exchange) -> bool:
    keys = (first.call.counted_key, second.call.counted_key)
    return keys[0] is None or keys[0] != keys[1]


def _why(charge: LogicalCharge, first: Exchange, second: Exchange) -> str:
    """Why two executed requests count; empty where they do not."""
    known = _knowledge(charge, first, second)
    if known is Known.REFUSAL:
        return ""
    if known is Known.NOTHING:
        return _unknown(charge, first, second)
    if _same_work(first.run, second.run):
        return "both are runs of the same work"
    if first.call.keyless or second.call.keyless:
        return "a key was none of your own: no retry could ever send it again"
    return _DELIVERED


def _same_work(first: Run | None, second: Run | None) -> bool:
    if first == second:
        return False
    if any(run is not None and run.fresh for run in (first, second)):
        return True
    return first is not None and second is not None and first.scope == second.scope


def _unknown(charge: LogicalCharge, first: Exchange, second: Exchange) -> str:
    if first.overlaps(second):
        return "both were under way at one time"
    if first.known is Known.SUCCESS:
        return "the process that had been told of the first was killed"
    how = first.broken or (f"a {first.status}" if first.status else "no answer")
    return f"nobody could know what became of the first ({how})"


def _knowledge(charge: LogicalCharge, first: Exchange, second: Exchange) -> Known:
    """What the client knew of the first key when it sent the second one."""
    told = [
        each.known_to(second)
        for each in charge.exchanges
        if each.call.counted_key == first.call.counted_key
        and (each is first or first.call.counted_key is not None)
    ]
    for answer in (Known.SUCCESS, Known.REFUSAL):
        if answer in told:
            return answer
    return Known.NOTHING
