"""What reporters get, which is plain data and nothing of the analysis, and what they share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from stripe_idem_lint.core.finding import Finding, Severity
from stripe_idem_lint.core.problem import NOT_ANALYSED, NOTICES, Problem


@dataclass(frozen=True, slots=True)
class RuleInfo:
    """A rule as lists, pages and SARIF show it.

    Attributes:
        default: It runs without being asked for.
        page: Markdown with the headings that every rule has.
        help_uri: Where the page stands on the web; empty: nowhere.
    """

    code: str
    name: str
    summary: str
    default: bool
    page: str = ""
    help_uri: str = ""


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
    """

    findings: tuple[Finding, ...]
    problems: tuple[Problem, ...]
    unknown: tuple[tuple[str, int], ...]
    summary: Mapping[str, int]
    rules: tuple[RuleInfo, ...]
    sources: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AuditRow:
    """One Stripe write of the program.

    Attributes:
        call: The SDK method or the HTTP request.
        effect: `money`, `payable`, `guarded`, `other` or `unknown`.
        key: `given` or `none`.
        origins: Kind and text of each birth of the key.
        contexts: Category and name of all that runs the call again.
        verdict: Severity and code, or why it is silent.
    """

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


def shown_problems(report: Report, least: Severity) -> tuple[Problem, ...]:
    """The files that were not analysed, which is a warning each."""
    return report.problems if NOT_ANALYSED.severity >= least else ()


def worst(report: Report) -> Severity | None:
    """The highest severity found, problems counting as warnings; None for a clean run."""
    found = [f.severity for f in report.findings]
    if report.problems:
        found.append(NOT_ANALYSED.severity)
    return max(found, default=None)


def notice_rules() -> tuple[RuleInfo, ...]:
    """The codes of the linter itself, in the form of rules."""
    return tuple(
        RuleInfo(
            n.code, n.name, n.summary, default=True, page=f"{n.summary}\n\nWhat to do: {n.help}."
        )
        for n in NOTICES
    )


def second_run(finding: Finding) -> str:
    """What the second execution does, a few words; empty where nothing runs the call again."""
    if finding.context is None:
        return ""
    made = "charge" if finding.effect == "money" else "object"
    key = "another key" if finding.origin is not None else "the SDK draws another key"
    return f"{key}, so Stripe makes a second {made} beside the first"
