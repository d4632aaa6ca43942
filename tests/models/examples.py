"""Small programs made from the context rows of the model files, for `test_models_matter`.

One name of one row becomes one program in which the library runs a function again that charges:

    import celery
    app = celery.Celery()

    @app.task
    def charge_order(order_id):
        stripe.Charge.create(…, idempotency_key=KEY)

What is made here is text; nothing is linted or imported. Names are spelled out behind the import of
their root, so that the same text with another root is the same program without the library.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain

from models.shipped import shipped
from stripe_idem_lint.models.schema import ContextModel, ModelFile, ValueModel

FRESH = "str(uuid.uuid4())"
FROM_PARAMETER = 'f"order-{order_id}"'
_ELSEWHERE = "_elsewhere"
"""Put behind the import root: a library that no model knows."""


@dataclass(frozen=True, slots=True)
class Example:
    """One program.

    Attributes:
        label: Model file, row and name, for people.
        path: Where the file stands, by which some rows go.
        text: The program.
        category: What the row says runs again.
        root: The import root of the library; empty for what is known by its looks.
        row: The row.
    """

    label: str
    path: str
    text: str
    category: str
    root: str
    row: ContextModel

    def without_the_model(self) -> Example:
        """The same program with a library of another name, or a function of other looks."""
        if not self.root:
            return replace(self, path="plain.py", text=_PLAIN.format(key=FRESH))
        named = re.compile(rf"(?<![\w.]){re.escape(self.root)}\b")
        # `class WorkerSettings:` is known by its own name, whatever the file imports.
        text = re.sub(r"^class (\w+):", rf"class \1{_ELSEWHERE}:", self.text, flags=re.MULTILINE)
        return replace(self, text=named.sub(self.root + _ELSEWHERE, text))


_HEAD = "import uuid\nimport stripe\n"
_CHARGE = (
    'stripe.Charge.create(amount=900, currency="eur", customer="cus_1", idempotency_key={key})'
)
_PLAIN = f"{_HEAD}\n\ndef charge_order(order_id):\n    {_CHARGE}\n"


def examples(key: str = FRESH) -> Iterator[Example]:
    """A program for every name of every context row."""
    for file, number, row in _context_rows():
        for name in _names(row):
            yield _example(file, number, row, name, key, _given(row.on_by))


def switched_off() -> Iterator[tuple[str, Example]]:
    """Programs with an option that makes a row no context, and the option."""
    for file, number, row in _context_rows():
        name = next(_names(row), "")
        for option in row.off_by:
            if not option.startswith("call:"):
                options = (*_given(row.on_by), option)
                yield option, _example(file, number, row, name, FRESH, options)


def with_ids() -> Iterator[tuple[ValueModel, Example]]:
    """Programs whose key is an id that the library hands to the function, and the id's row."""
    for file, number, row in _context_rows():
        name = next(_names(row), "")
        for place, cls in row.parameters if row.decorator or row.call else ():
            options = _given((*row.on_by, *row.bound_by))
            example = _example(file, number, row, name, "KEY", options)
            parameters, handle = _parameters(place)
            for value, text in _values_of(cls, file):
                program = example.text.replace("(order_id)", f"({parameters})", 1)
                program = program.replace("KEY", f'f"{{{handle}{text}}}"')
                yield value, replace(example, text=program, label=f"{example.label} {handle}{text}")


def _values_of(cls: str, file: ModelFile) -> Iterator[tuple[ValueModel, str]]:
    for value in file.value:
        for name in value.attribute:
            if name.startswith(f"{cls}."):
                yield value, name.removeprefix(cls)
        if value.kind == "stable":
            for name in value.call:
                if name.startswith(f"{cls}.") and not value.when:
                    yield value, f"{name.removeprefix(cls)}()"


def _parameters(place: str) -> tuple[str, str]:
    """The list of parameters, and the one that holds the library's object."""
    if not place.isdigit():
        return f"{place}, order_id", place
    number = int(place)
    before = "".join(f"one_{each}, " for each in range(number))
    return f"{before}handle, order_id", "handle"


def _context_rows() -> Iterator[tuple[ModelFile, int, ContextModel]]:
    for file in shipped().files:
        yield from ((file, number, row) for number, row in enumerate(file.context))


def _names(row: ContextModel) -> Iterator[str]:
    if row.function:
        yield ""
    yield from chain(row.decorator, row.call, row.loop, row.enter, row.inside)
    yield from chain(row.attribute, row.method_base)


def _example(
    file: ModelFile, number: int, row: ContextModel, name: str, key: str, options: tuple[str, ...]
) -> Example:
    stem = file.path.rpartition("/")[2].removesuffix(".toml")
    root, lines = _program(file, row, name, key, options)
    imports = f"import {root}\n" if root else ""
    label = f"{stem}[{number}] {name or row.function}"
    text = f"{_HEAD}{imports}\n" + "\n".join(lines) + "\n"
    return Example(label, _path(row), text, row.category, root, row)


def _path(row: ContextModel) -> str:
    if row.function and row.function.files:
        return (
            row.function.files[-1].replace("*/", "shop/").replace("*", "orders").replace("//", "/")
        )
    return "orders.py"


def _program(
    file: ModelFile, row: ContextModel, name: str, key: str, options: tuple[str, ...]
) -> tuple[str, list[str]]:
    """The import root, and the lines behind the imports."""
    charge = _CHARGE.format(key=key)
    function = ["def charge_order(order_id):", f"    {charge}"]
    if row.function:
        return "", _by_looks(row, charge)
    name = name.replace("*.", "", 1) if name.startswith("*.") and not row.attribute else name
    name = re.sub(r"\*(?=\w*)", "some", name.removeprefix("*."))
    root = file.library.imports[0].partition(".")[0] if row.attribute and "." not in name else ""
    root = root or _root(file, name, bool(row.attribute))
    setup, expression = _spelled(root, name)
    given = ", ".join(_arguments(options, root))
    if row.decorator:
        path = _path_argument(row)
        call = f"({', '.join(filter(None, (path, given)))})" if path or given else ""
        return root, [*setup, f"@{expression}{call}", *function]
    if row.call:
        handed = _handed_over(row)
        call = f"{expression}({_joined(handed, given)}){_chained(options)}"
        return root, [*setup, *function, "def start():", f"    {call}"]
    if row.attribute:
        return root, [*function, *_assignment(root, name)]
    if row.method_base:
        method = row.method_names[0].replace("[A-Z]", "C").replace("*", "order")
        attributes = [f"    {each}" for each in _arguments(options, root)]
        head = [f"class Orders({expression if not setup else setup[0].partition(' = ')[2][:-2]}):"]
        return root, [*head, *attributes, f"    def {method}(self, order_id):", f"        {charge}"]
    if row.loop:
        call = expression if setup and expression == "thing" else f"{expression}({given})"
        if setup and expression == "thing":
            setup = [setup[0].replace("()", f"({given})")]
        loop = [f"    for item in {call}:", f"        {charge}"]
        return root, ["def work(order_id):", *_indented(setup), *loop]
    if row.enter:
        inside = [f"    with {expression}({given}):", f"        {charge}"]
        return root, ["def work(order_id):", *_indented(setup), *inside]
    loop = ["    while True:", f"        got = {expression}({given})", f"        {charge}"]
    return root, ["def work(order_id):", *_indented(setup), *loop]


def _root(file: ModelFile, name: str, attribute: bool) -> str:
    first = name.partition(".")[0]
    roots = {each.partition(".")[0] for each in file.library.imports}
    if attribute and first not in roots:
        return file.library.imports[0].partition(".")[0]
    return first


def _spelled(root: str, name: str) -> tuple[list[str], str]:
    """Lines that make the instance a method is read from, and the expression for the name."""
    parts = name.split(".")
    classes = [number for number, part in enumerate(parts) if part.lstrip("_")[:1].isupper()]
    if not classes or (classes[-1] == len(parts) - 1 and parts[-1] != "__call__"):
        if len(classes) > 1:
            classes = classes[:-1]
        return [], name
    last = classes[-1]
    rest = [part for part in parts[last + 1 :] if part != "__call__"]
    return [f"thing = {'.'.join(parts[: last + 1])}()"], ".".join(("thing", *rest))


def _handed_over(row: ContextModel) -> str:
    place = row.callable[0]
    if not place.isdigit():
        return f"{place}=charge_order"
    return "".join('"one", ' for _ in range(int(place))) + "charge_order"


def _assignment(root: str, name: str) -> list[str]:
    parts = name.split(".")
    if parts[0] != root:
        return [f"class {parts[-2]}:", f"    {parts[-1]} = [charge_order]"]
    return [f"thing = {'.'.join(parts[:-1])}()", f"thing.{parts[-1]} = charge_order"]


def _by_looks(row: ContextModel, charge: str) -> list[str]:
    shape = row.function
    assert shape is not None
    name = re.sub(r"\*", "orders", shape.names[0]) if shape.names else "settle_orders"
    parameters = [*shape.parameters]
    if shape.first_parameter:
        parameters = [shape.first_parameter]
    if "order_id" in charge:
        parameters.append("order_id")
    if "self" in parameters or name.startswith("on_"):
        rest = [each for each in parameters if each != "self"]
        head = f"    def {name}({', '.join(['self', *(rest or ['req', 'resp'])])}):"
        return ["class Orders:", head, f"        {charge}"]
    return [f"def {name}({', '.join(parameters)}):", f"    {charge}"]


def _given(tests: tuple[str, ...]) -> tuple[str, ...]:
    return tests[:1]


def _chained(options: tuple[str, ...]) -> str:
    """Calls that the row wants to see in the function: a method of the result, or an operator."""
    found = ""
    for option in options:
        if option.startswith("call:"):
            name = option.removeprefix("call:")
            found += f".pipe({name}(3))" if "." in name else f".{name}()"
    return found


def _arguments(options: tuple[str, ...], root: str) -> Iterator[str]:
    for option in options:
        if option.startswith("call:"):
            continue
        key, _, wanted = option.partition("=")
        value = wanted or ("[ValueError]" if "retry" in key else "3")
        yield value if key.isdigit() else f"{key}={value}"


def _path_argument(row: ContextModel) -> str:
    return '"/orders"' if row.path_argument else ""


def _joined(*parts: str) -> str:
    return ", ".join(filter(None, parts))


def _indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]
