"""Findings as GitHub workflow commands: annotations in the pull request.

The format: https://docs.github.com/actions/reference/workflow-commands-for-github-actions. GitHub
shows ten errors, ten warnings and ten notices of a step, so the worst come first.
"""

from __future__ import annotations

from stripe_idem_lint.core.finding import Finding, Severity, Step
from stripe_idem_lint.core.problem import NOT_ANALYSED, Problem
from stripe_idem_lint.report.base import Report, second_run, shown, shown_problems
from stripe_idem_lint.report.cells import visible

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def render(report: Report, least: Severity) -> str:
    """One command per finding and per file that was not analysed."""
    findings = sorted(shown(report, least), key=lambda f: (-f.severity, f.sort_key()))
    lines = [_finding(finding) for finding in findings]
    lines += [_problem(problem) for problem in shown_problems(report, least)]
    return "".join(f"{line}\n" for line in lines)


def _finding(finding: Finding) -> str:
    span = finding.span
    place: dict[str, str | int] = {"file": span.path, "line": span.line, "endLine": span.end_line}
    if span.line == span.end_line:
        # GitHub reads columns only of an annotation on one line.
        place |= {"col": span.column, "endColumn": span.end_column}
    lines = [finding.message, *(_step(step) for step in finding.trace)]
    consequence = second_run(finding)
    lines += [f"second run: {consequence}"] if consequence else []
    lines += [f"help: {finding.help}"] if finding.help else []
    return _command(finding.severity, place, f"{finding.code} {finding.name}", lines)


def _problem(problem: Problem) -> str:
    place: dict[str, str | int] = {
        "file": problem.path,
        "line": problem.line,
        "endLine": problem.line,
    }
    title = f"{NOT_ANALYSED.code} {NOT_ANALYSED.name}"
    return _command(NOT_ANALYSED.severity, place, title, [f"Not analysed: {problem.reason}"])


def _step(step: Step) -> str:
    text = f"{step.role}: {step.span.path}:{step.span.line}  {step.span.text}"
    return text if not step.note or step.note in step.span.text else f"{text}  ({step.note})"


def _command(severity: Severity, place: dict[str, str | int], title: str, lines: list[str]) -> str:
    properties = ",".join(
        f"{key}={_property(str(v))}" for key, v in {**place, "title": title}.items()
    )
    message = "\n".join(visible(line) for line in lines)
    return f"::{_LEVELS[severity]} {properties}::{_data(message)}"


def _data(text: str) -> str:
    """Escaped as the runner unescapes a message."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """Escaped as the runner unescapes a property."""
    return _data(visible(text)).replace(":", "%3A").replace(",", "%2C")
