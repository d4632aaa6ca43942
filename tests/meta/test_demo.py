"""The example service has exactly the faults that its README explains."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_table_explains_six_faults_under_six_codes() -> None:
    text = (ROOT / "examples" / "billing_app" / "README.md").read_text(encoding="utf-8")
    codes = re.findall(r"^\| (SIL\d{3}) \|", text, re.MULTILINE)
    assert len(codes) == 6
    assert len(set(codes)) == 6


def test_the_linter_finds_the_explained_faults_and_nothing_else() -> None:
    # The same program that `make demo` runs.
    run = subprocess.run(
        [sys.executable, "-P", ROOT / "tools" / "demo.py"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
