"""What decorators make of functions: project decorators are followed, those of libraries are looked up in the models."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from stripe_idem_lint.ir import nodes as ir
from stripe_idem_lint.link.program import FunctionRef
from stripe_idem_lint.models.schema import ContextModel
from stripe_idem_lint.solve.alternatives import in_process, journaled
from stripe_idem_lint.solve.classes import class_member
from stripe_idem_lint.solve.options import any_holds
from stripe_idem_lint.solve.scopes import decorator_scope
from stripe_idem_lint.solve.values import (
    Arguments,
    Callable_,
    External,
    Frame,
    Instance,
    Lazy,
    Type,
    Val,
    Vals,
)

if TYPE_CHECKING:
    from stripe_idem_lint.solve.evaluate import Evaluator


def function_value(ev: Evaluator, frame: Frame, ref: FunctionRef) -> Vals:
    """A function as its name gives it: wrapped by those of its decorators that are project code."""
    closure = frame if isinstance(frame.owner, FunctionRef) else None
    return _decorated(ev, frame, Callable_(ref, closure))


def method_value(ev: Evaluator, method: FunctionRef, this: Val | None) -> Vals:
    """A method, wrapped by its project decorators, bound."""
    return _decorated(ev, decorator_scope(ev, method), Callable_(method, None, this))


def _decorated(ev: Evaluator, scope: Frame, what: Callable_) -> Vals:
    function = ev.program.function(what.ref)
    current = Val(what, scope, function.at)
    for decorator in reversed(function.decorators):
        current = wrapped_by(ev, scope, decorator, current) or current
    return (current,)


def wrapped_by(ev: Evaluator, frame: Frame, decorator: ir.Expr, inner: Val) -> Val | None:
    """What a project decorator makes of `inner`; None for decorators that are not project code."""
    for val in ev.values(frame, decorator):
        what = val.what
        if isinstance(what, Callable_ | Instance | Type):
            args = Arguments((Lazy(frame, None, known=(inner,)),))
            for made in ev.invoke(val, args, frame, decorator.at):
                if isinstance(made.what, Callable_):
                    return made
                if isinstance(made.what, Instance) and class_member(ev, made.what.ref, "__call__"):
                    method = class_member(ev, made.what.ref, "__call__")
                    assert method is not None
                    return Val(Callable_(method, None, made), frame, decorator.at)
    return None


def models_of(ev: Evaluator, ref: FunctionRef) -> Iterator[tuple[ContextModel, Arguments]]:
    """Context models of a function's decorators, with the decorators' arguments; shapes too."""
    scope = decorator_scope(ev, ref)
    function = ev.program.function(ref)
    for decorator in function.decorators:
        args = (
            Arguments.of(scope, decorator.args) if isinstance(decorator, ir.Call) else Arguments()
        )
        for name in outside_names(ev, scope, decorator):
            for model in ev.catalog.decorators(name):
                yield model, args
    for model in ev.catalog.shapes():
        shape = model.function
        if shape is None or not model.parameters or function.cls is not None:
            continue
        names = tuple(p.name for p in function.params)
        if len(names) == len(shape.parameters) and all(
            wanted in ("*", name) for wanted, name in zip(shape.parameters, names, strict=True)
        ):
            yield model, Arguments()


def outside_names(ev: Evaluator, frame: Frame, expr: ir.Expr) -> tuple[str, ...]:
    """The outside names an expression (a decorator, bare or called) may be."""
    target = expr.func if isinstance(expr, ir.Call) else expr
    return tuple(v.what.name for v in ev.values(frame, target) if isinstance(v.what, External))


def typed_parameters(ev: Evaluator, ref: FunctionRef) -> tuple[dict[int, str], bool]:
    """Classes of parameters that a decorator tells, and whether the first is the bound instance (`bind=True`)."""
    if ref not in ev.typed:
        ev.typed[ref] = ({}, False)
        ev.typed[ref] = _find_typed(ev, ref)
    return ev.typed[ref]


def _find_typed(ev: Evaluator, ref: FunctionRef) -> tuple[dict[int, str], bool]:
    function = ev.program.function(ref)
    typed: dict[int, str] = {}
    bound = False
    for model, args in models_of(ev, ref):
        if model.on_by and not any_holds(ev, model.on_by, args):
            continue
        binds = bool(model.bound_by) and any_holds(ev, model.bound_by, args)
        bound = bound or binds
        for key, cls in model.parameters:
            if key == "0" and model.bound_by and not binds:
                continue
            number = (
                int(key)
                if key.isdigit()
                else next((i for i, p in enumerate(function.params) if p.name == key), -1)
            )
            if 0 <= number < len(function.params):
                typed[number] = cls
    return typed, bound


def kept_by_decorators(ev: Evaluator, ref: FunctionRef, vals: Vals) -> Vals:
    """Memoised functions keep their results in the process, durable steps in a journal."""
    for decorator in ev.program.function(ref).decorators:
        for name in outside_names(ev, decorator_scope(ev, ref), decorator):
            if ev.catalog.memo(name):
                return tuple(in_process(v) for v in vals)
            if any(model.journaled for model in ev.catalog.decorators(name)):
                return tuple(journaled(v) for v in vals)
    return vals
