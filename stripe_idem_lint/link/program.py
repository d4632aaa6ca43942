"""The program as the analysis sees it: modules on demand, names joined across files.

A module is parsed and lowered when a question needs it. Callers are found by the bytes of a name first, so that the cost
follows the code that takes part, not the size of the repository. Knows Python only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from stripe_idem_lint.ir import nodes as ir
from stripe_idem_lint.link import flow as flows
from stripe_idem_lint.link.endings import with_endings
from stripe_idem_lint.link.imports import Imports, absolute
from stripe_idem_lint.source.scan import mentions


@dataclass(frozen=True, slots=True)
class Unit:
    """One file of the program.

    Attributes:
        path: As discovery named it.
        modules: The dotted names it can be imported under, the surest first.
        package: The package that relative imports start from.
        root: The folder that holds its top package (or the file itself); short names reach from there only.
    """

    path: str
    modules: tuple[str, ...]
    package: str
    root: str


@dataclass(frozen=True, slots=True, order=True)
class FunctionRef:
    path: str
    index: int


@dataclass(frozen=True, slots=True, order=True)
class ClassRef:
    path: str
    index: int


@dataclass(frozen=True, slots=True)
class ModuleRef:
    path: str


@dataclass(frozen=True, slots=True)
class External:
    """A dotted name that leads out of the program (`stripe.Charge.create`)."""

    name: str


class Program:
    """All files, lowered when asked for.

    Args:
        units: The files.
        read: Gives a file's bytes.
        lower: Gives a file's module; None when it cannot be analysed (the caller keeps the reason).
        never: Dotted names of outside calls that do not come back (`sys.exit`).
    """

    def __init__(
        self,
        units: Sequence[Unit],
        read: Callable[[str], bytes],
        lower: Callable[[str], ir.Module | None],
        never: frozenset[str] = frozenset(),
    ) -> None:
        self._units = {unit.path: unit for unit in units}
        self._read = read
        self._lower = lower
        self._never = never
        self._modules: dict[str, ir.Module | None] = {}
        self._flows: dict[tuple[str, str, int], flows.Flow] = {}
        self._mentions: dict[str, tuple[str, ...]] = {}
        self._setters: dict[str, Mapping[str, tuple[FunctionRef, ...]]] = {}
        self._by_name: dict[str, list[Unit]] = {}
        for unit in units:
            for name in unit.modules:
                self._by_name.setdefault(name, []).append(unit)
        self._imports = Imports(
            {unit.path: unit.modules for unit in units},
            {unit.path: unit.package for unit in units},
            read,
            self.find_module,
            self.mentioning,
        )

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(self._units)

    def unit(self, path: str) -> Unit:
        return self._units[path]

    def module(self, path: str) -> ir.Module | None:
        """The lowered file; None when it cannot be analysed."""
        if path not in self._modules:
            lowered = self._lower(path)
            self._modules[path] = (
                with_endings(lowered, self._never) if lowered is not None else None
            )
        return self._modules[path]

    @property
    def loaded(self) -> int:
        """How many files had to be parsed so far."""
        return len(self._modules)

    def function(self, ref: FunctionRef) -> ir.Function:
        module = self._modules[ref.path]
        assert module is not None
        return module.functions[ref.index]

    def cls(self, ref: ClassRef) -> ir.Class:
        module = self._modules[ref.path]
        assert module is not None
        return module.classes[ref.index]

    def setters(self, path: str) -> Mapping[str, tuple[FunctionRef, ...]]:
        """For each name that is declared `global` or `nonlocal` in a file, the functions that do so."""
        if path not in self._setters:
            found: dict[str, tuple[FunctionRef, ...]] = {}
            module = self.module(path)
            for function in module.functions if module is not None else ():
                ref = FunctionRef(path, function.index)
                outer = (s for s in ir.statements(function.body) if isinstance(s, ir.Outer))
                for name in {name for stmt in outer for name in stmt.names}:
                    found[name] = (*found.get(name, ()), ref)
            self._setters[path] = found
        return self._setters[path]

    # --- flow

    def function_flow(self, ref: FunctionRef) -> flows.Flow:
        function = self.function(ref)
        return self._flow(ref.path, "f", ref.index, function.body, function.params)

    def class_flow(self, ref: ClassRef) -> flows.Flow:
        return self._flow(ref.path, "c", ref.index, self.cls(ref).body, ())

    def module_flow(self, path: str) -> flows.Flow:
        module = self.module(path)
        assert module is not None
        return self._flow(path, "m", 0, module.body, ())

    def _flow(
        self,
        path: str,
        kind: str,
        index: int,
        body: tuple[ir.Stmt, ...],
        params: tuple[ir.Param, ...],
    ) -> flows.Flow:
        key = (path, kind, index)
        if key not in self._flows:
            module = self.module(path)
            assert module is not None
            self._flows[key] = flows.analyse(module, body, params)
        return self._flows[key]

    # --- names

    def find_module(self, name: str, importer: str) -> str | None:
        """The file of an absolute module name as `importer` sees it."""
        found = self._by_name.get(name)
        if not found:
            return None
        home = self._units[importer]
        near = found
        if "." not in name:
            near = [
                u for u in found if u.root in ("", home.root) or importer.startswith(f"{u.root}/")
            ]
        if not near:
            return None
        return min(
            near, key=lambda u: (u.root != home.root, -_shared(u.path, importer), u.path)
        ).path

    def imported(
        self, stmt: ir.Import | ir.ImportFrom, importer: str
    ) -> ModuleRef | External | tuple[str, str]:
        """What an import binds: a module, something outside, or (file, name in it)."""
        if isinstance(stmt, ir.Import):
            name = stmt.module if stmt.whole else stmt.module.partition(".")[0]
            path = self.find_module(name, importer)
            return ModuleRef(path) if path is not None else External(name)
        module = absolute(stmt.module, stmt.level, self._units[importer].package)
        whole = f"{module}.{stmt.source}" if module else stmt.source
        path = self.find_module(module, importer) if module else None
        inner = self.find_module(whole, importer)
        if path is not None:
            source = self.module(path)
            if inner is not None and (
                source is None or stmt.source not in self.module_flow(path).everything
            ):
                return ModuleRef(inner)
            return (path, stmt.source)
        if inner is not None:
            return ModuleRef(inner)
        return External(whole)

    def submodule(self, path: str, name: str) -> str | None:
        """`package.name` where `path` is the package's `__init__`."""
        unit = self._units[path]
        if not path.endswith("__init__.py"):
            return None
        return self.find_module(f"{unit.modules[0]}.{name}", path) if unit.modules else None

    # --- finding places by name

    def mentioning(self, word: str) -> tuple[str, ...]:
        """Files whose bytes hold `word` as a whole identifier, in order."""
        if word not in self._mentions:
            needle = word.encode()
            self._mentions[word] = tuple(
                path for path in self._units if mentions(self._read(path), needle)
            )
        return self._mentions[word]

    def tops(self, path: str) -> frozenset[str]:
        """The first words of the names that the file can be imported under."""
        return frozenset(name.partition(".")[0] for name in self._units[path].modules)

    def strangers(self, one: str, two: str) -> bool:
        """The files belong to different packages."""
        packages = self._units[one].package, self._units[two].package
        return all(packages) and not self.tops(one) & self.tops(two)

    def reaching(self, path: str) -> frozenset[str]:
        """The files that can get hold of what `path` defines: those that import it, or a file that does."""
        return self._imports.reaching(path)

    def holds(self, path: str, needles: Sequence[str]) -> bool:
        """The file's bytes hold one of the texts."""
        data = self._read(path)
        return any(needle.encode() in data for needle in needles)

    def defined_once(self, name: str) -> bool:
        """Exactly one `def` of the program has the name."""
        head = re.compile(rb"\bdef[ \t]+" + re.escape(name.encode()) + rb"\b")
        count = 0
        for path in self.mentioning(name):
            count += len(head.findall(self._read(path)))
            if count > 1:
                return False
        return count == 1


def bodies(module: ir.Module) -> Iterator[tuple[str, int, tuple[ir.Stmt, ...]]]:
    """All bodies of a file: (`m`, `f` or `c`, number, statements)."""
    yield "m", 0, module.body
    for function in module.functions:
        yield "f", function.index, function.body
    for cls in module.classes:
        yield "c", cls.index, cls.body


def _shared(one: str, two: str) -> int:
    """How many leading folders two paths share."""
    count = 0
    for a, b in zip(one.split("/")[:-1], two.split("/")[:-1], strict=False):
        if a != b:
            break
        count += 1
    return count
