"""Steps into classes and their instances: methods, properties, attributes that methods assign, `super()`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stripe_idem_lint.ir import nodes as ir
from stripe_idem_lint.link.program import ClassRef, FunctionRef
from stripe_idem_lint.solve.alternatives import in_process, is_absent
from stripe_idem_lint.solve.changes import route_of
from stripe_idem_lint.solve.classes import (
    annotated,
    bases_of,
    class_member,
    decorator_names,
    record_of,
)
from stripe_idem_lint.solve.decorators import method_value
from stripe_idem_lint.solve.records import identity, record_field
from stripe_idem_lint.solve.scopes import class_scope
from stripe_idem_lint.solve.values import (
    Arguments,
    Born,
    Callable_,
    External,
    Frame,
    Instance,
    Lazy,
    Manager,
    Object,
    Type,
    Unknown,
    Val,
    Vals,
)

if TYPE_CHECKING:
    from stripe_idem_lint.solve.evaluate import Evaluator

_PROPERTIES = frozenset({"property", "cached_property", "abstractproperty", "hybrid_property"})


def access_type(ev: Evaluator, val: Val, ref: ClassRef, step: str) -> Vals:
    if not step.startswith("."):
        return (val,)
    name = step[1:]
    method = class_member(ev, ref, name)
    if method is not None:
        kinds = decorator_names(ev.program.function(method))
        this = val if "classmethod" in kinds else None
        return method_value(ev, method, this)
    for cls in bases_of(ev, ref)[0]:
        flow = ev.program.class_flow(cls)
        if name in flow.everything:
            return ev.defined_by(ev.class_frame(cls), flow.final(name))
    record = record_of(ev, ref)
    if record is not None and record.row:
        return (Val(Manager(ref, record, name), val.frame, val.at),)
    if record is not None and name in (*record.load, *record.create):
        return (Val(Manager(ref, record, name), val.frame, val.at),)
    outer = bases_of(ev, ref)[1]
    if outer:
        return (Val(External(ev.catalog.canonical(f"{outer[0]}.{name}")), val.frame, val.at),)
    return (Val(Unknown(f"attribute {name} of a class"), val.frame, val.at),)


def access_instance(ev: Evaluator, val: Val, what: Instance, step: str) -> Vals:
    if not step.startswith("."):
        if what.how in ("loaded", "created", "found", "replaced"):
            return (val,)
        method = class_member(ev, what.ref, "__getitem__")
        return (
            ev.inline(Callable_(method, None, val), Arguments(), val.frame, val.at)
            if method
            else (Val(Unknown("an item of an object", (step,)), val.frame, val.at),)
        )
    name = step[1:]
    method = class_member(ev, what.ref, name)
    if method is not None:
        return _bound_member(ev, val, method)
    later = (
        _after_init(ev, val, what, step) if what.how == "made" and what.record is not None else ()
    )
    if later:
        return later
    if what.record is not None and what.how != "blank":
        field = record_field(ev, val, what, name)
        if field is not None:
            return field
    found = _assigned(ev, val, what, name) if what.how not in ("blank", "given") else ()
    if found:
        return found
    for cls in bases_of(ev, what.ref)[0]:
        flow = ev.program.class_flow(cls)
        if name in flow.everything and any(d.value is not None for d in flow.everything[name]):
            return ev.defined_by(ev.class_frame(cls), flow.final(name))
        hinted = _annotated_attribute(ev, cls, name, val.frame)
        if hinted:
            return hinted
    outer = bases_of(ev, what.ref)[1]
    if what.record is not None and what.record.row:
        if what.how in ("loaded", "found", "open"):
            return (Val(Born("stable", f"{name} of a stored row"), val.frame, val.at),)
        if name in what.record.identity:
            return identity(val, what, name)
        return (Val(Unknown(f"{name} of a row", (step,)), val.frame, val.at),)
    if outer:
        return (
            Val(
                External(ev.catalog.canonical(f"{outer[0]}.{name}"), Object(outer[0], outer[0])),
                val.frame,
                val.at,
            ),
        )
    return (Val(Unknown(f"attribute {name}", (step,)), val.frame, val.at),)


def _after_init(ev: Evaluator, val: Val, what: Instance, step: str) -> Vals:
    """What `__post_init__` makes of a field; empty if it leaves the field alone."""
    method = class_member(ev, what.ref, "__post_init__")
    if method is None:
        return ()
    flow = ev.program.function_flow(method)
    this = ev.program.function(method).params[0].name
    changes = flow.everything.get(this, ())
    if not any(d.kind == "attribute" and route_of(d) == (step,) for d in changes):
        return ()
    given = Instance(what.ref, "given", what.frame, what.at, what.args, what.record)
    holder = Val(given, val.frame, val.at)
    frame = ev.bound_frame(method, what.frame, what.at, Arguments(), None, holder)
    return ev.access(ev.defined_by(frame, flow.final(this)), step)


def _annotated_attribute(ev: Evaluator, cls: ClassRef, name: str, frame: Frame) -> Vals:
    for stmt in ev.program.cls(cls).body:
        if not isinstance(stmt, ir.Assign) or stmt.annotation is None:
            continue
        if stmt.value is None:
            names = [t.id for t in stmt.targets if isinstance(t, ir.Name)]
            if name in names:
                return annotated(ev, class_scope(ev, cls), stmt.annotation, frame)
    return ()


def _bound_member(ev: Evaluator, val: Val, method: FunctionRef) -> Vals:
    kinds = decorator_names(ev.program.function(method))
    if kinds & _PROPERTIES:
        got = ev.inline(Callable_(method, None, val), Arguments(), val.frame, val.at)
        return tuple(in_process(v) for v in got) if "cached_property" in kinds else got
    if "staticmethod" in kinds:
        return method_value(ev, method, None)
    if "classmethod" in kinds:
        assert isinstance(val.what, Instance)
        return method_value(ev, method, Val(Type(val.what.ref), val.frame, val.at))
    return method_value(ev, method, val)


def _assigned(ev: Evaluator, val: Val, what: Instance, name: str) -> Vals:
    """`self.name = …` in the constructor, then in other methods."""
    found: list[Val] = []
    step = f".{name}"
    init = class_member(ev, what.ref, "__init__") or class_member(ev, what.ref, "__post_init__")
    methods = [init] if init is not None else []
    for cls in bases_of(ev, what.ref)[0]:
        methods += [FunctionRef(cls.path, i) for _, i in ev.program.cls(cls).methods]
    seen: set[FunctionRef] = set()
    for method in methods:
        if method in seen:
            continue
        seen.add(method)
        function = ev.program.function(method)
        if not function.params or "staticmethod" in decorator_names(function):
            continue
        this = function.params[0].name
        flow = ev.program.function_flow(method)
        changes = [
            d
            for d in flow.everything.get(this, ())
            if d.kind == "attribute" and route_of(d) == (step,)
        ]
        if not changes:
            continue
        if method == init and what.how == "made":
            blank = Val(
                Instance(what.ref, "blank", what.frame, what.at, what.args, what.record),
                val.frame,
                val.at,
            )
            frame = ev.bound_frame(method, what.frame, what.at, what.args, None, blank)
            found.extend(ev.access(ev.defined_by(frame, flow.final(this)), step))
        else:
            frame = ev.open_frame(method)
            for d in changes:
                found.extend(ev.resolve(Lazy(frame, d.value, d.path)))
    return tuple(v for v in found if not is_absent(v))


def access_super(ev: Evaluator, val: Val, ref: ClassRef, this: Val | None, step: str) -> Vals:
    name = step[1:]
    start = this.what.ref if this is not None and isinstance(this.what, Instance | Type) else ref
    order = bases_of(ev, start)[0]
    later = order[order.index(ref) + 1 :] if ref in order else bases_of(ev, ref)[0][1:]
    for cls in later:
        for method, index in ev.program.cls(cls).methods:
            if method == name:
                return (
                    Val(Callable_(FunctionRef(cls.path, index), None, this), val.frame, val.at),
                )
    outer = bases_of(ev, ref)[1]
    if outer:
        return (
            Val(
                External(ev.catalog.canonical(f"{outer[0]}.{name}"), Object(outer[0], outer[0])),
                val.frame,
                val.at,
            ),
        )
    return (Val(Unknown(f"super().{name}"), val.frame, val.at),)
