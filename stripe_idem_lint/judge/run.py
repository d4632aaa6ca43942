"""From facts to verdicts: every rule looks at every call, and of one call the strongest verdict speaks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from stripe_idem_lint.core.errors import RuleCrash
from stripe_idem_lint.core.finding import Severity
from stripe_idem_lint.judge.rule import Rule, Verdict
from stripe_idem_lint.solve.facts import CallFact, Facts

CONTEXT_ORDER = (
    "retry", "transaction", "workflow", "http", "webhook", "message", "task", "serverless", "tool", "schedule", "lock",
    "recovery", "batch",
)  # fmt: skip
"""Among contexts of one call the first in this order gives the code."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict that speaks for a call, and the others, which stand in its message."""

    call: CallFact
    rule: Rule
    verdict: Verdict
    others: tuple[tuple[Rule, Verdict], ...]


def judge(facts: Facts, rules: Sequence[Rule]) -> tuple[Judgement, ...]:
    """One judgement per call that some rule objects to.

    Raises:
        RuleCrash: A rule raised; names the rule and the file.
    """
    found = []
    for call in facts.calls:
        verdicts = [(rule, verdict) for rule in rules for verdict in _ask(rule, call)]
        if not verdicts:
            continue
        verdicts.sort(key=lambda pair: _order(*pair))
        (rule, verdict), *others = verdicts
        worst = max(v.severity for _, v in verdicts)
        found.append(Judgement(call, rule, replace(verdict, severity=worst), tuple(others)))
    return tuple(found)


def _ask(rule: Rule, call: CallFact) -> list[Verdict]:
    try:
        return list(rule.check(call))
    except Exception as crash:
        raise RuleCrash(
            f"rule {rule.code} {rule.name} failed on a call in {call.place.path}: {crash!r}"
        ) from crash


def _order(rule: Rule, verdict: Verdict) -> tuple[bool, int, int, int]:
    """What a user sees comes before what is only information; then the rule's rank, the level, the context."""
    exposure = verdict.exposure
    context = CONTEXT_ORDER.index(exposure.category) if exposure is not None else len(CONTEXT_ORDER)
    return (verdict.severity < Severity.WARNING, rule.rank, -verdict.severity, context)
