"""Comments silence on the lines of the call and of the birth, and useless ones are reported."""

from __future__ import annotations

import pytest

from stripe_idem_lint.core.finding import Finding, OriginRef, Severity
from stripe_idem_lint.core.span import Span
from stripe_idem_lint.judge.pragmas import silence
from stripe_idem_lint.source.pragma import Pragma

KNOWN = frozenset({"SIL101", "SIL102", "SIL206"})


def finding(code: str = "SIL101") -> Finding:
    """A call on lines 10 to 12 of `a.py`, its key born on line 3 of `b.py`."""
    born = OriginRef("fresh", Span("b.py", 3, 5, 4, 9))
    span = Span("a.py", 10, 5, 12, 6)
    return Finding(code, "a-rule", Severity.ERROR, "A message", span, born)


def ours(line: int, *codes: str, path: str = "a.py") -> Pragma:
    return Pragma(path, line, codes, own=True, column=7)


def noqa(line: int, *codes: str, path: str = "a.py") -> Pragma:
    return Pragma(path, line, codes, own=False)


def left(*pragmas: Pragma, findings: tuple[Finding, ...] | None = None) -> list[str]:
    kept = silence((finding(),) if findings is None else findings, pragmas, KNOWN)
    return [f"{f.code} {f.severity} {f.span.path}:{f.span.line}" for f in kept]


@pytest.mark.parametrize("line", [10, 11, 12])
@pytest.mark.parametrize("pragma", [ours, noqa])
def test_a_comment_on_any_line_of_the_call_silences(line: int, pragma: object) -> None:
    assert callable(pragma)
    assert left(pragma(line, "SIL101")) == []


@pytest.mark.parametrize("pragma", [ours(3, "SIL101", path="b.py"), noqa(3, path="b.py")])
def test_a_comment_on_the_line_of_the_birth_silences(pragma: Pragma) -> None:
    assert left(pragma) == []


@pytest.mark.parametrize("pragma", [noqa(9), noqa(13), noqa(10, path="b.py"), noqa(3)])
def test_a_comment_elsewhere_does_not(pragma: Pragma) -> None:
    assert left(pragma) == ["SIL101 error a.py:10"]


def test_prefixes_and_bare_comments_silence() -> None:
    assert left(ours(10, "SIL1")) == []
    assert left(ours(10)) == []
    assert left(noqa(10)) == []


def test_an_unused_comment_of_ours_is_a_warning_at_its_place() -> None:
    (kept, unused) = silence((finding(),), [ours(20, "SIL101")], KNOWN)
    assert kept == finding()
    assert (unused.code, unused.name, unused.severity) == (
        "SIL901",
        "unused-ignore",
        Severity.WARNING,
    )
    assert unused.span == Span("a.py", 20, 7, 20, 7)
    assert unused.message == "The comment silences SIL101, which is not found here"
    assert unused.help


def test_codes_are_counted_one_by_one() -> None:
    (unused,) = silence((finding(),), [ours(10, "SIL101", "SIL102")], KNOWN)
    assert unused.message == "The comment silences SIL102, which is not found here"


def test_an_unused_noqa_that_names_our_codes_is_info_and_a_bare_one_is_nothing() -> None:
    assert left(noqa(20, "SIL101"), findings=()) == ["SIL901 info a.py:20"]
    assert left(noqa(20), findings=()) == []
    assert left(ours(20), findings=()) == ["SIL901 warning a.py:20"]


def test_unknown_codes_are_reported_and_not_called_unused_as_well() -> None:
    assert left(ours(20, "SIL777", "OUR1"), findings=()) == ["SIL902 warning a.py:20"]
    assert left(noqa(20, "SIL777"), findings=()) == ["SIL902 warning a.py:20"]


def test_a_comment_that_cannot_be_read_is_reported_and_silences_nothing() -> None:
    bad = Pragma("a.py", 10, (), own=True, malformed=True)
    assert left(bad) == ["SIL902 warning a.py:10", "SIL101 error a.py:10"]


def test_a_comment_for_a_rule_that_did_not_run_is_not_unused() -> None:
    assert silence((), [ours(20, "SIL206")], KNOWN, active=frozenset({"SIL101"})) == ()
    assert len(silence((), [ours(20, "SIL206")], KNOWN, active=frozenset({"SIL206"}))) == 1


def test_several_comments_on_one_finding_all_count_as_used() -> None:
    assert left(ours(10, "SIL101"), ours(12, "SIL1"), ours(3, "SIL101", path="b.py")) == []


def test_one_comment_silences_every_finding_on_its_line() -> None:
    assert left(ours(10, "SIL1"), findings=(finding(), finding("SIL102"))) == []
