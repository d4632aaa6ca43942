"""The schema's classes as tables: which keys there are, what each holds, which must be given.

Derived once per process from the dataclasses and their annotations. Reads no file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from stripe_idem_lint.models.schema import Form, ModelFile

# A row can also be about a shape (`function`), a path on anything (`item`) or a query (`sql`).
_ALSO_SUBJECTS = frozenset({"function", "item", "sql"})


@dataclass(frozen=True, slots=True)
class Key:
    """One key of a table.

    Attributes:
        name: As written in TOML.
        field: The field that takes it.
        type: The field's annotation without its form.
        form: What the text in it is, None for free text.
        required: The field has no default.
    """

    name: str
    field: str
    type: Any
    form: Form | None
    required: bool


@dataclass(frozen=True, slots=True)
class Shape:
    """What a class of the schema looks like as a table.

    Attributes:
        keys: By the name written in TOML.
        groups: Tables that are spread over fields: `method` for `method_base` and `method_names`.
        subjects: Keys one of which must say what the row is about; empty if a required one does.
    """

    keys: Mapping[str, Key]
    groups: tuple[str, ...]
    subjects: tuple[Key, ...]


@cache
def shapes() -> Mapping[type[Any], Shape]:
    """The shape of `ModelFile` and of each class that it is made of."""
    found: dict[type[Any], Shape] = {}
    waiting: list[type[Any]] = [ModelFile]
    while waiting:
        cls = waiting.pop()
        found[cls] = _shape(cls)
        inner = (class_of(key.type) for key in found[cls].keys.values())
        waiting += [each for each in inner if each is not None and each not in found]
    return found


def _shape(cls: type[Any]) -> Shape:
    hints = get_type_hints(cls, include_extras=True)
    keys = [_key(each, hints[each.name]) for each in fields(cls)]
    keys = [key for key in keys if key.form is not Form.FILLED]
    bases = [key.field.removesuffix("_base") for key in keys if key.field.endswith("_base")]
    subjects = [key for key in keys if key.form is Form.SUBJECT]
    if any(key.required for key in subjects):
        subjects = []
    elif subjects:
        subjects = [key for key in keys if key in subjects or key.name in _ALSO_SUBJECTS]
    return Shape({key.name: key for key in keys}, tuple(bases), tuple(subjects))


def _key(each: Any, hint: Any) -> Key:
    form: Form | None = None
    if get_origin(hint) is Annotated:
        hint, form = get_args(hint)
    if get_origin(hint) in (Union, UnionType):
        hint = next(part for part in get_args(hint) if part is not type(None))
    required = each.default is MISSING and each.default_factory is MISSING
    return Key(each.name.rstrip("_"), each.name, hint, form, required)


def class_of(hint: Any) -> type[Any] | None:
    """The schema's class that a field holds, one or many of them; None for texts and flags."""
    inner = get_args(hint)[0] if get_origin(hint) is tuple else hint
    return inner if isinstance(inner, type) and is_dataclass(inner) else None
