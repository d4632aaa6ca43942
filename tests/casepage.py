"""Reads the pages under `tests/cases/`: Markdown that a user can read and a test can run.

A page is a title, an introduction, and two sections, `## Must stay silent` first and
`## Must be found` after it. Under a section each `### heading` opens a program: prose that says why,
then one fenced block per file. The fence names the language and, when it is not `app.py`, the file:

    ```python path=billing/tasks.py
    stripe.Charge.create(amount=cents)  # expect: SIL301 error

`# expect: CODE severity` (several with a comma between) marks the line on which a finding sits.
`# missed: CODE` marks one that is not found today. Marks are cut off before a program is linted.

This module only reads: it neither writes files nor knows the linter.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

DEFAULT_PATH = "app.py"
SEVERITIES = ("error", "warning", "info")

_FENCE = re.compile(r"^```(?P<language>[a-z]+)(?:\s+path=(?P<path>\S+))?\s*$")
_MARK = re.compile(r"[ \t]*# (?P<verb>expect|missed): (?P<body>.*)$")
_EXPECTED = re.compile(r"^(?P<code>SIL\d{3}) (?P<severity>[a-z]+)$")
_CODE = re.compile(r"^SIL\d{3}$")


class PageError(ValueError):
    """A page breaks the format; the message starts with `page:line`."""


class Section(enum.Enum):
    """The two halves of a page, in their order."""

    SILENT = "Must stay silent"
    FOUND = "Must be found"


@dataclass(frozen=True, slots=True, order=True)
class Label:
    """One finding: file (relative, with `/`), line from 1, rule code, severity."""

    path: str
    line: int
    code: str
    severity: str


@dataclass(frozen=True, slots=True, order=True)
class Miss:
    """One finding that is due and not made today."""

    path: str
    line: int
    code: str


@dataclass(frozen=True, slots=True)
class Program:
    """One labelled program.

    `files` maps a relative path to its text without marks; the line numbers are those of the text.
    """

    page: str
    line: int
    section: Section
    heading: str
    why: str
    files: Mapping[str, str]
    expected: frozenset[Label]
    missed: frozenset[Miss]

    @property
    def name(self) -> str:
        """`page: heading`, unique over all pages."""
        return f"{self.page}: {self.heading}"


@dataclass(frozen=True, slots=True)
class Page:
    """One page: its stem (`SIL101`), title, introduction and programs in their order."""

    stem: str
    title: str
    introduction: str
    programs: tuple[Program, ...]

    def of(self, section: Section) -> tuple[Program, ...]:
        """The programs of one section."""
        return tuple(program for program in self.programs if program.section is section)


def read_pages(folder: Path) -> tuple[Page, ...]:
    """All pages of a folder, sorted by name."""
    return tuple(read_page(path) for path in sorted(folder.glob("*.md")))


def read_page(path: Path) -> Page:
    """One page. Raises `PageError` where it breaks the format."""
    return _Reader(path.stem, path.read_text(encoding="utf-8").splitlines()).page()


@dataclass(slots=True)
class _Draft:
    """A program while its blocks are still being read."""

    line: int
    section: Section
    heading: str
    prose: list[str]
    files: dict[str, str]
    expected: set[Label]
    missed: set[Miss]


class _Reader:
    """Walks a page once, top to bottom."""

    def __init__(self, stem: str, lines: list[str]) -> None:
        self._stem = stem
        self._lines = lines
        self._title = ""
        self._introduction: list[str] = []
        self._section: Section | None = None
        self._drafts: list[_Draft] = []

    def page(self) -> Page:
        numbered = iter(enumerate(self._lines, 1))
        for number, line in numbered:
            if line.startswith("```"):
                self._take_block(number, line, numbered)
            elif line.startswith("### "):
                self._open_program(number, line.removeprefix("### ").strip())
            elif line.startswith("## "):
                self._open_section(number, line.removeprefix("## ").strip())
            elif line.startswith("# ") and not self._title:
                self._title = line.removeprefix("# ").strip()
            else:
                self._take_prose(number, line)
        if not self._title:
            raise self._error(1, "the page has no title")
        programs = tuple(self._finished(draft) for draft in self._drafts)
        self._check_headings(programs)
        return Page(self._stem, self._title, _joined(self._introduction), programs)

    def _take_prose(self, number: int, line: str) -> None:
        if self._drafts:
            if line.strip() and self._drafts[-1].files:
                raise self._error(number, "prose belongs before the blocks of a program")
            self._drafts[-1].prose.append(line)
        else:
            self._introduction.append(line)

    def _open_section(self, number: int, title: str) -> None:
        wanted = Section.SILENT if self._section is None else Section.FOUND
        if self._section is Section.FOUND or title != wanted.value:
            raise self._error(number, f"expected the section {wanted.value!r}, found {title!r}")
        self._section = wanted

    def _open_program(self, number: int, heading: str) -> None:
        if self._section is None:
            raise self._error(number, "a program stands before the first section")
        self._drafts.append(_Draft(number, self._section, heading, [], {}, set(), set()))

    def _take_block(self, number: int, fence: str, lines: Iterator[tuple[int, str]]) -> None:
        match = _FENCE.match(fence)
        if match is None:
            raise self._error(number, f"not a fence of this format: {fence}")
        if not self._drafts:
            raise self._error(number, "a block stands outside a program")
        draft = self._drafts[-1]
        path = match["path"] or DEFAULT_PATH
        if path in draft.files:
            raise self._error(number, f"{path} is given twice")
        text: list[str] = []
        for at, line in lines:
            if line == "```":
                draft.files[path] = "\n".join(text) + "\n"
                return
            text.append(self._unmarked(draft, path, len(text) + 1, at, line))
        raise self._error(number, "the block is never closed")

    def _unmarked(self, draft: _Draft, path: str, line: int, at: int, text: str) -> str:
        """The line without its mark, the mark noted in the draft."""
        match = _MARK.search(text)
        if match is None:
            if "# expect" in text or "# missed" in text:
                raise self._error(at, f"not a mark of this format: {text.strip()}")
            return text
        for part in match["body"].split(","):
            if match["verb"] == "missed":
                draft.missed.add(Miss(path, line, self._missed(at, part.strip())))
            else:
                draft.expected.add(Label(path, line, *self._expected(at, part.strip())))
        return text[: match.start()]

    def _missed(self, at: int, text: str) -> str:
        if not _CODE.match(text):
            raise self._error(at, f"not a code: {text}")
        return text

    def _expected(self, at: int, text: str) -> tuple[str, str]:
        match = _EXPECTED.match(text)
        if match is None or match["severity"] not in SEVERITIES:
            raise self._error(at, f"not a code and a severity: {text}")
        return match["code"], match["severity"]

    def _finished(self, draft: _Draft) -> Program:
        loud = any(label.severity != "info" for label in draft.expected)
        if not draft.files:
            raise self._error(draft.line, "the program has no block")
        if draft.section is Section.SILENT and (loud or draft.missed):
            raise self._error(draft.line, "a silent program marks a finding")
        if draft.section is Section.FOUND and not (draft.expected or draft.missed):
            raise self._error(draft.line, "a program that must be found marks nothing")
        return Program(
            page=self._stem,
            line=draft.line,
            section=draft.section,
            heading=draft.heading,
            why=_joined(draft.prose),
            files=MappingProxyType(dict(draft.files)),
            expected=frozenset(draft.expected),
            missed=frozenset(draft.missed),
        )

    def _check_headings(self, programs: tuple[Program, ...]) -> None:
        seen: set[str] = set()
        for program in programs:
            if program.heading in seen:
                raise self._error(program.line, f"the heading is used twice: {program.heading}")
            seen.add(program.heading)

    def _error(self, number: int, message: str) -> PageError:
        return PageError(f"{self._stem}.md:{number}: {message}")


def _joined(lines: list[str]) -> str:
    return "\n".join(lines).strip()
