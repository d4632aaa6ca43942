"""Prints the coverage of each package, and fails when the whole is below a floor.

    python tools/report_coverage.py COVERAGE.json --fail-under PERCENT

The file is what `coverage json` writes. Lines and branches count together, as in coverage's own
total. Nothing is measured here.
"""
# ruff: noqa: INP001 - a script beside the packages, not part of one

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any


@dataclass(slots=True)
class Tally:
    """Lines and branches: how many there are and how many ran."""

    total: int = 0
    covered: int = 0

    def add(self, summary: Mapping[str, Any]) -> None:
        """Counts one file of the report."""
        self.total += summary["num_statements"] + summary.get("num_branches", 0)
        self.covered += summary["covered_lines"] + summary.get("covered_branches", 0)

    @property
    def percent(self) -> float:
        return 100 * self.covered / self.total if self.total else 100.0


def main(arguments: list[str]) -> int:
    options = _options(arguments)
    whole, packages = tally(json.loads(options.report.read_text(encoding="utf-8")))
    for package in sorted(packages):
        print(_row(package, packages[package]))
    print(_row("all", whole))
    if whole.percent < options.fail_under:
        print(f"coverage {whole.percent:.1f} % is below {options.fail_under:g} %")
        return 1
    return 0


def tally(report: Mapping[str, Any]) -> tuple[Tally, dict[str, Tally]]:
    """The whole, and each package by its dotted name."""
    whole = Tally()
    packages: defaultdict[str, Tally] = defaultdict(Tally)
    for path, entry in report["files"].items():
        whole.add(entry["summary"])
        for package in packages_of(path):
            packages[package].add(entry["summary"])
    return whole, dict(packages)


def packages_of(path: str) -> Iterator[str]:
    """`stripe_idem_lint`, then `stripe_idem_lint.solve`, for a file of it two levels deep."""
    folders = PurePosixPath(path.replace("\\", "/")).parent.parts
    outer = next((index for index, name in enumerate(folders) if "stripe_idem" in name), None)
    if outer is None:
        return
    for depth in (1, 2):
        if len(folders) >= outer + depth:
            yield ".".join(folders[outer : outer + depth])


def _row(name: str, tally: Tally) -> str:
    return f"  {name:<36} {tally.covered:>6} of {tally.total:>6}  {tally.percent:5.1f} %"


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("report", type=Path)
    parser.add_argument("--fail-under", type=float, default=0.0)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
