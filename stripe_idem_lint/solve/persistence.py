"""What makes a drawn value stable: it is put where none was yet, and stored before it is sent.

    if not order.ref:                     ref = order.ref or uuid4().hex      row = Token.objects.filter(order=o).first()
        order.ref = uuid4().hex           if order.ref != ref:                if row is None:
        order.save()                          order.ref = ref                     row = Token.objects.create(order=o, …)
                                              order.save()
                                                                              if store.set(name, mine, nx=True): …
The next run finds what this one stored. Without the test, without the save, or with the save after the call, it does not.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from stripe_idem_lint.ir import nodes as ir
from stripe_idem_lint.ir.text import text as spelled
from stripe_idem_lint.link.flow import Def, root_of
from stripe_idem_lint.link.program import ClassRef, FunctionRef
from stripe_idem_lint.solve.classes import declaration
from stripe_idem_lint.solve.options import any_holds
from stripe_idem_lint.solve.values import (
    Arguments,
    Born,
    Callable_,
    Changed,
    External,
    Frame,
    Instance,
    Object,
    Text,
    Unknown,
    Val,
    Vals,
)

if TYPE_CHECKING:
    from stripe_idem_lint.solve.evaluate import Evaluator


def stored_in_place(ev: Evaluator, what: Changed, place: tuple[str, ...], vals: Vals) -> Vals:
    """The values put into `place` of an object: kept from then on where it was empty and is saved in time."""
    change = what.change
    if any(isinstance(v.what, Instance) and v.what.how in ("created", "made") for v in what.base):
        return vals
    name = change.root + "".join(place)
    guarded = any(
        fills(need.value, place) or _asks_for(what.frame, need.value, name, change.at)
        for need in change.needs
    )
    if not guarded and not _is_fallback(change.value, name):
        return vals
    return kept(vals) if _saved_after(ev, what.frame, change.at, name) else vals


def stored_by_name(ev: Evaluator, frame: Frame, d: Def, vals: Vals) -> Vals:
    """The values bound to a name that is stored too: see the module's second and third example."""
    if any(isinstance(v.what, Instance) and v.what.how in ("created", "made") for v in vals):
        return kept(vals) if _read_before(ev, frame, d) else vals
    if d.value is None or not any(isinstance(v.what, Born | Text) for v in vals):
        return vals
    if not isinstance(d.value, ir.Call | ir.Attr | ir.Bool | ir.Join | ir.Format | ir.Item):
        return vals
    for stmt, target in _put_into(body_of(ev, frame), d):
        name = spelled(target)
        asked = any(_asks_for(frame, need.value, name, d.at, d.name) for need in d.needs)
        if not asked and not _is_fallback(d.value, name):
            continue
        owners = ev.values(frame, target.base)
        if any(isinstance(o.what, Instance) and o.what.how in ("created", "made") for o in owners):
            continue
        if _saved_after(ev, frame, stmt.at, name):
            return kept(vals)
    return kept(vals) if _claimed(ev, frame, d) else vals


def kept(vals: Vals) -> Vals:
    """The values as the next run reads them back."""
    return tuple(map(_kept, vals))


def _kept(val: Val) -> Val:
    match val.what:
        case Born() | Text():
            return Val(Born("stable", "stored while empty"), val.frame, val.at)
        case Instance(ref, _, _, _, _, record):
            return Val(Instance(ref, "found", record=record), val.frame, val.at)
        case Object() | Changed():
            return Val(Unknown("stored while empty"), val.frame, val.at)
        case _:
            return val


def fills(asked: ir.Expr, place: tuple[str, ...]) -> bool:
    """A condition asks for the place, or for something that holds it, behind whatever name."""
    split = root_of(asked)
    return split is not None and bool(split[1]) and split[1] == place[: len(split[1])]


def body_of(ev: Evaluator, frame: Frame) -> tuple[ir.Stmt, ...]:
    """The statements that run in a frame."""
    match frame.owner:
        case FunctionRef():
            return ev.program.function(frame.owner).body
        case ClassRef():
            return ev.program.cls(frame.owner).body
        case _:
            module = ev.program.module(frame.path)
            return module.body if module is not None else ()


def _asks_for(frame: Frame, asked: ir.Expr, name: str, at: int, own: str = "") -> bool:
    """The condition asks for the attribute called `name`, or for a name that was read from it before `at`."""
    if isinstance(asked, ir.Walrus):
        return spelled(asked.value) == name
    if spelled(asked) == name:
        return True
    if not isinstance(asked, ir.Name) or (own and asked.id != own):
        return False
    earlier = frame.flow.everything.get(asked.id, ())
    return any(d.value is not None and d.at < at and _reads(d.value, name) for d in earlier)


def _reads(value: ir.Expr, name: str) -> bool:
    return spelled(value.value if isinstance(value, ir.Walrus) else value) == name


def _is_fallback(value: ir.Expr | None, name: str) -> bool:
    """`order.ref or uuid4()`."""
    return isinstance(value, ir.Bool) and value.op == "or" and spelled(value.left) == name


def _put_into(body: tuple[ir.Stmt, ...], d: Def) -> Iterator[tuple[ir.Assign, ir.Attr | ir.Item]]:
    """Where the value of a name is put into an attribute or item: by name, or in the same statement."""
    for stmt in ir.statements(body):
        if not isinstance(stmt, ir.Assign) or stmt.value is None:
            continue
        by_name = isinstance(stmt.value, ir.Name) and stmt.value.id == d.name and stmt.at > d.at
        if by_name or (stmt.value is d.value and len(stmt.targets) > 1):
            for target in stmt.targets:
                if isinstance(target, ir.Attr | ir.Item):
                    yield stmt, target


def _saved_after(ev: Evaluator, frame: Frame, at: int, name: str) -> bool:
    """A save, a commit or an update with the value follows in the same body, before anything is sent."""
    for call in _calls_after(body_of(ev, frame), at):
        if isinstance(call.func, ir.Attr):
            if call.func.name in ev.catalog.saves or _updates(ev, call, name):
                return True
            if _sends(ev, frame, call.func):
                return False
        if _saves_inside(ev, frame, call):
            return True
    return False


def _calls_after(body: tuple[ir.Stmt, ...], at: int) -> Iterator[ir.Call]:
    for stmt in ir.statements(body):
        if stmt.at > at:
            for expr in ir.expressions(stmt):
                yield from (node for node in ir.walk(expr) if isinstance(node, ir.Call))


def _updates(ev: Evaluator, call: ir.Call, name: str) -> bool:
    """`Order.objects.filter(pk=order.pk).update(ref=order.ref)`."""
    assert isinstance(call.func, ir.Attr)
    return call.func.name in ev.catalog.words.store and any(
        arg.name is not None and spelled(arg.value) == name for arg in call.args
    )


def _saves_inside(ev: Evaluator, frame: Frame, call: ir.Call) -> bool:
    """A function of the program that is handed something, and saves."""
    if not call.args or isinstance(call.func, ir.Call):
        return False
    for callee in ev.values(frame, call.func):
        if isinstance(callee.what, Callable_):
            inner = ev.program.function(callee.what.ref).body
            if any(
                isinstance(c.func, ir.Attr) and c.func.name in ev.catalog.saves
                for c in _calls_after(inner, -1)
            ):
                return True
    return False


def _sends(ev: Evaluator, frame: Frame, func: ir.Attr) -> bool:
    """The call goes to the service: what is saved after it is saved too late."""
    return func.name in ev.catalog.verbs and any(
        isinstance(v.what, External) and ev.catalog.sink(v.what.name) is not None
        for v in ev.values(frame, func)
    )


def _read_before(ev: Evaluator, frame: Frame, d: Def) -> bool:
    """A new row stands where the same name was read from the database first: the next run reads it."""
    others = [
        o for o in frame.flow.everything.get(d.name, ()) if o is not d and o.value is not None
    ]
    asked = any(isinstance(n.value, ir.Name) and n.value.id == d.name for n in d.needs)
    tried = _in_one_try(body_of(ev, frame), d, others)
    if not asked and not tried:
        return False
    rows = [v.what for v in ev.values(frame, d.value) if isinstance(v.what, Instance)]
    created = {row.ref for row in rows}
    unsaved = any(row.how == "made" for row in rows)
    if unsaved and not _saved_after(ev, frame, d.at, ""):
        return False
    if not all(_found_by_unique(ev, ref, other.value) for ref in created for other in others):
        return False
    for other in others if asked else tried:
        for val in ev.values(frame, other.value):
            match val.what:
                case Instance(ref, "loaded" | "found") if ref in created:
                    return True
                case Unknown() | Object() | External() if unsaved or asked:
                    return True
                case _:
                    continue
    return False


def _found_by_unique(ev: Evaluator, ref: ClassRef, read: ir.Expr | None) -> bool:
    """The query asks for a field that the database lets stand only once, as far as the class tells: without that two runs at
    one time each make a row."""
    asked = {name for name in _asked_fields(read) if declaration(ev, ref, name) is not None}
    return not asked or any(_stands_once(ev, ref, name) for name in asked)


def _asked_fields(read: ir.Expr | None) -> Iterator[str]:
    """The fields in `filter(order=…, at__gt=…)` and `where(Token.order == …)`."""
    for node in ir.walk(read) if read is not None else ():
        for arg in node.args if isinstance(node, ir.Call) else ():
            if arg.name is not None:
                yield arg.name.partition("__")[0]
            elif isinstance(arg.value, ir.Compare) and isinstance(arg.value.left, ir.Attr):
                yield arg.value.left.name


def _stands_once(ev: Evaluator, ref: ClassRef, field: str) -> bool:
    """The field's own declaration says so, or another statement of the class that names it."""
    for stmt in _class_statements(ev, ref):
        nodes = [node for expr in ir.expressions(stmt) for node in ir.walk(expr)]
        names_it = any(
            (isinstance(n, ir.Const) and n.value == field)
            or (isinstance(n, ir.Name) and n.id == field)
            for n in nodes
        )
        if names_it and any(_says_unique(ev, node) for node in nodes):
            return True
    return False


def _says_unique(ev: Evaluator, node: ir.Expr) -> bool:
    match node:
        case ir.Name(_, name) | ir.Attr(_, _, name):
            names = [name]
        case ir.Call(_, _, args):
            given = [a for a in args if not (isinstance(a.value, ir.Const) and not a.value.value)]
            names = [a.name for a in given if a.name is not None]
        case _:
            return False
    return any(piece in name.lower() for name in names for piece in ev.catalog.words.unique)


def _class_statements(ev: Evaluator, ref: ClassRef) -> Iterator[ir.Stmt]:
    """The statements of a class and of the classes inside it."""
    module = ev.program.module(ref.path)
    assert module is not None
    for stmt in ir.statements(ev.program.cls(ref).body):
        yield stmt
        if isinstance(stmt, ir.DefineClass):
            yield from ir.statements(module.classes[stmt.cls].body)


def _in_one_try(body: tuple[ir.Stmt, ...], d: Def, others: list[Def]) -> list[Def]:
    """The definitions that stand in the other part, body or handler, of a `try` around `d`."""
    found = []
    for stmt in ir.statements(body):
        if isinstance(stmt, ir.Try):
            inside = {s.at for s in ir.statements(stmt.body)}
            caught = {s.at for h in stmt.handlers for s in ir.statements(h.body)}
            for other in others:
                pair = (d.at in inside, other.at in caught), (d.at in caught, other.at in inside)
                if any(map(all, pair)):
                    found.append(other)
    return found


def _claimed(ev: Evaluator, frame: Frame, d: Def) -> bool:
    """A test writes the name's value where none was yet (`if store.set(name, mine, nx=True):`)."""
    for stmt in ir.statements(body_of(ev, frame)):
        if stmt.at <= d.at:
            continue
        for expr in ir.expressions(stmt):
            if not isinstance(stmt, ir.If) and not isinstance(expr, ir.Bool):
                continue
            for node in ir.walk(expr):
                handed = isinstance(node, ir.Call) and _is_handed(node, d.name)
                if handed and _writes_once(ev, frame, node):
                    return True
    return False


def _is_handed(call: ir.Call, name: str) -> bool:
    return any(isinstance(arg.value, ir.Name) and arg.value.id == name for arg in call.args)


def _writes_once(ev: Evaluator, frame: Frame, call: ir.Expr) -> bool:
    if not isinstance(call, ir.Call):
        return False
    args = Arguments.of(frame, call.args)
    for callee in ev.values(frame, call.func):
        lock = ev.catalog.lock(callee.what.name) if isinstance(callee.what, External) else None
        if lock is not None and (not lock.on_by or any_holds(ev, lock.on_by, args)):
            return len(call.args) > 1
    return False
