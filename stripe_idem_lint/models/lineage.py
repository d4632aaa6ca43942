"""One name per thing, and the bases of library classes.

Worked example, with `celery.Celery` also called `celery.app.base.Celery`, and the class
`huey.RedisHuey` based on `huey.Huey`:

    canonical("celery.app.base.Celery.task")   celery.Celery.task      # an alias holds for prefixes
    canonical("hash")                          builtins.hash
    bases("huey.RedisHuey")                    ("huey.Huey",)
    readings("huey.RedisHuey.task")            ("huey.RedisHuey.task", "huey.Huey.task")

Knows names only: nothing is imported, and classes of the project under analysis are not its matter.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterable

from stripe_idem_lint.models.schema import Alias, Subclass

_BUILTINS = frozenset(dir(builtins))

# Aliases of aliases are followed this far; more would be a circle.
_DEPTH = 8


class Lineage:
    """Aliases and class rows of all model files, looked up with a memory."""

    def __init__(self, aliases: Iterable[Alias], classes: Iterable[Subclass]) -> None:
        self._names = {other: alias.name for alias in aliases for other in alias.also}
        self._canonical: dict[str, str] = {}
        self._bases: dict[str, tuple[str, ...]] = {}
        self._readings: dict[str, tuple[str, ...]] = {}
        self._direct: dict[str, tuple[str, ...]] = {}
        for row in classes:
            name = self.canonical(row.name)
            found = (*self._direct.get(name, ()), *map(self.canonical, row.bases))
            self._direct[name] = tuple(dict.fromkeys(found))

    def canonical(self, name: str) -> str:
        """The name that the models use for this one; itself if they know no other."""
        found = self._canonical.get(name)
        if found is None:
            found = self._canonical[name] = self._resolve(name)
        return found

    def bases(self, name: str) -> tuple[str, ...]:
        """The known bases of a class, transitive, nearest first."""
        name = self.canonical(name)
        found = self._bases.get(name)
        if found is None:
            found = self._bases[name] = self._climb(name)
        return found

    def is_subclass(self, name: str, base: str) -> bool:
        """`name` is `base` or known to derive from it."""
        return self.canonical(base) in (self.canonical(name), *self.bases(name))

    def readings(self, name: str) -> tuple[str, ...]:
        """The canonical name, then the same member on each base of each class in front of it."""
        found = self._readings.get(name)
        if found is None:
            found = self._readings[name] = tuple(dict.fromkeys(self._read(name)))
        return found

    def _read(self, name: str) -> Iterable[str]:
        canonical = self.canonical(name)
        yield canonical
        parts = canonical.split(".")
        for cut in range(len(parts), 0, -1):
            for base in self.bases(".".join(parts[:cut])):
                yield self.canonical(".".join((base, *parts[cut:])))

    def _resolve(self, name: str) -> str:
        if name in _BUILTINS:
            return f"builtins.{name}"
        for _ in range(_DEPTH):
            renamed = self._rename(name)
            if renamed is None:
                break
            name = renamed
        return name

    def _rename(self, name: str) -> str | None:
        """One step: the longest prefix that is an alias, replaced."""
        cut = len(name)
        while cut > 0:
            main = self._names.get(name[:cut])
            if main is not None and not _inside(main, name, cut):
                return main + name[cut:]
            cut = name.rfind(".", 0, cut)
        return None

    def _climb(self, name: str) -> tuple[str, ...]:
        found: dict[str, None] = {}
        layer = self._direct.get(name, ())
        while layer:
            fresh = [base for base in layer if base not in found and base != name]
            found.update(dict.fromkeys(fresh))
            layer = tuple(up for base in fresh for up in self._direct.get(base, ()))
        return tuple(found)


def _inside(main: str, name: str, cut: int) -> bool:
    """The name is already below the main one: `a.b.c`, where `a` is an alias of `a.b`."""
    return len(main) > cut and f"{name}.".startswith(f"{main}.")
