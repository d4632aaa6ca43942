"""What comments silence, and which comments silence nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from stripe_idem_lint.core.finding import Finding, Severity
from stripe_idem_lint.core.problem import UNKNOWN_IGNORE, UNUSED_IGNORE, Notice
from stripe_idem_lint.core.span import Span
from stripe_idem_lint.source.pragma import Pragma


def silence(
    findings: Sequence[Finding],
    pragmas: Iterable[Pragma],
    known: frozenset[str],
    active: frozenset[str] | None = None,
) -> tuple[Finding, ...]:
    """The findings that stay, and reports on comments that are unused or name an unknown code.

    A comment counts on any line of the Stripe call and on the line of the birth. An unused
    `stripe-idem:` comment is a warning, an unused `noqa` that names our codes info; a bare `noqa`
    is never reported, it may be there for another tool.

    Args:
        known: All codes there are.
        active: The codes that could have been found in this run; None: all. A comment for a rule
            that was not asked is not called unused.
    """
    every = tuple(pragmas)
    by_line: dict[tuple[str, int], list[Pragma]] = {}
    for pragma in every:
        by_line.setdefault((pragma.path, pragma.line), []).append(pragma)
    used: set[tuple[Pragma, str]] = set()
    kept = []
    for finding in findings:
        near = {pragma for line in _lines(finding) for pragma in by_line.get(line, ())}
        silencing = [pragma for pragma in near if pragma.silences(finding.code)]
        used |= {(p, named) for p in silencing for named in p.naming(finding.code) or ("",)}
        if not silencing:
            kept.append(finding)
    asked = known if active is None else active
    for pragma in every:
        kept.extend(_reports(pragma, used, known, asked))
    return tuple(sorted(kept, key=Finding.sort_key))


def _lines(finding: Finding) -> Iterator[tuple[str, int]]:
    span = finding.span
    for line in range(span.line, span.end_line + 1):
        yield (span.path, line)
    if finding.origin is not None:
        yield (finding.origin.span.path, finding.origin.span.line)


def _reports(
    pragma: Pragma, used: set[tuple[Pragma, str]], known: frozenset[str], asked: frozenset[str]
) -> Iterator[Finding]:
    if pragma.malformed:
        yield _report(UNKNOWN_IGNORE, "The comment cannot be read", pragma, Severity.WARNING)
        return
    unknown = [named for named in pragma.codes if not _names_any(named, known)]
    if unknown:
        which = f"The comment names {', '.join(unknown)}, which no rule has"
        yield _report(UNKNOWN_IGNORE, which, pragma, Severity.WARNING)
    unused = [
        named
        for named in pragma.codes
        if (pragma, named) not in used and named not in unknown and _names_any(named, asked)
    ]
    severity = Severity.WARNING if pragma.own else Severity.INFO
    if unused:
        which = f"The comment silences {', '.join(unused)}, which is not found here"
        yield _report(UNUSED_IGNORE, which, pragma, severity)
    elif not pragma.codes and pragma.own and (pragma, "") not in used:
        yield _report(UNUSED_IGNORE, "The comment silences nothing", pragma, severity)


def _names_any(named: str, codes: frozenset[str]) -> bool:
    return any(code.startswith(named) for code in codes)


def _report(notice: Notice, message: str, pragma: Pragma, severity: Severity) -> Finding:
    span = Span(pragma.path, pragma.line, pragma.column, pragma.line, pragma.column)
    return Finding(notice.code, notice.name, severity, message, span, help=notice.help)
