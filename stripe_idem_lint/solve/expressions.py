"""What an expression gives, form by form: constants, names, joins, branches, containers, calls."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from stripe_idem_lint.ir import nodes as ir
from stripe_idem_lint.ir.text import text as spelled
from stripe_idem_lint.link.flow import facts
from stripe_idem_lint.link.program import FunctionRef
from stripe_idem_lint.solve.alternatives import (
    is_missing,
    never_missing,
    of_format,
    present,
    subscripted,
)
from stripe_idem_lint.solve.clocks import quotient
from stripe_idem_lint.solve.methods import call_method
from stripe_idem_lint.solve.names import lookup
from stripe_idem_lint.solve.values import (
    Arguments,
    Born,
    Callable_,
    Condition,
    Frame,
    Known,
    Lazy,
    Manager,
    Many,
    Row,
    Table,
    Text,
    Unknown,
    Val,
    Vals,
)

if TYPE_CHECKING:
    from stripe_idem_lint.solve.evaluate import Evaluator


def evaluate(ev: Evaluator, frame: Frame, expr: ir.Expr) -> Iterable[Val]:
    at = expr.at
    match expr:
        case ir.Const(_, value):
            return (Val(Known(value), frame, at),)
        case ir.Name(_, name):
            return lookup(ev, frame, name, at)
        case ir.Attr(_, base, name):
            return ev.access(ev.values(frame, base), f".{name}")
        case ir.Item(_, base, index):
            return _item(ev, frame, base, index)
        case ir.Part(_, base):
            return _part(ev, frame, base)
        case ir.Call():
            return _call(ev, frame, expr)
        case ir.Join(_, op, parts):
            return _join(ev, frame, expr, op, parts)
        case ir.Format(_, value, spec, _):
            return _format(ev, frame, expr, value, spec)
        case ir.Bool(_, op, left, right):
            return _bool(ev, frame, op, left, right)
        case ir.Choice(_, test, then, other):
            return _choice(ev, frame, test, then, other)
        case ir.Unary(_, op, value):
            if op == "not":
                return (Val(Unknown("a truth value"), frame, at),)
            return (Val(Text(op, (Lazy(frame, value),)), frame, at),)
        case ir.Mapping(_, entries):
            made = tuple(
                (Lazy(frame, k) if k is not None else None, Lazy(frame, v)) for k, v in entries
            )
            return (Val(Table(made), frame, at),)
        case ir.Sequence(_, _, items):
            return (
                Val(Row(tuple((Lazy(frame, i.value), bool(i.star)) for i in items)), frame, at),
            )
        case ir.Comprehension(_, "dict") if (filtered := _filtered(expr)) is not None:
            return ev.values(frame, filtered)
        case ir.Comprehension(_, "dict") if (pairs := _spelled_out(expr)) is not None:
            made = tuple((Lazy(frame, key), Lazy(frame, value)) for key, value in pairs)
            return (Val(Table(made), frame, at),)
        case ir.Comprehension(_, "dict", key, element, _):
            entry = (Lazy(frame, key) if key is not None else None, Lazy(frame, element))
            return (Val(Table((entry,)), frame, at),)
        case ir.Comprehension(_, _, _, element, _):
            return (Val(Many((Lazy(frame, element),)), frame, at),)
        case ir.Lambda(_, index):
            return (Val(Callable_(FunctionRef(frame.path, index), frame), frame, at),)
        case ir.Await(_, value) | ir.Walrus(_, _, value):
            return ev.values(frame, value)
        case ir.Compare() | ir.Yield() | ir.Opaque():
            return (Val(Unknown(type(expr).__name__.lower()), frame, at),)


def _part(ev: Evaluator, frame: Frame, base: ir.Expr) -> Iterator[Val]:
    for val in ev.values(frame, base):
        if isinstance(val.what, Manager):
            yield Val(
                Manager(val.what.ref, val.what.record, val.what.route + "[:]"),
                frame,
                base.at,
                val.needs,
            )
        else:
            yield val


def _item(ev: Evaluator, frame: Frame, base: ir.Expr, index: ir.Expr) -> Vals:
    vals = ev.values(frame, base)
    if isinstance(index, ir.Unary) and isinstance(index.value, ir.Const):
        return ev.access(vals, f"[-{index.value.value}]")
    found: list[Val] = []
    for step in _steps(ev, frame, index):
        found.extend(ev.access(vals, step))
    return subscripted(tuple(found)) or (
        Val(Unknown("an item that is not in sight"), frame, base.at),
    )


def _steps(ev: Evaluator, frame: Frame, index: ir.Expr) -> tuple[str, ...]:
    """The key as access steps: each constant it may be, else `[*]`."""
    keys = {
        f"[{val.what.value}]" if isinstance(val.what, Known) else "[*]"
        for val in ev.values(frame, index)
    }
    return tuple(sorted(keys)) or ("[*]",)


def _join(
    ev: Evaluator, frame: Frame, expr: ir.Expr, op: str, parts: tuple[ir.Expr, ...]
) -> Iterator[Val]:
    if op == "//":
        quotients = [quotient(ev, val, Lazy(frame, parts[1])) for val in ev.values(frame, parts[0])]
        told = [val for val in quotients if val is not None]
        if told and len(told) == len(quotients):
            yield from told
            return
    yield Val(Text(op, tuple(Lazy(frame, part) for part in parts)), frame, expr.at)


def _format(ev: Evaluator, frame: Frame, expr: ir.Expr, value: ir.Expr, spec: str) -> Iterator[Val]:
    for val in ev.values(frame, value):
        if "%" in spec and isinstance(val.what, Born) and val.what.kind == "clock":
            yield Val(of_format(val.what, spec), frame, val.at, val.needs)
        else:
            yield Val(Text("f", (Lazy(frame, value, known=(val,)),)), frame, expr.at, val.needs)


def _bool(ev: Evaluator, frame: Frame, op: str, left: ir.Expr, right: ir.Expr) -> Iterator[Val]:
    lefts = ev.values(frame, left)
    if op == "and":
        yield from (v for v in lefts if is_missing(v))
        yield from ev.values(frame, right)
        return
    yield from present(lefts)
    if any(never_missing(v) for v in lefts) and len(lefts) == 1:
        return
    condition = Condition(frame, left)
    for val in ev.values(frame, right):
        yield Val(val.what, val.frame, val.at, (*val.needs, condition), val.sure)


def _choice(
    ev: Evaluator, frame: Frame, test: ir.Expr, then: ir.Expr, other: ir.Expr
) -> Iterator[Val]:
    for branch, holds in ((then, True), (other, False)):
        told = list(facts(test, holds))
        needs = tuple(Condition(frame, expr) for expr, present in told if not present)
        here = {spelled(expr) for expr, present in told if present}
        gone = {spelled(expr) for expr, present in told if not present}
        for val in ev.values(frame, branch):
            name = spelled(branch)
            if name in here and is_missing(val):
                continue
            if name in gone:
                if is_missing(val):
                    yield val
                continue
            yield Val(val.what, val.frame, val.at, (*val.needs, *needs), val.sure or name in here)


def _call(ev: Evaluator, frame: Frame, expr: ir.Call) -> Iterator[Val]:
    args = Arguments.of(frame, expr.args)
    if isinstance(expr.func, ir.Attr):
        for base in ev.values(frame, expr.func.base):
            got = call_method(ev, base, expr.func.name, args, frame, expr)
            yield from (
                Val(v.what, v.frame, v.at, base.needs + v.needs, v.sure) if base.needs else v
                for v in got
            )
        return
    for callee in ev.values(frame, expr.func):
        yield from ev.invoke(callee, args, frame, expr.at, expr)


def _filtered(expr: ir.Comprehension) -> ir.Expr | None:
    """The dictionary of `{k: v for k, v in d.items() if …}`: the same entries, perhaps fewer."""
    match expr:
        case ir.Comprehension(
            _, "dict", ir.Name(id=key), ir.Name(id=value),
            (ir.Clause(
                ir.Sequence(_, _, (ir.Arg(ir.Name(id=first)), ir.Arg(ir.Name(id=second)))),
                ir.Call(_, ir.Attr(_, base, "items"), ()),
            ),),
        ) if (key, value) == (first, second):  # fmt: skip
            return base
        case _:
            return None


def _spelled_out(expr: ir.Comprehension) -> list[tuple[ir.Expr, ir.Expr]] | None:
    """The entries of `{k: v for k, v in (("a", x), ("b", y)) if …}`."""
    match expr:
        case ir.Comprehension(
            _, "dict", ir.Name(id=key), ir.Name(id=value),
            (ir.Clause(
                ir.Sequence(_, _, (ir.Arg(ir.Name(id=first)), ir.Arg(ir.Name(id=second)))),
                ir.Sequence(_, _, items),
            ),),
        ) if (key, value) == (first, second):  # fmt: skip
            pairs = [
                i.value.items
                for i in items
                if isinstance(i.value, ir.Sequence) and len(i.value.items) == 2
            ]
            return (
                [(one.value, two.value) for one, two in pairs] if len(pairs) == len(items) else None
            )
        case _:
            return None
