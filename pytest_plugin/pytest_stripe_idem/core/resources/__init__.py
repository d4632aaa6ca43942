"""One file per resource.

`ROUTES` names the endpoints it executes, `MAKERS` what it makes on sight, `INCLUDED` the lists that
an answer has only where they are asked for with `expand`.

Every endpoint that no file names is executed by `generic`.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from types import MappingProxyType, ModuleType

from pytest_stripe_idem.core.call import Handler, Maker
from pytest_stripe_idem.core.catalog import Endpoint
from pytest_stripe_idem.core.resources import generic
from pytest_stripe_idem.core.world import Json, World


def handler_of(endpoint: Endpoint) -> Handler:
    """What executes an endpoint."""
    return _handlers().get(f"{endpoint.method} {endpoint.path}", generic.handle)


@cache
def makers() -> Mapping[str, Maker]:
    """Kinds that are made when they are first named."""
    found: dict[str, Maker] = dict(generic.makers())
    for module in _modules():
        found.update(getattr(module, "MAKERS", {}))
    return MappingProxyType(found)


def included(world: World, inside: Json, name: str) -> Json | None:
    """A list below an object that only `expand` shows; None for any other field."""
    find = _included().get((inside.get("object", ""), name))
    return find(world, inside) if find is not None else None


@cache
def _included() -> Mapping[tuple[str, str], Callable[[World, Json], Json]]:
    found: dict[tuple[str, str], Callable[[World, Json], Json]] = {}
    for module in _modules():
        found.update(getattr(module, "INCLUDED", {}))
    return MappingProxyType(found)


@cache
def _handlers() -> Mapping[str, Handler]:
    found: dict[str, Handler] = {}
    for module in _modules():
        for route, handler in getattr(module, "ROUTES", {}).items():
            assert route not in found, f"{route} is executed by two resources"
            found[route] = handler
    return MappingProxyType(found)


def _modules() -> Iterator[ModuleType]:
    for each in sorted(pkgutil.iter_modules(__path__), key=lambda each: each.name):
        yield importlib.import_module(f"{__name__}.{each.name}")
