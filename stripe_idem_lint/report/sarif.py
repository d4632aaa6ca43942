"""Findings as SARIF 2.1.0: two code flows per result, the key's and the re-execution's."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

from stripe_idem_lint import __version__
from stripe_idem_lint.core.finding import Finding, Severity, Step
from stripe_idem_lint.core.span import Span
from stripe_idem_lint.report.base import NotAnalysed, Report, RuleInfo

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_CONTEXT_ROLES = ("run again", "through", "guard")


def render(report: Report) -> str:
    """The log, ending in a newline."""
    rules = [_rule(rule) for rule in report.rules]
    index = {rule["id"]: number for number, rule in enumerate(rules)}
    log = {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {"name": "stripe-idem-lint", "version": __version__, "rules": rules}
                },
                "columnKind": "unicodeCodePoints",
                "results": [_result(f, index) for f in report.findings],
                "invocations": [
                    {
                        "executionSuccessful": True,
                        "toolExecutionNotifications": [_notification(p) for p in report.problems],
                    }
                ],
            }
        ],
    }
    return json.dumps(log, indent=1, ensure_ascii=False) + "\n"


def _rule(rule: RuleInfo) -> dict[str, Any]:
    described: dict[str, Any] = {
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": rule.summary},
        "defaultConfiguration": {"enabled": rule.default},
    }
    if rule.page:
        described["help"] = {"text": rule.summary, "markdown": rule.page}
    return described


def _result(finding: Finding, index: dict[str, int]) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "level": _LEVELS[finding.severity],
        "message": {"text": f"{finding.message}. {finding.help}".rstrip(". ") or finding.message},
        "locations": [_location(finding.span)],
        "partialFingerprints": {"stripeIdem/v1": finding.fingerprint},
    }
    if finding.code in index:
        result["ruleIndex"] = index[finding.code]
    key = [step for step in finding.trace if step.role not in _CONTEXT_ROLES]
    again = [step for step in finding.trace if step.role in _CONTEXT_ROLES]
    if finding.trace:
        result["codeFlows"] = [
            _flow("the key", key, finding.span),
            _flow("the re-execution", again, finding.span),
        ]
    return result


def _flow(title: str, steps: list[Step], sink: Span) -> dict[str, Any]:
    locations = [
        {
            "location": {
                **_location(step.span),
                "message": {"text": f"{step.role}: {step.note}".rstrip(": ")},
            }
        }
        for step in steps
    ]
    locations.append({"location": {**_location(sink), "message": {"text": "sent to Stripe"}}})
    return {"message": {"text": title}, "threadFlows": [{"locations": locations}]}


def _location(span: Span) -> dict[str, Any]:
    return {
        "physicalLocation": {
            "artifactLocation": {"uri": quote(span.path)},
            "region": {
                "startLine": span.line,
                "startColumn": span.column,
                "endLine": span.end_line,
                "endColumn": span.end_column,
            },
        }
    }


def _notification(problem: NotAnalysed) -> dict[str, Any]:
    return {
        "level": "warning",
        "message": {"text": f"not analysed: {problem.reason}"},
        "descriptor": {"id": "SIL900"},
        "locations": [
            _location(
                Span(problem.path, problem.line, problem.column, problem.line, problem.column)
            )
        ],
    }
