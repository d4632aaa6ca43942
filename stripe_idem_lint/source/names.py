# Asked for every file of a run: text is enough.
# ruff: noqa: PTH110, PTH113, PTH118, PTH119, PTH120
"""The dotted names a file can be imported under, read off the folders around it. Opens no file."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import PurePath

_PROJECT_MARKS = (".git", "pyproject.toml", "setup.py", "setup.cfg")


@dataclass(frozen=True, slots=True)
class Names:
    """What imports call a file.

    Attributes:
        modules: The surest name first, then longer ones, in which folders without `__init__.py` are
            namespace packages.
        package: The package that relative imports start from; empty where there is none.
        top: The absolute folder that holds the file's top package, or the file itself.
    """

    modules: tuple[str, ...]
    package: str
    top: str


class Folders:
    """Answers about folders, each asked of the file system once."""

    def __init__(self) -> None:
        self._packages: dict[str, bool] = {}
        self._homes: dict[str, str | None] = {}

    def is_package(self, folder: str) -> bool:
        """Whether the folder holds an `__init__.py`."""
        if folder not in self._packages:
            self._packages[folder] = os.path.isfile(os.path.join(folder, "__init__.py"))
        return self._packages[folder]

    def home(self, folder: str, cwd: str) -> str:
        """The folder up to which names may grow.

        The outermost of `folder`, the working directory and the nearest project folder, which has
        `.git`, `pyproject.toml`, `setup.py` or `setup.cfg`.
        """
        around = [folder]
        if is_inside(folder, cwd):
            around.append(cwd)
        project = self._project(folder)
        if project is not None:
            around.append(project)
        return min(around, key=len)

    def _project(self, folder: str) -> str | None:
        for above in self_and_above(folder):
            if above not in self._homes:
                marked = any(os.path.exists(os.path.join(above, mark)) for mark in _PROJECT_MARKS)
                self._homes[above] = above if marked else None
            if self._homes[above] is not None:
                return above
        return None


def names_of(file: str, home: str, folders: Folders | None = None) -> Names:
    """The names of `file`.

    With `__init__.py` in `a` and `b`, `a/b/c.py` is `a.b.c`. Without one in `b` it is `c`, and then
    `b.c` and `a.b.c` as far up as `home` reaches. `__init__.py` has the name of its folder.

    Args:
        file: An absolute path.
        home: An absolute folder above it.
    """
    folders = folders or Folders()
    folder, name = os.path.split(file)
    stem = PurePath(name).stem
    if not stem.isidentifier():
        return Names((), "", folder)
    is_init = name == "__init__.py"
    parts = [] if is_init else [stem]
    top = folder
    while folders.is_package(top) and os.path.basename(top).isidentifier():
        parts.insert(0, os.path.basename(top))
        top = os.path.dirname(top)
    found = [parts] if parts else []
    longer, above = parts, top
    while above != home and is_inside(above, home) and os.path.basename(above).isidentifier():
        longer = [os.path.basename(above), *longer]
        found.append(longer)
        above = os.path.dirname(above)
    # A folder without __init__.py is reached by relative imports only as a namespace package.
    start = parts if folders.is_package(folder) else longer
    package = start if is_init else start[:-1]
    return Names(tuple(".".join(name) for name in found), ".".join(package), top)


def is_inside(path: str, folder: str) -> bool:
    """Whether the absolute `path` is `folder` or below it; links are not looked through."""
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def self_and_above(folder: str) -> list[str]:
    """The absolute folder, then the one that holds it, up to the top."""
    chain = [folder]
    while (above := os.path.dirname(chain[-1])) != chain[-1]:
        chain.append(above)
    return chain
