"""The table of assumptions: one place, every row an option, the page in step with it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pytest_stripe_idem.core.assumptions import Assumptions, table

ROOT = Path(__file__).parent.parent.parent


def test_every_row_says_what_is_assumed_and_how_to_check_it() -> None:
    for row in table():
        assert row.claim.endswith(".")
        assert row.check.endswith(".")


def test_the_page_is_what_the_code_says() -> None:
    script = ROOT / "tools/generate_assumptions.py"
    assert subprocess.run([sys.executable, str(script), "--check"], check=False).returncode == 0


def test_a_wrong_name_and_a_wrong_type_are_errors() -> None:
    with pytest.raises(ValueError, match="unknown assumption 'expand'"):
        Assumptions().changed({"expand": False})
    with pytest.raises(ValueError, match="expand_counts"):
        Assumptions().changed({"expand_counts": "no"})


def test_a_whole_number_is_good_enough_for_hours() -> None:
    assert Assumptions().changed({"retention_hours": 30}).retention_hours == 30
