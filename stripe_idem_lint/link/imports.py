"""Which files reach which through their imports, read off the bytes: nothing is parsed.

A file can only call what it can get hold of, and it gets hold of other files' functions by importing them, or something that
imports them. The search for callers asks here first, so that a method called `save` does not open every file that saves.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

_STATEMENT = re.compile(
    rb"^[ \t]*(?:from[ \t]+(\.*[\w.]*)[ \t]+import[ \t]+(\([^)]*\)|[^\n;]*)|import[ \t]+([^\n;]+))",
    re.MULTILINE,
)
_BY_TEXT = re.compile(rb"import_module\(\s*[\"'](\.*[\w.]+)[\"']")
_CONTINUED = re.compile(rb"\\\r?\n")
_COMMENT = re.compile(rb"#[^\n]*")
_NAME = re.compile(rb"[\w.]+")


def absolute(module: str, level: int, package: str) -> str:
    """The full name of what `from ..module import x` names, with `level` dots, in a file of `package`."""
    if not level:
        return module
    parts = package.split(".") if package else []
    kept = parts[: len(parts) - (level - 1)]
    return ".".join([*kept, *([module] if module else [])])


def imported_names(data: bytes) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each import of a file: the module as written, with its leading dots, and the names taken from it."""
    if b"\\" in data:
        data = _CONTINUED.sub(b" ", data)
    for match in _STATEMENT.finditer(data):
        module, names, plain = match.groups()
        if plain is None:
            taken = _names(names)
            yield module.decode(errors="replace"), taken
        else:
            for name in _names(plain):
                yield name, ()
    for match in _BY_TEXT.finditer(data):
        yield match[1].decode(errors="replace"), ()


def _names(text: bytes) -> tuple[str, ...]:
    """The imported names of `(a, b as c)`; what stands behind `as` is this file's own affair."""
    parts = _COMMENT.sub(b"", text).strip(b"() \t\r\n").split(b",")
    found = (_NAME.search(part) for part in parts)
    return tuple(match[0].decode(errors="replace") for match in found if match is not None)


class Imports:
    """Answers who imports whom, reading each file once, and only files that a question can concern.

    Args:
        modules: The dotted names that each file can be imported under.
        packages: The package that relative imports of each file start from.
        read: Gives a file's bytes.
        find: The file of an absolute module name, as a file sees it.
        mentioning: The files in which a word stands.
    """

    def __init__(
        self,
        modules: Mapping[str, tuple[str, ...]],
        packages: Mapping[str, str],
        read: Callable[[str], bytes],
        find: Callable[[str, str], str | None],
        mentioning: Callable[[str], tuple[str, ...]],
    ) -> None:
        self._modules = modules
        self._packages = packages
        self._read = read
        self._find = find
        self._mentioning = mentioning
        self._importers: dict[str, list[str]] = {}
        self._scanned: set[str] = set()
        self._tops: set[str] = set()
        self._members: dict[str, list[str]] = {}
        for path, names in modules.items():
            for top in {name.partition(".")[0] for name in names}:
                self._members.setdefault(top, []).append(path)
        self._reaching: dict[str, frozenset[str]] = {}

    def reaching(self, path: str) -> frozenset[str]:
        """The files that import `path`, or a file that does, and `path` itself."""
        if path not in self._reaching:
            seen = {path}
            queue = [path]
            for target in queue:
                for top in {name.partition(".")[0] for name in self._modules[target]}:
                    self._scan_about(top)
                for importer in self._importers.get(target, ()):
                    if importer not in seen:
                        seen.add(importer)
                        queue.append(importer)
            self._reaching[path] = frozenset(seen)
        return self._reaching[path]

    def _scan_about(self, top: str) -> None:
        """Reads the imports of all files that can import something below a top package."""
        if top in self._tops:
            return
        self._tops.add(top)
        for path in (*self._members.get(top, ()), *self._mentioning(top)):
            if path not in self._scanned:
                self._scanned.add(path)
                for target in set(self._targets(path)):
                    self._importers.setdefault(target, []).append(path)

    def _targets(self, path: str) -> Iterator[str]:
        for written, names in imported_names(self._read(path)):
            name = written.lstrip(".")
            module = absolute(name, len(written) - len(name), self._packages[path])
            wanted = [module, *(f"{module}.{name}" if module else name for name in names)]
            if not names:
                parts = module.split(".")
                wanted += [".".join(parts[:count]) for count in range(1, len(parts))]
            for name in wanted:
                found = self._find(name, path) if name else None
                if found is not None:
                    yield found
