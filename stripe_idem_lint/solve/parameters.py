"""What a parameter holds: the argument of the call it is bound to, else its default, a framework's value, or a hole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from stripe_idem_lint.ir import nodes as ir
from stripe_idem_lint.link.program import ClassRef, FunctionRef
from stripe_idem_lint.solve.alternatives import is_absent
from stripe_idem_lint.solve.classes import annotated, decorator_names, takes_receiver
from stripe_idem_lint.solve.decorators import outside_names, typed_parameters
from stripe_idem_lint.solve.scopes import definition_frame
from stripe_idem_lint.solve.values import (
    Arguments,
    Born,
    Callable_,
    Frame,
    Hole,
    Instance,
    Known,
    Lazy,
    Object,
    Row,
    Table,
    Text,
    Type,
    Unknown,
    Val,
    Vals,
)

if TYPE_CHECKING:
    from stripe_idem_lint.solve.evaluate import Evaluator


def parameter(ev: Evaluator, frame: Frame, name: str) -> Vals:
    """What a parameter of the frame's function holds."""
    if not isinstance(frame.owner, FunctionRef):
        return ()
    function = ev.program.function(frame.owner)
    position = next((i for i, p in enumerate(function.params) if p.name == name), None)
    if position is None:
        return ()
    param = function.params[position]
    bound = _receiver(frame, function, position)
    if bound is not None:
        return (bound,)
    typed, bound_instance = typed_parameters(ev, frame.owner)
    if position in typed and (frame.args is None or (bound_instance and position == 0)):
        return (Val(Object(typed[position], typed[position]), frame, -1),)
    if frame.args is None:
        return _injected(ev, frame, param) or (_hole(ev, frame, param),)
    shift = 1 if takes_receiver(function) or bound_instance else 0
    vals = _argument(ev, frame, frame.args, param, position - shift, function)
    if frame.caller is not None and frame.caller.owner == frame.owner:
        return tuple(_counted(ev, frame, v) for v in vals)
    return vals


def _counted(ev: Evaluator, frame: Frame, val: Val) -> Val:
    """`retry(attempt + 1)`: a parameter that counts the recursion."""
    what = val.what
    if isinstance(what, Text) and what.op in "+-" and what.op and len(what.parts) == 2:
        amount = ev.resolve(what.parts[1])
        if any(isinstance(a.what, Known) and isinstance(a.what.value, int) for a in amount):
            return Val(Born("counter", "counting calls"), frame, -1, val.needs)
    return val


def _receiver(frame: Frame, function: ir.Function, position: int) -> Val | None:
    if position or not takes_receiver(function):
        return None
    assert function.cls is not None
    if frame.this is not None:
        return frame.this
    ref = ClassRef(frame.path, function.cls)
    if "classmethod" in decorator_names(function):
        return Val(Type(ref), frame, -1)
    return Val(Instance(ref, "open"), frame, -1)


def _hole(ev: Evaluator, frame: Frame, param: ir.Param) -> Val:
    return Val(
        Hole(frame, param.name, item_of(ev, frame, param), _hint(ev, frame, param)), frame, -1
    )


def _injected(ev: Evaluator, frame: Frame, param: ir.Param) -> Vals:
    """What a framework puts in for a default that calls a function for each entry (`Depends(f)`)."""
    scope = definition_frame(ev, frame)
    for call in (*_calls_of(param.default), *_calls_of(param.annotation)):
        for name in outside_names(ev, scope, call):
            edge = ev.catalog.edge(name)
            if edge is None or edge.gives != "result":
                continue
            vals = [v for a in call.args[:1] for v in ev.values(scope, a.value)]
            return tuple(
                made
                for v in vals
                if isinstance(v.what, Callable_)
                for made in ev.invoke(v, Arguments(), frame, -1)
            )
    return ()


def item_of(ev: Evaluator, frame: Frame, param: ir.Param) -> tuple[str, ...]:
    """The accesses that a default such as `Header()` stands for."""
    scope = definition_frame(ev, frame)
    for call in (*_calls_of(param.default), *_calls_of(param.annotation)):
        for name in outside_names(ev, scope, call):
            model = ev.catalog.parameter(name)
            if model is None:
                continue
            alias = next((a.value for a in call.args if a.name == model.alias), None)
            key = alias.value if isinstance(alias, ir.Const) else param.name.replace("_", "-")
            return (f".{model.item}", f"[{key}]")
    return ()


def _hint(ev: Evaluator, frame: Frame, param: ir.Param) -> Vals:
    """What the annotation of a parameter tells."""
    return annotated(ev, definition_frame(ev, frame), param.annotation, frame)


def _argument(
    ev: Evaluator,
    frame: Frame,
    args: Arguments,
    param: ir.Param,
    position: int,
    function: ir.Function,
) -> Vals:
    match param.kind:
        case "rest":
            items = tuple((lazy, False) for lazy in args.positional[position:])
            return (Val(Row((*items, *((s, True) for s in args.star))), frame, -1),)
        case "named":
            taken = {p.name for p in function.params if p.kind in ("plain", "keyword")}
            entries: list[tuple[Lazy | str | None, Lazy]] = [(None, lazy) for lazy in args.double]
            entries += [(key, lazy) for key, lazy in args.named if key not in taken]
            return (Val(Table(tuple(entries)), frame, -1),)
        case _:
            pass
    if param.kind != "keyword" and 0 <= position < len(args.positional):
        return ev.resolve(args.positional[position])
    for key, lazy in args.named:
        if key == param.name and param.kind != "positional":
            return ev.resolve(lazy)
    found: list[Val] = []
    certain = False
    for lazy in args.double:
        vals = ev.access(ev.resolve(lazy), f"[{param.name}]")
        there = [v for v in vals if not is_absent(v)]
        found.extend(there)
        if there and len(there) == len(vals):
            certain = True
    if param.kind != "keyword" and args.star and not certain:
        for lazy in args.star:
            offset = position - len(args.positional)
            found.extend(v for v in ev.access(ev.resolve(lazy), f"[{offset}]") if not is_absent(v))
        certain = bool(found)
    if not certain:
        found.extend(default_of(ev, frame, param))
    if not found and param.default is None:
        # Python itself refuses a call without it, so the binding was not understood.
        return (Val(Unknown(f"{param.name}, handed over in a way not followed"), frame, -1),)
    return tuple(found)


def default_of(ev: Evaluator, frame: Frame, param: ir.Param) -> Vals:
    """The default of a parameter: made once, when the function was defined."""
    if param.default is None:
        return ()
    scope = definition_frame(ev, frame)
    vals = ev.values(scope, param.default)
    return tuple(
        Val(Born("process", f"default of {param.name}: {v.what.text}"), scope, v.at)
        if isinstance(v.what, Born) and v.what.kind in ("fresh", "clock")
        else (
            Val(Text("default", (Lazy(scope, param.default),)), scope, v.at)
            if isinstance(v.what, Text)
            else v
        )
        for v in vals
    )


def _calls_of(expr: ir.Expr | None) -> Iterator[ir.Call]:
    if expr is not None:
        yield from (node for node in ir.walk(expr) if isinstance(node, ir.Call))
