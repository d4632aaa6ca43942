"""Steps into objects and containers that were changed after they were made: `d[k] = v`, `o.a = v`, `update`, `append`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stripe_idem_lint.ir import nodes as ir
from stripe_idem_lint.link.flow import Def
from stripe_idem_lint.solve.alternatives import (
    in_process,
    is_absent,
    is_missing,
    missing,
    present,
    same_step,
)
from stripe_idem_lint.solve.classes import class_member
from stripe_idem_lint.solve.containers import key_matches
from stripe_idem_lint.solve.persistence import fills, stored_in_place
from stripe_idem_lint.solve.values import (
    Arguments,
    Callable_,
    Changed,
    Hole,
    Instance,
    Lazy,
    Method,
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
        return _access_after_method(ev, what, step)
    if change.kind == "handed":
        told = ev.access(what.base, step)
        return tuple(
            Val(Unknown("handed to a call that may fill it"), v.frame, v.at) if is_missing(v) else v
            for v in told
        )
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
    return stored_in_place(
        ev, what, _place(change), ev.resolve(Lazy(what.frame, change.value, change.path))
    )


def _access_item_change(ev: Evaluator, what: Changed, base: Vals, step: str) -> Vals:
    change = what.change
    assert change.key is not None
    matches = (
        key_matches(ev, Lazy(what.frame, change.key), step[1:-1]) if step.startswith("[") else False
    )
    if matches is False:
        return base
    new = stored_in_place(
        ev, what, _place(change), ev.resolve(Lazy(what.frame, change.value, change.path))
    )
    if not change.base and any(fills(n.value, _place(change)) for n in change.needs):
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
    if matches:
        return new
    if step == "[*]":
        return (*new, *base)
    computed = Val(Unknown("an entry whose key is computed"), what.frame, change.at)
    return (computed, *(v for v in base if not is_absent(v)))


def _place(change: Def) -> tuple[str, ...]:
    """The accesses from the changed name to what is filled."""
    if change.kind in ("item", "default"):
        key = change.key.value if isinstance(change.key, ir.Const) else "*"
        return (*route_of(change), f"[{key}]")
    return route_of(change)


def bound_to(changed: Val, member: Val) -> Val:
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


def _access_after_method(ev: Evaluator, what: Changed, step: str) -> Vals:
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
