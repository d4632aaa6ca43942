"""Findings as one JSON document, version 1."""

from __future__ import annotations

import json
from typing import Any

from stripe_idem_lint.core.finding import Finding
from stripe_idem_lint.core.problem import NOT_ANALYSED, Problem
from stripe_idem_lint.core.span import Span
from stripe_idem_lint.report.base import Report


def render(report: Report, show_unknown: bool = False) -> str:
    """The document, ending in a newline.

    Paths are relative to the working directory, with `/`; lines and columns count from 1, in
    characters, and ends are exclusive. Everything is in it, whatever text output shows.
    """
    document: dict[str, Any] = {
        "version": 1,
        "findings": [_finding(finding) for finding in report.findings],
        "errors": [_error(problem) for problem in report.problems],
        "summary": dict(report.summary),
    }
    if show_unknown:
        document["unknown"] = [
            {"reason": reason, "count": count} for reason, count in report.unknown
        ]
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _finding(finding: Finding) -> dict[str, Any]:
    origin, context = finding.origin, finding.context
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": str(finding.severity),
        "message": finding.message,
        **_place(finding.span),
        "end_line": finding.span.end_line,
        "end_column": finding.span.end_column,
        "origin": origin and {"kind": origin.kind, **_place(origin.span), "text": origin.span.text},
        "context": context
        and {
            "category": context.category,
            "name": context.name,
            "path": context.span.path,
            "line": context.span.line,
        },
        "trace": [
            {"role": step.role, **_place(step.span), "text": step.span.text, "note": step.note}
            for step in finding.trace
        ],
        "help": finding.help,
        "notes": list(finding.notes),
        "fingerprint": finding.fingerprint,
    }


def _error(problem: Problem) -> dict[str, Any]:
    return {
        "code": NOT_ANALYSED.code,
        "name": NOT_ANALYSED.name,
        "severity": str(NOT_ANALYSED.severity),
        "path": problem.path,
        "line": problem.line,
        "column": problem.column,
        "reason": problem.reason,
    }


def _place(span: Span) -> dict[str, Any]:
    return {"path": span.path, "line": span.line, "column": span.column}
