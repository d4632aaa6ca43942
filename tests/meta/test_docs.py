"""What the documentation says is so: links lead somewhere, examples do what the text says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from stripe_idem_lint import app
from stripe_idem_lint.cli import cli
from stripe_idem_lint.core.config import load_settings

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *ROOT.glob("*/README.md")])

_LINK = re.compile(r"\[[^\]\n]+\]\((?!https?:|mailto:|#)([^)#\s]+)")
_CODE = re.compile(r"\bSIL\d{3}\b")
_BLOCK = re.compile(r"^ *```(\w+)\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(r"`stripe-idem-lint ([a-z]+)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_between_files_lead_somewhere(page: Path) -> None:
    links = _LINK.findall(page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_commands_and_codes_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert set(_COMMAND.findall(text)) <= set(cli.commands)
    for code in set(_CODE.findall(text)):
        assert app.explain(code).code == code


def test_the_report_in_the_readme_is_the_demos(monkeypatch: pytest.MonkeyPatch) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = readme[readme.index("billing/recovery.py:21:13") :].partition("```")[0]
    monkeypatch.chdir(ROOT / "examples" / "billing_app")
    monkeypatch.setenv("COLUMNS", "200")
    printed = CliRunner().invoke(cli, ["check", "."], standalone_mode=False).stdout
    assert [line for line in shown.splitlines() if line not in printed.splitlines()] == []


def test_a_described_helper_is_known(tmp_path: Path) -> None:
    guide = (ROOT / "docs" / "guide" / "own-helpers.md").read_text(encoding="utf-8")
    model, configuration = (text for _, text in _BLOCK.findall(guide))
    (tmp_path / "billing_models.toml").write_text(model, encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text(configuration, encoding="utf-8")
    body = "    stripe.Charge.create(amount=1, currency='eur', idempotency_key={key})\n"
    (tmp_path / "jobs.py").write_text(
        "import uuid\nimport stripe\nfrom ourlib import at_least_once, charge_key\n"
        f"@at_least_once('a')\ndef one(message):\n{body.format(key='str(uuid.uuid4())')}"
        f"@at_least_once('b')\ndef two(message):\n{body.format(key='charge_key(message)')}",
        encoding="utf-8",
    )
    report = app.check([str(tmp_path)], load_settings({}, [str(tmp_path)]))
    assert [(found.code, found.span.line) for found in report.findings] == [("SIL103", 6)]
