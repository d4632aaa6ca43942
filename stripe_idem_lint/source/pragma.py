"""Comments that silence findings: `# noqa: SIL101` and `# stripe-idem: ignore[SIL101] reason`.

Only real comments count, so text is read as tokens. What a comment silences is decided elsewhere.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass

from stripe_idem_lint.source.text import Text, decode

# As flake8 reads it: without a code after the colon it is a bare `noqa`.
_NOQA = re.compile(
    r"#\s*noqa(?![\w-])(?:\s*:\s*(?P<codes>[A-Z]+[0-9]+(?:[,\s]+[A-Z]+[0-9]+)*))?", re.IGNORECASE
)
_OWN = re.compile(
    r"#\s*stripe-idem(?=\s*:|\s+ignore\b)"
    r"(?P<rest>\s*:\s*ignore(?:\[(?P<codes>[^\]]*)\]|(?![\w\[-])).*)?",
    re.IGNORECASE,
)
_ANY_COMMENT = re.compile(rb"#[^\r\n]*?(?:noqa|stripe-idem)[^\r\n]*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Pragma:
    """One comment.

    Attributes:
        line: Counted from 1.
        column: Where the comment starts, from 1.
        codes: Codes and prefixes (`SIL2`) it names; empty for all.
        own: It is a `stripe-idem:` comment.
        malformed: It is a `stripe-idem:` comment that cannot be read, so it silences nothing.
    """

    path: str
    line: int
    codes: tuple[str, ...]
    own: bool
    column: int = 1
    malformed: bool = False

    def naming(self, code: str) -> tuple[str, ...]:
        """Those of its codes that silence `code`."""
        return tuple(named for named in self.codes if code.startswith(named))

    def silences(self, code: str) -> bool:
        return not self.malformed and (not self.codes or bool(self.naming(code)))


def pragmas(path: str, data: bytes) -> tuple[Pragma, ...]:
    """The comments of a file; those up to the error where it is no Python.

    A `noqa` that names only other tools' codes is none of ours and left out.
    """
    if not any(_concerns_us(comment) for comment in _ANY_COMMENT.findall(data)):
        return ()
    decoded = decode(data)
    if not isinstance(decoded, Text):
        return ()
    return tuple(
        pragma
        for line, column, comment in _comments(decoded.text)
        if (pragma := _pragma(path, line, column, comment)) is not None
    )


def _concerns_us(comment: bytes) -> bool:
    return _pragma("", 1, 1, comment.decode("ascii", "replace")) is not None


def _comments(text: str) -> Iterator[tuple[int, int, str]]:
    """Line, column and text of each comment."""
    # Python ends lines at \r and \r\n too, which a StringIO translates only if told so.
    lines = io.StringIO(text, newline=None)
    try:
        for token in tokenize.generate_tokens(lines.readline):
            if token.type == tokenize.COMMENT:
                yield token.start[0], token.start[1] + 1, token.string
    except (tokenize.TokenError, SyntaxError):
        return


def _pragma(path: str, line: int, column: int, comment: str) -> Pragma | None:
    own = _OWN.search(comment)
    if own is not None:
        column += own.start()
        named = own["codes"]
        if own["rest"] is None or (named is not None and not named.strip(", ")):
            return Pragma(path, line, (), own=True, column=column, malformed=True)
        return Pragma(path, line, _codes(named), own=True, column=column)
    noqa = _NOQA.search(comment)
    if noqa is None:
        return None
    ours = tuple(code for code in _codes(noqa["codes"]) if code.startswith("SIL"))
    if noqa["codes"] and not ours:
        return None
    return Pragma(path, line, ours, own=False, column=column + noqa.start())


def _codes(named: str | None) -> tuple[str, ...]:
    return tuple(code for code in re.split(r"[,\s]+", (named or "").upper()) if code)
