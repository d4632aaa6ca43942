"""Lints `examples/billing_app` and compares what is found with the table in its README.

    python tools/demo.py

Prints the linter's own report. Fails when a finding of the table is missing or one is found that
the table does not have; the linter's exit code is no failure, since findings are expected.
"""
# ruff: noqa: INP001 - a script beside the packages, not part of one

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple

APP = Path(__file__).parent.parent / "examples" / "billing_app"
CHECK = [sys.executable, "-P", "-m", "stripe_idem_lint", "check", "."]
ROW = re.compile(r"^\| (SIL\d{3}) \| `([^`]+)` `([^`]+)` \|", re.MULTILINE)


class Fault(NamedTuple):
    """A finding without its line: the rule and the function that holds the Stripe call."""

    code: str
    path: str
    function: str

    def __str__(self) -> str:
        return f"{self.code} in {self.function} ({self.path})"


def main() -> int:
    print(f"$ cd {APP.relative_to(Path.cwd()) if APP.is_relative_to(Path.cwd()) else APP}")
    print("$ stripe-idem-lint check .", flush=True)
    subprocess.run(CHECK, cwd=APP, check=False)
    expected, found = documented(), reported()
    for fault in sorted((expected - found).elements()):
        print(f"documented, but not found: {fault}")
    for fault in sorted((found - expected).elements()):
        print(f"found, but not documented: {fault}")
    if expected != found:
        return 1
    print(f"These are the {expected.total()} faults that examples/billing_app/README.md explains.")
    return 0


def documented() -> Counter[Fault]:
    """The rows of the README's table."""
    text = (APP / "README.md").read_text(encoding="utf-8")
    return Counter(Fault(*row) for row in ROW.findall(text))


def reported() -> Counter[Fault]:
    """What the linter says, errors and warnings.

    Raises:
        RuntimeError: The run ended in an error of its own.
    """
    run = subprocess.run(
        [*CHECK, "--output-format", "json"], cwd=APP, check=False, capture_output=True, text=True
    )
    if run.returncode not in (0, 1):
        raise RuntimeError(f"stripe-idem-lint ended with {run.returncode}\n{run.stderr}")
    findings = json.loads(run.stdout)["findings"]
    return Counter(
        Fault(each["code"], each["path"], enclosing_function(APP / each["path"], each["line"]))
        for each in findings
        if each["severity"] != "info"
    )


def enclosing_function(path: Path, line: int) -> str:
    """The name of the innermost function around a line; `` at module level."""
    around = [
        node
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
    return max(around, key=lambda node: node.lineno).name if around else ""


if __name__ == "__main__":
    raise SystemExit(main())
