"""Runs at the start of a child process of a test, because its folder is first on PYTHONPATH.

Puts the patches in place, then runs the `sitecustomize` that would have run without this one.
"""
# ruff: noqa: INP001 - a folder on the path of another interpreter, not a package

import os
import sys
from pathlib import Path

_HERE = Path(__file__).resolve().parent


def _join() -> None:
    port = os.environ.get("STRIPE_IDEM_PORT", "")
    if not port.isdigit():
        return
    # Another environment may not have the package: last on the path, it hides nothing.
    sys.path.append(str(_HERE.parent.parent.parent))
    from pytest_stripe_idem.transports.children import join

    join(int(port))


def _run_the_next_one() -> None:
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec

    others = [path for path in sys.path if Path(path or ".").resolve() != _HERE]
    spec = PathFinder.find_spec("sitecustomize", others)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(module_from_spec(spec))


_join()
_run_the_next_one()
