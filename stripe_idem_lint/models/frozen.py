"""Checked model files as bytes, so that a run need not parse and check TOML again.

The form is JSON: per object the values that differ from their default, keyed by field. It holds no
names of classes, which follow from the schema; the outline of the schema is part of `digest`, the
key to keep the bytes under. Whatever does not fit is a miss, never an error.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import fields
from functools import cache
from typing import Any

from stripe_idem_lint.models.outline import class_of, shapes
from stripe_idem_lint.models.schema import ModelFile


def digest(texts: Iterable[tuple[str, str]]) -> str:
    """A name for what these labelled texts become under the schema of this version."""
    outline = [(cls.__name__, [each.name for each in fields(cls)]) for cls in shapes()]
    told = json.dumps([outline, list(texts)]).encode()
    return f"models-{hashlib.blake2b(told, digest_size=16).hexdigest()}"


def freeze(files: Iterable[ModelFile]) -> bytes:
    """The files as bytes."""
    return json.dumps([_reduced(file) for file in files], separators=(",", ":")).encode()


def thaw(frozen: bytes) -> list[ModelFile] | None:
    """The files again; None if the bytes are damaged or of another version."""
    try:
        items = json.loads(frozen)
        return [_restored(ModelFile, item) for item in items] if isinstance(items, list) else None
    except (ValueError, TypeError, AttributeError):
        return None


def _reduced(value: Any) -> Any:
    """JSON's view of a value; of a dataclass, what differs from a fresh one."""
    if isinstance(value, tuple):
        return [_reduced(item) for item in value]
    if type(value) not in shapes():
        return value
    defaults = _defaults(type(value))
    given = {each.name: getattr(value, each.name) for each in fields(value)}
    return {
        name: _reduced(inner) for name, inner in given.items() if inner != defaults.get(name, ...)
    }


def _defaults(cls: type[Any]) -> dict[str, object]:
    return {each.name: each.default for each in fields(cls)}


def _restored(cls: type[Any], item: dict[str, Any]) -> Any:
    inner = _inner(cls)
    values = {}
    for name, value in item.items():
        part = inner.get(name)
        if part is None:
            values[name] = _tuple(value) if isinstance(value, list) else value
        elif isinstance(value, list):
            values[name] = tuple([_restored(part, each) for each in value])
        else:
            values[name] = _restored(part, value)
    return cls(**values)


def _tuple(value: list[Any]) -> tuple[Any, ...]:
    return tuple([tuple(each) if type(each) is list else each for each in value])


@cache
def _inner_classes() -> dict[str, dict[str, type[Any]]]:
    return {
        cls.__name__: {
            key.field: part
            for key in shape.keys.values()
            if (part := class_of(key.type)) is not None
        }
        for cls, shape in shapes().items()
    }


def _inner(cls: type[Any]) -> dict[str, type[Any]]:
    """The fields of a class that hold objects of the schema, with their classes."""
    return _inner_classes()[cls.__name__]
