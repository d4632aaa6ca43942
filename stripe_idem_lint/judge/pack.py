"""Rule packs: found by entry point, each a package with rules and a `models` folder. None is known by name."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from importlib.resources import files
from importlib.resources.abc import Traversable

from stripe_idem_lint.core.errors import LintError
from stripe_idem_lint.judge.rule import Rule

GROUP = "stripe_idem_lint.packs"


@dataclass(frozen=True, slots=True)
class Pack:
    """An installed rule pack."""

    name: str
    package: str

    @property
    def folder(self) -> Traversable:
        return files(self.package)


def packs() -> tuple[Pack, ...]:
    """The installed packs, sorted by name.

    Raises:
        LintError: None is installed.
    """
    found = tuple(
        sorted((Pack(e.name, e.value) for e in entry_points(group=GROUP)), key=lambda p: p.name)
    )
    if not found:
        raise LintError(f"no rule pack is installed (entry point group {GROUP})")
    return found


@cache
def rules() -> tuple[Rule, ...]:
    """The rules of all packs, sorted by code.

    Raises:
        LintError: Two rules have one code.
    """
    found: dict[str, Rule] = {}
    for cls in (cls for pack in packs() for cls in _rule_classes(pack)):
        if cls.code in found:
            other = type(found[cls.code]).__module__
            raise LintError(f"{cls.code} is defined by {cls.__module__} and by {other}")
        found[cls.code] = cls()
    return tuple(found[code] for code in sorted(found))


def _rule_classes(pack: Pack) -> Iterator[type[Rule]]:
    """The rules of a pack: one per module; modules that begin with `_` hold what rules share."""
    package = importlib.import_module(pack.package)
    for module in pkgutil.iter_modules(package.__path__):
        if module.name.startswith("_"):
            continue
        loaded = importlib.import_module(f"{pack.package}.{module.name}")
        for _, cls in inspect.getmembers(loaded, inspect.isclass):
            if issubclass(cls, Rule) and cls.__module__ == loaded.__name__:
                yield cls
