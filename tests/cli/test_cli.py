"""The command line's contract: options reach the program, exit codes tell the verdict, errors a way out.

The program behind it is a stand-in here, so that each answer is known.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import stripe_idem_lint
from report.samples import FINDING, NOTICE, PROBLEM, RULE, changed, empty, report
from stripe_idem_lint import cli
from stripe_idem_lint.core.config import Settings, options
from stripe_idem_lint.core.errors import ConfigError, LintError
from stripe_idem_lint.core.finding import Severity
from stripe_idem_lint.report.base import AuditRow, Report, RuleInfo


class App:
    """Answers as told and remembers what it was asked."""

    def __init__(self) -> None:
        self.answer: Report | BaseException = empty()
        self.asked: list[tuple[Any, ...]] = []

    @property
    def settings(self) -> Settings:
        found = self.asked[-1][-1]
        assert isinstance(found, Settings)
        return found

    def check(self, paths: Sequence[str], settings: Settings, progress: object = None) -> Report:
        self.asked.append(("check", paths, settings))
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer

    def rules(self, settings: Settings) -> tuple[RuleInfo, ...]:
        self.asked.append(("rules", settings))
        return (RULE,)

    def explain(self, code: str) -> RuleInfo:
        self.asked.append(("explain", code))
        return RULE

    def why(self, target: str, paths: Sequence[str], settings: Settings) -> str:
        self.asked.append(("why", target, paths, settings))
        return "safe: for a reason\n"

    def audit(self, paths: Sequence[str], settings: Settings) -> tuple[AuditRow, ...]:
        self.asked.append(("audit", paths, settings))
        return (AuditRow("a.py", 1, "Charge.create", "money", "none", (), (), "silent"),)

    def debug(self, stage: str, path: str, settings: Settings) -> str:
        self.asked.append(("debug", stage, path, settings))
        return f"{stage} of {path}\n"


@pytest.fixture
def app(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> App:
    fake = App()
    monkeypatch.setattr(stripe_idem_lint, "app", fake, raising=False)
    monkeypatch.setitem(sys.modules, "stripe_idem_lint.app", fake)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    return fake


# --- exit codes


@pytest.mark.parametrize(
    ("found", "fail_on", "code"),
    [
        (empty(), "error", 0),
        (report(NOTICE), "error", 0),
        (report(NOTICE), "warning", 0),
        (report(changed(severity=Severity.WARNING)), "error", 0),
        (report(changed(severity=Severity.WARNING)), "warning", 1),
        (report(FINDING), "error", 1),
        (report(FINDING), "warning", 1),
        (report(FINDING), "never", 0),
        (empty(problems=(PROBLEM,)), "error", 0),
        (empty(problems=(PROBLEM,)), "warning", 1),
    ],
)
def test_the_exit_code_is_the_verdict(app: App, found: Report, fail_on: str, code: int) -> None:
    app.answer = found
    assert cli.run(["check", "--fail-on", fail_on]) == code


def test_what_text_leaves_out_still_counts(app: App) -> None:
    app.answer = report(changed(severity=Severity.WARNING))
    assert cli.run(["check", "--min-severity", "error", "--fail-on", "warning"]) == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["check", "--nope"],
        ["check", "--fail-on", "sometimes"],
        ["check", "--output-format", "xml"],
        ["nope"],
        ["explain"],
        ["why"],
        ["debug", "parse", "a.py"],
        ["check", "--select", "E501"],
        ["check", "--config", "none.toml"],
    ],
)
def test_a_wrong_use_is_2_and_said_on_standard_error(
    app: App, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err
    assert "Traceback" not in err
    assert app.asked == []


@pytest.mark.parametrize(
    "error",
    [LintError("no rule pack is installed"), ConfigError("pyproject.toml", "a.b", "is bad")],
)
def test_an_error_of_ours_is_2_and_one_line(
    app: App, error: LintError, capsys: pytest.CaptureFixture[str]
) -> None:
    app.answer = error
    assert cli.run(["check"]) == 2
    assert capsys.readouterr() == ("", f"stripe-idem-lint: error: {error}\n")


def test_an_unexpected_error_is_2_with_its_place_and_what_to_do(
    app: App, capsys: pytest.CaptureFixture[str]
) -> None:
    app.answer = ZeroDivisionError("by zero")
    assert cli.run(["check", "billing"]) == 2
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("stripe-idem-lint: internal error in ")
    assert first.endswith(": ZeroDivisionError: by zero")
    assert second == (
        "please report it, with the output of `stripe-idem-lint --traceback check billing`"
    )


def test_traceback_shows_the_way_to_an_error(app: App, capsys: pytest.CaptureFixture[str]) -> None:
    app.answer = ZeroDivisionError("by zero")
    assert cli.run(["--traceback", "check"]) == 2
    err = capsys.readouterr().err
    assert "Traceback (most recent call last)" in err
    assert "please report" not in err


def test_an_interrupt_is_130(app: App) -> None:
    app.answer = KeyboardInterrupt()
    assert cli.run(["check"]) == 130


def test_no_command_shows_what_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run([]) == 2
    assert cli.run(["--help"]) == 0
    shown = capsys.readouterr().out
    for name in ("check", "rules", "explain", "why", "audit", "debug"):
        assert f"\n  {name} " in shown
        assert cli.run([name, "-h"]) == 0


def test_the_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["--version"]) == 0
    assert stripe_idem_lint.__version__ in capsys.readouterr().out


# --- options


def test_every_option_of_the_table_is_a_flag_of_check(
    app: App, capsys: pytest.CaptureFixture[str]
) -> None:
    cli.run(["check", "--help"])
    shown = capsys.readouterr().out
    assert [o.name for o in options() if f"--{o.name}" not in shown] == []


def test_flags_reach_the_settings(app: App, tmp_path: Path) -> None:
    (tmp_path / "m.toml").touch()
    arguments = [
        "check",
        "a",
        "b",
        "--select=SIL1,SIL2",
        "--select=SIL3",
        "--extend-select=SIL206",
        "--ignore=SIL101",
        "--exclude=x,y",
        "--exclude=z",
        "--extend-exclude=old",
        "--no-respect-gitignore",
        "--include-tests",
        "--models=m.toml",
        "--show-unknown",
        "--min-severity=info",
    ]
    assert cli.run(arguments) == 0
    assert app.asked[0][1] == ("a", "b")
    settings = app.settings
    assert settings.select == ("SIL1", "SIL2", "SIL3")
    assert settings.extend_select == ("SIL206",)
    assert settings.ignore == ("SIL101",)
    assert settings.exclude == ("x,y", "z")
    assert settings.extend_exclude == ("old",)
    assert settings.respect_gitignore is False
    assert settings.include_tests is True
    assert settings.models == (str(tmp_path / "m.toml"),)
    assert settings.show_unknown is True
    assert settings.min_severity == "info"


def test_the_file_speaks_where_the_command_line_is_silent(app: App, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[tool.stripe-idem-lint]\noutput-format = "json"\ninclude-tests = true\n'
        'fail-on = "warning"\n',
        encoding="utf-8",
    )
    assert cli.run(["check", "--fail-on=never", "--no-include-tests"]) == 0
    assert app.settings.output_format == "json"
    assert app.settings.include_tests is False
    assert app.settings.fail_on == "never"


@pytest.mark.parametrize("command", [["why", "a.py:3"], ["audit"], ["debug", "lower", "a.py"]])
def test_the_commands_that_read_files_take_a_configuration(
    app: App, tmp_path: Path, command: list[str]
) -> None:
    (tmp_path / "own.toml").write_text('extend-exclude = ["old"]\n', encoding="utf-8")
    assert cli.run([*command, "--config=own.toml"]) == 0
    assert app.settings.extend_exclude == ("old",)


# --- output


@pytest.mark.parametrize("form", ["json", "sarif", "gitlab"])
def test_machine_formats_put_one_document_on_standard_output(
    app: App, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    app.answer = report(FINDING, NOTICE, problems=(PROBLEM,))
    assert cli.run(["check", "--output-format", form]) == 1
    out, err = capsys.readouterr()
    assert json.loads(out)
    assert err == ""


@pytest.mark.parametrize(
    ("form", "counted"), [("json", 2), ("sarif", 2), ("gitlab", 1), ("github", 1), ("text", 1)]
)
def test_info_is_in_json_and_sarif_and_elsewhere_on_request(
    app: App, form: str, counted: int, capsys: pytest.CaptureFixture[str]
) -> None:
    app.answer = report(FINDING, NOTICE)
    cli.run(["check", "--output-format", form])
    out = capsys.readouterr().out
    messages = (FINDING.message, NOTICE.message)
    assert sum(message in out for message in messages) == counted
    cli.run(["check", "--output-format", form, "--min-severity=info"])
    out = capsys.readouterr().out
    assert all(message in out for message in messages)


def test_text_is_the_default(app: App, capsys: pytest.CaptureFixture[str]) -> None:
    app.answer = report()
    cli.run(["check"])
    assert capsys.readouterr().out.startswith("billing/gateway.py:42:12: error SIL103 ")


def test_rules_and_explain(app: App, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["rules"]) == 0
    assert capsys.readouterr().out == (
        "SIL103  fresh-key-in-handler  A key is drawn in a handler.\n"
    )
    assert cli.run(["explain", "SIL103"]) == 0
    assert app.asked[-1] == ("explain", "SIL103")
    assert capsys.readouterr().out.startswith("# SIL103 fresh-key-in-handler\n")


def test_why_is_asked_of_the_working_directory_or_of_the_paths(
    app: App, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["why", "a.py:3"]) == 0
    assert app.asked[-1][1:3] == ("a.py:3", (".",))
    assert cli.run(["why", "a.py:3", "src", "lib"]) == 0
    assert app.asked[-1][1:3] == ("a.py:3", ("src", "lib"))
    assert capsys.readouterr().out == "safe: for a reason\n" * 2


@pytest.mark.parametrize(
    ("form", "start"), [("text", "place "), ("csv", "place,call,"), ("json", '{\n "version": 1')]
)
def test_audit_has_three_forms(
    app: App, form: str, start: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["audit", "a", "--output-format", form]) == 0
    assert app.asked[-1][1] == ("a",)
    assert capsys.readouterr().out.startswith(start)


@pytest.mark.parametrize("stage", ["lower", "link", "solve"])
def test_debug_prints_a_stage(app: App, stage: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["debug", stage, "a.py"]) == 0
    assert capsys.readouterr().out == f"{stage} of a.py\n"


# --- as a process

_RUN = f"""
import sys
sys.path[:0] = {[path for path in sys.path if path]!r}
import stripe_idem_lint
from cli.test_cli import App
from report.samples import changed, report
from stripe_idem_lint import cli
app = stripe_idem_lint.app = sys.modules["stripe_idem_lint.app"] = App()
"""


def process(code: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    env = {**os.environ, **environment}
    return subprocess.run(
        [sys.executable, "-c", _RUN + code], capture_output=True, env=env, check=False
    )


def test_any_locale_prints_utf_8_and_no_name_is_too_odd() -> None:
    code = (
        "app.answer = report(changed(message='\\xe9 \\u8868 \\udce9'));"
        "sys.exit(cli.run(['check', '--output-format=json']))"
    )
    done = process(code, LC_ALL="C", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert done.stderr == b""
    assert done.returncode == 1
    assert json.loads(done.stdout.decode("utf-8"))["findings"][0]["message"] == "é 表 ?"


def test_a_reader_that_goes_away_is_quiet_and_changes_no_verdict() -> None:
    code = (
        "import os\n"
        "app.answer = report(*[changed()] * 2000)\n"
        "reader, writer = os.pipe(); os.close(reader); os.dup2(writer, 1)\n"
        "sys.exit(cli.run(['check']))"
    )
    done = process(code)
    assert done.stderr == b""
    assert done.returncode == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device here")
def test_a_full_disk_is_said() -> None:
    code = (
        "import os\n"
        "app.answer = report(*[changed()] * 2000)\n"
        "os.dup2(os.open('/dev/full', os.O_WRONLY), 1)\n"
        "sys.exit(cli.run(['check']))"
    )
    done = process(code)
    assert done.stderr.startswith(b"stripe-idem-lint: error: cannot write the report: ")
    assert done.returncode == 2


@pytest.mark.parametrize(
    "code",
    [
        "import stripe_idem_lint.cli",
        "from stripe_idem_lint import cli; cli.run(['--version'])",
        "from stripe_idem_lint import cli; cli.run(['check', '--help'])",
        "import stripe_idem_lint.source.discover, stripe_idem_lint.report.base",
        "import stripe_idem_lint.report.text, stripe_idem_lint.report.progress",
    ],
)
def test_nothing_slow_is_imported_before_it_is_needed(code: str) -> None:
    slow = "{'rich', 'libcst', 'stripe_idem_rules', 'pathspec', 'importlib.metadata'}"
    check = f"import sys\n{code}\nsys.exit(' '.join(sorted({slow} & set(sys.modules))) or 0)"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, check=False)
    assert done.stderr == b""
    assert done.returncode == 0


def test_the_module_runs_as_the_command_does() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "stripe_idem_lint", "--version"], capture_output=True, check=False
    )
    assert done.returncode == 0
    assert b"stripe-idem-lint" in done.stdout
