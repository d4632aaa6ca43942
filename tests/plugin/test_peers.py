"""The 25 checks of `tools/compare_fakes.py`: ours holds all of them."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parent.parent.parent / "tools/compare_fakes.py"


@pytest.fixture
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("compare_fakes", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_ours_holds_all_25(script: ModuleType) -> None:
    assert len(script.CHECKS) == 25
    server = script.start()
    try:
        found = script.results(script.Server(server.url))
    finally:
        server.stop()
    assert [name for name, holds in found.items() if not holds] == []


def test_a_server_that_is_not_there_holds_none(script: ModuleType) -> None:
    assert not any(script.results(script.Server("http://127.0.0.1:9")).values())


def test_the_page_says_what_the_script_says(script: ModuleType) -> None:
    page = script.PAGE.read_text(encoding="utf-8")
    assert page.startswith(script.HEAD)
    rows = [line.split("|")[1].strip() for line in page.removeprefix(script.HEAD).splitlines()[2:]]
    assert rows == [*script.CHECKS, ""]
    assert "| **25 of 25** |" in page
