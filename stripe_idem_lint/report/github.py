"""Findings as GitHub workflow commands: annotations in the pull request."""

from __future__ import annotations

from stripe_idem_lint.core.finding import Finding, Severity
from stripe_idem_lint.report.base import Report, shown

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def render(report: Report, least: Severity) -> str:
    """One command per finding and per file that was not analysed."""
    lines = [_command(finding) for finding in shown(report, least)]
    lines += [
        f"::warning file={_property(p.path)},line={p.line},title=SIL900 not-analysed::{_data(p.reason)}"
        for p in report.problems
    ]
    return "".join(f"{line}\n" for line in lines)


def _command(finding: Finding) -> str:
    span = finding.span
    place = (
        f"file={_property(span.path)},line={span.line},col={span.column},endLine={span.end_line}"
    )
    title = _property(f"{finding.code} {finding.name}")
    text = finding.message
    for step in finding.trace:
        text += f"\n{step.role}: {step.span.path}:{step.span.line} {step.note}".rstrip()
    if finding.help:
        text += f"\nhelp: {finding.help}"
    return f"::{_LEVELS[finding.severity]} {place},title={title}::{_data(text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
