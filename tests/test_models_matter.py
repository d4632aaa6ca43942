"""Every context row of every model makes a difference, and takes it back where it should.

The programs are made from the rows by `models.examples`: one for each name of each row, linted in a
few runs, each program in a folder of its own. Programs that look like real code stand on the pages
`tests/cases/contexts-*.md`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import pytest

from models.examples import FROM_PARAMETER, Example, examples, switched_off, with_ids
from models.shipped import shipped
from stripe_idem_lint import app
from stripe_idem_lint.core.config import load_settings
from stripe_idem_lint.core.finding import Finding

CODES: Mapping[str, str] = {
    "retry": "SIL101",
    "transaction": "SIL101",
    "batch": "SIL102",
    "http": "SIL103",
    "message": "SIL103",
    "serverless": "SIL103",
    "task": "SIL103",
    "tool": "SIL103",
    "webhook": "SIL103",
    "recovery": "SIL104",
    "schedule": "SIL105",
    "workflow": "SIL106",
}
"""The code under which a fresh key in a context of the category is reported."""

ID_CODES: Mapping[str, frozenset[str]] = {
    "stable": frozenset(),
    "clock": frozenset({"SIL201"}),
    "attempt": frozenset({"SIL202"}),
    "process": frozenset({"SIL203"}),
    "delivery": frozenset({"SIL204"}),
}

MISSED = frozenset({"langchain_core.runnables.RunnableLambda"})
"""Names whose context is not seen: only its method `with_retry` makes it one, on any receiver."""

Result = tuple[Example, list[Finding]]


def lint(programs: Iterable[Example], folder: Path) -> list[Result]:
    """The programs with their findings, in order."""
    kept = list(programs)
    for number, program in enumerate(kept):
        file = folder / f"p{number}" / program.path
        file.parent.mkdir(parents=True)
        file.write_text(program.text, encoding="utf-8")
    report = app.check([str(folder)], load_settings({}, [str(folder)]))
    assert report.problems == ()
    found: dict[str, list[Finding]] = defaultdict(list)
    for finding in report.findings:
        path = Path(finding.span.path).resolve().relative_to(folder.resolve())
        found[path.parts[0]].append(finding)
    return [(program, found[f"p{number}"]) for number, program in enumerate(kept)]


def codes(findings: Iterable[Finding]) -> frozenset[str]:
    return frozenset(finding.code for finding in findings)


def test_there_is_a_program_for_every_row() -> None:
    rows = {row for file in shipped().files for row in file.context}
    assert {example.row for example in examples()} == rows
    assert {example.category for example in examples()} == set(CODES)


def test_a_fresh_key_is_found_in_every_context(tmp_path: Path) -> None:
    results = lint(examples(), tmp_path)
    quiet = [program for program, found in results if not codes(found) & _due(program)]
    missed = {name for name in MISSED if any(each.label.endswith(f" {name}") for each in quiet)}
    wrong = [
        each for each in quiet if not each.label.endswith(tuple(f" {name}" for name in MISSED))
    ]
    assert [f"{each.label}\n{each.text}" for each in wrong] == []
    assert missed == MISSED, "found after all, so the name can go"


def _due(program: Example) -> frozenset[str]:
    """The code of the row, or of another row that speaks of the same name and goes before it."""
    row = program.row
    own = {*row.decorator, *row.call}
    rows = [each for file in shipped().files for each in file.context]
    same = [each for each in rows if own & {*each.decorator, *each.call}]
    return frozenset(CODES[each.category] for each in [row, *same])


def test_without_its_model_a_library_runs_nothing_again(tmp_path: Path) -> None:
    programs = [example.without_the_model() for example in examples()]
    wrong = [
        f"{program.label}: {sorted(codes(found))}\n{program.text}"
        for program, found in lint(programs, tmp_path)
        if found
    ]
    assert wrong == []


def test_what_comes_with_the_call_is_stable_in_every_context(tmp_path: Path) -> None:
    """The id of the order is a parameter of the function, or bound before the loop."""
    wrong = [
        f"{program.label}: {sorted(codes(found))}\n{program.text}"
        for program, found in lint(examples(FROM_PARAMETER), tmp_path)
        if found
    ]
    assert wrong == []


def test_an_option_that_switches_a_context_off_does(tmp_path: Path) -> None:
    options, programs = zip(*switched_off(), strict=True)
    wrong = [
        f"{program.label} {option}: {sorted(codes(found))}\n{program.text}"
        for option, (program, found) in zip(options, lint(programs, tmp_path), strict=True)
        if found
    ]
    assert wrong == []


def test_an_id_that_comes_with_a_decorated_function_is_known(tmp_path: Path) -> None:
    """A stable one keeps the finding away, any other is a finding of its own kind."""
    assert _misjudged(tmp_path, lambda program: bool(program.row.decorator)) == []


@pytest.mark.xfail(strict=True, reason="types of parameters are told by decorators only")
def test_an_id_that_comes_with_a_function_handed_over_is_known(tmp_path: Path) -> None:
    assert _misjudged(tmp_path, lambda program: bool(program.row.call)) == []


def _misjudged(folder: Path, wanted: Callable[[Example], bool]) -> list[str]:
    cases = [(value, program) for value, program in with_ids() if wanted(program)]
    assert {value.kind for value, _ in cases} == set(ID_CODES)
    results = lint([program for _, program in cases], folder)
    return [
        f"{program.label}, {value.kind}: {sorted(codes(found))}\n{program.text}"
        for (value, _), (program, found) in zip(cases, results, strict=True)
        if codes(found) != ID_CODES[value.kind]
    ]
