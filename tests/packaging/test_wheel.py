"""What an installed wheel is: our packages, and no name that belongs to somebody else."""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

DISTRIBUTION = "stripe-idem-lint"
PACKAGES = ("stripe_idem_lint", "stripe_idem_rules", "pytest_stripe_idem")

# `make test` says so; elsewhere the checkout may be installed in place.
EXPECT_WHEEL = os.environ.get("STRIPE_IDEM_LINT_UNDER_TEST") == "wheel"


def is_editable() -> bool:
    origin = importlib.metadata.distribution(DISTRIBUTION).read_text("direct_url.json") or ""
    return '"editable"' in origin


needs_wheel = pytest.mark.skipif(
    is_editable() and not EXPECT_WHEEL, reason="installed in place, not from a wheel"
)


def installed_files() -> list[str]:
    files = importlib.metadata.files(DISTRIBUTION)
    assert files is not None
    return [file.as_posix() for file in files]


@needs_wheel
@pytest.mark.parametrize("package", PACKAGES)
def test_the_tests_run_against_the_installed_wheel(package: str) -> None:
    module = importlib.import_module(package)
    assert module.__file__ is not None
    site_packages = Path(sysconfig.get_path("purelib")).resolve()
    assert Path(module.__file__).resolve().is_relative_to(site_packages)


@needs_wheel
def test_the_wheel_adds_its_own_names_to_site_packages_and_no_others() -> None:
    tops = {name.split("/")[0] for name in installed_files() if not name.startswith("..")}
    packages = {top for top in tops if not top.endswith(".dist-info")}
    assert packages == set(PACKAGES)


@needs_wheel
def test_the_wheel_carries_models_type_markers_and_the_licence() -> None:
    files = installed_files()
    for package in PACKAGES:
        assert f"{package}/py.typed" in files
    assert "stripe_idem_rules/models/sinks/stripe.toml" in files
    assert "stripe_idem_rules/models/frameworks/celery.toml" in files
    assert any(name.endswith("licenses/LICENSE") for name in files)
    assert not [name for name in files if name.startswith(("tests/", "docs/", "examples/"))]


def test_the_default_rules_are_found_by_their_entry_point() -> None:
    packs = importlib.metadata.entry_points(group="stripe_idem_lint.packs")
    assert {pack.name: pack.value for pack in packs}["core"] == "stripe_idem_rules"


def test_the_command_and_the_module_are_the_same_program() -> None:
    command = Path(sysconfig.get_path("scripts")) / "stripe-idem-lint"
    printed = {
        subprocess.run(run, capture_output=True, text=True, check=True).stdout.split()[-1]
        for run in (
            [str(command), "--version"],
            [sys.executable, "-P", "-m", "stripe_idem_lint", "--version"],
        )
    }
    assert printed == {importlib.metadata.version(DISTRIBUTION)}


def test_a_bare_pytest_starts_with_warnings_as_errors(tmp_path: Path) -> None:
    (tmp_path / "test_nothing.py").write_text("def test_nothing():\n    pass\n", encoding="utf-8")
    # pytest-asyncio warns of an option unset, which is not our business.
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:asyncio"]
    run = subprocess.run(
        [sys.executable, "-P", "-W", "error", "-m", "pytest", *options],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert "1 passed" in run.stdout
