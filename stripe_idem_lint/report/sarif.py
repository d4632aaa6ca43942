"""Findings as SARIF 2.1.0: two code flows per result, the key's and the re-execution's.

The standard: https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/sarif-v2.1.0-os.html.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from stripe_idem_lint import __version__
from stripe_idem_lint.core.finding import Finding, Severity, Step
from stripe_idem_lint.core.problem import NOT_ANALYSED, Problem
from stripe_idem_lint.core.span import Span
from stripe_idem_lint.report.base import Report, RuleInfo, notice_rules

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
FINGERPRINT = "stripeIdem/v1"
"""Names the way a finding's fingerprint is made; another way gets another name."""

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_CONTEXT_ROLES = frozenset({"run again", "through", "guard"})


def render(report: Report) -> str:
    """The log, ending in a newline: all findings, and unreadable files as notifications."""
    rules = (*report.rules, *notice_rules())
    index = {rule.code: number for number, rule in enumerate(rules)}
    run = {
        "tool": {
            "driver": {
                "name": "stripe-idem-lint",
                "semanticVersion": __version__,
                "rules": [_rule(rule) for rule in rules],
            }
        },
        "columnKind": "unicodeCodePoints",
        "invocations": [
            {
                "executionSuccessful": True,
                "toolExecutionNotifications": [_notification(p, index) for p in report.problems],
            }
        ],
        "results": [_result(finding, index) for finding in report.findings],
    }
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(log, indent=1, ensure_ascii=False) + "\n"


def _rule(rule: RuleInfo) -> dict[str, Any]:
    described: dict[str, Any] = {
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": _section(rule.page, "Why it matters") or rule.summary},
        "defaultConfiguration": {"enabled": rule.default},
    }
    if rule.page:
        page = rule.page.strip()
        described["help"] = {"text": page, "markdown": page}
    if rule.help_uri:
        described["helpUri"] = rule.help_uri
    return described


def _section(page: str, heading: str) -> str:
    """The text under a heading of a rule's page, on one line."""
    _, found, rest = page.partition(f"## {heading}\n")
    return " ".join(rest.partition("\n## ")[0].split()) if found else ""


def _result(finding: Finding, index: dict[str, int]) -> dict[str, Any]:
    said = ". ".join(part for part in (finding.message, finding.help) if part)
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "level": _LEVELS[finding.severity],
        "message": {"text": said},
        "locations": [_location(finding.span)],
    }
    if finding.code in index:
        result["ruleIndex"] = index[finding.code]
    if finding.fingerprint:
        result["partialFingerprints"] = {FINGERPRINT: finding.fingerprint}
    if finding.trace:
        key = [step for step in finding.trace if step.role not in _CONTEXT_ROLES]
        again = [step for step in finding.trace if step.role in _CONTEXT_ROLES]
        result["codeFlows"] = [
            _flow("the key", key, finding.span),
            _flow("the re-execution", again, finding.span),
        ]
    return result


def _flow(title: str, steps: Sequence[Step], sink: Span) -> dict[str, Any]:
    """One way to the Stripe call, which is its last place."""
    places = [_location(step.span, _said(step)) for step in steps]
    places.append(_location(sink, "sent to Stripe"))
    thread = {"locations": [{"location": place} for place in places]}
    return {"message": {"text": title}, "threadFlows": [thread]}


def _said(step: Step) -> str:
    return f"{step.role}: {step.note}" if step.note else step.role


def _notification(problem: Problem, index: dict[str, int]) -> dict[str, Any]:
    line, column = problem.line, problem.column
    return {
        "level": _LEVELS[NOT_ANALYSED.severity],
        "message": {"text": f"Not analysed: {problem.reason}"},
        "associatedRule": {"id": NOT_ANALYSED.code, "index": index[NOT_ANALYSED.code]},
        "locations": [_location(Span(problem.path, line, column, line, column))],
    }


def _location(span: Span, message: str = "") -> dict[str, Any]:
    place: dict[str, Any] = {
        "physicalLocation": {
            "artifactLocation": {"uri": _uri(span.path)},
            "region": {
                "startLine": span.line,
                "startColumn": span.column,
                "endLine": span.end_line,
                "endColumn": span.end_column,
            },
        }
    }
    if message:
        place["message"] = {"text": message}
    return place


def _uri(path: str) -> str:
    """A relative reference; bytes of a name that are no text are escaped as they are."""
    return quote(path.encode("utf-8", "surrogateescape"))
