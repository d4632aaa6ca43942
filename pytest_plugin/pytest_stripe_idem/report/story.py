"""One test as plain data: what the summary, the JSON and the HTML are made from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_stripe_idem.record.charges import LogicalCharge
from pytest_stripe_idem.record.divergence import Divergence
from pytest_stripe_idem.record.exchange import Exchange, look_of
from pytest_stripe_idem.report import timeline

if TYPE_CHECKING:
    from pytest_stripe_idem.harness import FakeStripe

Story = dict[str, Any]


def story_of(fake: FakeStripe, name: str, outcome: str, root: Path) -> Story:
    """All that a report says about one test.

    Returns:
        `test`, `outcome`, `requests` (how many), `charges`, `divergences`, `remarks`.
    """
    return {
        "test": name,
        "outcome": outcome,
        "requests": len(fake.exchanges),
        "charges": [charge_data(each, root) for each in fake.charges],
        "divergences": [divergence_data(each, root) for each in fake.divergences],
        "remarks": fake.remarks(),
    }


def charge_data(charge: LogicalCharge, root: Path) -> dict[str, Any]:
    """`what`, `identity` (name to value), `requests`, `executed` (how many had an effect)."""
    own = charge.identity.own
    return {
        "what": timeline.headline(charge.first.call),
        "identity": dict(charge.identity.fields) | ({"own": repr(own)} if own is not None else {}),
        "requests": [exchange_data(each, root) for each in charge.exchanges],
        "executed": len(charge.executed),
    }


def exchange_data(each: Exchange, root: Path) -> dict[str, Any]:
    """One request; `at` is the clock of the fake, in seconds since 1970."""
    key = each.call.counted_key
    return {
        "number": each.number,
        "at": each.at,
        "method": each.call.method,
        "path": each.call.path,
        "params": dict(each.call.flat),
        "key": key,
        "key_look": look_of(key) if key else None,
        "automatic": each.call.automatic,
        "client": each.client,
        "worker": each.worker,
        "place": timeline.place_words(each.place, root),
        "status": each.status,
        "error": each.error_code or each.error_type or None,
        "executed": each.executed,
        "replayed": each.replayed,
        "delivered": each.delivered,
        "outcome": timeline.outcome_words(each),
        "object": each.made,
        "amount": each.moved,
        "currency": each.currency or None,
        "faults": list(each.faults),
        "run": str(each.run) if each.run else None,
    }


def divergence_data(found: Divergence, root: Path) -> dict[str, Any]:
    """`kind`, `severity`, `reason`, `text`, and the numbers of its requests."""
    return {
        "kind": found.kind,
        "severity": found.severity,
        "reason": found.reason,
        "text": timeline.text_of(found, root),
        "requests": [each.number for each in found.exchanges],
    }
