"""How bad it is: the severities of one birth in one context. The policy in one place, for all rules."""

from __future__ import annotations

from stripe_idem_lint.core.finding import Severity
from stripe_idem_lint.solve.facts import CallFact, Exposure

REPORTED = ("money", "payable", "unknown")
"""Effects that unstable and missing keys are reported for; the others are never above info."""


def level(call: CallFact, exposure: Exposure) -> Severity:
    """The severity of an unstable or missing key of `call` in this context.

    Error where a machine runs a money call again, or its key is drawn in a handler. One level lower each for: a missing key in
    a plain HTTP view, a plain early-ack task or a scheduled job with constant arguments; an object that is only payable; a
    visible guard, which never lowers a money call below warning. Ids of messages and tasks are info until a republish is
    visible.
    """
    if call.effect not in REPORTED:
        return Severity.INFO
    origin = exposure.origin
    if origin.kind == "delivery" and origin.scope != "hop" and not origin.republished:
        return Severity.INFO
    severity = Severity.ERROR
    if (
        exposure.plain
        or exposure.fixed
        or (origin.kind == "missing" and exposure.category == "http")
    ):
        severity = severity.lowered()
    if call.effect == "payable" or call.effect == "unknown":
        severity = severity.lowered()
    if exposure.guards:
        severity = severity.lowered(
            min(severity, Severity.WARNING) if call.effect == "money" else None
        )
    if call.effect == "unknown" and origin.kind == "missing" and not origin.given:
        return Severity.INFO
    return severity
