"""What a model file says about its library that can be looked up there: names, keywords, sameness.

This module reads model files and looks nothing up; `models.resolving` does, in any interpreter.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from models.shipped import names, rows, shipped
from stripe_idem_lint.models.schema import (
    Alias,
    ContextModel,
    EdgeModel,
    EntryModel,
    Form,
    LockModel,
    ModelFile,
    RecordModel,
    Returns,
    Subclass,
    ValueModel,
)

Role = Literal["callable", "class", "exception", "attribute", "override", "type", "thing"]
"""What a name must be. `override`: a method that a project's class may define; `type`: a class, or a
name of the models' own for what has no name in the library; `thing`: anything."""


@dataclass(frozen=True, slots=True, order=True)
class Claim:
    """A name and what it must be."""

    name: str
    role: Role


@dataclass(frozen=True, slots=True)
class Keyword:
    """A keyword or position that at least one of the callables of a row must take."""

    callables: tuple[str, ...]
    key: str


def claims(file: ModelFile) -> tuple[Claim, ...]:
    """Every name of a file that can be looked up, once for each thing that it must be.

    Names with a star in front, for any receiver, cannot. Of names behind a type of the models' own
    nothing but that type could be told.
    """
    found: dict[Claim, None] = {}
    for table, row in rows(file):
        for key, name in [*names(row, Form.SUBJECT), *names(row, Form.DOTTED)]:
            if table == "alias" and key == "also":
                continue
            if name and not name.startswith("*"):
                found[Claim(name, _role(row, key))] = None
        for name in _overrides(row):
            found[Claim(name, "override")] = None
        for name in _types(row):
            found[Claim(name, "type")] = None
    return tuple(sorted(found))


def keywords(file: ModelFile) -> tuple[Keyword, ...]:
    """The keywords and positions that rows count on."""
    found: dict[Keyword, None] = {}
    for _, row in rows(file):
        taken = tuple(name for name in _callables(row) if not name.startswith("*"))
        if taken:
            for key in _keys(row):
                found[Keyword(taken, key)] = None
    return tuple(found)


def aliases(file: ModelFile) -> tuple[tuple[str, str], ...]:
    """Pairs of names that stand for one thing."""
    return tuple((row.name, other) for row in file.alias for other in row.also)


@cache
def leads() -> dict[str, str]:
    """Attributes of instances, with the class of what they hold, as the models say."""
    return {
        name: row.gives
        for file in shipped().files
        for row in file.returns
        for name in row.attribute
        if "*" not in name
    }


def package(name: str, file: ModelFile) -> str:
    """What must be importable for the name to be looked up (`google.api_core`, not `google`)."""
    roots = (root for root in file.library.imports if f"{name}.".startswith(f"{root}."))
    return max(roots, key=len, default=name.partition(".")[0])


def _role(row: Any, key: str) -> Role:
    match row:
        case Subclass():
            return "class"
        case Alias():
            return "thing"
    match key:
        case "method_base" | "base" | "client":
            return "class"
        case "raises" | "default" | "executed" | "refused" if not isinstance(row, RecordModel):
            return "exception"
        case "attribute":
            return "attribute"
        case "loop":
            return "thing"
        case _:
            return "callable"


def _overrides(row: Any) -> Iterator[str]:
    if isinstance(row, ContextModel | EntryModel):
        for base in row.method_base:
            for name in row.method_names:
                if "*" not in name and not base.startswith("*"):
                    yield f"{base}.{name}"


def _types(row: Any) -> Iterator[str]:
    if isinstance(row, ContextModel):
        yield from (cls for _, cls in row.parameters)
    elif isinstance(row, Returns):
        yield row.gives


def _callables(row: Any) -> tuple[str, ...]:
    match row:
        case ContextModel():
            named = row.decorator or row.call or row.enter or row.loop
            return (*named, *_constructors(named))
        case EdgeModel() | LockModel() | ValueModel():
            return row.call
        case RecordModel():
            return row.field
        case _:
            return ()


def _constructors(callables: Iterable[str]) -> Iterator[str]:
    """Options may stand on the call that made the instance whose method is called."""
    for name in callables:
        above, _, _ = name.rpartition(".")
        if above.rpartition(".")[2][:1].isupper():
            yield above


def _keys(row: Any) -> Iterator[str]:
    match row:
        case ContextModel():
            yield from _options((*row.on_by, *row.off_by, *row.raised_by, *row.bound_by))
            if row.catches is not None and not row.method_base:
                yield from row.catches.argument
            if row.call:
                yield from _handed_over(row)
        case EdgeModel():
            yield from _handed_over(row)
        case LockModel():
            yield from _options((*row.on_by, *row.limit, *row.renewed_by))
        case ValueModel():
            yield from _options(row.off_by)
        case RecordModel():
            yield from (*row.default, *row.default_factory)


def _handed_over(row: ContextModel | EdgeModel) -> Iterator[str]:
    yield from row.callable
    yield from row.own_keywords
    if row.arguments == "packed":
        yield from (*row.packed_args, *row.packed_kwargs)


def _options(tests: Iterable[str]) -> Iterator[str]:
    for test in tests:
        if not test.startswith("call:"):
            yield test.partition("=")[0].strip()
