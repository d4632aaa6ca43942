"""What the linter says: a finding, its severity, and the evidence it comes with."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum

from stripe_idem_lint.core.span import Span


class Severity(IntEnum):
    """How bad it is; ordered, so that `max` and `>=` mean what they say."""

    INFO = 1
    WARNING = 2
    ERROR = 3

    def __str__(self) -> str:
        return self.name.lower()

    def lowered(self, floor: Severity | None = None) -> Severity:
        """One level down, never below `floor` (default: info)."""
        return Severity(max(self - 1, floor or Severity.INFO))


@dataclass(frozen=True, slots=True)
class Step:
    """One line of evidence.

    Attributes:
        role: `born`, `passed`, `stored`, `run again`, `guard` or `sent`.
        span: Where it stands; its `text` is the piece of source to show.
        note: What it means there, a few words.
    """

    role: str
    span: Span
    note: str = ""


@dataclass(frozen=True, slots=True)
class OriginRef:
    """The birth of the key as a report shows it: `kind` is a word of the glossary."""

    kind: str
    span: Span


@dataclass(frozen=True, slots=True)
class ContextRef:
    """What runs the code again, as a report shows it."""

    category: str
    name: str
    span: Span


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to fix, at one place.

    Attributes:
        code: `SIL` and three digits.
        name: The rule's name, as in `explain`.
        message: What was found and why it matters here, one sentence, without a full stop.
        span: The Stripe call.
        origin: Where the key was born; None where there is no key at all.
        context: What runs the call again; None for rules that need no context.
        trace: The evidence in the order a person reads it: the key's path, then the re-execution's.
        help: What to do.
        notes: Further births and contexts of the same call, a line each.
        fingerprint: The same for the same fault after lines have moved; 16 hexadecimal digits.
        effect: Of the call: `money`, `payable`, `guarded`, `other`; empty where no call is meant.
    """

    code: str
    name: str
    severity: Severity
    message: str
    span: Span
    origin: OriginRef | None = None
    context: ContextRef | None = None
    trace: tuple[Step, ...] = ()
    help: str = ""
    notes: tuple[str, ...] = field(default=())
    fingerprint: str = ""
    effect: str = ""

    def sort_key(self) -> tuple[str, int, int, str]:
        return (self.span.path, self.span.line, self.span.column, self.code)
