"""What comments silence, and which comments silence nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from stripe_idem_lint.core.finding import Finding, Severity
from stripe_idem_lint.core.span import Span
from stripe_idem_lint.source.pragma import Pragma

UNUSED, UNKNOWN = "SIL901", "SIL902"


def silence(
    findings: Sequence[Finding], pragmas: Iterable[Pragma], known: frozenset[str]
) -> tuple[Finding, ...]:
    """The findings that stay, with one for each own comment that is unused or names an unknown code.

    A comment counts on any line of the Stripe call and on the line of the birth.

    Args:
        known: All codes there are.
    """
    by_line: dict[tuple[str, int], list[Pragma]] = {}
    everything = list(pragmas)
    for pragma in everything:
        by_line.setdefault((pragma.path, pragma.line), []).append(pragma)
    used: set[Pragma] = set()
    kept = []
    for finding in findings:
        silencing = [p for line in _lines(finding) for p in by_line.get(line, ()) if p.silences(finding.code)]
        used.update(silencing)
        if not silencing:
            kept.append(finding)
    for pragma in everything:
        kept.extend(_reports(pragma, pragma in used, known))
    return tuple(sorted(kept, key=Finding.sort_key))


def _lines(finding: Finding) -> list[tuple[str, int]]:
    span = finding.span
    lines = [(span.path, line) for line in range(span.line, span.end_line + 1)]
    if finding.origin is not None:
        lines.append((finding.origin.span.path, finding.origin.span.line))
    return lines


def _reports(pragma: Pragma, used: bool, known: frozenset[str]) -> list[Finding]:
    span = Span(pragma.path, pragma.line, 1, pragma.line, 1)
    unknown = [c for c in pragma.codes if c not in known and (pragma.own or c.startswith("SIL"))]
    if unknown:
        message = f"The comment names {', '.join(unknown)}, which is no rule"
        return [_report(UNKNOWN, "unknown-code-in-ignore", message, span)]
    if pragma.own and not used:
        return [_report(UNUSED, "unused-ignore", "The comment silences nothing", span)]
    return []


def _report(code: str, name: str, message: str, span: Span) -> Finding:
    return Finding(code, name, Severity.WARNING, message, span, help="remove the comment, or correct its code")
