"""What kept a file from being analysed, and the codes that are the linter's own, no rule pack's."""

from __future__ import annotations

from dataclasses import dataclass

from stripe_idem_lint.core.finding import Severity


@dataclass(frozen=True, slots=True)
class Notice:
    """A code of the linter's own.

    Attributes:
        code: `SIL9` and two digits.
        name: Words joined by hyphens.
        severity: As it is reported, at most.
        summary: What it says, one sentence.
        help: What to do.
    """

    code: str
    name: str
    severity: Severity
    summary: str
    help: str


NOT_ANALYSED = Notice(
    "SIL900",
    "not-analysed",
    Severity.WARNING,
    "A file or folder could not be read or parsed, so its Stripe calls were not checked.",
    "repair the file, or leave it out with `extend-exclude`",
)
UNUSED_IGNORE = Notice(
    "SIL901",
    "unused-ignore",
    Severity.WARNING,
    "A comment silences a code that is not found there.",
    "remove the code from the comment",
)
UNKNOWN_IGNORE = Notice(
    "SIL902",
    "unknown-code-in-ignore",
    Severity.WARNING,
    "A comment silences a code that no rule has, or cannot be read.",
    "write `# stripe-idem: ignore[SIL101] reason`; `stripe-idem-lint rules` lists the codes",
)
NOTICES = (NOT_ANALYSED, UNUSED_IGNORE, UNKNOWN_IGNORE)


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """A file or folder that was not analysed; reported as `SIL900`.

    Attributes:
        path: As discovery named it.
        line: From 1; 1 where the whole file is meant.
        column: From 1.
        reason: Why, a few words without a full stop.
    """

    path: str
    line: int
    column: int
    reason: str
