"""From bytes to text and lines, as Python reads them: cookies, byte order marks, line ends."""

from __future__ import annotations

import io
import re
import tokenize
from dataclasses import dataclass

_NO_UTF8 = "is no utf-8, and no other encoding is declared"
_LINE_END = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class Text:
    """A decoded file.

    Attributes:
        text: Without the byte order mark; line ends as in the file.
        encoding: As `tokenize.detect_encoding` names it; `utf-8-sig` where there is a mark.
    """

    text: str
    encoding: str


@dataclass(frozen=True, slots=True)
class Undecodable:
    """Why bytes are no text, and where; line and column from 1, the column in bytes."""

    line: int
    column: int
    reason: str


def decode(data: bytes) -> Text | Undecodable:
    """The text of a file by PEP 263: its byte order mark, its cookie, or UTF-8."""
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    except SyntaxError as error:
        return _undeclared(data, str(error))
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        return _at(data, error.start, _NO_UTF8 if encoding == "utf-8" else f"is no {encoding}")
    except (LookupError, ValueError):  # codecs that give bytes (`hex`), or that refuse (`idna`)
        return Undecodable(1, 1, f"{encoding} is no encoding for text")
    if "\0" in text:
        return _at(data, max(data.find(b"\0"), 0), "contains a NUL byte")
    return Text(text, encoding)


def lines_of(data: bytes) -> tuple[str, ...]:
    """The lines of a file without their ends, for showing: what is no text is replaced.

    Ends a line where Python does, not at the form feeds and separators of `str.splitlines`.
    """
    decoded = decode(data)
    text = decoded.text if isinstance(decoded, Text) else data.decode("utf-8-sig", "replace")
    return tuple(_LINE_END.split(text))


def _undeclared(data: bytes, message: str) -> Undecodable:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        if data.startswith((b"\xff\xfe", b"\xfe\xff")):
            return Undecodable(1, 1, "is UTF-16, which Python source cannot be")
        if message.startswith("invalid or missing"):
            return _at(data, error.start, _NO_UTF8)
    return Undecodable(1, 1, message)


def _at(data: bytes, offset: int, reason: str) -> Undecodable:
    line = data.count(b"\n", 0, offset) + 1
    return Undecodable(line, offset - (data.rfind(b"\n", 0, offset) + 1) + 1, reason)
