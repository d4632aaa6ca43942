"""What a rule is: metadata checked when its class is made, and one question about one Stripe call."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from stripe_idem_lint.core.finding import Severity
from stripe_idem_lint.solve.facts import CallFact, Exposure, Mark, Origin


@dataclass(frozen=True, slots=True)
class FixIntent:
    """What would repair the finding, in words of the key's life.

    Attributes:
        kind: `hoist`, `derive`, `thread`, `add`, `move` or `guard`.
    """

    kind: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """A rule's word on one call.

    Attributes:
        severity: As POLICY has it for this call and context.
        message: One sentence without a full stop.
        origin: The birth that is meant.
        exposure: The birth together with what runs it again.
        help: What to do.
        marks: Further evidence.
        fix: What would repair it.
    """

    severity: Severity
    message: str
    origin: Origin | None = None
    exposure: Exposure | None = None
    help: str = ""
    marks: tuple[Mark, ...] = ()
    fix: FixIntent | None = None


class Rule(ABC):
    """Base of all rules. One rule is one file, named after the rule.

    Class attributes:
        code: `SIL` and three digits.
        name: Words joined by hyphens, so that "allow X" reads well.
        summary: What it finds, one sentence.
        rank: Order among rules that speak of one call: the lowest speaks.
        default: False: only on request.
        page: The rule's page: `## What it finds`, `## Why it matters`, `## Example`, `## Use instead`, `## When it is wrong`
            and `## Fix safety`, in Markdown.

    Raises:
        TypeError: At class creation, when an attribute is missing or malformed.
    """

    code: ClassVar[str] = ""
    name: ClassVar[str] = ""
    summary: ClassVar[str] = ""
    rank: ClassVar[int] = 100
    default: ClassVar[bool] = True
    page: ClassVar[str] = ""

    def __init_subclass__(cls, abstract: bool = False, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        if abstract:
            return
        if not re.fullmatch(r"SIL\d{3}", cls.code):
            raise TypeError(f"{cls.__name__}.code must be SIL and three digits, not {cls.code!r}")
        if not re.fullmatch(r"[a-z]+(-[a-z]+)*", cls.name):
            raise TypeError(
                f"{cls.__name__}.name must be words joined by hyphens, not {cls.name!r}"
            )
        if not cls.summary:
            raise TypeError(f"{cls.__name__}.summary is empty")
        missing = [h for h in HEADINGS if f"## {h}\n" not in cls.page]
        if missing:
            raise TypeError(f"{cls.__name__}.page lacks the heading {missing[0]!r}")

    @abstractmethod
    def check(self, call: CallFact) -> Iterator[Verdict]:
        """Verdicts on one call, the most telling first."""


HEADINGS = (
    "What it finds",
    "Why it matters",
    "Example",
    "Use instead",
    "When it is wrong",
    "Fix safety",
)
