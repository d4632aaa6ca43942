"""The dotted names of a file follow the folders around it."""

from __future__ import annotations

from pathlib import Path

import pytest

from stripe_idem_lint.source.names import names_of


def tree(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()


@pytest.mark.parametrize(
    ("files", "asked", "modules", "package", "top"),
    [
        # Regular packages: the whole name first, longer ones from folders above.
        (["a/__init__.py", "a/b/__init__.py"], "a/b/c.py", ["a.b.c"], "a.b", ""),
        (["a/__init__.py", "a/b/__init__.py"], "a/b/__init__.py", ["a.b"], "a.b", ""),
        (["a/__init__.py"], "a/__main__.py", ["a.__main__"], "a", ""),
        (["src/a/__init__.py"], "src/a/c.py", ["a.c", "src.a.c"], "a", "src"),
        # Namespace packages: the short name first; relative imports need the long one.
        ([], "a/b/c.py", ["c", "b.c", "a.b.c"], "a.b", "a/b"),
        ([], "a/b/__init__.py", ["b", "a.b"], "b", "a"),
        (["a/__init__.py"], "a/b/c.py", ["c", "b.c", "a.b.c"], "a.b", "a/b"),
        (["a/b/__init__.py"], "a/b/c.py", ["b.c", "a.b.c"], "b", "a"),
        # At the top.
        ([], "c.py", ["c"], "", ""),
        (["__init__.py"], "c.py", ["c"], "", ""),
        # What is no identifier ends a name.
        ([], "my-app/b/c.py", ["c", "b.c"], "b", "my-app/b"),
        ([], "b/my-script.py", [], "", "b"),
        ([], "b/script", ["script", "b.script"], "b", "b"),
        ([], "b/0001_first.py", [], "", "b"),
    ],
)
def test_names(
    tmp_path: Path, files: list[str], asked: str, modules: list[str], package: str, top: str
) -> None:
    # The folder itself has a name that is no identifier, so that a package does not reach above.
    home = tmp_path / "my-home"
    tree(home, *files, asked)
    names = names_of(str(home / asked), str(home))
    assert list(names.modules) == modules
    assert names.package == package
    assert names.top == str(home / top)


def test_a_package_is_known_whole_when_a_folder_inside_it_is_the_home(tmp_path: Path) -> None:
    home = tmp_path / "my-home"
    tree(home, "a/__init__.py", "a/b/__init__.py", "a/b/c.py")
    assert names_of(str(home / "a/b/c.py"), str(home / "a/b")).modules == ("a.b.c",)
