"""Findings for a person: at a terminal with its colours and width, plain and uncoloured in a pipe.

The layout is made as lines of styled pieces, once for both; rich is imported for a terminal only.
"""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import TextIO

from stripe_idem_lint.core.finding import Finding, Severity, Step
from stripe_idem_lint.core.problem import NOT_ANALYSED, Problem
from stripe_idem_lint.report.base import Report, second_run, shown, shown_problems
from stripe_idem_lint.report.cells import cut, fill, visible, width

Line = tuple[tuple[str, str], ...]
"""Pieces of text, each with a style by the names that rich knows; empty for none."""

PIPE_WIDTH = 160
"""Cells at which source lines are cut in a pipe; nothing else is cut there."""

_STYLES = {Severity.ERROR: "bold red", Severity.WARNING: "bold yellow", Severity.INFO: "bold cyan"}
_ABOVE = 3
"""A birth that lies up to this many lines above the call is shown with it."""
_LABEL = len("second run")
_TEXT_CELLS = 56
_NARROWEST = 40


def write(report: Report, least: Severity, out: TextIO, show_unknown: bool = False) -> None:
    """Writes the findings at or above `least`, what was not analysed, and a line that sums up."""
    if not (out.isatty() or os.environ.get("FORCE_COLOR")):
        lines = layout(report, least, None, show_unknown)
        out.writelines("".join(text for text, _ in line).rstrip() + "\n" for line in lines)
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(file=out)
    for line in layout(report, least, console.width, show_unknown):
        console.print(Text.assemble(*line), soft_wrap=True)


def layout(
    report: Report, least: Severity, columns: int | None, show_unknown: bool = False
) -> Iterator[Line]:
    """The lines of the report.

    Args:
        columns: The width of the terminal; None in a pipe.
    """
    room = PIPE_WIDTH if columns is None else max(columns, _NARROWEST)
    for finding in shown(report, least):
        yield from _finding(finding, report, room, wrapped=columns is not None)
        yield ()
    problems = shown_problems(report, least)
    yield from (_problem(problem) for problem in problems)
    if problems:
        yield ()
    if show_unknown:
        yield from _unknown(report.unknown)
    yield _summary(report, least)


# --- a finding


def _finding(finding: Finding, report: Report, room: int, wrapped: bool) -> Iterator[Line]:
    yield _header(
        finding.span.path,
        finding.span.line,
        finding.span.column,
        finding.severity,
        finding.code,
        finding.message,
    )
    yield from _source(finding, report, room)
    yield from _evidence(finding.trace, room, wrapped)
    for label, text in _sentences(finding):
        yield from _row(label, text, room, wrapped)


def _header(path: str, line: int, column: int, severity: Severity, code: str, message: str) -> Line:
    place = f"{visible(path)}:{line}:{column}: "
    return (
        (place, "bold"),
        (f"{severity} {code}", _STYLES[severity]),
        (f" {visible(message)}", ""),
    )


def _source(finding: Finding, report: Report, room: int) -> Iterator[Line]:
    """The line of the call with the one above it, or with all from a birth close above."""
    lines = report.sources.get(finding.span.path, ())
    here, birth = finding.span.line, finding.origin.span if finding.origin is not None else None
    first = here - 1
    if birth is not None and birth.path == finding.span.path and 0 < here - birth.line <= _ABOVE:
        first = birth.line
    numbers = [n for n in range(first, here + 1) if 0 < n <= len(lines)]
    gutter = max((len(str(n)) for n in numbers), default=1)
    for number in numbers:
        margin = f"  {number:>{gutter}} │ "
        text = cut(visible(lines[number - 1].rstrip()), room - width(margin))
        yield ((margin, "blue"), (text, ""))


def _evidence(trace: Sequence[Step], room: int, wrapped: bool) -> Iterator[Line]:
    """One row per step: role, place, source, meaning; columns aligned within the finding.

    A meaning that a terminal has no room for goes on a line of its own.
    """
    rows = [(step.role, _place(step), _piece(step), _note(step)) for step in trace]
    places = max((width(place) for _, place, _, _ in rows), default=0)
    pieces = max((width(piece) for _, _, piece, note in rows if note), default=0)
    space = room - _LABEL - 3
    for role, place, piece, note in rows:
        head = (f"  {fill(role, _LABEL)} ", "bold")
        row = f"{fill(place, places)}  {fill(piece, pieces)}  {note}".rstrip()
        if not wrapped or width(row) <= space:
            yield (head, (row, ""))
            continue
        yield (head, (cut(f"{fill(place, places)}  {piece}".rstrip(), space), ""))
        if note:
            indent = " " * (_LABEL + 3)
            yield from (((indent + part, ""),) for part in textwrap.wrap(note, space))


def _place(step: Step) -> str:
    return f"{visible(step.span.path)}:{step.span.line}"


def _piece(step: Step) -> str:
    return cut(visible(step.span.text), _TEXT_CELLS)


def _note(step: Step) -> str:
    """A note that the source beside it says already is none."""
    note = visible(step.note)
    return "" if note and note in step.span.text else note


def _sentences(finding: Finding) -> Iterator[tuple[str, str]]:
    consequence = second_run(finding)
    if consequence:
        yield "second run", consequence
    for note in finding.notes:
        yield "also", visible(note.removeprefix("also "))
    page = f"`stripe-idem-lint explain {finding.code}`"
    yield "help", f"{visible(finding.help)}; {page}" if finding.help else page


def _row(label: str, text: str, room: int, wrapped: bool) -> Iterator[Line]:
    """A sentence, folded under itself at a terminal."""
    space = room - _LABEL - 3
    parts = textwrap.wrap(text, space, break_on_hyphens=False) if wrapped else [text]
    for number, part in enumerate(parts or [""]):
        head = fill(label if number == 0 else "", _LABEL)
        yield ((f"  {head} ", "bold"), (part, "green" if label == "help" else ""))


# --- the rest


def _problem(problem: Problem) -> Line:
    return _header(
        problem.path,
        problem.line,
        problem.column,
        NOT_ANALYSED.severity,
        NOT_ANALYSED.code,
        f"Not analysed: {problem.reason}",
    )


def _unknown(counts: Iterable[tuple[str, int]]) -> Iterator[Line]:
    rows = list(counts)
    if not rows:
        yield (("Every key and call could be followed.", ""),)
    else:
        yield (("What could not be followed, and is therefore not reported:", "bold"),)
        for reason, count in rows:
            yield ((f"  {count:>5}  ", ""), (visible(reason), ""))
    yield ()


def _summary(report: Report, least: Severity) -> Line:
    counts = {level: sum(f.severity == level for f in report.findings) for level in Severity}
    levels = sorted(Severity, reverse=True)
    visible_counts = [
        (_count(counts[level], str(level)), _STYLES[level])
        for level in levels
        if level >= least and counts[level]
    ]
    files, calls = report.summary.get("files", 0), report.summary.get("calls", 0)
    seen = f"{_count(files, 'file')}, {_count(calls, 'Stripe write')}"
    hints = ""
    hidden = sum(count for level, count in counts.items() if level < least)
    if hidden:
        hints += f"; {hidden} more below {least}: --min-severity info"
    skipped = len(report.problems)
    if skipped:
        hints += f"; {_count(skipped, 'file or folder', 'files or folders')} not analysed"
    if not files:
        hints += "; no Python file was found: check the paths and the exclude options"
    if not visible_counts:
        return (("Nothing found", "bold green"), (f" in {seen}{hints}", ""))
    pieces: list[tuple[str, str]] = []
    for text, style in visible_counts:
        pieces += [(", ", "")] if pieces else []
        pieces.append((text, style))
    return (*pieces, (f" in {seen}{hints}", ""))


def _count(number: int, one: str, many: str = "") -> str:
    """`info` has no plural."""
    if number != 1 and one != "info":
        one = many or f"{one}s"
    return f"{number} {one}"
