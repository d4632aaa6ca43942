"""Puts the patches in place: at once for what is imported, later for what is imported later.

Nothing is imported for the sake of being patched, so the start of pytest stays as quick as it was.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any

_MARK = "__stripe_idem__"


@dataclass(frozen=True, slots=True)
class Patch:
    """One attribute of a class or module.

    Attributes:
        make: Given what stands there now, what shall stand there.
    """

    owner: Any
    name: str
    make: Callable[[Any], Any]

    def on_top(self) -> bool:
        """Whether ours is what a caller meets."""
        return hasattr(getattr(self.owner, self.name), _MARK)

    def put(self) -> Callable[[], None]:
        """Puts it over whatever stands there; what is returned takes it away again."""
        before = self.owner.__dict__[self.name]
        made = self.make(getattr(self.owner, self.name))
        setattr(made, _MARK, True)
        setattr(self.owner, self.name, made)
        return lambda: setattr(self.owner, self.name, before)


# For a module, the patches it needs once it has been imported.
Plan = Callable[[ModuleType], Sequence[Patch]]
# For a module, something else to be done; what is returned undoes it.
Wrap = Callable[[ModuleType], Callable[[], None]]


class Patches:
    """All patches of this process."""

    def __init__(self, plans: dict[str, Plan], wraps: dict[str, Wrap]) -> None:
        self._plans, self._wraps = plans, wraps
        self._placed: list[Patch] = []
        self._undo: list[Callable[[], None]] = []
        self._wanted = 0
        self._finder = _Finder(set(plans) | set(wraps), self._imported)

    @property
    def modules(self) -> frozenset[str]:
        """The modules that are waited for."""
        return frozenset(self._finder.names)

    def install(self) -> None:
        """Patches what is imported and waits for the rest; once, however often it is called."""
        self._wanted += 1
        if self._wanted > 1:
            return
        sys.meta_path.insert(0, self._finder)
        for name in sorted(self._finder.names):
            module = sys.modules.get(name)
            if module is not None:
                self._imported(module)

    def also(self, name: str, wrap: Wrap) -> None:
        """Does something after one more module has been imported."""
        self._wraps[name] = wrap
        self._finder.names.add(name)

    def uninstall(self) -> None:
        """Takes everything away again, when nobody wants it any more."""
        self._wanted -= 1
        if self._wanted > 0:
            return
        sys.meta_path.remove(self._finder)
        while self._undo:
            self._undo.pop()()
        self._placed.clear()

    @contextmanager
    def kept_on_top(self) -> Iterator[None]:
        """Over the patches of others that came later (pytest-httpx replaces the same methods)."""
        undo = [patch.put() for patch in self._placed if not patch.on_top()]
        try:
            yield
        finally:
            for each in reversed(undo):
                each()

    def _imported(self, module: ModuleType) -> None:
        name = module.__name__
        for patch in self._plans[name](module) if name in self._plans else ():
            self._undo.append(patch.put())
            self._placed.append(patch)
        if name in self._wraps:
            self._undo.append(self._wraps[name](module))


class _Finder(importlib.abc.MetaPathFinder):
    """Lets others find a module and adds a step after its execution."""

    def __init__(self, names: set[str], after: Callable[[ModuleType], None]) -> None:
        self.names, self._after = names, after
        self._looking: set[str] = set()

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname not in self.names or fullname in self._looking:
            return None
        self._looking.add(fullname)
        try:
            spec = importlib.util.find_spec(fullname)
        finally:
            self._looking.discard(fullname)
        if spec is None or spec.loader is None:
            return None
        spec.loader = _Loader(spec.loader, self._after)
        return spec


class _Loader(importlib.abc.Loader):
    def __init__(self, inner: Any, after: Callable[[ModuleType], None]) -> None:
        self._inner, self._after = inner, after

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        made: ModuleType | None = self._inner.create_module(spec)
        return made

    def exec_module(self, module: ModuleType) -> None:
        self._inner.exec_module(module)
        self._after(module)
