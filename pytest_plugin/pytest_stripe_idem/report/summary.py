"""The lines at the end of a run, and the report files."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from pytest_stripe_idem.report.story import Story

# More remarks than these are counted instead of shown.
SHOWN = 10


def lines(stories: Sequence[Story], refused: Sequence[str]) -> Iterable[str]:
    """Tests, charges, divergences; then what is worth a look."""
    charges = sum(len(story["charges"]) for story in stories)
    found = [each for story in stories for each in story["divergences"]]
    errors = sum(1 for each in found if each["severity"] == "error")
    yield (
        f"{_many(len(stories), 'test')}, {_many(charges, 'logical charge')},"
        f" {_many(errors, 'divergence')}"
    )
    remarks = [(story["test"], remark) for story in stories for remark in story["remarks"]]
    for test, remark in remarks[:SHOWN]:
        yield f"{test}:"
        yield from (f"  {line}" for line in remark.splitlines())
    if len(remarks) > SHOWN:
        yield f"… and {len(remarks) - SHOWN} more remarks (they are in the report)"
    if refused:
        yield (
            f"{_many(len(refused), 'request')} to Stripe outside a test with the fixture"
            " fake_stripe, or with a live key: refused, nothing was sent"
        )
        for each in dict.fromkeys(refused):
            yield f"  {each}"


def write(path: str, stories: Sequence[Story]) -> None:
    """The report as JSON or, for a name that ends with `.html`, as a page.

    Raises:
        ValueError: Another ending.
    """
    target = Path(path)
    if target.suffix == ".html":
        from pytest_stripe_idem.report.page import rendered

        text = rendered(stories)
    elif target.suffix == ".json":
        text = json.dumps(document(stories), indent=2, ensure_ascii=False) + "\n"
    else:
        raise ValueError(f"a report is FILE.json or FILE.html, not {path}")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf-8")


def document(stories: Sequence[Story]) -> dict[str, object]:
    """The JSON report: `version`, `totals`, `tests`."""
    found = [each for story in stories for each in story["divergences"]]
    return {
        "version": 1,
        "totals": {
            "tests": len(stories),
            "charges": sum(len(story["charges"]) for story in stories),
            "divergences": sum(1 for each in found if each["severity"] == "error"),
            "warnings": sum(1 for each in found if each["severity"] == "warning"),
        },
        "tests": list(stories),
    }


def _many(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"
