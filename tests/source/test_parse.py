"""A file becomes a tree or a problem with a place; nothing ends the run."""

from __future__ import annotations

import gc
import threading
from pathlib import Path

import libcst as cst
import pytest

from stripe_idem_lint.core.problem import Problem
from stripe_idem_lint.source.parse import parse


def problem(data: bytes) -> tuple[int, int, str]:
    found = parse("a.py", data)
    assert isinstance(found, Problem)
    assert found.path == "a.py"
    return found.line, found.column, found.reason


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n",
        b"# nothing\n",
        b"x = 1",
        b"\xef\xbb\xbfx = 1\n",
        b"x = 1\r\ny = (\r\n2)\r\n",
        b"x = 1\ry = 2\r",
        b"\x0cx = 1\n",
        b"# coding: latin-1\nx = '\xe9'\n",
        "# coding: shift_jis\nx = '表'\n".encode("shift_jis"),
        b"match x:\n    case [1, *_]: pass\n",
        b"type X[T] = list[T]\n",
        b"x = f'{f'{1}'}'\n",
        b"[" * 200 + b"]" * 200,
        b"x = " + b"-" * 990 + b"1\n",
        b"x = '" + b"a" * 5_000_000 + b"'\n",
    ],
    ids=lambda data: repr(data[:24]),
)
def test_what_python_reads_is_a_tree_that_keeps_its_text(data: bytes) -> None:
    assert isinstance(parse("a.py", data), cst.Module)


@pytest.mark.parametrize(
    ("data", "line", "column", "reason"),
    [
        (b"x = 1\ndef f(:\n", 2, 7, "syntax error: "),
        (b"x = 1\r\ny = (\r\n", 2, 5, "syntax error: '(' was never closed"),
        (b"x = 1\n    y = 2\n", 2, 4, "syntax error: unexpected indent"),
        (b"if x:\n\ty\n        z\n", 3, 1, "syntax error: inconsistent use of tabs and spaces"),
        (b"x = 1\n\x1a\n", 2, 1, "syntax error: invalid non-printable character U+001A"),
        (b"x = '''abc\n", 1, 5, "syntax error: unterminated triple-quoted string literal"),
        (b"a\nb = '\xe9'\n", 2, 6, "is no utf-8, and no other encoding is declared"),
        (b"# coding: nope\n", 1, 1, "unknown encoding: nope"),
        (b"x = 1\ny = '\0'\n", 2, 6, "contains a NUL byte"),
        (b"\x7fELF\0\0", 1, 5, "contains a NUL byte"),
        (b"# coding: unicode_escape\nx = '\\ud800'\n", 1, 1, "the parser failed: "),
        (
            b"x = " + b"(" * 10_000 + b")" * 10_000,
            1,
            206,
            "more than 200 brackets inside one another",
        ),
        (b"x = " + b"[" * 10_000, 1, 206, "more than 200 brackets inside one another"),
        (b"x = f'" + b"{a:" * 10_000, 1, 307, "more than 200 brackets inside one another"),
        (b"x = " + b"- " * 10_000 + b"1", 1, 2006, "more than 1000 operators inside one another"),
        (b"x = a" + b".b" * 10_000, 1, 2007, "more than 1000 operators inside one another"),
        (b"x = " + b"lambda: " * 10_000 + b"1", 1, None, "more than 1000 operators"),
        (b"if x: 1\n" + b"elif x: 1\n" * 10_000, 1002, 1, "more than 1000 operators"),
        (
            b"".join(b" " * n + b"if x:\n" for n in range(1000)),
            101,
            None,
            "syntax error: too many levels of indentation",
        ),
        (b"x = [" + b"1," * 2_500_000 + b"]", 1, None, "more than 500,000 tokens"),
    ],
    ids=lambda value: repr(value[:24]) if isinstance(value, bytes) else "",
)
def test_what_it_does_not_read_is_a_problem_at_its_place(
    data: bytes, line: int, column: int | None, reason: str
) -> None:
    got_line, got_column, got_reason = problem(data)
    assert got_reason.startswith(reason)
    assert got_line == line
    assert column is None or got_column == column


@pytest.mark.parametrize(
    "line",
    [
        b"print 'a'",
        b"exec 'x'",
        b"raise E, 'x'",
        b"x = 0777",
        b"x = 10L",
        b"x <> y",
        b"`x`",
        b"x = ur'a'",
    ],
)
def test_python_2_is_suspected_where_its_syntax_stands(line: bytes) -> None:
    got_line, _, reason = problem(b"import os\n" + line + b"\n")
    assert got_line == 2
    assert reason.startswith("syntax error: ")
    assert reason.endswith("(Python 2?)")


def test_other_mistakes_are_not_put_down_to_python_2() -> None:
    assert "Python 2" not in problem(b"print('a'\n")[2]


def test_a_reason_is_one_line() -> None:
    for data in (b"def f(:\n", b"x = " + b"'a' " * 5000 + b"\n"):
        assert "\n" not in problem(data)[2]


def test_deep_files_are_read_on_a_stack_of_their_own() -> None:
    """A thread with a small stack reads what would overflow it."""
    results: list[object] = []
    deep = b"x = " + b"[" * 190 + b"1" + b" + 1" * 700 + b"]" * 190
    before = threading.stack_size(256 * 1024)
    try:
        thread = threading.Thread(target=lambda: results.append(parse("a.py", deep)))
        thread.start()
        thread.join()
        assert threading.stack_size() == 256 * 1024
    finally:
        threading.stack_size(before)
    assert isinstance(results[0], cst.Module)


def test_the_collector_is_left_as_it_was() -> None:
    assert gc.isenabled()
    parse("a.py", b"x = 1\n")
    parse("a.py", b"x = \n")
    assert gc.isenabled()
    gc.disable()
    try:
        parse("a.py", b"x = 1\n")
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_no_code_is_run(tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    code = f"open({str(mark)!r}, 'w')\n".encode()
    parse("a.py", code)
    parse("a.py", code + b"def f(:\n")
    assert not mark.exists()


def test_an_invalid_escape_warns_nobody(recwarn: pytest.WarningsRecorder) -> None:
    problem(b"x = '\\d'\ny = \n")
    assert len(recwarn) == 0
