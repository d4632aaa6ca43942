"""One model file: TOML text in, checked and typed rows out.

Tables, keys and closed sets of words are derived from the dataclasses of `schema` by `outline`;
nothing is listed here a second time. Every mistake is a `ModelError` that names the file, the table
with its number, the key, and the word that was probably meant. Names are not looked up in the
libraries themselves, which need not be installed.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, is_dataclass, replace
from typing import Any, Literal, TypeVar, get_args, get_origin

from stripe_idem_lint.core.errors import ModelError
from stripe_idem_lint.models.outline import Key, Shape, shapes
from stripe_idem_lint.models.schema import ContextModel, Form, ModelFile, ValueModel

T = TypeVar("T")

_NAME = re.compile(r"[\w*]+(\.[\w*]+)*")
_OPTION = re.compile(r"call:[\w.*]+|\w+=\S*")


@dataclass(frozen=True, slots=True)
class Where:
    """A table of a file, for messages: `context[2]`, or nothing for the file itself."""

    file: str
    table: str = ""

    def fail(self, key: str, problem: str) -> ModelError:
        return ModelError(self.file, ".".join(part for part in (self.table, key) if part), problem)

    def inside(self, key: str) -> Where:
        return replace(self, table=f"{self.table}.{key}" if self.table else key)


def load_file(path: str, text: str) -> ModelFile:
    """Read one file; `path` is what messages call it.

    Raises:
        ModelError: The text is no TOML, or a table, key or value is none of the schema's.
    """
    where = Where(path)
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise where.fail("", f"not valid TOML: {error}") from error
    tables = {name: key for name, key in shapes()[ModelFile].keys.items() if name != "path"}
    _refuse_unknown(where, document, tables, "table")
    _require(where, document, (key.name for key in tables.values() if key.required), "table")
    rows: dict[str, Any] = {
        tables[name].field: _table(where, tables[name], value) for name, value in document.items()
    }
    return _stamped(ModelFile(path=path, **rows))


def _stamped(file: ModelFile) -> ModelFile:
    name = file.library.name
    return replace(file, context=tuple(replace(row, library=name) for row in file.context))


def _table(where: Where, key: Key, value: object) -> object:
    """A `[table]`, or all of its `[[table]]`s."""
    if get_origin(key.type) is not tuple:
        if not isinstance(value, dict):
            raise where.fail(key.name, f"must be one table, written [{key.name}]")
        return _row(where.inside(key.name), key.type, value)
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise where.fail(key.name, f"must be a list of tables, written [[{key.name}]]")
    cls = get_args(key.type)[0]
    return tuple(
        _row(where.inside(f"{key.name}[{number}]"), cls, item)
        for number, item in enumerate(value, start=1)
    )


def _row(where: Where, cls: type[T], table: Mapping[str, object]) -> T:
    """One table as an instance of its class."""
    shape = shapes()[cls]
    flat = _spread(where, shape, table)
    _refuse_unknown(where, flat, shape.keys, "key")
    _require(where, flat, (key.name for key in shape.keys.values() if key.required), "key")
    values = {
        shape.keys[name].field: _value(where, shape.keys[name], value)
        for name, value in flat.items()
    }
    _check_row(where, cls, values)
    make: Callable[..., T] = cls
    return make(**values)


def _spread(where: Where, shape: Shape, table: Mapping[str, object]) -> dict[str, object]:
    """`method = {base = …, names = …}` as `method_base` and `method_names`."""
    flat = dict(table)
    for group in shape.groups:
        for written in (name for name in flat if name.startswith(f"{group}_")):
            raise where.fail(written, f"is written {group} = {{base = …, names = …}}")
        if group in flat:
            inner = flat.pop(group)
            if not isinstance(inner, dict):
                raise where.fail(group, "must be a table, {base = …, names = …}")
            _refuse_unknown(where.inside(group), inner, ("base", "names"), "key")
            _require(where.inside(group), inner, ("base", "names"), "key")
            flat |= {f"{group}_{name}": value for name, value in inner.items()}
    return flat


def _value(where: Where, key: Key, value: object) -> object:
    """A key's value, converted to the field's type."""
    if is_dataclass(key.type) and isinstance(key.type, type):
        if not isinstance(value, dict):
            raise where.fail(key.name, f"must be a table, not {value!r}")
        return _row(where.inside(key.name), key.type, value)
    if key.type is bool:
        if not isinstance(value, bool):
            raise where.fail(key.name, f"must be true or false, not {value!r}")
        return value
    if get_origin(key.type) is Literal:
        return _word(where, key.name, value, get_args(key.type))
    if key.type is str:
        return _text(where, key, value)
    if get_args(key.type)[0] is str:
        items = [value] if isinstance(value, str) else value
        if not isinstance(items, list):
            raise where.fail(key.name, f"must be a text or a list of texts, not {value!r}")
        return tuple(_text(where, key, item) for item in items)
    if not isinstance(value, dict) or not all(isinstance(item, str) for item in value.values()):
        raise where.fail(key.name, 'must be a table of texts, such as {"0" = "name"}')
    return tuple(value.items())


def _text(where: Where, key: Key, value: object) -> str:
    if not isinstance(value, str):
        raise where.fail(key.name, f"must be a text, not {value!r}")
    match key.form:
        case Form.SUBJECT | Form.DOTTED if not _NAME.fullmatch(value):
            raise where.fail(key.name, f"{value!r} is no dotted name")
        case Form.OPTION if not _OPTION.fullmatch(value):
            raise where.fail(
                key.name, f"{value!r} is no option test; write keyword=value, keyword= or call:name"
            )
        case Form.REGEX:
            _compiles(where, key.name, value)
        case _:
            pass
    return value


def _compiles(where: Where, key: str, pattern: str) -> None:
    try:
        re.compile(pattern)
    except re.error as error:
        raise where.fail(key, f"{pattern!r} is no regular expression: {error}") from error


def _word(where: Where, key: str, value: object, words: tuple[str, ...]) -> object:
    if value not in words:
        raise where.fail(key, f"{value!r} is not a word for it{_nearest(str(value), words)}")
    return value


def _check_row(where: Where, cls: type[Any], values: Mapping[str, Any]) -> None:
    """What one field alone cannot tell."""
    subjects = shapes()[cls].subjects
    given = [key.name for key in subjects if values.get(key.field)]
    if subjects and not given:
        raise where.fail("", f"needs one of {_listed(subjects)}")
    if cls is ContextModel:
        _check_context(where, given, values)
    if cls is ValueModel and (values["kind"] == "delivery") != bool(values.get("scope")):
        raise where.fail("scope", 'message or hop: goes with kind = "delivery", and only with it')


def _check_context(where: Where, given: list[str], values: Mapping[str, Any]) -> None:
    if len(given) > 1:
        subjects = _listed(shapes()[ContextModel].subjects)
        raise where.fail(given[1], f"{given[0]} is given too, but only one of {subjects} may be")
    if bool(values.get("call")) != bool(values.get("callable")):
        raise where.fail("callable", "says which argument of call is run: give both or neither")


def _listed(keys: Iterable[Key]) -> str:
    return ", ".join(key.name.removesuffix("_base") for key in keys)


def _refuse_unknown(where: Where, given: Iterable[str], known: Iterable[str], what: str) -> None:
    words = tuple(known)
    for name in given:
        if name not in words:
            raise where.fail(name, f"unknown {what}{_nearest(name, words)}")


def _require(where: Where, given: Iterable[str], names: Iterable[str], what: str) -> None:
    present = set(given)
    for name in names:
        if name not in present:
            raise where.fail(name, f"this {what} is missing")


def _nearest(word: str, words: Iterable[str]) -> str:
    known = [each for each in words if each]
    close = difflib.get_close_matches(word, known, n=1, cutoff=0.6)
    return f"; did you mean {close[0]}?" if close else f"; known: {', '.join(sorted(known))}"
