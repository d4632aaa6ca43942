# A walk over many thousand names makes no Path of each, and resolves no links.
# ruff: noqa: PTH100, PTH116, PTH118, PTH119, PTH120
"""Which files a run reads: paths in, Python files out, each with its import names.

Visits each folder once, prunes it before entering, and follows no link to a folder unless the link
itself was named. Reads `.gitignore` files and no source file. What cannot be read is returned as a
problem.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Sequence
from pathlib import Path, PurePath

from stripe_idem_lint.core.config import COMMAND_LINE, Settings
from stripe_idem_lint.core.errors import ConfigError
from stripe_idem_lint.core.problem import Problem
from stripe_idem_lint.source.files import Discovered, SourceFile
from stripe_idem_lint.source.ignore import (
    Layer,
    Layers,
    ignored,
    is_work_tree,
    layers_above,
    own_layers,
    patterns_layer,
)
from stripe_idem_lint.source.names import Folders, names_of

_TEST_FOLDERS = frozenset({"tests", "test"})
_TEST_FILE = re.compile(r"test_.*\.py|.*_test\.py|tests\.py|conftest\.py")
_ENVIRONMENT_MARKS = frozenset({"pyvenv.cfg", "conda-meta"})
_PLAIN_NAME = re.compile(r"[\w.-]+")


def discover(
    paths: Sequence[str], settings: Settings | None = None, cwd: str | None = None
) -> Discovered:
    """All Python files that `paths` name or hold.

    Named files are always read, whatever their suffix; in named folders `*.py` files are, save for
    what the settings leave out. A named folder is entered even if its own name would leave it out,
    and one that is or lies in a test folder is read with its tests.

    Raises:
        ConfigError: A path does not exist.
    """
    walk = _Walk(settings or Settings(), os.path.abspath(cwd or Path.cwd()))
    for path in paths or (".",):
        walk.start(path)
    return walk.result()


class _Walk:
    """One run of `discover`: what was found so far, and what was visited."""

    def __init__(self, settings: Settings, cwd: str) -> None:
        self._settings = settings
        self._cwd = cwd
        self._names, self._patterns = _excludes(settings, cwd)
        self._folders = Folders()
        self._visited: set[tuple[int, int]] = set()
        self._files: dict[str, tuple[bool, str]] = {}
        self._links: dict[str, tuple[bool, str]] = {}
        self._problems: set[Problem] = set()

    def start(self, path: str) -> None:
        """One path of the command line."""
        absolute = os.path.abspath(os.path.join(self._cwd, path))
        try:
            link = stat.S_ISLNK(os.lstat(absolute).st_mode)
        except (OSError, ValueError) as error:
            raise ConfigError(COMMAND_LINE, path, _reason(error)) from error
        try:
            mode = os.stat(absolute).st_mode
        except OSError as error:
            self._problem(absolute, _reason(error, link=link))
            return
        if stat.S_ISDIR(mode):
            self._start_folder(absolute)
        elif stat.S_ISREG(mode):
            home = self._folders.home(os.path.dirname(absolute), self._cwd)
            (self._links if link else self._files)[absolute] = (True, home)
        else:
            self._problem(absolute, "is no regular file")

    def result(self) -> Discovered:
        """A file that is also found under its own name is not read through a link as well."""
        found = dict(self._files)
        if self._links:
            real = {os.path.realpath(path) for path in found}
            for path in sorted(self._links):
                target = os.path.realpath(path)
                if target not in real:
                    real.add(target)
                    found[path] = self._links[path]
        files = (self._source_file(path, *about) for path, about in found.items())
        return Discovered(tuple(sorted(files)), tuple(sorted(self._problems)))

    # --- folders

    def _start_folder(self, absolute: str) -> None:
        layers: Layers = ()
        if self._settings.respect_gitignore:
            try:
                layers = layers_above(absolute)
            except OSError as error:
                self._problem(error.filename or absolute, _reason(error))
        home = self._folders.home(absolute, self._cwd)
        tests = self._settings.include_tests or _in_tests(absolute, self._cwd)
        todo: list[tuple[str, Layers, bool]] = [(absolute, layers, True)]
        while todo:
            folder, layers, named = todo.pop()
            for inner, inner_layers in self._visit(folder, layers, named, home, tests):
                todo.append((inner, inner_layers, False))

    def _visit(
        self, folder: str, layers: Layers, named: bool, home: str, tests: bool
    ) -> list[tuple[str, Layers]]:
        """Take the files of one folder; the folders in it that are to be visited."""
        try:
            entries = self._entries(folder)
        except OSError as error:
            self._problem(folder, _reason(error))
            return []
        names = {entry.name for entry in entries}
        if not named and names & _ENVIRONMENT_MARKS:
            return []
        layers = self._layers_in(folder, names, layers)
        inner = []
        for entry in entries:
            if self._leaves_out(entry, layers, tests):
                continue
            if entry.is_dir(follow_symlinks=False):
                inner.append((entry.path, layers))
            elif entry.name.endswith(".py"):
                self._take(entry, home)
        return inner

    def _entries(self, folder: str) -> list[os.DirEntry[str]]:
        """Sorted; none where the folder was visited before, under whatever name.

        Raises:
            OSError: The folder cannot be read.
        """
        about = os.stat(folder)
        identity = (about.st_dev, about.st_ino)
        if identity in self._visited:
            return []
        self._visited.add(identity)
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)

    def _layers_in(self, folder: str, names: set[str], layers: Layers) -> Layers:
        if not self._settings.respect_gitignore or names.isdisjoint({".git", ".gitignore"}):
            return layers
        try:
            # The rules of a work tree do not reach into another one inside it.
            return (() if is_work_tree(folder) else layers) + own_layers(folder)
        except OSError as error:
            self._problem(error.filename or folder, _reason(error))
            return layers

    def _leaves_out(self, entry: os.DirEntry[str], layers: Layers, tests: bool) -> bool:
        is_folder = entry.is_dir(follow_symlinks=False)
        name = entry.name
        if is_folder and (name.startswith(".") or (not tests and name in _TEST_FOLDERS)):
            return True
        if not is_folder and (
            not name.endswith(".py") or (not tests and _TEST_FILE.fullmatch(name))
        ):
            return True
        if name in self._names or ignored(self._patterns, entry.path, is_folder):
            return True
        return ignored(layers, entry.path, is_folder)

    def _take(self, entry: os.DirEntry[str], home: str) -> None:
        try:
            mode = entry.stat().st_mode
        except OSError as error:
            self._problem(entry.path, _reason(error, link=entry.is_symlink()))
            return
        if stat.S_ISREG(mode):
            kept = self._links if entry.is_symlink() else self._files
            kept.setdefault(entry.path, (False, home))
        elif not stat.S_ISDIR(mode):
            self._problem(entry.path, "is no regular file")

    # --- results

    def _source_file(self, absolute: str, explicit: bool, home: str) -> SourceFile:
        names = names_of(absolute, home, self._folders)
        return SourceFile(
            self._shown(absolute),
            absolute,
            explicit,
            names.modules,
            names.package,
            self._shown(names.top),
        )

    def _problem(self, absolute: str, reason: str) -> None:
        self._problems.add(Problem(self._shown(absolute) or ".", 1, 1, reason))

    def _shown(self, absolute: str) -> str:
        inside = self._cwd.rstrip(os.sep) + os.sep
        if absolute.startswith(inside):
            return absolute[len(inside) :].replace(os.sep, "/")
        try:
            shown = os.path.relpath(absolute, self._cwd)
        except ValueError:  # another drive
            shown = absolute
        return "" if shown == "." else shown.replace(os.sep, "/")


def _excludes(settings: Settings, cwd: str) -> tuple[frozenset[str], Layers]:
    """The exclude options: plain names, which need no pattern engine, and the patterns."""
    names: set[str] = set()
    layers: list[Layer] = []
    for field, patterns in (
        ("exclude", settings.exclude),
        ("extend_exclude", settings.extend_exclude),
    ):
        names.update(p for p in patterns if _PLAIN_NAME.fullmatch(p))
        others = [p for p in patterns if not _PLAIN_NAME.fullmatch(p)]
        if others:
            from_file = settings.source_of(field) not in ("", COMMAND_LINE)
            base = os.path.abspath(settings.root) if from_file and settings.root else cwd
            layers.append(patterns_layer(base, others))
    return frozenset(names), tuple(layers)


def _in_tests(folder: str, cwd: str) -> bool:
    """Whether a named folder is a test folder, or lies in one below the working directory."""
    below = os.path.relpath(folder, cwd) if folder.startswith(cwd) else ""
    return not _TEST_FOLDERS.isdisjoint({os.path.basename(folder), *PurePath(below).parts})


def _reason(error: OSError | ValueError, link: bool = False) -> str:
    if isinstance(error, ValueError):  # a NUL byte in the path
        return "is no path"
    if error.errno == errno.ENOENT:
        return "is a link that leads nowhere" if link else "no such file or folder"
    if error.errno == errno.ELOOP:
        return "is a link that leads back to itself"
    return f"cannot be read: {error.strerror or error}"
