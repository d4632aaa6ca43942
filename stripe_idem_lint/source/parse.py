"""From bytes to a libcst tree. What goes wrong is a value with a place and a reason.

No user code is ever run or imported. Parsing happens on a stack of its own, so that a deep text
cannot overflow the one this process happens to have.
"""

from __future__ import annotations

import gc
import re
import threading
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import libcst as cst

from stripe_idem_lint.core.problem import Problem
from stripe_idem_lint.source.depth import depth_of
from stripe_idem_lint.source.text import Text, Undecodable, decode

T = TypeVar("T")

STACK_BYTES = 64 * 1024 * 1024
"""Stack for deep texts: at the limits of `depth` libcst was seen to use under 4 MiB; a main thread
has 1 MiB (Windows) to 8 MiB, a thread on musl 128 KiB."""

_DEEP_BRACKETS, _DEEP_OPERATORS = 20, 60
"""Above this a stack of its own is worth its 0.1 ms."""

_PLACE = re.compile(r"error at (\d+):(\d+)")
_PYTHON_2 = re.compile(
    r"""^\s*print\s+[^(=\s]|^\s*exec\s+['"\w]|^\s*raise\s+[\w.]+\s*,
    |^\s*except\s+[\w.]+\s*,|\b0[0-7]+[lL]?\b|\b\d+[lL]\b|<>|`|\bur['"]""",
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a text is wrong; line and column from 1."""

    line: int
    column: int
    reason: str


def parse(path: str, data: bytes) -> cst.Module | Problem:
    """The tree of a file.

    Args:
        path: Goes into the problem.
        data: The file's bytes, in any encoding that Python knows.
    """
    decoded = decode(data)
    if isinstance(decoded, Undecodable):
        return Problem(path, decoded.line, decoded.column, decoded.reason)
    tree = _parse_text(data, decoded)
    return Problem(path, tree.line, tree.column, tree.reason) if isinstance(tree, _Place) else tree


def _parse_text(data: bytes, decoded: Text) -> cst.Module | _Place:
    text = decoded.text
    depth = depth_of(text)
    if depth.offset is not None:
        return _place(text, depth.offset, depth.excess)
    deep = depth.brackets > _DEEP_BRACKETS or depth.operators > _DEEP_OPERATORS
    try:
        return _on_own_stack(lambda: _tree(data)) if deep else _tree(data)
    except cst.ParserSyntaxError as error:
        return _syntax_error(text, error.message)
    except (RecursionError, MemoryError):
        return _Place(1, 1, "too deep or too large for the parser")
    except BaseException as error:
        if not _is_parsers_own(error):
            raise
        return _Place(1, 1, f"the parser failed: {_first_line(str(error))}")


def _tree(data: bytes) -> cst.Module:
    """A tree is a million objects none of which is garbage: without collections between them the
    parser takes two thirds of the time (measured on files of 0.5 to 2 MB)."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        return cst.parse_module(data)
    finally:
        if collecting:
            gc.enable()


def _is_parsers_own(error: BaseException) -> bool:
    """Failures of libcst and its native part: one file's trouble, which is said; the run goes on.

    `ValueError` and `TypeError` come for text that Rust cannot hold (lone surrogates), and
    pyo3's `PanicException`, which is no `Exception`, for a bug in the parser.
    """
    return isinstance(error, ValueError | TypeError) or type(error).__name__ == "PanicException"


def _on_own_stack(run: Callable[[], T]) -> T:
    """Calls `run` in a thread with a large stack; raises what it raises."""
    results: list[T] = []
    errors: list[BaseException] = []

    def target() -> None:
        try:
            results.append(run())
        except BaseException as error:  # noqa: BLE001 (raised again below, in the caller's thread)
            errors.append(error)

    before = threading.stack_size(STACK_BYTES)
    try:
        thread = threading.Thread(target=target)
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    if errors:
        raise errors[0]
    return results[0]


def _syntax_error(text: str, message: str) -> _Place:
    """CPython's message and place, better than libcst's; libcst's where CPython has none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an invalid escape is no concern of a linter's user
            compile(text, "<file>", "exec", flags=_ONLY_SYNTAX, dont_inherit=True)
    except SyntaxError as error:
        line = max(error.lineno or 1, 1)
        old = " (Python 2?)" if _PYTHON_2.search(_line(text, line)) else ""
        return _Place(line, max(error.offset or 1, 1), f"syntax error: {error.msg}{old}")
    except (ValueError, RecursionError, MemoryError):
        pass
    place = _PLACE.search(message)
    line, column = (int(place[1]), int(place[2]) + 1) if place else (1, 1)
    return _Place(line, column, f"syntax error: {_first_line(message)}")


_ONLY_SYNTAX = 0x0400
"""`ast.PyCF_ONLY_AST`: make no code object, run nothing."""


def _line(text: str, number: int) -> str:
    lines = re.split(r"\r\n|\r|\n", text, maxsplit=number)
    return lines[number - 1] if number <= len(lines) else ""


def _place(text: str, offset: int, reason: str) -> _Place:
    before = re.split(r"\r\n|\r|\n", text[:offset])
    return _Place(len(before), len(before[-1]) + 1, reason)


def _first_line(text: str) -> str:
    first = text.strip().partition("\n")[0]
    return first if len(first) <= 120 else f"{first[:119]}…"
