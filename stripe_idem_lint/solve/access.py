"""One step into a value: an attribute (`.name`), an item (`[key]`) or any item (`[*]`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stripe_idem_lint.solve.alternatives import coarser, is_absent
from stripe_idem_lint.solve.changes import access_changed, bound_to
from stripe_idem_lint.solve.containers import access_row, access_table
from stripe_idem_lint.solve.names import starred
from stripe_idem_lint.solve.objects import access_instance, access_super, access_type
from stripe_idem_lint.solve.values import (
    Born,
    Callable_,
    Changed,
    External,
    File,
    Hole,
    Instance,
    Known,
    Lazy,
    Manager,
    Many,
    Method,
    Object,
    Partial,
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

_COARSE_PARTS = frozenset({".year", ".month", ".day", ".hour", ".minute"})


def accessed(ev: Evaluator, val: Val, step: str) -> Vals:
    what, frame, at = val.what, val.frame, val.at
    match what:
        case Known(None):
            return ()
        case Known():
            return (
                (val,) if step in (".value", ".name") else (Val(Method(val, step[1:]), frame, at),)
            )
        case Born("clock", _, _) if step in _COARSE_PARTS:
            return (Val(coarser(what), frame, at),)
        case Born():
            return (Val(Text(step, (Lazy(frame, None, known=(val,)),)), frame, at, sure=True),)
        case Text() if step.startswith("."):
            return (Val(Text(step, (Lazy(frame, None, known=(val,)),)), frame, at, sure=val.sure),)
        case Text():
            return _access_text(ev, val, what, step)
        case Hole():
            return _access_hole(ev, val, what, step)
        case External(name, _, trail):
            if step.startswith("."):
                return (Val(External(ev.catalog.canonical(f"{name}{step}"), what.of), frame, at),)
            if step == "[*]":
                given = ev.catalog.returns_loop(name)
                if given:
                    return (Val(Object(given[0].gives, name), frame, at),)
            outside = tuple(f".{part}" for part in name.split(".")[1:])
            return (Val(Unknown(f"an item of {name}", (*outside, *trail, step)), frame, at),)
        case Object():
            return _access_object(ev, val, what, step)
        case Type(ref):
            return access_type(ev, val, ref, step)
        case Instance():
            return access_instance(ev, val, what, step)
        case Manager(ref, record, route):
            if step.startswith("."):
                return (Val(Manager(ref, record, f"{route}{step}"), frame, at),)
            return (Val(Instance(ref, "loaded", record=record), frame, at),)
        case File(path):
            return _access_file(ev, val, path, step)
        case Table(entries):
            return access_table(ev, val, entries, step)
        case Row(items):
            return access_row(ev, val, items, step)
        case Many(items):
            if step.startswith("."):
                return (Val(Method(val, step[1:]), frame, at),)
            return tuple(v for lazy in items for v in ev.resolve(lazy))
        case Changed():
            return tuple(bound_to(val, v) for v in access_changed(ev, val, what, step))
        case Super(ref, this):
            return access_super(ev, val, ref, this, step)
        case Callable_() | Partial() | Method():
            return (Val(Method(val, step[1:]), frame, at),)
        case Unknown(reason, trail):
            return (Val(Unknown(reason, (*trail, step)), frame, at),)


def _access_text(ev: Evaluator, val: Val, what: Text, step: str) -> Vals:
    if what.op == "|" and step.startswith("["):
        right = ev.access(ev.resolve(what.parts[1]), step)
        if right and not any(is_absent(v) or isinstance(v.what, Unknown) for v in right):
            return right
        return right + ev.access(ev.resolve(what.parts[0]), step)
    if what.op == "+" and step.startswith("["):
        rows = [
            v for part in what.parts for v in ev.resolve(part) if isinstance(v.what, Row | Many)
        ]
        if rows:
            return ev.access(tuple(rows), "[*]")
    return (val,)


def _access_hole(ev: Evaluator, val: Val, what: Hole, step: str) -> Vals:
    found: list[Val] = []
    hints: list[Val] = []
    for hint in what.hint:
        got = accessed(ev, hint, step)
        for v in got:
            if isinstance(v.what, Callable_ | Born) or (
                isinstance(hint.what, Instance) and not isinstance(v.what, Unknown | Hole)
            ):
                found.append(v)
            elif isinstance(v.what, External | Object | Instance):
                hints.append(v)
    if found and all(isinstance(v.what, Callable_) for v in found):
        return tuple(found)
    hole = Hole(what.frame, what.name, (*what.trail, step), tuple(hints[:4]))
    extra = tuple(v for v in found if isinstance(v.what, Born | Text | Known))
    return (Val(hole, val.frame, val.at), *extra)


def _access_object(ev: Evaluator, val: Val, what: Object, step: str) -> Vals:
    if step == "[*]":
        given = ev.catalog.returns_loop(what.cls)
        if given:
            return (Val(Object(given[0].gives, what.cls), val.frame, val.at),)
    if not step.startswith("."):
        return (Val(Unknown(f"an item of {what.cls}", (step,)), val.frame, val.at),)
    given = ev.catalog.returns_attribute(f"{what.cls}{step}")
    if given:
        return (
            Val(
                Object(given[0].gives, f"{what.cls}{step}", what.call, what.args),
                val.frame,
                val.at,
            ),
        )
    return (Val(External(ev.catalog.canonical(f"{what.cls}{step}"), what), val.frame, val.at),)


def _access_file(ev: Evaluator, val: Val, path: str, step: str) -> Vals:
    if not step.startswith(".") or ev.program.module(path) is None:
        return ()
    name = step[1:]
    frame = ev.module_frame(path)
    if name in frame.flow.everything:
        return ev.defined_by(frame, frame.flow.final(name))
    inner = ev.program.submodule(path, name)
    if inner is not None and ev.program.module(inner) is not None:
        return (Val(File(inner), val.frame, val.at),)
    found = starred(ev, frame, name)
    return found or (Val(Unknown(f"{name} is not defined in {path}"), val.frame, val.at),)
