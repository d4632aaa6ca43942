"""A repository with everything that can be wrong in it: the run goes on, says what it left out, and
leaves the repository as it was."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stripe_idem_lint import cli

GOOD = """\
import uuid
import stripe
from tenacity import retry

@retry
def charge(order):
    stripe.PaymentIntent.create(
        amount=order.cents, currency="usd", confirm=True, idempotency_key=str(uuid.uuid4())
    )
"""
MENTION = b"import stripe  # mentioned, so that the file is opened\n"
BAD: dict[str, tuple[bytes, str]] = {
    "syntax.py": (MENTION + b"def f(:\n", "syntax error: invalid syntax"),
    "python2.py": (MENTION + b"print 'charged'\n", "(Python 2?)"),
    "encoding.py": (b"# coding: nope\n" + MENTION, "unknown encoding: nope"),
    "bytes.py": (MENTION + b"x = '\xe9'\n", "is no utf-8"),
    "nul.py": (MENTION + b"x = '\0'\n", "contains a NUL byte"),
    "utf16.py": (GOOD.encode("utf-16"), "UTF-16"),
    "brackets.py": (MENTION + b"x = " + b"(" * 10_000 + b")" * 10_000, "200 brackets"),
    "operators.py": (MENTION + b"x = " + b"-" * 10_000 + b"1\n", "1000 operators"),
    "blocks.py": (
        MENTION + b"".join(b" " * n + b"if x:\n" for n in range(10_000)),
        "too many levels of indentation",
    ),
    "huge.py": (MENTION + b"x = [" + b"1," * 2_500_000 + b"]\n", "tokens"),
}
HANDLED: dict[str, bytes] = {
    "empty.py": b"",
    "mark.py": b"\xef\xbb\xbf" + GOOD.encode(),
    "dos.py": GOOD.replace("\n", "\r\n").encode(),
    "mac.py": GOOD.replace("\n", "\r").encode(),
    "latin.py": b"# coding: latin-1\n" + GOOD.encode() + b"x = '\xe9'\n",
    "long.py": MENTION + b"x = '" + b"a" * 5_000_000 + b"'\n",
    "circle_a.py": MENTION + b"from circle_b import *\nimport circle_b\n",
    "circle_b.py": MENTION + b"from circle_a import *\nimport circle_a\n",
    "itself.py": MENTION + b"from itself import f\ndef f(x): return f(f(x))\n",
    "twice/same.py": GOOD.encode(),
    "again/same.py": GOOD.encode(),
}

Lint = Callable[..., tuple[int, Any]]


@pytest.fixture
def lint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Lint:
    """Runs `check` on these files; exit code and document."""
    monkeypatch.chdir(tmp_path)

    def run(files: dict[str, bytes], *flags: str) -> tuple[int, Any]:
        for name, data in files.items():
            file = tmp_path / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
        before = snapshot(tmp_path)
        code = cli.run(["check", "--output-format=json", *flags])
        out, err = capsys.readouterr()
        assert err == ""
        assert snapshot(tmp_path) == before
        return code, json.loads(out)

    return run


def snapshot(folder: Path) -> dict[str, tuple[int, int]]:
    return {
        str(path): (path.lstat().st_size, path.lstat().st_mtime_ns) for path in folder.rglob("*")
    }


@pytest.mark.parametrize("name", BAD)
def test_a_file_that_cannot_be_analysed_is_a_warning_and_the_others_are(
    lint: Lint, name: str
) -> None:
    data, reason = BAD[name]
    code, document = lint({name: data, "good.py": GOOD.encode()})
    assert code == 1
    assert [finding["path"] for finding in document["findings"]] == ["good.py"]
    ((error),) = document["errors"]
    assert (error["code"], error["severity"], error["path"]) == ("SIL900", "warning", name)
    assert reason in error["reason"]


def test_it_counts_as_a_warning_for_the_exit_code(lint: Lint) -> None:
    files = {"syntax.py": BAD["syntax.py"][0]}
    assert lint(files)[0] == 0
    assert lint(files, "--fail-on=warning")[0] == 1


@pytest.mark.parametrize("name", HANDLED)
def test_odd_files_are_simply_read(lint: Lint, name: str) -> None:
    _, document = lint({name: HANDLED[name]})
    assert document["errors"] == []
    expected = [name] if b"uuid4" in HANDLED[name] else []
    assert [finding["path"] for finding in document["findings"]] == expected


def test_everything_at_once(lint: Lint) -> None:
    files = {name: data for name, (data, _) in BAD.items()} | HANDLED
    code, document = lint(files)
    assert code == 1
    assert [error["path"] for error in document["errors"]] == sorted(BAD)
    assert [finding["path"] for finding in document["findings"]] == sorted(
        name for name, data in HANDLED.items() if b"uuid4" in data
    )


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege on Windows")
def test_links_that_lead_nowhere_or_round_are_said(lint: Lint, tmp_path: Path) -> None:
    (tmp_path / "gone.py").symlink_to("nothing.py")
    (tmp_path / "loop.py").symlink_to("loop.py")
    (tmp_path / "up").symlink_to(".")
    _, document = lint({"good.py": GOOD.encode()})
    assert [error["path"] for error in document["errors"]] == ["gone.py", "loop.py"]
    assert [finding["path"] for finding in document["findings"]] == ["good.py"]


def test_a_file_that_cannot_be_opened_is_said(
    lint: Lint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Path.read_bytes

    def refuse(path: Path) -> bytes:
        if path.name == "closed.py":
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr(Path, "read_bytes", refuse)
    _, document = lint({"closed.py": GOOD.encode(), "good.py": GOOD.encode()})
    ((error),) = document["errors"]
    assert error["path"] == "closed.py"
    assert "Permission denied" in error["reason"]
    assert [finding["path"] for finding in document["findings"]] == ["good.py"]


def test_no_user_code_is_run(lint: Lint, tmp_path: Path) -> None:
    code = f"import stripe\nopen({str(tmp_path / 'ran')!r}, 'w').close()\n".encode()
    lint({"a.py": code, "sitecustomize.py": code, "stripe.py": code, "conftest.py": code})
    assert not (tmp_path / "ran").exists()
