"""Findings for a person at a terminal. Colours and width as the terminal has them; plain when piped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stripe_idem_lint.core.finding import Finding, Severity, Step
from stripe_idem_lint.core.span import Span
from stripe_idem_lint.report.base import Report, shown

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

_STYLES = {Severity.ERROR: "bold red", Severity.WARNING: "yellow", Severity.INFO: "cyan"}
_AROUND = 1


def write(report: Report, least: Severity, console: Console, show_unknown: bool = False) -> None:
    """Prints the findings, the files that were not analysed, and one line that sums up."""
    for finding in shown(report, least):
        for line in _finding(finding, report, console.width if console.is_terminal else 0):
            console.print(line, soft_wrap=True, highlight=False)
        console.print()
    for problem in report.problems:
        text = f"{problem.path}:{problem.line}:{problem.column}: warning SIL900 Not analysed: {problem.reason}"
        console.print(text, soft_wrap=True, highlight=False, markup=False)
    if show_unknown and report.unknown:
        console.print("origins that could not be told:", highlight=False)
        for reason, count in report.unknown:
            console.print(f"  {count:5}  {reason}", highlight=False, markup=False)
    console.print(_summary(report, least), highlight=False, markup=False)


def _finding(finding: Finding, report: Report, width: int) -> list[Text]:
    from rich.text import Text

    span = finding.span
    head = Text(f"{span.path}:{span.line}:{span.column}: ", style="bold")
    head.append(f"{finding.severity} {finding.code}", style=_STYLES[finding.severity])
    head.append(f" {finding.message}", style="")
    lines = [head]
    lines += [Text(_cut(line, width), style="dim") for line in _source(finding, report)]
    lines += [_row(*row, width=width) for row in _rows(finding, report)]
    return lines


def _source(finding: Finding, report: Report) -> list[str]:
    """The line of the birth, if it is near, and the line of the call."""
    source = report.sources.get(finding.span.path, ())
    wanted = {finding.span.line}
    birth = finding.origin.span if finding.origin is not None else None
    if (
        birth is not None
        and birth.path == finding.span.path
        and 0 < finding.span.line - birth.line <= 3
    ):
        wanted |= set(range(birth.line, finding.span.line))
    else:
        wanted.add(finding.span.line - _AROUND)
    gutter = len(str(max(wanted)))
    return [
        f"  {number:>{gutter}} │ {source[number - 1].rstrip()}"
        for number in sorted(wanted)
        if 0 < number <= len(source)
    ]


def _rows(finding: Finding, report: Report) -> list[tuple[str, str]]:
    rows = [(step.role, _step(step)) for step in finding.trace]
    consequence = _consequence(finding, report)
    if consequence:
        rows.append(("second run", consequence))
    rows += [("also", note.removeprefix("also ")) for note in finding.notes]
    advice = f"{finding.help}; `stripe-idem-lint explain {finding.code}`" if finding.help else ""
    if advice:
        rows.append(("help", advice))
    return rows


def _step(step: Step) -> str:
    parts = [f"{step.span.path}:{step.span.line}", _one_line(step.span), step.note]
    if step.note and step.note in parts[1]:
        parts.pop()
    return "  ".join(part for part in parts if part)


def _one_line(span: Span) -> str:
    return span.text if len(span.text) <= 70 else f"{span.text[:69]}…"


def _consequence(finding: Finding, report: Report) -> str:
    if finding.context is None:
        return ""
    effect = report.effects.get(finding.fingerprint, "money")
    made = "a second charge" if effect == "money" else "a second object"
    return f"another key, so Stripe makes {made} beside the first"


def _row(label: str, value: str, width: int) -> Text:
    from rich.text import Text

    text = Text(f"  {label:<10} ", style="bold")
    text.append(_cut(value, width - 13 if width else 0), style="")
    return text


def _cut(line: str, width: int) -> str:
    return line if width <= 20 or len(line) <= width else f"{line[: width - 1]}…"


def _summary(report: Report, least: Severity) -> str:
    counts = {
        severity: sum(f.severity == severity for f in report.findings) for severity in Severity
    }
    files, calls = report.summary.get("files", 0), report.summary.get("calls", 0)
    seen = f"{_count(files, 'file')}, {_count(calls, 'Stripe write')}"
    visible = [
        _count(counts[severity], str(severity))
        for severity in sorted(Severity, reverse=True)
        if severity >= least
    ]
    hidden = sum(count for severity, count in counts.items() if severity < least)
    tail = f" ({hidden} more with --min-severity info)" if hidden else ""
    if not any(counts[severity] for severity in Severity if severity >= least):
        return f"No double charge found: {seen}{tail}"
    return f"{', '.join(visible)} in {seen}{tail}"


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"
