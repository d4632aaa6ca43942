"""Findings as a GitLab code quality report.

The format: https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format. Of entries
with one fingerprint GitLab shows the first, so each is made unique.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from stripe_idem_lint.core.finding import Severity
from stripe_idem_lint.core.problem import NOT_ANALYSED
from stripe_idem_lint.report.base import Report, second_run, shown, shown_problems

_LEVELS = {Severity.ERROR: "critical", Severity.WARNING: "major", Severity.INFO: "info"}


def render(report: Report, least: Severity) -> str:
    """A JSON list, one entry per finding and per file that was not analysed."""
    entries: list[dict[str, Any]] = []
    prints: dict[str, int] = {}
    for f in shown(report, least):
        identity = f.fingerprint or _digest(f.code, f.span.path, str(f.span.line))
        said = ". ".join(part for part in (f.message, second_run(f), f.help) if part)
        entries.append(
            _entry(
                f"{f.code} {said}",
                f.name,
                _unique(f"{f.code}\0{f.span.path}\0{identity}", prints),
                f.severity,
                f.span.path,
                f.span.line,
                f.span.end_line,
            )
        )
    for p in shown_problems(report, least):
        said = f"{NOT_ANALYSED.code} Not analysed: {p.reason}"
        identity = _unique(f"{NOT_ANALYSED.code}\0{p.path}\0{p.reason}", prints)
        entries.append(
            _entry(said, NOT_ANALYSED.name, identity, NOT_ANALYSED.severity, p.path, p.line, p.line)
        )
    return json.dumps(entries, indent=1, ensure_ascii=False) + "\n"


def _entry(
    description: str,
    name: str,
    fingerprint: str,
    severity: Severity,
    path: str,
    line: int,
    end: int,
) -> dict[str, Any]:
    return {
        "description": description,
        "check_name": name,
        "fingerprint": fingerprint,
        "severity": _LEVELS[severity],
        "location": {"path": path, "lines": {"begin": line, "end": end}},
    }


def _unique(identity: str, seen: dict[str, int]) -> str:
    """A digest of the identity, and of how often it came before."""
    number = seen[identity] = seen.get(identity, -1) + 1
    return _digest(identity, str(number))


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:32]
