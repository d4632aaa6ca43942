"""Findings as one JSON document, version 1."""

from __future__ import annotations

import json
from typing import Any

from stripe_idem_lint.core.finding import Finding
from stripe_idem_lint.core.span import Span
from stripe_idem_lint.report.base import Report


def render(report: Report, show_unknown: bool = False) -> str:
    """The document, ending in a newline. Paths are relative to the working directory; lines and columns count from 1."""
    document: dict[str, Any] = {
        "version": 1,
        "findings": [_finding(finding) for finding in report.findings],
        "errors": [
            {
                "code": "SIL900",
                "severity": "warning",
                "path": p.path,
                "line": p.line,
                "column": p.column,
                "reason": p.reason,
            }
            for p in report.problems
        ],
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
        "origin": {"kind": origin.kind, **_place(origin.span), "text": origin.span.text}
        if origin
        else None,
        "context": (
            {
                "category": context.category,
                "name": context.name,
                "path": context.span.path,
                "line": context.span.line,
            }
            if context
            else None
        ),
        "trace": [
            {"role": step.role, **_place(step.span), "text": step.span.text, "note": step.note}
            for step in finding.trace
        ],
        "help": finding.help,
        "notes": list(finding.notes),
        "fingerprint": finding.fingerprint,
    }


def _place(span: Span) -> dict[str, Any]:
    return {"path": span.path, "line": span.line, "column": span.column}
