"""The hook as a team gets it: installed by pre-commit from a clone, run over their files."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

MISSING = [
    *(["git"] if shutil.which("git") is None else []),
    *(["pre-commit"] if importlib.util.find_spec("pre_commit") is None else []),
    *([] if (ROOT / ".git").exists() else ["the repository's history"]),
]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(MISSING), reason=f"needs {' and '.join(MISSING)}"),
]

UNSAFE = """\
import uuid

import stripe
from celery import shared_task


@shared_task(acks_late=True)
def charge(order_id, cents):
    stripe.PaymentIntent.create(
        amount=cents, currency="eur", confirm=True, idempotency_key=str(uuid.uuid4())
    )
"""
SAFE = UNSAFE.replace("str(uuid.uuid4())", 'f"charge-{order_id}"')


def run(command: Sequence[str], cwd: Path, home: Path) -> subprocess.CompletedProcess[str]:
    # Git's own variables would point it at another repository, as they do inside a hook.
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment = clean | {
        "PRE_COMMIT_HOME": str(home / "cache"),
        "GIT_CONFIG_GLOBAL": str(home / "gitconfig"),
        "GIT_CONFIG_NOSYSTEM": "1",
    }
    return subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("home")
    (home / "gitconfig").write_text(
        "[user]\n\tname = A Tester\n\temail = tester@example.com\n"
        "[init]\n\tdefaultBranch = main\n[safe]\n\tdirectory = *\n",
        encoding="utf-8",
    )
    return home


@pytest.fixture(scope="module")
def clone(home: Path) -> Path:
    """This repository at its last commit."""
    made = run(
        ["git", "clone", "--quiet", "--no-hardlinks", str(ROOT), str(home / "clone")], home, home
    )
    assert made.returncode == 0, made.stderr
    return home / "clone"


def try_repo(project: Path, clone: Path, home: Path) -> subprocess.CompletedProcess[str]:
    for step in (["git", "init", "--quiet"], ["git", "add", "."]):
        assert run(step, project, home).returncode == 0
    command = [sys.executable, "-m", "pre_commit", "try-repo", str(clone), "stripe-idem-lint"]
    return run([*command, "--verbose", "--all-files", "--color=never"], project, home)


def test_the_hook_stops_a_commit_with_an_unstable_key(
    tmp_path: Path, clone: Path, home: Path
) -> None:
    (tmp_path / "tasks.py").write_text(UNSAFE, encoding="utf-8")
    result = try_repo(tmp_path, clone, home)
    assert result.returncode == 1, result.stdout + result.stderr
    assert "Failed" in result.stdout
    assert "tasks.py:9:5: error SIL103" in result.stdout


def test_the_hook_lets_a_stable_key_pass(tmp_path: Path, clone: Path, home: Path) -> None:
    (tmp_path / "tasks.py").write_text(SAFE, encoding="utf-8")
    result = try_repo(tmp_path, clone, home)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "Passed" in result.stdout


def test_the_hook_reads_the_whole_program_once(tmp_path: Path, clone: Path, home: Path) -> None:
    # The key is drawn in one file and sent in another: neither alone shows the fault.
    (tmp_path / "keys.py").write_text(
        "import uuid\n\n\ndef make():\n    return str(uuid.uuid4())\n", encoding="utf-8"
    )
    (tmp_path / "tasks.py").write_text(
        UNSAFE.replace("import uuid\n", "import keys\n").replace(
            "str(uuid.uuid4())", "keys.make()"
        ),
        encoding="utf-8",
    )
    result = try_repo(tmp_path, clone, home)
    assert result.returncode == 1, result.stdout + result.stderr
    assert result.stdout.count("SIL103 ") == 1
