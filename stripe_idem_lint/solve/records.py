"""Rows and other records: what their fields hold, by whether the object was made, loaded, found or parsed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stripe_idem_lint.ir import nodes as ir
from stripe_idem_lint.link.program import ClassRef
from stripe_idem_lint.models.schema import RecordModel
from stripe_idem_lint.solve.alternatives import in_process, is_absent, is_missing
from stripe_idem_lint.solve.classes import declaration, field_names
from stripe_idem_lint.solve.values import (
    Arguments,
    Born,
    Callable_,
    External,
    Frame,
    Instance,
    Known,
    Lazy,
    Manager,
    Partial,
    Row,
    Unknown,
    Val,
    Vals,
)

if TYPE_CHECKING:
    from stripe_idem_lint.solve.evaluate import Evaluator


def identity(val: Val, what: Instance, name: str) -> Vals:
    frame = what.frame or val.frame
    return (Val(Born("fresh_row", f"{name} of a row made in the same run"), frame, what.at),)


def record_field(ev: Evaluator, val: Val, what: Instance, name: str) -> Vals | None:
    """A declared field of a record; None when the class declares no such field."""
    record = what.record
    assert record is not None
    declared = declaration(ev, what.ref, name)
    sought = dict(what.args.named).get(name) if what.how == "found" and what.args else None
    if sought is not None:
        return ev.resolve(sought)
    if what.how in ("loaded", "found"):
        if declared is None and not record.row:
            return None
        return (Val(Born("stable", f"{name} of a stored row"), val.frame, val.at),)
    given = _given(ev, what, name, record)
    frame = what.frame or val.frame
    if what.how == "replaced":
        return (
            given
            if given is not None
            else (Val(Born("stable", f"{name} of a stored row"), frame, what.at),)
        )
    if given is not None:
        return given
    if record.row and name in record.identity and what.how in ("created", "made"):
        return identity(val, what, name)
    if declared is None:
        return None
    default = _field_default(ev, *declared, record, frame, what.at)
    if what.how in ("parsed", "open"):
        outside = Val(Unknown(f"field {name}, given from outside", (f".{name}",)), frame, what.at)
        soft = tuple(Val(Known(None, True), v.frame, v.at) if is_missing(v) else v for v in default)
        return (outside, *soft)
    return default or (Val(Unknown(f"field {name}"), frame, what.at),)


def _given(ev: Evaluator, what: Instance, name: str, record: RecordModel) -> Vals | None:
    """The value handed to the constructor or to `create` for a field."""
    if what.args is None:
        return None
    args = what.args
    if what.how == "replaced":
        return _given_to_replace(ev, args, name, record)
    for key, lazy in args.named:
        if key == name:
            return ev.resolve(lazy)
    names = field_names(ev, what.ref) if record.positional else ()
    if name in names and names.index(name) < len(args.positional):
        return ev.resolve(args.positional[names.index(name)])
    found: list[Val] = []
    for lazy in args.double:
        vals = ev.access(ev.resolve(lazy), f"[{name}]")
        present = [v for v in vals if not is_absent(v)]
        if present and len(present) == len(vals):
            return tuple(present)
        found.extend(present)
    return tuple(found) or None


def _given_to_replace(
    ev: Evaluator, args: Arguments, name: str, record: RecordModel
) -> Vals | None:
    for key, lazy in args.named:
        if key == record.find_defaults:
            vals = ev.access(ev.resolve(lazy), f"[{name}]")
            present = tuple(v for v in vals if not is_absent(v))
            if present:
                return present
        elif key == name:
            return ev.resolve(lazy)
    return None


def _field_default(
    ev: Evaluator, cls: ClassRef, stmt: ir.Assign, record: RecordModel, frame: Frame, at: int
) -> Vals:
    """The default a field gets in a new object: made per object by a callable, else once per process."""
    scope = ev.class_frame(cls)
    value = stmt.value
    if value is None:
        return ()
    if isinstance(value, ir.Call):
        names = {v.what.name for v in ev.values(scope, value.func) if isinstance(v.what, External)}
        if any(ev.catalog.record_field(name) is not None for name in names):
            return _declared_default(ev, value, scope, record, frame, at)
    return tuple(in_process(v) for v in ev.values(scope, value))


def _declared_default(
    ev: Evaluator, value: ir.Call, scope: Frame, record: RecordModel, frame: Frame, at: int
) -> Vals:
    found: list[Val] = []
    for number, arg in enumerate(value.args):
        is_default = arg.name in record.default or (
            arg.name is None and number == 0 and not record.row
        )
        if arg.name in record.default_factory or is_default:
            for val in ev.values(scope, arg.value):
                callable_ = isinstance(val.what, Callable_ | External | Partial)
                if callable_ and (record.row or arg.name in record.default_factory):
                    found.extend(ev.invoke(val, Arguments(), frame, at))
                elif not callable_:
                    found.append(in_process(val))
    return tuple(found)


def through_manager(what: Manager, args: Arguments, frame: Frame, at: int) -> Vals:
    record, route = what.record, what.route
    if route in record.create:
        return (Val(Instance(what.ref, "created", frame, at, args, record), frame, at),)
    if route in record.load:
        return (Val(Instance(what.ref, "parsed", frame, at, None, record), frame, at),)
    if route in record.find_or_create or route in record.replace:
        how = "found" if route in record.find_or_create else "replaced"
        row = Val(Instance(what.ref, how, frame, at, args, record), frame, at)
        flag = Val(Unknown("whether the row is new"), frame, at)
        return (
            Val(
                Row(
                    (
                        (Lazy(frame, None, known=(row,)), False),
                        (Lazy(frame, None, known=(flag,)), False),
                    )
                ),
                frame,
                at,
            ),
        )
    last = route.rpartition(".")[2]
    if last in (
        "get",
        "first",
        "last",
        "latest",
        "earliest",
        "aget",
        "afirst",
        "one",
        "scalar_one",
    ):
        return (Val(Instance(what.ref, "loaded", frame, at, None, record), frame, at),)
    return (Val(Manager(what.ref, record, f"{route}()"), frame, at),)
