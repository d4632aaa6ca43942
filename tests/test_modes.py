"""The failure modes: the unsafe program has exactly its marked findings, the safe one has none.

A marked line ends with `# expect: UNSAFE <what is wrong>`; the codes stand in `modes/modes.toml`. Marks are taken out before the
linter sees a file, and the file's name does not tell which mode it is.
"""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from stripe_idem_lint.cli import cli

FOLDER = Path(__file__).parent / "modes"
MODES: dict[str, dict[str, Any]] = tomllib.loads(
    (FOLDER / "modes.toml").read_text(encoding="utf-8")
)
_MARK = re.compile(r"[ \t]*# expect: .*")
_UNSAFE = re.compile(r"# expect: UNSAFE [a-z0-9-]+\s*$")


def _marked(text: str) -> list[int]:
    return [n for n, line in enumerate(text.splitlines(), 1) if _UNSAFE.search(line)]


def _found(text: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, str]]:
    """Errors and warnings as (line, code)."""
    (folder / "app.py").write_text(_MARK.sub("", text), encoding="utf-8")
    monkeypatch.chdir(folder)
    result = CliRunner().invoke(
        cli,
        ["check", ".", "--output-format", "json"],
        standalone_mode=False,
        catch_exceptions=False,
    )
    findings = json.loads(result.stdout)["findings"]
    return [(f["line"], f["code"]) for f in findings if f["severity"] != "info"]


@pytest.mark.parametrize("mode", sorted(MODES))
def test_the_unsafe_program_has_exactly_its_findings(
    mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (FOLDER / f"{mode}_unsafe.py").read_text(encoding="utf-8")
    expected = list(zip(_marked(text), MODES[mode]["codes"], strict=False))
    assert _found(text, tmp_path, monkeypatch) == expected


@pytest.mark.parametrize("mode", sorted(MODES))
def test_the_safe_program_has_no_finding(
    mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (FOLDER / f"{mode}_safe.py").read_text(encoding="utf-8")
    assert _found(text, tmp_path, monkeypatch) == []


def test_every_mode_has_both_programs_and_its_marks_agree_with_the_table() -> None:
    for mode, row in MODES.items():
        marks = _marked((FOLDER / f"{mode}_unsafe.py").read_text(encoding="utf-8"))
        assert len(marks) == (len(row["codes"]) or ("missed" in row)), mode
        assert (FOLDER / f"{mode}_safe.py").exists(), mode
