"""Disputes: the evidence of test mode wins or loses one.

Its money does not move here: what a bank takes meanwhile and Stripe's fee are not simulated.
"""

from __future__ import annotations

from typing import Literal

from pytest_stripe_idem.core import errors
from pytest_stripe_idem.core.call import Call, merge_metadata, plain
from pytest_stripe_idem.core.world import Json

# Source: https://docs.stripe.com/testing#disputes
_EVIDENCE: dict[str, Literal["won", "lost"]] = {
    "winning_evidence": "won",
    "losing_evidence": "lost",
}


def update(call: Call) -> Json:
    """Takes evidence; submitted, it is under review, or decides at once in the words of test mode."""
    dispute = call.owned("dispute")
    merge_metadata(dispute, call.params.get("metadata"))
    given = call.params.get("evidence")
    if isinstance(given, dict):
        _need_open(dispute)
        dispute["evidence"] = {**(dispute["evidence"] or {}), **plain(given)}
        if call.params.get("submit", True):
            dispute["status"] = "under_review"
            outcome = _EVIDENCE.get(str(given.get("uncategorized_text", "")))
            if outcome is not None:
                _end(call, dispute, outcome)
    call.emit("charge.dispute.updated", dispute)
    return dispute


def close(call: Call) -> Json:
    """Gives up: the dispute is lost."""
    dispute = call.owned("dispute")
    _need_open(dispute)
    _end(call, dispute, "lost")
    return dispute


def _need_open(dispute: Json) -> None:
    if dispute["status"] in {"won", "lost"}:
        raise errors.invalid(f"The dispute is closed already: {dispute['status']}.")


def _end(call: Call, dispute: Json, outcome: Literal["won", "lost"]) -> None:
    dispute["status"] = outcome
    call.emit("charge.dispute.closed", dispute)


ROUTES = {
    "POST /v1/disputes/{}": update,
    "POST /v1/disputes/{}/close": close,
}
