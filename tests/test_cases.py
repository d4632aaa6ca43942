"""Every program on the pages under `tests/cases/` is reported exactly as its marks say.

One program is written to an empty folder and checked there through the command line, in this process.
What counts is the set of (file, line, code, severity) in families 1xx to 3xx: errors and warnings must
be the marked ones and no others, infos are checked only where a mark asks for one. A line marked
`# missed:` fails once the finding is made, so that the mark goes away with the miss.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path

import pytest
from click.testing import CliRunner

from casepage import Label, Miss, Page, PageError, Program, Section, read_page, read_pages
from stripe_idem_lint.cli import cli

PAGES = read_pages(Path(__file__).parent / "cases")
PROGRAMS = tuple(program for page in PAGES for program in page.programs)

ARGUMENTS = ("check", ".", "--output-format", "json", "--extend-select", "SIL100")
"""SIL100 is an info that is shown on request only."""

_COUNTED = re.compile(r"SIL[123]\d\d$")


def _name(program: Program) -> str:
    return program.name


@pytest.mark.parametrize("program", PROGRAMS, ids=_name)
def test_a_program_is_reported_as_its_marks_say(
    program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    _write(program, tmp_path)
    found = _check()

    loud = {label for label in found if label.severity != "info"}
    expected = {label for label in program.expected if label.severity != "info"}
    quiet = program.expected - expected
    early = program.missed & {Miss(label.path, label.line, label.code) for label in found}

    assert loud == expected, _difference(program, expected, loud)
    assert quiet <= found, _difference(program, quiet, found)
    assert not early, f"{program.name}: found after all, so the mark can go: {sorted(early)}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_shows_silence_at_least_as_often_as_findings(page: Page) -> None:
    assert len(page.of(Section.SILENT)) >= len(page.of(Section.FOUND))


@pytest.mark.parametrize("program", PROGRAMS, ids=_name)
def test_a_program_is_valid_python_and_says_why_it_is_here(program: Program) -> None:
    assert program.why, f"{program.name} has no prose"
    for path, text in program.files.items():
        if path.endswith(".py"):
            compile(text, path, "exec", dont_inherit=True)


def _write(program: Program, folder: Path) -> None:
    for path, text in program.files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def _check() -> set[Label]:
    """The findings of one run over the current folder, families 1xx to 3xx."""
    result = CliRunner().invoke(cli, ARGUMENTS, standalone_mode=False, catch_exceptions=False)
    answer = json.loads(result.stdout)
    assert not answer["errors"], answer["errors"]
    return {
        Label(finding["path"], finding["line"], finding["code"], finding["severity"])
        for finding in answer["findings"]
        if _COUNTED.match(finding["code"])
    }


def _difference(program: Program, expected: Iterable[Label], got: Iterable[Label]) -> str:
    def lines(labels: Iterable[Label]) -> str:
        return (
            "".join(f"\n    {x.path}:{x.line} {x.code} {x.severity}" for x in sorted(labels))
            or " -"
        )

    return f"{program.name}\n  expected{lines(expected)}\n  got{lines(got)}"


PAGE = """\
# A page

## Must stay silent

### Quiet

Nothing runs again.

```python
charge()
```

## Must be found

### Loud

Two files, three marks.

```python path=a/b.py
first()  # expect: SIL101 error, SIL201 warning
second()
```

```python
third()  # missed: SIL301
```
"""


def _page(folder: Path, text: str) -> Page:
    file = folder / "SIL101.md"
    file.write_text(text, encoding="utf-8")
    return read_page(file)


def test_marks_are_read_and_cut_off(tmp_path: Path) -> None:
    quiet, loud = _page(tmp_path, PAGE).programs

    assert dict(quiet.files) == {"app.py": "charge()\n"}
    assert dict(loud.files) == {"a/b.py": "first()\nsecond()\n", "app.py": "third()\n"}
    assert loud.expected == {
        Label("a/b.py", 1, "SIL101", "error"),
        Label("a/b.py", 1, "SIL201", "warning"),
    }
    assert loud.missed == {Miss("app.py", 1, "SIL301")}


@pytest.mark.parametrize(
    ("old", "new", "where"),
    [
        ("charge()", "charge()  # expect: SIL101 error", "SIL101.md:5: "),
        ("SIL101 error,", "SIL101 fatal,", "SIL101.md:20: "),
        ("# expect: ", "# expects ", "SIL101.md:20: "),
        ("## Must stay silent", "## Must be found", "SIL101.md:3: "),
        ("### Loud", "### Quiet", "SIL101.md:15: "),
        ("third()  # missed: SIL301\n```\n", "third()\n", "SIL101.md:24: "),
        ("path=a/b.py", "path=app.py", "SIL101.md:24: "),
    ],
)
def test_a_page_that_breaks_the_format_is_an_error_with_its_place(
    tmp_path: Path, old: str, new: str, where: str
) -> None:
    with pytest.raises(PageError) as error:
        _page(tmp_path, PAGE.replace(old, new, 1))
    assert str(error.value).startswith(where)
