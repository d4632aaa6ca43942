"""Option tests of the models (`acks_late=True`, `autoretry_for=`, `call:self.retry`) against the arguments of a call."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from stripe_idem_lint.ir import nodes as ir
from stripe_idem_lint.link.flow import spelled
from stripe_idem_lint.solve.values import (
    Arguments,
    External,
    Hole,
    Instance,
    Known,
    Lazy,
    Object,
    Row,
    Table,
    Unknown,
    Val,
)

if TYPE_CHECKING:
    from stripe_idem_lint.solve.evaluate import Evaluator

_OFF = ("None", "False", "0", "[]", "()", "{}")


def any_holds(
    ev: Evaluator,
    tests: Iterable[str],
    args: Arguments,
    body: tuple[ir.Stmt, ...] = (),
    this: str = "",
) -> bool:
    """One of the tests holds.

    Args:
        ev: Evaluates the arguments.
        tests: Option tests of a model.
        args: Arguments of the call (of the decorator, the constructor, the sink).
        body: Body of the function, for `call:` tests.
        this: What the function calls its own instance (`self`).
    """
    return any(holds(ev, test, args, body, this) for test in tests)


def holds(
    ev: Evaluator, test: str, args: Arguments, body: tuple[ir.Stmt, ...] = (), this: str = ""
) -> bool:
    """The test holds for these arguments."""
    if test.startswith("call:"):
        wanted = test.removeprefix("call:")
        if this and wanted.startswith("self."):
            wanted = this + wanted.removeprefix("self")
        return wanted in called_names(body)
    key, _, wanted = test.partition("=")
    vals = given(ev, args, key.strip())
    if vals is None:
        return False
    if not wanted:
        return not (vals and all(_is_off(val) for val in vals)) if vals else True
    return any(_matches(val, wanted) for val in vals)


def argument(args: Arguments, key: str) -> Lazy | None:
    """The argument of a keyword, or of a position given as text."""
    if key.isdigit():
        return args.positional[int(key)] if int(key) < len(args.positional) else None
    for name, lazy in args.named:
        if name == key:
            return lazy
    return None


def given(ev: Evaluator, args: Arguments, key: str) -> tuple[Val, ...] | None:
    """The values of an argument, looked for in `**values` too; None when it is not given."""
    lazy = argument(args, key)
    if lazy is not None:
        return ev.resolve(lazy)
    found: list[Val] = []
    for double in args.double:
        vals = ev.access(ev.resolve(double), f"[{key}]")
        found.extend(v for v in vals if not (isinstance(v.what, Known) and v.what.value is None))
    step = f"[{key}]"
    told = [
        v
        for v in found
        if not (isinstance(v.what, Unknown | Hole) and v.what.trail[-1:] == (step,))
    ]
    return tuple(told) or None


def called_names(body: tuple[ir.Stmt, ...]) -> frozenset[str]:
    """The dotted names that a body calls, as written."""
    found = set()
    for stmt in ir.statements(body):
        for expr in ir.expressions(stmt):
            for node in ir.walk(expr):
                if isinstance(node, ir.Call):
                    found.add(spelled(node.func))
    return frozenset(found)


def _is_off(val: Val) -> bool:
    match val.what:
        case Known(value):
            return value in (None, False, 0, "")
        case Row(items):
            return not items
        case Table(entries):
            return not entries
        case _:
            return False


def _matches(val: Val, wanted: str) -> bool:
    """The value is the literal, or the name or call, that the test asks for."""
    match val.what:
        case Known(value):
            return repr(value) == wanted or str(value) == wanted.strip("'\"")
        case External(name):
            return name == wanted or name.endswith(f".{wanted}")
        case Object(_, made, call, _):
            target, _, inside = wanted.partition("(")
            if not (made == target or made.endswith(f".{target}")):
                return False
            inside = inside.rstrip(")")
            if not inside or call is None:
                return True
            return any(
                isinstance(a.value, ir.Const) and repr(a.value.value) == inside for a in call.args
            )
        case Instance():
            return False
        case _:
            return False
