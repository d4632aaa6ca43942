"""From bytes to a libcst tree. Whatever goes wrong is a value with a place and a reason; no user code is ever run."""

from __future__ import annotations

import codecs
import re

import libcst as cst

from stripe_idem_lint.source.files import Problem

DEEPEST = 400
"""Brackets or indents inside one another beyond which a file is refused: far above real code, far below what overflows the
stack of libcst's parser (about 3,000 brackets on a thread with 8 MiB)."""

_COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_OPENING, _CLOSING = b"([{", b")]}"


def parse(path: str, data: bytes) -> cst.Module | Problem:
    """The tree of a file.

    Args:
        path: Goes into the problem.
        data: The file's bytes, any encoding that Python knows.
    """
    unreadable = _undecodable(data)
    if unreadable:
        return Problem(path, 1, 1, unreadable)
    deep = _too_deep(data)
    if deep is not None:
        return Problem(path, deep, 1, f"nested more than {DEEPEST} deep")
    try:
        return cst.parse_module(data)
    except cst.ParserSyntaxError as error:
        reason = (
            "Python 2 syntax" if _looks_old(data) else f"syntax error: {_first_line(error.message)}"
        )
        return Problem(path, max(error.raw_line, 1), error.raw_column + 1, reason)
    except RecursionError:
        return Problem(path, 1, 1, "nested too deep")
    except (ValueError, LookupError, UnicodeError) as error:
        return Problem(path, 1, 1, f"cannot be decoded: {_first_line(str(error))}")


def _undecodable(data: bytes) -> str:
    if b"\0" in data:
        return "contains NUL bytes"
    encoding = "utf-8"
    for line in data.split(b"\n", 2)[:2]:
        match = _COOKIE.match(line.removeprefix(codecs.BOM_UTF8))
        if match:
            encoding = match.group(1).decode("ascii", "replace")
            break
    try:
        codecs.lookup(encoding)
        data.decode(encoding)
    except LookupError:
        return f"unknown encoding {encoding}"
    except UnicodeDecodeError as error:
        return f"is no {encoding}: byte {error.start}"
    return ""


def _too_deep(data: bytes) -> int | None:
    """The line at which brackets or indents nest too deep; None if they do not.

    Text in strings counts too: the answer errs on the safe side, and only for files that no person wrote.
    """
    depth = 0
    for number, line in enumerate(data.split(b"\n"), 1):
        if len(line) - len(line.lstrip(b" \t")) > 4 * DEEPEST:
            return number
        if not depth and not any(bracket in line for bracket in (b"(", b"[", b"{")):
            continue
        for char in line:
            if char in _OPENING:
                depth += 1
                if depth > DEEPEST:
                    return number
            elif char in _CLOSING:
                depth = max(depth - 1, 0)
    return _operators_too_deep(data)


def _operators_too_deep(data: bytes) -> int | None:
    """Unary operators and lambdas nest without brackets."""
    match = re.search(rb"(?:\bnot\s+|\blambda\s*:\s*|[-~+]\s*|\bawait\s+){%d,}" % DEEPEST, data)
    return data.count(b"\n", 0, match.start()) + 1 if match else None


def _looks_old(data: bytes) -> bool:
    old = re.compile(
        rb"^\s*print\s+[^(=\s]|^\s*except\s+[\w.]+\s*,\s*\w+\s*:|^\s*exec\s+['\"\w]|\b0[0-7]+\b",
        re.MULTILINE,
    )
    return old.search(data) is not None


def _first_line(text: str) -> str:
    return text.strip().splitlines()[0] if text.strip() else "unknown"
