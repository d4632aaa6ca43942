"""Steps into objects and containers that were changed after they were made: `d[k] = v`, `o.a = v`, `update`, `append`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stripe_idem_lint.ir import nodes as ir
from stripe_idem_lint.link.flow import Def, root_of
from stripe_idem_lint.link.program import ClassRef, FunctionRef
from stripe_idem_lint.solve.alternatives import in_process, is_absent, missing, present, same_step
from stripe_idem_lint.solve.classes import class_member
from stripe_idem_lint.solve.containers import key_matches
from stripe_idem_lint.solve.values import (
    Arguments,
    Born,
    Callable_,
    Changed,
    External,
    Frame,
    Hole,
    Instance,
    Lazy,
    Method,
    Object,
    Text,
    Unknown,
    Val,
    Vals,
)

if TYPE_CHECKING:
    from stripe_idem_lint.solve.evaluate import Evaluator


def access_changed(ev: Evaluator, val: Val, what: Changed, step: str) -> Vals:
    change = what.change
    if change.kind == "append":
        base = ev.access(what.base, step)
        if step.startswith("."):
            return base if base else (Val(Method(val, step[1:]), val.frame, val.at),)
        added = ev.values(what.frame, change.value)
        return (*(v for v in base if not is_absent(v)), *added)
    if change.kind == "reset":
        return _access_after_method(ev, val, what, step)
    route = change.path if change.kind in ("present", "missing") else route_of(change)
    base = ev.access(what.base, step)
    if what.depth < len(route):
        if not same_step(route[what.depth], step):
            return base
        if what.depth + 1 < len(route) or change.kind not in (
            "attribute",
            "present",
            "missing",
        ):
            return (Val(Changed(change, what.frame, base, what.depth + 1), val.frame, val.at),)
        return _changed_to(ev, what, base)
    match change.kind:
        case "item" | "default":
            return _access_item_change(ev, what, base, step)
        case "update":
            updated = ev.access(ev.values(what.frame, change.value), step)
            present = tuple(v for v in updated if not is_absent(v))
            if (
                present
                and len(present) == len(updated)
                and not any(isinstance(v.what, Unknown) for v in present)
            ):
                return present
            return (*present, *base)
        case _:
            return base


def _changed_to(ev: Evaluator, what: Changed, base: Vals) -> Vals:
    change = what.change
    if change.kind == "present":
        return present(base)
    if change.kind == "missing":
        return missing(base)
    return _stored(ev, what, ev.resolve(Lazy(what.frame, change.value, change.path)))


def _access_item_change(ev: Evaluator, what: Changed, base: Vals, step: str) -> Vals:
    change = what.change
    assert change.key is not None
    matches = (
        key_matches(ev, Lazy(what.frame, change.key), step[1:-1]) if step.startswith("[") else False
    )
    if matches is False:
        return base
    new = _stored(ev, what, ev.resolve(Lazy(what.frame, change.value, change.path)))
    if not change.base and any(_same_place(ev, n.value, change) for n in change.needs):
        new = tuple(in_process(v) for v in new)
    if change.kind == "default":
        kept = tuple(v for v in base if not is_absent(v))
        if (
            kept
            and len(kept) == len(base)
            and not any(isinstance(v.what, Unknown | Hole) for v in kept)
        ):
            return kept
        return (*kept, *new)
    return new if matches else (*new, *base)


def _stored(ev: Evaluator, what: Changed, vals: Vals) -> Vals:
    """A drawn value that is put where it was missing and saved before it is used is kept from then on."""
    change = what.change
    guards = [n for n in change.needs if _same_place(ev, n.value, change)]
    if not guards or not _saved_after(ev, what):
        return vals
    if any(isinstance(v.what, Instance) and v.what.how in ("created", "made") for v in what.base):
        return vals
    return tuple(_kept_value(ev, v) for v in vals)


def _kept_value(ev: Evaluator, val: Val) -> Val:
    """The value as the next run reads it back."""
    match val.what:
        case Born() | Text():
            return Val(Born("stable", "stored while empty"), val.frame, val.at)
        case Instance(ref, _, _, _, _, record):
            return Val(Instance(ref, "found", record=record), val.frame, val.at)
        case Object() | Changed():
            return Val(Unknown("stored while empty"), val.frame, val.at)
        case _:
            return val


def _same_place(ev: Evaluator, expr: ir.Expr, change: Def) -> bool:
    """The condition asks for the place that the change fills."""
    split = root_of(expr)
    place = route_of(change)
    if change.kind in ("item", "default"):
        known = change.key.value if isinstance(change.key, ir.Const) else "*"
        place = (*place, f"[{known}]")
    return split is not None and bool(split[1]) and split[1] == place[: len(split[1])]


def _saved_after(ev: Evaluator, what: Changed) -> bool:
    """A save or commit follows the change in the same body."""
    owner = what.frame.owner
    body: tuple[ir.Stmt, ...]
    if isinstance(owner, FunctionRef):
        body = ev.program.function(owner).body
    elif isinstance(owner, ClassRef):
        body = ev.program.cls(owner).body
    else:
        module = ev.program.module(what.frame.path)
        body = module.body if module is not None else ()
    for stmt in ir.statements(body):
        if stmt.at <= what.change.at:
            continue
        for expr in ir.expressions(stmt):
            for node in ir.walk(expr):
                if isinstance(node, ir.Call) and isinstance(node.func, ir.Attr):
                    if node.func.name in ev.catalog.saves:
                        return True
                    if _sends(ev, what.frame, node.func):
                        return False
    return False


def _sends(ev: Evaluator, frame: Frame, func: ir.Attr) -> bool:
    """The call goes to the service: what is saved after it is saved too late."""
    return func.name in ev.catalog.verbs and any(
        isinstance(v.what, External) and ev.catalog.sink(v.what.name) is not None
        for v in ev.values(frame, func)
    )


def bound_to(ev: Evaluator, changed: Val, member: Val) -> Val:
    """A method read from a changed object sees the change."""
    what = member.what
    if (
        isinstance(what, Callable_)
        and what.this is not None
        and isinstance(what.this.what, Instance | Changed)
    ):
        return Val(
            Callable_(what.ref, what.closure, changed, what.given),
            member.frame,
            member.at,
            member.needs,
        )
    return member


def _access_after_method(ev: Evaluator, val: Val, what: Changed, step: str) -> Vals:
    """An attribute read after a method ran on the object: what the method stored, else what was there."""
    base = ev.access(what.base, step)
    if not step.startswith(".") or not isinstance(what.change.value, ir.Call):
        return base
    for holder in what.base:
        inner = holder.what
        while isinstance(inner, Changed) and inner.base:
            inner = inner.base[0].what
        if not isinstance(inner, Instance):
            continue
        method = class_member(ev, inner.ref, what.change.name)
        if method is None:
            continue
        flow = ev.program.function_flow(method)
        this = ev.program.function(method).params[:1]
        if not this or not any(
            d.kind == "attribute" and route_of(d)[:1] == (step,)
            for d in flow.everything.get(this[0].name, ())
        ):
            continue
        call = what.change.value
        args = Arguments.of(what.frame, call.args)
        frame = ev.bound_frame(method, what.frame, call.at, args, None, holder)
        return ev.access(ev.defined_by(frame, flow.final(this[0].name)), step)
    return base


def route_of(change: Def) -> tuple[str, ...]:
    """The accesses from the changed name to the place that changes."""
    return tuple(part for part in change.name.split("\0") if part) if change.kind != "reset" else ()
