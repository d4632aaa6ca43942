"""A rule's page is Markdown in a pipe and typeset at a terminal; the list has a line per rule."""

from __future__ import annotations

import io

import pytest

from report.samples import RULE
from stripe_idem_lint.report.base import RuleInfo
from stripe_idem_lint.report.explain import listed, markdown, write_page

OFF = RuleInfo("SIL206", "time-window-in-key", "A clock cut to an hour.", False)


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_a_page_has_its_title_summary_and_sections() -> None:
    page = markdown(RULE)
    assert page.startswith(
        "# SIL103 fresh-key-in-handler\n\nA key is drawn in a handler.\n\n## What"
    )
    assert page.endswith("## Example\n")


def test_a_rule_that_is_off_says_so() -> None:
    assert markdown(OFF) == (
        "# SIL206 time-window-in-key\n\nA clock cut to an hour.\n\nOff unless selected.\n"
    )


def test_a_pipe_gets_the_markdown_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    out = io.StringIO()
    write_page(RULE, out)
    assert out.getvalue() == markdown(RULE)


def test_a_terminal_gets_it_typeset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("TERM", "xterm")
    out = Terminal()
    write_page(RULE, out)
    assert "## What" not in out.getvalue()
    assert "What it finds" in out.getvalue()


def test_the_list_is_aligned_and_marks_what_is_off() -> None:
    first, second = listed((RULE, OFF)).splitlines()
    assert first == "SIL103  fresh-key-in-handler  A key is drawn in a handler."
    assert second == ("SIL206  time-window-in-key    A clock cut to an hour. (off unless selected)")
    assert listed(()) == ""
