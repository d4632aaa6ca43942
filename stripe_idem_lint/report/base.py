"""What reporters get: plain data, nothing of the analysis."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from stripe_idem_lint.core.finding import Finding, Severity


@dataclass(frozen=True, slots=True)
class NotAnalysed:
    """A file that could not be analysed, reported as SIL900."""

    path: str
    line: int
    column: int
    reason: str


@dataclass(frozen=True, slots=True)
class RuleInfo:
    """A rule as lists and SARIF show it."""

    code: str
    name: str
    summary: str
    default: bool
    page: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """The result of a run.

    Attributes:
        findings: All of them, info too, sorted by place.
        problems: Files that were not analysed.
        unknown: Why origins could not be told, with counts.
        summary: `files` (seen), `parsed`, `calls` (Stripe writes), and one count per severity.
        rules: The rules that ran.
        sources: Lines of the files that findings show, by path.
        effects: Effect class of each finding's call, by fingerprint.
    """

    findings: tuple[Finding, ...]
    problems: tuple[NotAnalysed, ...]
    unknown: tuple[tuple[str, int], ...]
    summary: Mapping[str, int]
    rules: tuple[RuleInfo, ...]
    sources: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    effects: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AuditRow:
    """One Stripe write of the program."""

    path: str
    line: int
    call: str
    effect: str
    key: str
    origins: tuple[str, ...]
    contexts: tuple[str, ...]
    verdict: str


def shown(report: Report, least: Severity) -> tuple[Finding, ...]:
    """The findings at or above a severity."""
    return tuple(f for f in report.findings if f.severity >= least)


def worst(report: Report) -> Severity | None:
    """The highest severity found, problems counting as warnings; None for a clean run."""
    found = [f.severity for f in report.findings]
    if report.problems:
        found.append(Severity.WARNING)
    return max(found, default=None)
