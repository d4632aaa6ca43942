"""Text as a terminal shows it: its width in cells, cut or filled to one, and nothing that acts.

Source code is shown to people by these functions only, so that a control sequence or a
right-to-left mark in a checked file (https://trojansource.codes) is seen instead of obeyed.
"""

from __future__ import annotations

import unicodedata

TAB = "    "
_ACTING = frozenset({"Cc", "Cs", "Zl", "Zp"})
_BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def visible(text: str) -> str:
    """The text with tabs as spaces, and control, surrogate and direction characters escaped."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(TAB if char == "\t" else _escaped(char) for char in text)


def width(text: str) -> int:
    """How many cells the text takes; wide characters take two, combining ones none."""
    return len(text) if text.isascii() else sum(_cells(char) for char in text)


def cut(text: str, cells: int | None) -> str:
    """At most `cells` cells of the text, ending in `…` where some is missing; None: all of it."""
    if cells is None or width(text) <= cells:
        return text
    room, kept = max(cells, 1) - 1, []
    for char in text:
        room -= _cells(char)
        if room < 0:
            break
        kept.append(char)
    return "".join(kept) + "…"


def fill(text: str, cells: int) -> str:
    """The text with spaces up to `cells`."""
    return text + " " * (cells - width(text))


def _escaped(char: str) -> str:
    if char in _BIDI or unicodedata.category(char) in _ACTING:
        return (
            char.encode("ascii", "backslashreplace").decode()
            if ord(char) > 127
            else ascii(char)[1:-1]
        )
    return char


def _cells(char: str) -> int:
    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1
