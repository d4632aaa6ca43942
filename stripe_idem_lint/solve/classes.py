"""Classes as the program declares them: their order of lookup, their members and fields, the records they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from stripe_idem_lint.ir import nodes as ir
from stripe_idem_lint.link.program import ClassRef, FunctionRef
from stripe_idem_lint.models.schema import RecordModel
from stripe_idem_lint.solve.scopes import class_scope
from stripe_idem_lint.solve.values import External, Frame, Instance, Object, Type, Val, Vals

if TYPE_CHECKING:
    from stripe_idem_lint.solve.evaluate import Evaluator


def bases_of(ev: Evaluator, ref: ClassRef) -> tuple[tuple[ClassRef, ...], tuple[str, ...]]:
    """Project classes in lookup order (the class itself first) and outside bases."""
    if ref in ev.bases:
        return ev.bases[ref]
    ev.bases[ref] = ((ref,), ())
    inner: list[ClassRef] = [ref]
    outer: list[str] = []
    frame = class_scope(ev, ref)
    for arg in ev.program.cls(ref).bases:
        if arg.name is not None:
            continue
        base = arg.value.base if isinstance(arg.value, ir.Item) else arg.value
        for val in ev.values(frame, base):
            if isinstance(val.what, Type) and val.what.ref not in inner:
                more, outside = bases_of(ev, val.what.ref)
                inner.extend(m for m in more if m not in inner)
                outer.extend(outside)
            elif isinstance(val.what, External):
                outer.append(val.what.name)
            elif isinstance(val.what, Object):
                outer += [val.what.cls, val.what.made]
    ev.bases[ref] = (tuple(inner), tuple(dict.fromkeys(outer)))
    return ev.bases[ref]


def class_member(ev: Evaluator, ref: ClassRef, name: str) -> FunctionRef | None:
    """The method `name` as the class has it."""
    for cls in bases_of(ev, ref)[0]:
        for method, index in ev.program.cls(cls).methods:
            if method == name:
                return FunctionRef(cls.path, index)
    return None


def record_of(ev: Evaluator, ref: ClassRef) -> RecordModel | None:
    """The record model that the class falls under."""
    inner, outer = bases_of(ev, ref)
    for base in outer:
        model = ev.catalog.record(base)
        if model is not None:
            return model
    for cls in inner:
        for decorator in ev.program.cls(cls).decorators:
            target = decorator.func if isinstance(decorator, ir.Call) else decorator
            for val in ev.values(class_scope(ev, cls), target):
                if isinstance(val.what, External):
                    model = ev.catalog.record(val.what.name)
                    if model is not None:
                        return model
    return None


def field_names(ev: Evaluator, ref: ClassRef) -> tuple[str, ...]:
    """The declared fields in the order of the constructor."""
    names: dict[str, None] = {}
    for cls in reversed(bases_of(ev, ref)[0]):
        for stmt in ev.program.cls(cls).body:
            if isinstance(stmt, ir.Assign) and stmt.annotation is not None:
                names.update((t.id, None) for t in stmt.targets if isinstance(t, ir.Name))
    return tuple(names)


def declaration(ev: Evaluator, ref: ClassRef, name: str) -> tuple[ClassRef, ir.Assign] | None:
    for cls in bases_of(ev, ref)[0]:
        for stmt in ev.program.cls(cls).body:
            if isinstance(stmt, ir.Assign) and any(
                isinstance(t, ir.Name) and t.id == name for t in stmt.targets
            ):
                return cls, stmt
    return None


def annotated(ev: Evaluator, scope: Frame, annotation: ir.Expr | None, frame: Frame) -> Vals:
    """Instances of the classes that an annotation names."""
    found: list[Val] = []
    for name in annotation_names(annotation):
        for val in ev.values(scope, name):
            if isinstance(val.what, Type):
                record = record_of(ev, val.what.ref)
                how = "loaded" if record is not None and record.row else "open"
                found.append(Val(Instance(val.what.ref, how, record=record), frame, -1))
            elif isinstance(val.what, External) and not val.what.name.startswith(
                ("builtins.", "typing.")
            ):
                found.append(Val(Object(val.what.name, val.what.name), frame, -1))
    return tuple(found)


def takes_receiver(function: ir.Function) -> bool:
    """It is a method that gets `self` or `cls` without being handed it."""
    return function.cls is not None and "staticmethod" not in decorator_names(function)


def decorator_names(function: ir.Function) -> frozenset[str]:
    """The last words of the decorators as written (`staticmethod`, `cached_property`)."""
    found = set()
    for decorator in function.decorators:
        target = decorator.func if isinstance(decorator, ir.Call) else decorator
        if isinstance(target, ir.Name):
            found.add(target.id)
        elif isinstance(target, ir.Attr):
            found.add(target.name)
    return frozenset(found)


def annotation_names(annotation: ir.Expr | None) -> Iterator[ir.Expr]:
    """The class names inside `X | None`, `Optional[X]`, `Annotated[X, …]`, `"X"`."""
    match annotation:
        case ir.Name() | ir.Attr():
            yield annotation
        case ir.Join(_, "|", parts):
            for part in parts:
                yield from annotation_names(part)
        case ir.Item(_, _, index):
            yield from annotation_names(index)
        case ir.Sequence(_, _, items):
            for item in items:
                yield from annotation_names(item.value)
        case ir.Const(at, str() as text) if text.replace(".", "").isidentifier():
            head, *rest = text.split(".")
            expr: ir.Expr = ir.Name(at, head)
            for word in rest:
                expr = ir.Attr(at, expr, word)
            yield expr
        case _:
            return
