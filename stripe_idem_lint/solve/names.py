"""What a name gives where it is read: the definitions that reach it, in its function, its closures, its module and others."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from stripe_idem_lint.ir import nodes as ir
from stripe_idem_lint.link.flow import FILLING, Def
from stripe_idem_lint.link.program import ClassRef, FunctionRef, ModuleRef
from stripe_idem_lint.link.program import External as Outside
from stripe_idem_lint.solve.alternatives import in_process, missing, present
from stripe_idem_lint.solve.classes import annotated, class_member, takes_receiver
from stripe_idem_lint.solve.decorators import function_value
from stripe_idem_lint.solve.origin import UNSTABLE, sources
from stripe_idem_lint.solve.parameters import parameter
from stripe_idem_lint.solve.persistence import stored_by_name
from stripe_idem_lint.solve.values import (
    Arguments,
    Born,
    Callable_,
    Changed,
    External,
    File,
    Frame,
    Hole,
    Instance,
    Lazy,
    Many,
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


def lookup(ev: Evaluator, frame: Frame, name: str, at: int) -> Vals:
    """What a name may be where it is read."""
    definitions = frame.flow.reaching(name, at) if name not in frame.flow.outer else ()
    if definitions:
        return ev.defined_by(frame, definitions)
    if name in frame.flow.everything and name not in frame.flow.outer and frame.owner is None:
        return ev.defined_by(frame, frame.flow.final(name))
    if name in frame.flow.outer:
        return _shared(ev, frame, name, at)
    return _outer(ev, frame, name, at)


def _shared(ev: Evaluator, frame: Frame, name: str, at: int) -> Vals:
    """A `global` or `nonlocal` name: what was put into it while it was empty stays there."""
    assigned = [d for d in frame.flow.everything.get(name, ()) if d.kind == "value"]
    guarded = [
        d
        for d in assigned
        if any(isinstance(n.value, ir.Name) and n.value.id == name for n in d.needs)
    ]
    if not guarded:
        reaching = frame.flow.reaching(name, at)
        return ev.defined_by(frame, reaching) if reaching else _outer(ev, frame, name, at)
    kept = [v for d in guarded for v in ev.defined(frame, d)]
    if frame.closure is None or name not in frame.closure.flow.everything:
        kept = [in_process(v) for v in kept]
    else:
        place = ev.program.function(frame.owner).at if isinstance(frame.owner, FunctionRef) else at
        kept = [Val(w, frame.closure, place, sure=True) for v in kept for w in _drawn(ev, v)]
    return (*kept, *present(_outer(ev, frame, name, at)))


def _drawn(ev: Evaluator, val: Val) -> Iterator[Born]:
    """The births in a value, apart from where they lie."""
    for source in sources(ev, (val,)):
        kind = source.kind if source.kind in UNSTABLE else "stable"
        yield Born(kind, f"{source.text}, kept from the first time", source.scope)


def _outer(ev: Evaluator, frame: Frame, name: str, at: int = -1) -> Vals:
    """A name of an enclosing function, of the module, or a builtin."""
    inner: Frame = frame
    scope = frame.closure
    while scope is not None:
        if name in scope.flow.everything and name not in scope.flow.outer:
            return _closed_over(ev, scope, name, inner)
        inner, scope = scope, scope.closure
    module = ev.module_frame(frame.path)
    if name in module.flow.everything and frame is not module:
        return ev.defined_by(module, module.flow.final(name)) + _set_as_global(ev, frame.path, name)
    found = starred(ev, module, name)
    if found:
        return found
    return (Val(External(f"builtins.{name}"), frame, at),)


def _set_as_global(ev: Evaluator, path: str, name: str) -> Vals:
    """What functions put into a module's name (`global name`): kept as long as the process."""
    found: list[Val] = []
    for ref in ev.program.setters(path).get(name, ()):
        frame = ev.open_frame(ref)
        assigned = [d for d in frame.flow.everything.get(name, ()) if d.kind == "value"]
        found.extend(in_process(v) for v in ev.defined_by(frame, assigned))
    return tuple(found)


def _closed_over(ev: Evaluator, scope: Frame, name: str, inner: Frame) -> Vals:
    """A name of the enclosing function: as it stands where the inner one is made, if nothing changes it later."""
    if isinstance(inner.owner, FunctionRef):
        made = ev.program.function(inner.owner).at
        reaching = scope.flow.reaching(name, made)
        if reaching and all(d.at <= made for d in scope.flow.everything[name]):
            return ev.defined_by(scope, reaching)
    final = scope.flow.final(name)
    if len(final) == 1 and final[0].kind in FILLING | {"reset"}:
        return ev.defined_by(scope, final)
    everything = [d for d in scope.flow.everything[name] if d.kind not in ("present", "missing")]
    changed = {id(b) for d in everything for b in d.base}
    return ev.defined_by(scope, tuple(d for d in everything if id(d) not in changed))


def starred(ev: Evaluator, module: Frame, name: str) -> Vals:
    for definition in module.flow.everything.get("*", ()):
        if isinstance(definition.stmt, ir.ImportFrom):
            target = ev.program.imported(
                ir.ImportFrom(
                    definition.at, definition.stmt.module, definition.stmt.level, name, name
                ),
                module.path,
            )
            vals = import_target(ev, module, definition.at, target)
            if any(not isinstance(v.what, External) for v in vals):
                return vals
    return ()


def definition_values(ev: Evaluator, frame: Frame, definition: Def) -> Vals:
    d = definition
    match d.kind:
        case "value":
            told = _told_by(ev, frame, d, ev.resolve(Lazy(frame, d.value, d.path)))
            return stored_by_name(ev, frame, d, told) if d.name else told
        case "element":
            return _element(ev, frame, d)
        case "entered":
            return _entered(ev, frame, d)
        case "param":
            return parameter(ev, frame, d.name)
        case "pattern":
            return ev.resolve(Lazy(frame, d.value, ("[*]",)))
        case "import" | "from":
            assert isinstance(d.stmt, ir.Import | ir.ImportFrom)
            return import_target(ev, frame, d.at, ev.program.imported(d.stmt, frame.path))
        case "function":
            assert isinstance(d.stmt, ir.Define)
            return function_value(ev, frame, FunctionRef(frame.path, d.stmt.function))
        case "class":
            assert isinstance(d.stmt, ir.DefineClass)
            return (Val(Type(ClassRef(frame.path, d.stmt.cls)), frame, d.at),)
        case "under":
            return ev.defined_by(frame, d.base)
        case "handed":
            return _handed_over(ev, frame, d)
        case "augment":
            return _augmented(ev, frame, d)
        case "present" | "missing" if not d.path:
            base = ev.defined_by(frame, d.base)
            if d.kind == "present":
                return present(base)
            return missing(base)
        case (
            "item" | "attribute" | "update" | "default" | "append" | "present" | "missing" | "reset"
        ):
            return _changed(ev, frame, d)
        case _:
            return (Val(Unknown("a caught exception"), frame, d.at),)


def _told_by(ev: Evaluator, frame: Frame, d: Def, vals: Vals) -> Vals:
    """Values that cannot be told are what the annotation says they are."""
    annotation = d.stmt.annotation if isinstance(d.stmt, ir.Assign) else None
    if annotation is None or not all(isinstance(v.what, Unknown) for v in vals):
        return vals
    return annotated(ev, ev.module_frame(frame.path), annotation, frame) or vals


def _changed(ev: Evaluator, frame: Frame, d: Def) -> Vals:
    base = ev.defined_by(frame, d.base) if d.base or not d.root else _outer(ev, frame, d.root)
    if d.kind == "reset":
        if d.name in ev.catalog.reloads:
            return tuple(_reloaded(v) for v in base)
        if not any(isinstance(v.what, Instance) for v in base):
            return base
    if not base and d.kind in ("item", "attribute", "update", "default"):
        base = (Val(Unknown("a changed value"), frame, d.at),)
    return (Val(Changed(d, frame, base), frame, d.at),)


def _handed_over(ev: Evaluator, frame: Frame, d: Def) -> Vals:
    """A value after a call that it was handed to: a function of the program is looked into, an unknown one may fill it."""
    base = ev.defined_by(frame, d.base)
    fillable = [v for v in base if isinstance(v.what, Table | Row | Many | Instance | Changed)]
    if not fillable or not isinstance(d.value, ir.Call):
        return base
    found: list[Val] = []
    for callee in ev.values(frame, d.value.func):
        match callee.what:
            case Callable_():
                found.extend(_filled_by(ev, frame, d, d.value, callee.what) or base)
            case External(name) if _is_library(ev, name):
                found.extend(base)
            case Unknown() | Hole() | External():
                found.append(Val(Changed(d, frame, base), frame, d.at))
            case _:
                found.extend(base)
    return tuple(dict.fromkeys(found)) or base


def _is_library(ev: Evaluator, name: str) -> bool:
    root = name.partition(".")[0]
    return root == "builtins" or root in sys.stdlib_module_names or root in ev.catalog.libraries


def _filled_by(ev: Evaluator, frame: Frame, d: Def, call: ir.Call, what: Callable_) -> Vals:
    """What the function's parameter holds at its end; empty if it leaves the object alone or binds it anew."""
    function = ev.program.function(what.ref)
    if frame.depth >= 4 or function.generator:
        return ()
    names = [p.name for p in function.params]
    if not d.name.isdigit():
        name = d.name if d.name in names else ""
    else:
        number = int(d.name) + (1 if takes_receiver(function) else 0)
        name = names[number] if number < len(names) else ""
    flow = ev.program.function_flow(what.ref)
    kinds = {each.kind for each in flow.everything.get(name, ())}
    if not kinds & FILLING or kinds & {"value", "element", "entered", "augment"}:
        return ()
    args = Arguments.of(frame, call.args)
    inner = ev.bound_frame(what.ref, frame, call.at, args, what.closure, what.this)
    return ev.defined_by(inner, flow.final(name))


def _reloaded(val: Val) -> Val:
    what = val.what
    while isinstance(what, Changed) and what.base:
        what = what.base[0].what
    if isinstance(what, Instance):
        return Val(Instance(what.ref, "loaded", record=what.record), val.frame, val.at, val.needs)
    return Val(Unknown("read again from the database"), val.frame, val.at, val.needs)


def _augmented(ev: Evaluator, frame: Frame, d: Def) -> Vals:
    """`n += 1` counts; `key += x` joins."""
    assert isinstance(d.value, ir.Join)
    amount = d.value.parts[1]
    if d.value.op in "+-" and isinstance(amount, ir.Const) and isinstance(amount.value, int):
        return (Val(Born("counter", f"counting by {amount.value}"), frame, d.at),)
    base = Lazy(frame, None, known=ev.defined_by(frame, d.base))
    return (Val(Text(d.value.op, (base, Lazy(frame, amount))), frame, d.at),)


def _element(ev: Evaluator, frame: Frame, d: Def) -> Vals:
    vals = ev.access(ev.values(frame, d.value), "[*]")
    for step in d.path:
        vals = ev.access(vals, step)
    counted = tuple(
        Val(Born("counter", v.what.text), frame, d.at, v.needs)
        if isinstance(v.what, Born) and v.what.kind == "counter"
        else v
        for v in vals
    )
    return counted or (Val(Unknown("an item of an iteration"), frame, d.at),)


def _entered(ev: Evaluator, frame: Frame, d: Def) -> Vals:
    found: list[Val] = []
    for val in ev.values(frame, d.value):
        if isinstance(val.what, Many):
            found.extend(ev.access((val,), "[*]"))
        elif isinstance(val.what, Instance):
            entered = class_member(ev, val.what.ref, "__enter__") or class_member(
                ev, val.what.ref, "__aenter__"
            )
            got = (
                ev.inline(Callable_(entered, None, val), Arguments(), frame, d.at)
                if entered
                else ()
            )
            found.extend(got or (val,))
        else:
            found.append(val)
    vals = tuple(found)
    for step in d.path:
        vals = ev.access(vals, step)
    return vals


def import_target(
    ev: Evaluator, frame: Frame, at: int, target: ModuleRef | Outside | tuple[str, str]
) -> Vals:
    match target:
        case ModuleRef(path):
            if ev.program.module(path) is None:
                return (Val(Unknown("a module that cannot be analysed"), frame, at),)
            return (Val(File(path), frame, at),)
        case Outside(name):
            return (Val(External(ev.catalog.canonical(name)), frame, at),)
        case (path, name):
            if ev.program.module(path) is None:
                return (Val(Unknown("a module that cannot be analysed"), frame, at),)
            return ev.access((Val(File(path), frame, at),), f".{name}")
