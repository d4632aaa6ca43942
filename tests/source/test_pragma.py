"""Only real comments silence, and a comment says what."""

from __future__ import annotations

import pytest

from stripe_idem_lint.source.pragma import Pragma, pragmas


def read(comment: str) -> list[tuple[tuple[str, ...], bool, bool]]:
    found = pragmas("a.py", f"x = 1  {comment}\n".encode())
    return [(p.codes, p.own, p.malformed) for p in found]


@pytest.mark.parametrize(
    ("comment", "codes"),
    [
        ("# noqa", ()),
        ("#noqa", ()),
        ("# NOQA", ()),
        ("# noqa: SIL101", ("SIL101",)),
        ("# noqa:sil101,SIL2", ("SIL101", "SIL2")),
        ("# noqa: E501, SIL101 W1", ("SIL101",)),
        ("# noqa : SIL101", ("SIL101",)),
        ("# noqa: because", ()),
        ("# type: ignore  # noqa: SIL101", ("SIL101",)),
        ("# why  # noqa: SIL101 # more", ("SIL101",)),
    ],
)
def test_noqa(comment: str, codes: tuple[str, ...]) -> None:
    assert read(comment) == [(codes, False, False)]


@pytest.mark.parametrize(
    ("comment", "codes"),
    [
        ("# stripe-idem: ignore[SIL101] the key is stored above", ("SIL101",)),
        ("# stripe-idem: ignore[SIL101, sil2]", ("SIL101", "SIL2")),
        ("#stripe-idem:ignore[SIL101]", ("SIL101",)),
        ("# Stripe-Idem: Ignore[SIL101]", ("SIL101",)),
        ("# stripe-idem: ignore", ()),
        ("# stripe-idem: ignore for now", ()),
        ("# type: ignore  # stripe-idem: ignore[SIL101]", ("SIL101",)),
    ],
)
def test_our_own(comment: str, codes: tuple[str, ...]) -> None:
    assert read(comment) == [(codes, True, False)]


@pytest.mark.parametrize(
    "comment",
    [
        "# stripe-idem: ignored",
        "# stripe-idem: ignroe[SIL101]",
        "# stripe-idem: ignore[SIL101",
        "# stripe-idem: ignore[]",
        "# stripe-idem: ignore[ , ]",
        "# stripe-idem: ignore-next-line",
        "# stripe-idem:",
        "# stripe-idem ignore[SIL101]",
    ],
)
def test_what_is_meant_for_us_and_cannot_be_read_silences_nothing(comment: str) -> None:
    ((_, own, malformed),) = read(comment)
    assert own
    assert malformed
    assert not Pragma("a.py", 1, (), own=True, malformed=True).silences("SIL101")


@pytest.mark.parametrize(
    "comment",
    [
        "# noqa: E501",
        "# noqa: E501,W291",
        "# noqa-like",
        "# noqable",
        "# see stripe-idem-lint",
        "# stripe-idem-lint: the linter",
        "# about stripe-idem",
    ],
)
def test_other_comments_are_none_of_ours(comment: str) -> None:
    assert read(comment) == []


def test_text_is_no_comment() -> None:
    data = b'x = "# noqa: SIL101"\ny = """\n# stripe-idem: ignore[SIL101]\n"""\nz = f"# noqa {x}"\n'
    assert pragmas("a.py", data) == ()


def test_places_count_from_one_at_the_comment_itself() -> None:
    data = b"x = 1\r\ny = (  # type: ignore  # noqa: SIL101\r\n    2)  # noqa\n"
    assert [(p.line, p.column) for p in pragmas("a.py", data)] == [(2, 24), (3, 9)]


def test_a_byte_order_mark_moves_nothing() -> None:
    ((pragma),) = pragmas("a.py", b"\xef\xbb\xbfx = 1  # noqa\n")
    assert (pragma.line, pragma.column) == (1, 8)


@pytest.mark.parametrize(
    "data",
    [
        b"x = (  # noqa\n",
        b"# noqa\nx = '''\n",
        b"# noqa\n\x00",
        b"# noqa\n\xff",
        b"# coding: nope\n# noqa\n",
        b"# noqa\n  x\n y\n",
        b"# noqa\n$ ? !\n",
    ],
)
def test_a_file_that_is_no_python_is_no_crash(data: bytes) -> None:
    pragmas("a.py", data)


def test_a_prefix_silences_all_codes_under_it() -> None:
    pragma = Pragma("a.py", 1, ("SIL2", "SIL101"), own=True)
    assert pragma.silences("SIL204")
    assert pragma.naming("SIL204") == ("SIL2",)
    assert not pragma.silences("SIL102")
    assert Pragma("a.py", 1, (), own=False).silences("SIL102")
