"""What a person reads: the manual's example to the letter, at any width, in a pipe and at a terminal."""

from __future__ import annotations

import io
import re
import subprocess
import sys

import pytest

from report.samples import (
    BORN,
    FINDING,
    NOTICE,
    PROBLEM,
    SINK,
    changed,
    empty,
    report,
)
from stripe_idem_lint.core.finding import OriginRef, Severity, Step
from stripe_idem_lint.core.span import Span
from stripe_idem_lint.report.base import Report
from stripe_idem_lint.report.cells import width
from stripe_idem_lint.report.text import layout, write

EXAMPLE = """\
billing/gateway.py:42:12: error SIL103 The key is made anew on every run of a handler
  41 │     key = key or str(uuid4())
  42 │     return stripe.PaymentIntent.create(amount=total, idempotency_key=key)
  born       billing/gateway.py:41  uuid4()
  passed     billing/views.py:18    charge(order)      key not given
  run again  billing/views.py:12    @app.post("/pay")  a client, proxy or user sends the request again
  second run another key, so Stripe makes a second charge beside the first
  also       SIL104: uuid4 under resume_all (billing/jobs.py:3)
  help       derive the key from the order, e.g. f"pay-{order.id}"; `stripe-idem-lint explain SIL103`

1 error in 12 files, 3 Stripe writes
"""


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")


def piped(found: Report, least: Severity = Severity.WARNING, show_unknown: bool = False) -> str:
    out = io.StringIO()
    write(found, least, out, show_unknown)
    return out.getvalue()


def at_terminal(
    found: Report, monkeypatch: pytest.MonkeyPatch, columns: int = 100, raw: bool = False
) -> str:
    monkeypatch.setenv("COLUMNS", str(columns))
    out = Terminal()
    write(found, Severity.WARNING, out)
    return out.getvalue() if raw else re.sub(r"\x1b\[[0-9;]*m", "", out.getvalue())


def test_the_example_of_the_manual() -> None:
    assert piped(report()) == EXAMPLE


def test_a_pipe_gets_no_colour_and_needs_no_rich() -> None:
    assert "\x1b" not in piped(report())
    code = (
        "import io, sys; from report.samples import report;"
        "from stripe_idem_lint.core.finding import Severity;"
        "from stripe_idem_lint.report.text import write;"
        "write(report(), Severity.WARNING, io.StringIO()); sys.exit('rich' in sys.modules)"
    )
    paths = [path for path in sys.path if path]
    env_code = f"import sys; sys.path[:0] = {paths!r}; {code}"
    assert subprocess.run([sys.executable, "-c", env_code], check=False).returncode == 0


def test_a_terminal_gets_colours_and_no_color_takes_them(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b[1;31merror SIL103" in at_terminal(report(), monkeypatch, raw=True)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "31m" not in at_terminal(report(), monkeypatch, raw=True)


def test_markup_in_source_is_text(monkeypatch: pytest.MonkeyPatch) -> None:
    marked = changed(message="[red]not[/red] markup", help="[bold]x[/bold]")
    assert "[red]not[/red] markup" in at_terminal(report(marked), monkeypatch)
    assert "[bold]x[/bold]" in at_terminal(report(marked), monkeypatch)


@pytest.mark.parametrize("columns", [20, 40, 60, 80, 100, 200])
def test_a_terminal_is_never_overrun_but_by_the_header(
    monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    wide = changed(
        trace=(
            Step("born", Span("billing/" + "ü" * 30 + ".py", 1, 1, 1, 2, "x" * 300), "n" * 300),
            Step("run again", Span("b.py", 1, 1, 1, 2, "表" * 50), "why " * 40),
        ),
        help="do this " * 40,
        notes=("word " * 80,),
    )
    lines = at_terminal(report(wide), monkeypatch, columns).splitlines()
    room = max(columns, 40)
    assert [line for line in lines[1:-1] if width(line) > room] == []
    assert lines[0].endswith("a handler")


def test_a_narrow_terminal_puts_the_meaning_on_its_own_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines = at_terminal(report(), monkeypatch, 80).splitlines()
    at = next(n for n, line in enumerate(lines) if "run again" in line)
    assert lines[at].endswith('@app.post("/pay")')
    assert lines[at + 1].strip() == "a client, proxy or user sends the request again"


def test_a_pipe_cuts_source_lines_and_nothing_else() -> None:
    long = "x = " + "a" * 500
    sources = {"billing/gateway.py": (*[""] * 40, long, long)}
    help_ = "h" * 500
    text = piped(report(changed(help=help_), sources=sources))
    assert max(width(line) for line in text.splitlines() if "│" in line) == 160
    assert "…" in text
    assert help_ in text


def test_a_birth_close_above_is_shown_with_the_lines_between() -> None:
    born = Span("billing/gateway.py", 39, 1, 39, 2, "uuid4()")
    text = piped(report(changed(origin=OriginRef("fresh", born))))
    assert [line[:5] for line in text.splitlines() if "│" in line] == [
        "  39 ",
        "  40 ",
        "  41 ",
        "  42 ",
    ]


@pytest.mark.parametrize(
    "born", [Span("billing/gateway.py", 2, 1, 2, 2), Span("o.py", 41, 1, 41, 2)]
)
def test_a_birth_elsewhere_leaves_two_lines(born: Span) -> None:
    text = piped(report(changed(origin=OriginRef("fresh", born))))
    assert text.count("│") == 2


def test_the_first_line_and_a_file_that_is_gone_are_shown_as_far_as_they_go() -> None:
    first = changed(span=Span("a.py", 1, 1, 1, 2), origin=None)
    assert piped(report(first, sources={"a.py": ("x",)})).count("│") == 1
    assert piped(report(first, sources={})).count("│") == 0


def test_line_numbers_are_aligned() -> None:
    at = changed(span=Span("a.py", 10, 1, 10, 2), origin=None)
    text = piped(report(at, sources={"a.py": tuple("abcdefghij")}))
    assert "   9 │ i\n  10 │ j\n" in text


def test_a_missing_key_is_told_from_a_fresh_one() -> None:
    text = piped(report(changed(origin=None)))
    assert "second run the SDK draws another key, so Stripe makes a second charge" in text


def test_an_object_is_no_charge() -> None:
    text = piped(report(changed(effect="payable")))
    assert "so Stripe makes a second object beside the first" in text


def test_without_a_context_there_is_no_second_run() -> None:
    assert "second run" not in piped(report(changed(context=None)))


def test_source_that_would_act_on_a_terminal_is_escaped(monkeypatch: pytest.MonkeyPatch) -> None:
    evil = "x = '\x1b]0;title\x07\x1b[2J' # \u202e\u2066 \x9b31m"
    sources = {"billing/gateway.py": (*[""] * 41, evil)}
    finding = changed(
        message=evil,
        help=evil,
        notes=(evil,),
        span=Span("billing/gateway.py", 42, 1, 42, 2),
        trace=(Step("born", Span("a\x1b.py", 1, 1, 1, 2, evil), evil),),
    )
    found = report(finding, sources=sources, problems=(PROBLEM,))
    for text in (piped(found), at_terminal(found, monkeypatch)):
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text)
    assert "\\x1b]0;title\\x07" in piped(found)
    assert "\\u202e" in piped(found)


def test_wide_characters_keep_columns_aligned() -> None:
    steps = (
        Step("born", Span("文書.py", 1, 1, 1, 2, "x"), "one"),
        Step("passed", Span("abcd.py", 1, 1, 1, 2, "表表"), "two"),
    )
    lines = piped(report(changed(trace=steps))).splitlines()
    born, passed = (next(line for line in lines if name in line) for name in ("born", "passed"))
    assert width(born[: born.index("one")]) == width(passed[: passed.index("two")])


def test_names_that_are_no_text_are_shown_escaped() -> None:
    text = piped(report(changed(span=Span("caf\udce9.py", 1, 1, 1, 2))))
    assert text.startswith("caf\\udce9.py:1:1: ")


# --- what is shown


def test_info_is_shown_on_request_and_counted_as_hidden() -> None:
    found = report(NOTICE)
    assert piped(found) == (
        "Nothing found in 12 files, 3 Stripe writes; 1 more below warning: --min-severity info\n"
    )
    text = piped(found, Severity.INFO)
    assert text.startswith("billing/gateway.py:1:1: info SIL901 The comment silences nothing\n")
    assert text.endswith("\n1 info in 12 files, 3 Stripe writes\n")


def test_what_was_not_analysed_is_a_warning_and_a_word_in_the_summary() -> None:
    assert piped(empty(problems=(PROBLEM,))) == (
        "billing/old.py:3:7: warning SIL900 Not analysed: "
        "syntax error: invalid syntax (Python 2?)\n\n"
        "Nothing found in 12 files, 3 Stripe writes; 1 file or folder not analysed\n"
    )
    assert "SIL900" not in piped(empty(problems=(PROBLEM,)), Severity.ERROR)


def test_counts_have_their_plurals() -> None:
    two = report(FINDING, changed(severity=Severity.WARNING), FINDING)
    assert piped(two).endswith("2 errors, 1 warning in 12 files, 3 Stripe writes\n")
    one = empty(summary={"files": 1, "calls": 1})
    assert piped(one) == "Nothing found in 1 file, 1 Stripe write\n"


def test_no_file_at_all_is_said() -> None:
    text = piped(empty(summary={"files": 0, "calls": 0}))
    assert text == (
        "Nothing found in 0 files, 0 Stripe writes; "
        "no Python file was found: check the paths and the exclude options\n"
    )


def test_unknown_reasons_are_counted_on_request() -> None:
    found = empty(unknown=(("the value comes from a file", 12), ("two callers", 3)))
    assert "comes from a file" not in piped(found)
    text = piped(found, show_unknown=True)
    assert "     12  the value comes from a file\n      3  two callers\n" in text
    assert "could be followed" in piped(empty(), show_unknown=True)


def test_the_layout_is_the_same_twice() -> None:
    found = report(FINDING, NOTICE, problems=(PROBLEM,))
    assert list(layout(found, Severity.INFO, 90)) == list(layout(found, Severity.INFO, 90))


def test_a_note_that_the_source_says_already_is_left_out() -> None:
    step = Step("born", BORN, "uuid4")
    assert piped(report(changed(trace=(step,)))).count("uuid4") == 3
    assert SINK.text
