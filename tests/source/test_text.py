"""Bytes become text as Python reads them, and lines end where Python ends them."""

from __future__ import annotations

import pytest

from stripe_idem_lint.source.text import Text, Undecodable, decode, lines_of


@pytest.mark.parametrize(
    ("data", "text", "encoding"),
    [
        (b"", "", "utf-8"),
        ("x = 'é'\n".encode(), "x = 'é'\n", "utf-8"),
        (b"\xef\xbb\xbfx = 1", "x = 1", "utf-8-sig"),
        (b"# coding: latin-1\nx = '\xe9'\n", "# coding: latin-1\nx = 'é'\n", "iso-8859-1"),
        (b"#!/x\n# vim: set fileencoding=cp1252 :\n\x80", None, "cp1252"),
        ("# coding: shift_jis\nx = '表'\n".encode("shift_jis"), None, "shift_jis"),
        (b"x\r\ny\rz\n", "x\r\ny\rz\n", "utf-8"),
    ],
)
def test_the_cookie_or_the_mark_decides(data: bytes, text: str | None, encoding: str) -> None:
    decoded = decode(data)
    assert isinstance(decoded, Text)
    assert decoded.encoding == encoding
    assert decoded.text == (data.decode(encoding) if text is None else text)


@pytest.mark.parametrize(
    ("data", "line", "column", "reason"),
    [
        (b"a = 1\nb = '\xe9'\n", 2, 6, "is no utf-8, and no other encoding is declared"),
        (b"\n\n\nb = '\xe9'\n", 4, 6, "is no utf-8, and no other encoding is declared"),
        (b"# coding: ascii\nx = '\xe9'\n", 2, 6, "is no ascii"),
        (b"# coding: nope\n", 1, 1, "unknown encoding: nope"),
        (b"# coding: hex\n", 1, 1, "hex is no encoding for text"),
        (b"# coding: undefined\n", 1, 1, "undefined is no encoding for text"),
        (b"\xef\xbb\xbf# coding: latin-1\n", 1, 1, "encoding problem: utf-8"),
        (b"\xff\xfex\0=\0", 1, 1, "is UTF-16, which Python source cannot be"),
        (b"x = 1\ny = '\0'\n", 2, 6, "contains a NUL byte"),
    ],
)
def test_what_is_no_text_is_a_reason_with_a_place(
    data: bytes, line: int, column: int, reason: str
) -> None:
    assert decode(data) == Undecodable(line, column, reason)


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"", ("",)),
        (b"a\nb", ("a", "b")),
        (b"a\r\nb\rc\n", ("a", "b", "c", "")),
        (b"a\x0cb\n\x1cc", ("a\x0cb", "\x1cc")),
        ("a\u2028b\n".encode(), ("a\u2028b", "")),
        (b"\xef\xbb\xbfa\n", ("a", "")),
        (b"# coding: latin-1\n\xe9", ("# coding: latin-1", "é")),
        (b"\n\n\n\xff", ("", "", "", "\ufffd")),
    ],
)
def test_lines_end_where_python_ends_them(data: bytes, lines: tuple[str, ...]) -> None:
    assert lines_of(data) == lines
