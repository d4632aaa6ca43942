"""The names in the model files exist in the libraries, as far as these are installed.

What cannot be looked up without an instance is not: attributes that a constructor sets, collections
of a resource, types that a library makes at run time and that the models name for themselves.
"""

from __future__ import annotations

import builtins
import warnings
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from inspect import isclass
from typing import Any

import pytest

from models.shipped import names, rows, shipped
from stripe_idem_lint.models.schema import ContextModel, Form, ModelFile, Returns

# Gone from the current release and still in programs.
GONE = frozenset(
    {
        "crypt.mksalt",
        "stripe.Charge.refund",
        "stripe.Customer.add_invoice_item",
        "stripe.Customer.modify_subscription",
        "stripe.Customer.update_subscription",
        "stripe.Order.create",
        "stripe.Order.pay",
        "stripe.StripeClient.parse_thin_event",
        "stripe.SubscriptionItem.create_usage_record",
        "stripe.SubscriptionItem.create_usage_record_async",
        "stripe.UsageRecord.create",
    }
)
# Not before these releases of Python.
NEWER = frozenset(
    {
        "concurrent.futures.InterpreterPoolExecutor",
        "os.getrandom",
        "uuid.uuid6",
        "uuid.uuid7",
        "uuid.uuid8",
    }
)

MISSING = object()


@pytest.mark.parametrize("file", shipped().files, ids=lambda file: file.path.rpartition("/")[2])
def test_names_exist_in_the_library(file: ModelFile) -> None:
    checkable = [name for name in _names(file) if _installed(name.partition(".")[0])]
    if not checkable:
        pytest.skip("library not installed")
    assert [name for name in checkable if not _exists(name)] == []


def _names(file: ModelFile) -> Iterator[str]:
    """The names to look up: not the old ones that aliases list, no patterns, no types of our own."""
    for table, row in rows(file):
        found = [*names(row, Form.SUBJECT), *names(row, Form.DOTTED)]
        for key, name in found:
            old = table == "alias" and key == "also"
            of_an_instance = key == "attribute" or (table == "returns" and key == "loop")
            if not (old or of_an_instance or "*" in name or _our_own(name)):
                yield name


def _our_own(name: str) -> bool:
    return any(
        name == each or name.startswith(f"{each}.") for each in _types() if not _exists(each)
    )


@cache
def _types() -> tuple[str, ...]:
    """Dotted classes that rows give to values."""
    found = set()
    for file in shipped().files:
        for _, row in rows(file):
            match row:
                case Returns():
                    found.add(row.gives)
                case ContextModel():
                    found |= {cls for _, cls in row.parameters}
                case _:
                    pass
    return tuple(sorted(found))


@cache
def _installed(root: str) -> bool:
    return hasattr(builtins, root) or find_spec(root) is not None


@cache
def _exists(name: str) -> bool:
    if name in GONE | NEWER or hasattr(builtins, name):
        return True
    parts = name.split(".")
    found, rest = _import(parts)
    for number, part in enumerate(rest):
        inner = getattr(found, part, MISSING)
        if inner is MISSING or isinstance(inner, property):
            # `Customer.sources.create`: only an instance has the attribute in the middle.
            return isclass(found) and number < len(rest) - 1
        found = inner
    return True


def _import(parts: list[str]) -> tuple[Any, list[str]]:
    """The innermost module of a name, and what stands behind it."""
    for cut in range(len(parts), 0, -1):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return import_module(".".join(parts[:cut])), parts[cut:]
        except ImportError:
            continue
    return None, parts
