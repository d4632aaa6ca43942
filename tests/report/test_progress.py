"""The bar comes late, on terminals only, on standard error, and leaves nothing behind."""

from __future__ import annotations

import io
import sys
import time

import pytest

from stripe_idem_lint.report import progress


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_nobody_looks_nobody_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with progress.bar() as step:
        assert step is None


def run(monkeypatch: pytest.MonkeyPatch, seconds: float) -> str:
    """What a run whose steps lie `seconds` apart shows."""
    clock = [0.0]
    terminal = Terminal()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    with progress.bar() as step:
        assert step is not None
        for done in range(3):
            clock[0] += seconds
            step("solving", done, 3)
    return terminal.getvalue()


def test_a_short_run_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(monkeypatch, 0.5) == ""


def test_a_long_run_shows_its_stage_and_takes_it_away(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = run(monkeypatch, 1.5)
    assert "solving" in shown
    assert "\x1b[2K" in shown


def test_an_error_takes_the_bar_away_too(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(progress, "PATIENCE", -1.0)
    with pytest.raises(ZeroDivisionError):
        _fail_under_a_bar()
    shown = terminal.getvalue()
    assert shown.count("\x1b[?25l") == shown.count("\x1b[?25h") == 1  # cursor hidden, then shown


def _fail_under_a_bar() -> None:
    with progress.bar() as step:
        assert step is not None
        step("solving", 1, 3)
        raise ZeroDivisionError
