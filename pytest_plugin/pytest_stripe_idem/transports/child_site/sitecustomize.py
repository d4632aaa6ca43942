"""Runs at the start of every Python that a run of pytest starts: its folder is on PYTHONPATH.

It waits for the first HTTP client to be imported and puts the patches in place then; a program that
imports none is hardly slowed down. Then it runs the `sitecustomize` that would have run without it.
"""
# ruff: noqa: INP001, PTH118, PTH120 - a folder on the path of another interpreter, for which
# `pathlib` would cost more than all of this

import os
import sys
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

TYPE_CHECKING = False  # as in `typing`, which takes longer to import than all of this
if TYPE_CHECKING:
    from collections.abc import Sequence

_HERE = os.path.realpath(os.path.dirname(__file__))
_PACKAGE = os.path.dirname(os.path.dirname(_HERE))

# The modules that get a patch (`transports/install.py`).
CLIENTS = frozenset(
    (
        "aiohttp.client",
        "aiohttp.connector",
        "http.client",
        "httpx",
        "httpx2",
        "socket",
        "stripe",
        "stripe._api_requestor",
        "stripe.api_requestor",
        "urllib3.connectionpool",
    )
)


class _Waiting:
    """Stands first on `sys.meta_path` until a client is asked for."""

    def find_spec(
        self, name: str, path: "Sequence[str] | None", target: ModuleType | None = None, /
    ) -> ModuleSpec | None:
        if name not in CLIENTS:
            return None
        sys.meta_path.remove(self)
        _join()
        return sys.meta_path[0].find_spec(name, path, target)


def _join() -> None:
    try:
        import pytest_stripe_idem  # noqa: F401 - only whether it can be imported
    except ImportError:
        _load_package()
    from pytest_stripe_idem.transports.child import join

    join()


def _load_package() -> None:
    """From its place: another environment does not have the package, and gets nothing else."""
    from importlib.util import module_from_spec, spec_from_file_location

    spec = spec_from_file_location(
        "pytest_stripe_idem",
        os.path.join(_PACKAGE, "__init__.py"),
        submodule_search_locations=[_PACKAGE],
    )
    assert spec is not None, "a file can be loaded"
    assert spec.loader is not None, "a file can be loaded"
    module = sys.modules[spec.name] = module_from_spec(spec)
    spec.loader.exec_module(module)


def _run_the_next_one() -> None:
    others = [path for path in sys.path if os.path.realpath(path) != _HERE]
    spec = PathFinder.find_spec("sitecustomize", others)
    if spec is not None and spec.loader is not None:
        module = ModuleType("sitecustomize")
        module.__spec__, module.__file__, module.__loader__ = spec, spec.origin, spec.loader
        spec.loader.exec_module(module)


# Older Pythons cannot run the package.
if os.environ.get("STRIPE_IDEM_PORT", "").isdigit() and sys.version_info >= (3, 11):
    if CLIENTS.isdisjoint(sys.modules):
        sys.meta_path.insert(0, _Waiting())
    else:
        _join()
_run_the_next_one()
