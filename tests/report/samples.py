"""Reports to render: one finding as the manual shows it, and variations of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from stripe_idem_lint.core.finding import ContextRef, Finding, OriginRef, Severity, Step
from stripe_idem_lint.core.problem import Problem
from stripe_idem_lint.core.span import Span
from stripe_idem_lint.report.base import Report, RuleInfo

SOURCES = {
    "billing/gateway.py": (
        *[""] * 40,
        "    key = key or str(uuid4())",
        "    return stripe.PaymentIntent.create(amount=total, idempotency_key=key)",
        "",
    )
}
PAGE = """
## What it finds

A key.

## Why it matters

Stripe makes
a second charge.

## Example
"""
RULE = RuleInfo("SIL103", "fresh-key-in-handler", "A key is drawn in a handler.", True, PAGE)

SINK = Span("billing/gateway.py", 42, 12, 42, 74, "stripe.PaymentIntent.create(amount=total")
BORN = Span("billing/gateway.py", 41, 22, 41, 29, "uuid4()")
PASSED = Span("billing/views.py", 18, 5, 18, 18, "charge(order)")
AGAIN = Span("billing/views.py", 12, 2, 12, 18, '@app.post("/pay")')

FINDING = Finding(
    "SIL103",
    "fresh-key-in-handler",
    Severity.ERROR,
    "The key is made anew on every run of a handler",
    SINK,
    OriginRef("fresh", BORN),
    ContextRef("http", "app.post('/pay')", AGAIN),
    (
        Step("born", BORN, "uuid4"),
        Step("passed", PASSED, "key not given"),
        Step("run again", AGAIN, "a client, proxy or user sends the request again"),
    ),
    'derive the key from the order, e.g. f"pay-{order.id}"',
    ("also SIL104: uuid4 under resume_all (billing/jobs.py:3)",),
    "0123456789abcdef",
    "money",
)
NOTICE = Finding(
    "SIL901",
    "unused-ignore",
    Severity.INFO,
    "The comment silences nothing",
    Span("billing/gateway.py", 1, 1, 1, 1),
    help="remove it",
)
PROBLEM = Problem("billing/old.py", 3, 7, "syntax error: invalid syntax (Python 2?)")


def report(*findings: Finding, **parts: Any) -> Report:
    """A report of these findings, or of the manual's one."""
    found = findings or (FINDING,)
    whole: dict[str, Any] = {
        "findings": found,
        "problems": (),
        "unknown": (),
        "summary": {"files": 12, "parsed": 4, "calls": 3},
        "rules": (RULE,),
        "sources": SOURCES,
    }
    return Report(**{**whole, **parts})


def empty(**parts: Any) -> Report:
    """A report without findings."""
    return report(**{"findings": (), **parts})


def changed(**parts: Any) -> Finding:
    """The manual's finding with other parts."""
    return replace(FINDING, **parts)
