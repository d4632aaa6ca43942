"""Code that others wrote, much of it odd: the standard library and what is installed.

Hardly any of it calls Stripe, so the second half puts a Stripe call into every module, with a key
that the module's own functions make: then the analysis has to follow code that nobody wrote for it.
"""

from __future__ import annotations

import ast
import os
import sysconfig
from pathlib import Path

import libcst as cst
import pytest

from stripe_idem_lint import app
from stripe_idem_lint.core.config import load_settings

STANDARD_LIBRARY = Path(sysconfig.get_path("stdlib"))
SITE_PACKAGES = Path(sysconfig.get_path("purelib"))

# `make fuzz` takes all modules, and the SDK too: it is nothing but Stripe calls and takes minutes.
THOROUGH = bool(os.environ.get("FUZZ_SECONDS"))
STEP = 1 if THOROUGH else 25
EXCLUDED: tuple[str, ...] = () if THOROUGH else ("stripe",)

CALL = """

import stripe

@retry
def charge(*args, **kwargs):
    stripe.Charge.create(amount=1, currency="usd", idempotency_key=str({name}(*args, **kwargs)))
"""


@pytest.mark.slow
@pytest.mark.parametrize("folder", [STANDARD_LIBRARY, SITE_PACKAGES], ids=["stdlib", "site"])
def test_installed_code_gives_a_report(folder: Path) -> None:
    report = app.check([str(folder)], load_settings({"extend_exclude": EXCLUDED}, [str(folder)]))
    assert report.summary["files"] > 50


def modules() -> list[Path]:
    """Modules of the standard library, without those that are installed below it."""
    files = [
        file
        for file in STANDARD_LIBRARY.rglob("*.py")
        if not {"site-packages", "dist-packages", "lib2to3"} & set(file.parts)
    ]
    return sorted(files)[::STEP]


def test_a_call_put_into_any_module_gives_a_report(tmp_path: Path) -> None:
    for number, file in enumerate(modules()):
        try:
            text = file.read_text(encoding="utf-8")
            tree = ast.parse(text)
        except (SyntaxError, UnicodeDecodeError, ValueError):
            continue  # the library keeps broken files for its own tests
        if ends_itself(tree):
            continue  # what is put behind its end never runs
        names = makers(tree)
        package = tmp_path / f"package{number}"
        package.mkdir()
        calls = "".join(CALL.format(name=name) for name in names[:8])
        (package / "module.py").write_text(text + calls, encoding="utf-8")
        report = app.check([str(package)], load_settings({}, [str(package)]))
        if not parses(text):
            assert report.problems, file  # valid Python that libcst does not know: it is told
            continue
        assert report.summary["calls"] == len(names[:8]), file


def parses(text: str) -> bool:
    try:
        cst.parse_module(text)
    except cst.ParserSyntaxError:
        return False
    return True


def ends_itself(tree: ast.Module) -> bool:
    """The module ends the process when it is imported."""
    return any(
        isinstance(node, ast.Expr)
        and ast.unparse(node.value).startswith(("sys.exit(", "os._exit("))
        for node in tree.body
    )


def makers(tree: ast.Module) -> list[str]:
    """What a module defines that can be called."""
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    return [node.name for node in tree.body if isinstance(node, kinds)]
