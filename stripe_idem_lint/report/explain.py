"""The pages of rules, and the list of them, as text."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TextIO

from stripe_idem_lint.report.base import RuleInfo
from stripe_idem_lint.report.cells import fill, width


def markdown(rule: RuleInfo) -> str:
    """A rule's page: its code and name, what it finds, and the page under them."""
    off = "" if rule.default else "\n\nOff unless selected."
    body = rule.page.strip()
    head = f"# {rule.code} {rule.name}\n\n{rule.summary}{off}"
    return f"{head}\n\n{body}\n" if body and body != rule.summary else f"{head}\n"


def write_page(rule: RuleInfo, out: TextIO) -> None:
    """The page: typeset at a terminal, Markdown in a pipe."""
    if not (out.isatty() or os.environ.get("FORCE_COLOR")):
        out.write(markdown(rule))
        return
    from rich.console import Console
    from rich.markdown import Markdown

    Console(file=out).print(Markdown(markdown(rule)))


def listed(rules: Sequence[RuleInfo]) -> str:
    """One line per rule: code, name, summary."""
    names = max((width(rule.name) for rule in rules), default=0)
    return "".join(
        f"{rule.code}  {fill(rule.name, names)}  {rule.summary}"
        f"{'' if rule.default else ' (off unless selected)'}\n"
        for rule in rules
    )
