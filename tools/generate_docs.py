#!/usr/bin/env python3
"""Writes the pages that are made from the program: one per rule, the list of rules, the options.

`python tools/generate_docs.py` writes them, `--check` exits 1 when a file on disk differs and names it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from stripe_idem_lint import app
from stripe_idem_lint.core.config import Settings, describe
from stripe_idem_lint.report.base import RuleInfo

DOCS = Path(__file__).parent.parent / "docs"
_NOTE = "<!-- Made by tools/generate_docs.py from the rule; edit the rule instead. -->\n"


def pages() -> Iterator[tuple[Path, str]]:
    """Each generated file with its text."""
    rules = app.rules(Settings())
    for rule in rules:
        yield DOCS / "rules" / f"{rule.code}.md", _page(rule)
    yield DOCS / "rules" / "README.md", _index(rules)
    yield DOCS / "configuration.md", _configuration()


def _page(rule: RuleInfo) -> str:
    off = (
        ""
        if rule.default
        else "\nOff by default; select it with `--extend-select " + rule.code + "`.\n"
    )
    return f"{_NOTE}# {rule.code} {rule.name}\n\n{rule.summary}\n{off}\n{rule.page.strip()}\n"


def _index(rules: tuple[RuleInfo, ...]) -> str:
    rows = [
        f"| [{rule.code}]({rule.code}.md) | {rule.name} | {rule.summary} | {'yes' if rule.default else 'no'} |"
        for rule in rules
    ]
    head = "# Rules\n\n| code | name | what it finds | on by default |\n|---|---|---|---|\n"
    return f"{_NOTE}{head}" + "\n".join(rows) + "\n"


def _configuration() -> str:
    intro = (
        "# Configuration\n\nOptions stand in `[tool.stripe-idem-lint]` of `pyproject.toml`, or on the command line, which "
        "wins. An unknown key or a wrong type is an error that names the file and the key.\n\n"
    )
    return f"{_NOTE}{intro}{describe()}"


def main() -> int:
    """Writes or checks; gives the exit code."""
    checking = "--check" in sys.argv[1:]
    stale = []
    for path, text in pages():
        current = path.read_text(encoding="utf-8") if path.exists() else ""
        if current == text:
            continue
        stale.append(path)
        if not checking:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    for path in stale:
        print(f"{'stale' if checking else 'written'}: {path.relative_to(DOCS.parent)}")
    return 1 if checking and stale else 0


if __name__ == "__main__":
    sys.exit(main())
