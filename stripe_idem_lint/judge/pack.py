"""Rule packs: found by entry point, each a package with rules and a `models` folder. None is known by name."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
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
    """The rules of all packs, sorted by code: every concrete `Rule` in the packs' modules.

    Raises:
        LintError: Two rules have one code or one name.
    """
    found: dict[str, Rule] = {}
    for pack in packs():
        package = importlib.import_module(pack.package)
        for module in pkgutil.iter_modules(package.__path__, f"{pack.package}."):
            for _, cls in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
                if (
                    issubclass(cls, Rule)
                    and not inspect.isabstract(cls)
                    and cls.__module__ == module.name
                ):
                    if cls.code in found:
                        raise LintError(
                            f"{cls.code} is defined by {cls.__module__} and by {type(found[cls.code]).__module__}"
                        )
                    found[cls.code] = cls()
    return tuple(found[code] for code in sorted(found))
