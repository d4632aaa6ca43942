"""Methods of values that are no objects of the program: dictionaries, text, clocks, parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stripe_idem_lint.ir import nodes as ir
from stripe_idem_lint.solve.alternatives import in_process, is_absent, of_format
from stripe_idem_lint.solve.classes import field_names
from stripe_idem_lint.solve.values import (
    Arguments,
    Born,
    Callable_,
    Changed,
    External,
    File,
    Frame,
    Hole,
    Instance,
    Known,
    Lazy,
    Manager,
    Many,
    Method,
    Object,
    Row,
    Super,
    Table,
    Text,
    Type,
    Unknown,
    Val,
    Vals,
)

if TYPE_CHECKING:
    from stripe_idem_lint.solve.evaluate import Evaluator


def call_method(
    ev: Evaluator, base: Val, name: str, args: Arguments, frame: Frame, expr: ir.Call
) -> Vals:
    """What `base.name(…)` gives."""
    what = base.what
    match what:
        case Instance(_, _, _, _, _, record) if record is not None and name in record.dump:
            return (dumped(ev, base, what),)
        case Instance() | Type() | File() | Super() | Manager():
            return _through(ev, base, name, args, frame, expr)
        case External(outside) if (
            name == "get" and outside.rpartition(".")[2] in ev.catalog.words.mapping
        ):
            return _get(ev, base, args, frame, expr)
        case External() | Object():
            return _through(ev, base, name, args, frame, expr)
        case Callable_() | Method():
            return (Val(Unknown(f"{name} of a function"), frame, expr.at),)
        case Hole():
            return _of_hole(ev, base, what, name, args, frame, expr)
        case Changed():
            return _of_changed(ev, base, name, args, frame, expr)
        case Table() | Row() | Many() | Unknown():
            return _of_container(ev, base, name, args, frame, expr)
        case Text() if name in ("get", "pop") and args.positional:
            return _get(ev, base, args, frame, expr)
        case Born("clock" | "window", _, _):
            return (Val(_of_clock(ev, what, name, args), frame, base.at),)
        case _:
            return _of_text(ev, base, name, args, frame, expr)


def _through(
    ev: Evaluator, base: Val, name: str, args: Arguments, frame: Frame, expr: ir.Call
) -> Vals:
    found: list[Val] = []
    for target in ev.access((base,), f".{name}"):
        found.extend(ev.invoke(target, args, frame, expr.at, expr))
    return tuple(found)


def dumped(ev: Evaluator, base: Val, what: Instance) -> Val:
    """The fields of a record as a dictionary."""
    entries: list[tuple[Lazy | str | None, Lazy]] = [
        (name, Lazy(base.frame, None, (f".{name}",), (base,))) for name in field_names(ev, what.ref)
    ]
    return Val(Table(tuple(entries)), base.frame, base.at)


def _of_hole(
    ev: Evaluator, base: Val, what: Hole, name: str, args: Arguments, frame: Frame, expr: ir.Call
) -> Vals:
    if name == "get" and what.trail and what.trail[-1][1:] in ev.catalog.words.mapping:
        return _get(ev, base, args, frame, expr)
    for hint in what.hint:
        if (
            isinstance(hint.what, Instance)
            and hint.what.record is not None
            and name in hint.what.record.dump
        ):
            return (dumped(ev, hint, hint.what),)
    for target in ev.access((base,), f".{name}"):
        if isinstance(target.what, Callable_):
            return ev.invoke(target, args, frame, expr.at, expr)
    for hint in what.hint:
        if isinstance(hint.what, External | Object):
            return _through(ev, hint, name, args, frame, expr)
    return _of_container(ev, base, name, args, frame, expr)


def _of_changed(
    ev: Evaluator, base: Val, name: str, args: Arguments, frame: Frame, expr: ir.Call
) -> Vals:
    found: list[Val] = []
    for target in ev.access((base,), f".{name}"):
        if isinstance(target.what, Callable_) and target.what.this is not None:
            bound = Callable_(target.what.ref, target.what.closure, base, target.what.given)
            found.extend(ev.invoke(Val(bound, target.frame, target.at), args, frame, expr.at, expr))
        elif isinstance(target.what, External):
            found.extend(ev.invoke(target, args, frame, expr.at, expr))
    if found:
        return tuple(found)
    return _of_container(ev, base, name, args, frame, expr)


def _of_container(
    ev: Evaluator, base: Val, name: str, args: Arguments, frame: Frame, expr: ir.Call
) -> Vals:
    match name:
        case "get" | "pop" if args.positional:
            return _get(ev, base, args, frame, expr)
        case "setdefault" if len(args.positional) == 2:
            given = _get(ev, base, args, frame, expr) or ev.resolve(args.positional[1])
            return tuple(map(in_process, given)) if base.frame.owner is None else given
        case "items":
            return (
                Val(
                    Many((Lazy(frame, None, known=(_pair(base, frame, expr),)),)),
                    frame,
                    expr.at,
                ),
            )
        case "values":
            return (Val(Many((Lazy(frame, None, ("[*]",), (base,)),)), frame, expr.at),)
        case "copy" | "to_dict" | "as_dict":
            return (base,)
        case "union" | "__or__":
            return (base,)
        case _:
            pass
    if ev.catalog.derived_method(name):
        return _of_text(ev, base, name, args, frame, expr)
    if isinstance(base.what, Unknown | Hole):
        trail = base.what.trail
        return (
            Val(
                Unknown(f"call of {name} on an unknown object", (*trail, f".{name}", "()")),
                frame,
                expr.at,
            ),
        )
    return (Val(Unknown(f"method {name}"), frame, expr.at),)


def _pair(base: Val, frame: Frame, expr: ir.Call) -> Val:
    key = Val(Unknown("a key of a dictionary"), frame, expr.at)
    return Val(
        Row(
            (
                (Lazy(frame, None, known=(key,)), False),
                (Lazy(frame, None, ("[*]",), (base,)), False),
            )
        ),
        frame,
        expr.at,
    )


def _get(ev: Evaluator, base: Val, args: Arguments, frame: Frame, expr: ir.Call) -> Vals:
    """`d.get(key, default)` and its relatives."""
    key, *rest = args.positional
    steps = {
        f"[{v.what.value}]" if isinstance(v.what, Known) else "[*]" for v in ev.resolve(key)
    } or {"[*]"}
    default = ev.resolve(rest[0]) if rest else ()
    for name, lazy in args.named:
        if name in ("default", "d"):
            default = ev.resolve(lazy)
    found: list[Val] = []
    open_ = False
    for step in sorted(steps):
        for val in ev.access((base,), step):
            if is_absent(val):
                found.extend(default or (val,))
            else:
                found.append(val)
                open_ = open_ or isinstance(val.what, Unknown | Hole | External | Text)
    if open_:
        soft = isinstance(base.what, Hole | Unknown | External | Changed | Text | Object)
        found.extend(default or ((Val(Known(None, True), frame, expr.at),) if soft else ()))
    return tuple(found)


def _of_clock(ev: Evaluator, what: Born, name: str, args: Arguments) -> Born:
    if what.kind == "window":
        return what
    match name:
        case _ if ev.catalog.cutting_method(name):
            return Born("window", what.text)
        case "strftime" | "format" | "to_date_string":
            for lazy in args.positional[:1]:
                for val in ev.resolve(lazy):
                    if isinstance(val.what, Known) and isinstance(val.what.value, str):
                        return of_format(what, val.what.value)
            return what
        case "replace" if {"second", "microsecond"} <= {
            n for n, _ in args.named
        } or "minute" in dict(args.named):
            return Born("window", what.text)
        case "isoformat":
            for key, lazy in args.named:
                for val in ev.resolve(lazy):
                    if (
                        key == "timespec"
                        and isinstance(val.what, Known)
                        and val.what.value in ("hours", "minutes")
                    ):
                        return Born("window", what.text)
            return what
        case _:
            return what


def _of_text(
    ev: Evaluator, base: Val, name: str, args: Arguments, frame: Frame, expr: ir.Call
) -> Vals:
    """A method of text: the result depends on the text and on the arguments."""
    if isinstance(base.what, Born | Text | Known) or ev.catalog.derived_method(name):
        named = tuple(lazy for _, lazy in args.named) if name in ("format", "format_map") else ()
        parts = (Lazy(frame, None, known=(base,)), *args.positional, *args.star, *named)
        return (Val(Text(name, parts), frame, expr.at),)
    return (Val(Unknown(f"method {name}"), frame, expr.at),)
