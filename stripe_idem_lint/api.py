"""All that a rule pack may import: the facts a rule sees, and what it answers with."""

from stripe_idem_lint.core.finding import Finding, Severity
from stripe_idem_lint.core.span import Place
from stripe_idem_lint.judge.level import REPORTED, level
from stripe_idem_lint.judge.rule import HEADINGS, FixIntent, Rule, Verdict
from stripe_idem_lint.solve.facts import CallFact, Exposure, Facts, Mark, Origin

__all__ = [
    "HEADINGS",
    "REPORTED",
    "CallFact",
    "Exposure",
    "Facts",
    "Finding",
    "FixIntent",
    "Mark",
    "Origin",
    "Place",
    "Rule",
    "Severity",
    "Verdict",
    "level",
]
