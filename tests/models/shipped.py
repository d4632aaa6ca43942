"""The model files of the built-in pack, read once for all tests, and names walked through them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from importlib.resources import files
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from stripe_idem_lint.models import schema
from stripe_idem_lint.models.catalog import Catalog, load_catalog
from stripe_idem_lint.models.schema import Form, ModelFile


@cache
def shipped() -> Catalog:
    return load_catalog([files("stripe_idem_rules")])


def rows(file: ModelFile) -> Iterator[tuple[str, Any]]:
    """Every row of a file, with its table's name."""
    for each in fields(file):
        value = getattr(file, each.name)
        if isinstance(value, tuple):
            yield from ((each.name.rstrip("_"), row) for row in value)
        elif is_dataclass(value):
            yield each.name, value


def names(row: Any, form: Form) -> Iterator[tuple[str, str]]:
    """The fields of a row that hold names of one form, with each name."""
    for key, hint in _hints(type(row).__name__).items():
        inner = getattr(row, key)
        if is_dataclass(inner):
            yield from names(inner, form)
        elif get_origin(hint) is Annotated and get_args(hint)[1] is form:
            yield from ((key, name) for name in ([inner] if isinstance(inner, str) else inner))


@cache
def _hints(cls: str) -> dict[str, Any]:
    return get_type_hints(getattr(schema, cls), include_extras=True)
