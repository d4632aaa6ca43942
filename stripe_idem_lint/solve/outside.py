"""Calls that lead out of the program: Python's own functions here, libraries through the models."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from stripe_idem_lint.ir import nodes as ir
from stripe_idem_lint.link.flow import Def
from stripe_idem_lint.link.program import ClassRef, FunctionRef
from stripe_idem_lint.models.schema import ContextModel, EdgeModel, ValueModel
from stripe_idem_lint.solve.alternatives import joined, of_format
from stripe_idem_lint.solve.clocks import quotient
from stripe_idem_lint.solve.methods import dumped
from stripe_idem_lint.solve.names import import_target
from stripe_idem_lint.solve.options import any_holds, argument
from stripe_idem_lint.solve.parameters import parameter
from stripe_idem_lint.solve.values import (
    Arguments,
    Born,
    Callable_,
    Changed,
    External,
    Frame,
    Instance,
    Known,
    Lazy,
    Manager,
    Many,
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


def call_outside(
    ev: Evaluator,
    name: str,
    of: Object | None,
    args: Arguments,
    frame: Frame,
    at: int,
    expr: ir.Call | None,
) -> Vals:
    """What calling the outside name gives."""
    handler = _BUILTINS.get(name)
    if handler is not None:
        return handler(ev, args, frame, at)
    for model in ev.catalog.value_call(name):
        if _applies(ev, model, args, of):
            return (_modelled(ev, model, name, args, frame, at),)
    for route in ev.catalog.creators:
        if name.endswith(f".{route}"):
            return (_created_row(_result(ev, name, of, args, frame, at, expr), args),)
    for route in ev.catalog.replacers:
        if name.endswith(f".{route}"):
            return (_replaced_row(ev, args, frame, at),)
    if ev.catalog.noreturn(name):
        return ()
    through = _through_edge(ev, name, args, frame, at)
    if through is not None:
        return through
    return (_result(ev, name, of, args, frame, at, expr),)


def _created_row(row: Val, args: Arguments) -> Val:
    """`Model.objects.create(…)` on a class that is not visible: its fields are what it is given."""
    for key, lazy in args.named:
        if lazy.expr is not None and not lazy.path:
            row = Val(
                Changed(Def("attribute", row.at, lazy.expr, name=f".{key}"), lazy.frame, (row,)),
                row.frame,
                row.at,
            )
    return row


def _replaced_row(ev: Evaluator, args: Arguments, frame: Frame, at: int) -> Val:
    """`Model.objects.update_or_create(…)` on a class that is not visible: what is written over is known."""
    row = Val(Unknown("a stored row"), frame, at)
    for keyword in ev.catalog.replaced_by:
        lazy = argument(args, keyword)
        if lazy is None or not isinstance(lazy.expr, ir.Mapping):
            continue
        for key, value in lazy.expr.entries:
            if isinstance(key, ir.Const):
                change = Def("attribute", at, value, name=f".{key.value}")
                row = Val(Changed(change, lazy.frame, (row,)), frame, at)
    flag = Val(Unknown("whether the row is new"), frame, at)
    return Val(
        Row(((Lazy(frame, None, known=(row,)), False), (Lazy(frame, None, known=(flag,)), False))),
        frame,
        at,
    )


def _applies(ev: Evaluator, model: ValueModel, args: Arguments, of: Object | None) -> bool:
    """The row holds for these arguments, and for those that the object was made with (`random.Random(seed)`)."""
    made = of.args if of is not None and of.args is not None else Arguments()
    if model.off_by and (any_holds(ev, model.off_by, args) or any_holds(ev, model.off_by, made)):
        return False
    return all(any_holds(ev, (f"{key}={value}",), args) for key, value in model.when)


def _modelled(
    ev: Evaluator,
    model: ValueModel,
    name: str,
    args: Arguments,
    frame: Frame,
    at: int,
) -> Val:
    if model.kind == "derived":
        parts = args.positional + args.star + tuple(lazy for _, lazy in args.named) + args.double
        return Val(Text(name, parts), frame, at)
    born = Born(model.kind, name, model.scope)
    if model.kind == "clock":
        born = _cut(ev, born, args)
    return Val(born, frame, at)


def _cut(ev: Evaluator, born: Born, args: Arguments) -> Born:
    """`time.strftime("%Y-%m")` is a window."""
    for lazy in args.positional[:1]:
        for val in ev.resolve(lazy):
            if (
                isinstance(val.what, Known)
                and isinstance(val.what.value, str)
                and "%" in val.what.value
            ):
                return of_format(born, val.what.value)
    return born


def _through_edge(ev: Evaluator, name: str, args: Arguments, frame: Frame, at: int) -> Vals | None:
    """A call that calls the function it is given gives what the function gives."""
    edge = ev.catalog.edge(name)
    if edge is not None:
        function, handed = handed_over(ev, edge, args)
        if function is None:
            return None
        if edge.gives == "partial":
            return tuple(_partial(val, handed, frame, at) for val in ev.resolve(function))
        if edge.arguments == "each":
            items = tuple(
                Lazy(frame, None, known=ev.invoke(val, handed, frame, at))
                for val in ev.resolve(function)
            )
            return (Val(Many(items), frame, at),)
        if edge.gives == "nothing":
            return (Val(Known(None), frame, at),)
        return tuple(v for val in ev.resolve(function) for v in ev.invoke(val, handed, frame, at))
    for context in ev.catalog.calls(name):
        if context.category in ("retry", "transaction", "workflow"):
            function, handed = handed_over(ev, context, args)
            if function is not None:
                return tuple(
                    v for val in ev.resolve(function) for v in ev.invoke(val, handed, frame, at)
                )
    return None


def _partial(val: Val, handed: Arguments, frame: Frame, at: int) -> Val:
    if isinstance(val.what, Callable_):
        given = joined(val.what.given, handed)
        return Val(Callable_(val.what.ref, val.what.closure, val.what.this, given), frame, at)
    return Val(Partial(val, handed, frame, at), frame, at)


def handed_over(
    ev: Evaluator, model: EdgeModel | ContextModel, args: Arguments
) -> tuple[Lazy | None, Arguments]:
    """The function that a call gets as an argument, and the arguments that it will be called with."""
    function: Lazy | None = None
    position = -1
    for key in model.callable:
        function = argument(args, key)
        if function is not None:
            position = int(key) if key.isdigit() else -1
            break
    if function is None:
        return None, Arguments()
    rest = args.positional[position + 1 :]
    match model.arguments:
        case "none":
            return function, Arguments()
        case "each":
            return function, Arguments(
                tuple(Lazy(z.frame, z.expr, (*z.path, "[*]"), z.known) for z in rest)
            )
        case "packed":
            return function, unpacked(ev, args, model.packed_args, model.packed_kwargs)
        case _:
            packs = {*model.packed_args, *model.packed_kwargs}
            taken = {*model.own_keywords, *model.callable, *packs}
            named = tuple((key, lazy) for key, lazy in args.named if key not in taken)
            packed = unpacked(ev, args, tuple(k for k in packs if not k.isdigit()), ())
            if not rest and (packed.positional or packed.star):
                return function, Arguments(packed.positional, named, packed.star, packed.double)
            return function, Arguments(rest, named, args.star, args.double)


def unpacked(
    ev: Evaluator, args: Arguments, keys: tuple[str, ...], named_keys: tuple[str, ...]
) -> Arguments:
    """`args=(…)`, `kwargs={…}` as arguments; `keys` name the keywords or positions that hold them."""
    first = next((a for key in keys if (a := argument(args, key)) is not None), None)
    second = next((a for key in named_keys if (a := argument(args, key)) is not None), None)
    positional: tuple[Lazy, ...] = ()
    star: tuple[Lazy, ...] = ()
    if first is not None:
        vals = ev.resolve(first)
        if (
            len(vals) == 1
            and isinstance(vals[0].what, Row)
            and not any(s for _, s in vals[0].what.items)
        ):
            positional = tuple(lazy for lazy, _ in vals[0].what.items)
        else:
            star = (first,)
    return Arguments(positional, (), star, (second,) if second is not None else ())


def _result(
    ev: Evaluator,
    name: str,
    of: Object | None,
    args: Arguments,
    frame: Frame,
    at: int,
    expr: ir.Call | None,
) -> Val:
    """An object whose class is told by the models, or by the name itself."""
    for model in ev.catalog.returns_call(name):
        if all(any_holds(ev, (f"{key}={value}",), args) for key, value in model.when):
            if model.gives == "builtins.dict":
                return Val(Table(()), frame, at)
            return Val(Object(model.gives, name, expr, args), frame, at)
    owner, _, last = name.rpartition(".")
    if last[:1].isupper():
        return Val(Object(name, name, expr, args), frame, at)
    if of is None and owner.rpartition(".")[2][:1].isupper():
        return Val(Object(owner, name, expr, args), frame, at)
    return Val(Object(f"{name}()", name, expr, args), frame, at)


# --- Python's own functions


def _first(ev: Evaluator, args: Arguments, frame: Frame, at: int) -> Vals:
    """Functions that give the items of their argument (`list`, `sorted`, `iter`)."""
    if not args.positional:
        return (Val(Row(()), frame, at),)
    return ev.resolve(args.positional[0])


def _dict(ev: Evaluator, args: Arguments, frame: Frame, at: int) -> Vals:
    entries: list[tuple[Lazy | str | None, Lazy]] = [(None, lazy) for lazy in args.positional]
    entries += [(None, lazy) for lazy in args.double]
    entries += list(args.named)
    return (Val(Table(tuple(entries)), frame, at),)


def _derived(name: str) -> Callable[[Evaluator, Arguments, Frame, int], Vals]:
    def call(ev: Evaluator, args: Arguments, frame: Frame, at: int) -> Vals:
        return (Val(Text(name, args.positional + args.star), frame, at),)

    return call


def _int(ev: Evaluator, args: Arguments, frame: Frame, at: int) -> Vals:
    """`int(time.time() / 3600)` is a window."""
    found: list[Val] = []
    for lazy in args.positional[:1]:
        for val in ev.resolve(lazy):
            what = val.what
            if isinstance(what, Text) and what.op == "/" and len(what.parts) == 2:
                quotients = [
                    quotient(ev, left, what.parts[1]) for left in ev.resolve(what.parts[0])
                ]
                told = [each for each in quotients if each is not None]
                if told:
                    found.extend(told)
                    continue
            found.append(Val(Text("int", (Lazy(frame, None, known=(val,)),)), frame, at, val.needs))
    return tuple(found)


def _map(ev: Evaluator, args: Arguments, frame: Frame, at: int) -> Vals:
    if len(args.positional) < 2:
        return (Val(Unknown("map"), frame, at),)
    function, *iterables = args.positional
    items = tuple(Lazy(z.frame, z.expr, (*z.path, "[*]"), z.known) for z in iterables)
    made: list[Lazy] = []
    for val in ev.resolve(function):
        if isinstance(val.what, Callable_ | Partial | External | Type):
            made.append(Lazy(frame, None, known=ev.invoke(val, Arguments(items), frame, at)))
    return (Val(Many(tuple(made) or items), frame, at),)


def _filter(ev: Evaluator, args: Arguments, frame: Frame, at: int) -> Vals:
    return ev.resolve(args.positional[1]) if len(args.positional) > 1 else ()


def _zip(ev: Evaluator, args: Arguments, frame: Frame, at: int) -> Vals:
    items = tuple(
        (Lazy(z.frame, z.expr, (*z.path, "[*]"), z.known), False) for z in args.positional
    )
    return (Val(Many((Lazy(frame, None, known=(Val(Row(items), frame, at),)),)), frame, at),)


def _enumerate(ev: Evaluator, args: Arguments, frame: Frame, at: int) -> Vals:
    count = Val(_number_of(ev, args), frame, at)
    items = args.positional[:1]
    row = Row(
        (
            (Lazy(frame, None, known=(count,)), False),
            *((Lazy(z.frame, z.expr, (*z.path, "[*]"), z.known), False) for z in items),
        )
    )
    return (Val(Many((Lazy(frame, None, known=(Val(row, frame, at),)),)), frame, at),)


def _number_of(ev: Evaluator, args: Arguments) -> Born:
    """The number of an item: of a list that is read anew it names another item in the next run."""
    for lazy in args.positional[:1]:
        for val in ev.resolve(lazy):
            made = val.what.made if isinstance(val.what, Object) else ""
            if isinstance(val.what, Manager) or (made and ev.catalog.work(made)):
                return Born("delivery", "the number of a row in a list that is read anew", "hop")
    return Born("counter", "enumerate")


def _range(ev: Evaluator, args: Arguments, frame: Frame, at: int) -> Vals:
    count = Val(Born("counter", "range"), frame, at)
    return (Val(Many((Lazy(frame, None, known=(count,)),)), frame, at),)


def _next(ev: Evaluator, args: Arguments, frame: Frame, at: int) -> Vals:
    if not args.positional:
        return ()
    found = ev.access(ev.resolve(args.positional[0]), "[*]")
    return (*found, *(v for lazy in args.positional[1:2] for v in ev.resolve(lazy)))


def _getattr(ev: Evaluator, args: Arguments, frame: Frame, at: int) -> Vals:
    if len(args.positional) < 2:
        return ()
    found: list[Val] = []
    for name in ev.resolve(args.positional[1]):
        if isinstance(name.what, Known) and isinstance(name.what.value, str):
            found.extend(ev.access(ev.resolve(args.positional[0]), f".{name.what.value}"))
    vague = not found or any(isinstance(v.what, Unknown) for v in found)
    if vague and len(args.positional) > 2:
        found.extend(ev.resolve(args.positional[2]))
    return tuple(found) or (Val(Unknown("getattr"), frame, at),)


def _super(ev: Evaluator, args: Arguments, frame: Frame, at: int) -> Vals:
    scope: Frame | None = frame
    while scope is not None:
        if isinstance(scope.owner, FunctionRef):
            function = ev.program.function(scope.owner)
            if function.cls is not None and function.params:
                this = parameter(ev, scope, function.params[0].name)
                ref = ClassRef(scope.path, function.cls)
                return tuple(Val(Super(ref, v), frame, at) for v in this) or (
                    Val(Super(ref, None), frame, at),
                )
        scope = scope.closure
    return (Val(Unknown("super"), frame, at),)


def _import_module(ev: Evaluator, args: Arguments, frame: Frame, at: int) -> Vals:
    for lazy in args.positional[:1]:
        for val in ev.resolve(lazy):
            if isinstance(val.what, Known) and isinstance(val.what.value, str):
                stmt = ir.Import(at, val.what.value, val.what.value, True)
                return import_target(ev, frame, at, ev.program.imported(stmt, frame.path))
    return (Val(Unknown("import_module"), frame, at),)


def _fields(ev: Evaluator, args: Arguments, frame: Frame, at: int) -> Vals:
    """`dataclasses.asdict(x)`, `vars(x)`."""
    found: list[Val] = []
    for lazy in args.positional[:1]:
        for val in ev.resolve(lazy):
            what = val.what
            while isinstance(what, Changed) and what.base:
                what = what.base[0].what
            found.append(dumped(ev, val, what) if isinstance(what, Instance) else val)
    return tuple(found)


def _replace(ev: Evaluator, args: Arguments, frame: Frame, at: int) -> Vals:
    """`dataclasses.replace(x, **changes)`."""
    found: list[Val] = []
    for lazy in args.positional[:1]:
        for val in ev.resolve(lazy):
            if isinstance(val.what, Instance) and val.what.args is not None:
                old = val.what.args
                named = {**dict(old.named), **dict(args.named)}
                merged = Arguments(old.positional, tuple(named.items()), old.star, old.double)
                made = Instance(
                    val.what.ref, "made", val.what.frame, val.what.at, merged, val.what.record
                )
                found.append(Val(made, val.frame, val.at))
            else:
                found.append(val)
    return tuple(found)


def only_passes(name: str) -> bool:
    """Python's own function that hands its argument on and calls nothing (`typing.cast`)."""
    return name in _BUILTINS


_BUILTINS: dict[str, Callable[[Evaluator, Arguments, Frame, int], Vals]] = {
    **{
        f"builtins.{name}": _first
        for name in ("list", "tuple", "set", "frozenset", "sorted", "reversed", "iter", "aiter")
    },
    **{
        name: _first
        for name in ("copy.copy", "copy.deepcopy", "typing.cast", "tqdm.tqdm", "itertools.chain")
    },
    "typing.cast": lambda ev, args, frame, at: _filter(ev, args, frame, at),
    "builtins.dict": _dict,
    "collections.OrderedDict": _dict,
    "builtins.str": _derived("str"),
    "builtins.int": _int,
    "builtins.map": _map,
    "builtins.filter": _filter,
    "builtins.zip": _zip,
    "builtins.enumerate": _enumerate,
    "builtins.range": _range,
    "itertools.count": _range,
    "builtins.next": _next,
    "builtins.anext": _next,
    "builtins.getattr": _getattr,
    "builtins.super": _super,
    "importlib.import_module": _import_module,
    "builtins.__import__": _import_module,
    "builtins.vars": _fields,
    "dataclasses.asdict": _fields,
    "attrs.asdict": _fields,
    "attr.asdict": _fields,
    "dataclasses.replace": _replace,
    "attrs.evolve": _replace,
}
