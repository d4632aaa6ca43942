"""Cells, not characters, are what a terminal has."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stripe_idem_lint.report.cells import cut, fill, visible, width


@pytest.mark.parametrize(
    ("text", "cells"),
    [
        ("", 0),
        ("abc", 3),
        ("é", 1),
        ("e\u0301", 1),
        ("表", 2),
        ("\uff41", 2),
        ("💳", 2),
        ("a\u200db", 2),
    ],
)
def test_width(text: str, cells: int) -> None:
    assert width(text) == cells


@pytest.mark.parametrize(
    ("text", "cells", "expected"),
    [
        ("abc", 3, "abc"),
        ("abcd", 3, "ab…"),
        ("表表", 3, "表…"),
        ("表表", 4, "表表"),
        ("a表", 2, "a…"),
        ("abc", 0, "…"),
        ("abc", None, "abc"),
    ],
)
def test_cut(text: str, cells: int | None, expected: str) -> None:
    assert cut(text, cells) == expected


def test_fill_counts_cells() -> None:
    assert fill("表", 4) == "表  "
    assert fill("abcd", 2) == "abcd"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\tb", "a    b"),
        ("\x1b[31m", "\\x1b[31m"),
        ("\x00\x7f\x9b", "\\x00\\x7f\\x9b"),
        ("a\u202eb", "a\\u202eb"),
        ("a\u2028b\x85", "a\\u2028b\\x85"),
        ("\udce9", "\\udce9"),
        ("a\r\nb", "a\\r\\nb"),
        ("naïve 表 💳", "naïve 表 💳"),
    ],
)
def test_what_would_act_is_escaped(text: str, expected: str) -> None:
    assert visible(text) == expected


@given(st.text(alphabet=st.characters(), max_size=40), st.integers(1, 30))
def test_a_cut_text_fits_and_a_visible_one_does_nothing(text: str, cells: int) -> None:
    assert width(cut(text, cells)) <= cells
    shown = visible(text)
    assert shown == visible(shown)
    assert all(char.isprintable() or char == "\u3000" or not char.isascii() for char in shown)
    shown.encode("utf-8")
