"""Who can get hold of a file is read off the imports of the others, whichever way they are written."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from stripe_idem_lint.link.imports import absolute, imported_names
from stripe_idem_lint.link.program import Program, Unit


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import a.b as c, d", [("a.b", ()), ("d", ())]),
        ("from a import b as c, d", [("a", ("b", "d"))]),
        ("from . import (\n    b,  # why\n    c as d,\n)\n", [(".", ("b", "c"))]),
        ("from ..a.b import \\\n    c", [("..a.b", ("c",))]),
        ("def f():\n    from .a import b\n", [(".a", ("b",))]),
        ("x = import_module('a.b')", [("a.b", ())]),
        ("from a import *", [("a", ())]),
        ("important = 1\n# import a\nfromage = 2", []),
    ],
)
def test_imports_are_read_off_the_bytes(
    text: str, expected: list[tuple[str, tuple[str, ...]]]
) -> None:
    assert list(imported_names(text.encode())) == expected


@pytest.mark.parametrize(
    ("module", "level", "package", "expected"),
    [
        ("a.b", 0, "shop.pay", "a.b"),
        ("", 1, "shop.pay", "shop.pay"),
        ("b", 1, "shop.pay", "shop.pay.b"),
        ("b", 2, "shop.pay", "shop.b"),
        ("", 2, "shop.pay", "shop"),
    ],
)
def test_relative_imports_start_from_the_package(
    module: str, level: int, package: str, expected: str
) -> None:
    assert absolute(module, level, package) == expected


def program(files: Mapping[str, str], read: list[str] | None = None) -> Program:
    """The files as a program; `read` is told each file whose bytes are asked for."""
    units = []
    for path in files:
        parts = path.removesuffix(".py").split("/")
        inside = parts[:-1] if parts[-1] == "__init__" else parts
        package = ".".join(parts[:-1])
        units.append(Unit(path, (".".join(inside),), package, ""))

    def bytes_of(path: str) -> bytes:
        if read is not None:
            read.append(path)
        return files[path].encode()

    return Program(units, bytes_of, lambda path: None)


FILES = {
    "shop/__init__.py": "from .gateway import charge\n",
    "shop/gateway.py": "def charge(): ...\n",
    "shop/other.py": "import json\n",
    "web/views.py": "from shop import charge\n",
    "web/urls.py": "from . import views\n",
    "far/tool.py": "charge = 1\n",
}


def test_a_file_is_reached_by_those_that_import_it_or_what_imports_it() -> None:
    reaching = program(FILES).reaching("shop/gateway.py")
    assert reaching == {"shop/gateway.py", "shop/__init__.py", "web/views.py", "web/urls.py"}


def test_the_imports_of_a_file_are_read_once() -> None:
    read: list[str] = []
    files = program(FILES, read)
    files.reaching("shop/gateway.py")
    files.reaching("shop/__init__.py")
    once = len(read)
    files.reaching("web/views.py")
    assert len(read) == once


def test_files_of_two_packages_are_strangers() -> None:
    files = program(FILES)
    assert files.strangers("web/views.py", "far/tool.py")
    assert not files.strangers("web/views.py", "web/urls.py")


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["def pay(): ..."], True),
        (["async def pay(): ..."], True),
        (["def pay(): ...", "def pay(): ..."], False),
        (["pay = 1"], False),
        (["def repay(): ...", "def pay_now(): ..."], False),
    ],
)
def test_a_name_is_defined_once(texts: list[str], expected: bool) -> None:
    files = program({f"f{number}.py": text for number, text in enumerate(texts)})
    assert files.defined_once("pay") is expected
