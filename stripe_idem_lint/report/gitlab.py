"""Findings as a GitLab code quality report."""

from __future__ import annotations

import hashlib
import json

from stripe_idem_lint.core.finding import Severity
from stripe_idem_lint.report.base import Report, shown

_LEVELS = {Severity.ERROR: "critical", Severity.WARNING: "major", Severity.INFO: "info"}


def render(report: Report, least: Severity) -> str:
    """A JSON list, one entry per finding and per file that was not analysed."""
    entries = [
        {
            "description": f"{f.code} {f.message}",
            "check_name": f.code,
            "fingerprint": f.fingerprint or _digest(f.code, f.span.path, str(f.span.line)),
            "severity": _LEVELS[f.severity],
            "location": {
                "path": f.span.path,
                "lines": {"begin": f.span.line, "end": f.span.end_line},
            },
        }
        for f in shown(report, least)
    ]
    entries += [
        {
            "description": f"SIL900 {p.reason}",
            "check_name": "SIL900",
            "fingerprint": _digest("SIL900", p.path, p.reason),
            "severity": "major",
            "location": {"path": p.path, "lines": {"begin": p.line, "end": p.line}},
        }
        for p in report.problems
    ]
    return json.dumps(entries, indent=1, ensure_ascii=False) + "\n"


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
