"""What an expression may be, asked for on demand: names, attributes, containers and calls across files.

`Evaluator.values(frame, expr)` gives the alternatives; everything else is in service of it. Calls of project functions are
evaluated in a new frame bound to the call's arguments, so that one helper with two callers keeps their values apart. Libraries
are known through the catalog alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from stripe_idem_lint.ir import nodes as ir
from stripe_idem_lint.link.flow import Def, facts, root_of
from stripe_idem_lint.link.program import (
    ClassRef,
    FunctionRef,
    ModuleRef,
    Program,
)
from stripe_idem_lint.link.program import (
    External as Outside,
)
from stripe_idem_lint.models.catalog import Catalog
from stripe_idem_lint.models.schema import ContextModel, RecordModel
from stripe_idem_lint.solve.values import (
    Arguments,
    Born,
    Callable_,
    Changed,
    Condition,
    External,
    File,
    Frame,
    Hole,
    Instance,
    Known,
    Lazy,
    Manager,
    Many,
    Method,
    Object,
    Partial,
    Row,
    Super,
    Table,
    Text,
    Type,
    Unknown,
    Val,
)

MOST = 24
"""Alternatives kept per expression."""
DEEPEST = 10
"""Frames below one another."""
FUEL = 600
"""Calls of project functions that one question may look into."""

if TYPE_CHECKING:
    from stripe_idem_lint.solve.origin import Source

Vals = tuple[Val, ...]


class Evaluator:
    """Answers questions about one program. Results are memoised; `forget` drops them between sinks."""

    def __init__(self, program: Program, catalog: Catalog) -> None:
        self.program = program
        self.catalog = catalog
        records = [record for file in catalog.files for record in file.record]
        self.saves = frozenset(name for record in records for name in record.save)
        self.reloads = frozenset(name for record in records for name in record.reload)
        self.dumps = frozenset(name for record in records for name in record.dump)
        self.resources = frozenset(
            name.rpartition(".")[0] for file in catalog.files for s in file.sink for name in s.call
        )
        self.resource_words = frozenset(name.rpartition(".")[2] for name in self.resources)
        rows = [record for record in records if record.row]
        self.identities = frozenset(name for record in rows for name in record.identity)
        self.creators = frozenset(
            route for record in rows for route in record.create if "." in route
        )
        self.replacers = frozenset(
            route for record in rows for route in record.replace if "." in route
        )
        self.replaced_by = frozenset(
            record.find_defaults for record in rows if record.find_defaults
        )
        self.libraries = frozenset(root for file in catalog.files for root in file.library.imports)
        self.verbs = frozenset(
            name.rpartition(".")[2]
            for file in catalog.files
            for names in (
                *(s.call for s in file.sink),
                *((*h.call, *h.method_call) for h in file.http),
            )
            for name in names
        )
        self.origins: dict[tuple[int, bool], tuple[Val, tuple[Source, ...]]] = {}
        self._memo: dict[tuple[int, int], tuple[Frame, ir.Expr, Vals]] = {}
        self._busy: set[tuple[int, int]] = set()
        self._made: dict[tuple[int, int], tuple[Frame, Def, Vals]] = {}
        self._fuel = FUEL
        self._frames: dict[tuple[str, object], Frame] = {}
        self._access_depth = 0
        self._typed: dict[FunctionRef, tuple[dict[int, str], bool]] = {}
        self._bases: dict[ClassRef, tuple[tuple[ClassRef, ...], tuple[str, ...]]] = {}

    # --- frames

    def module_frame(self, path: str) -> Frame:
        key = (path, None)
        if key not in self._frames:
            self._frames[key] = Frame(path, None, self.program.module_flow(path))
        return self._frames[key]

    def class_frame(self, ref: ClassRef) -> Frame:
        key = (ref.path, ref)
        if key not in self._frames:
            parent = self.program.cls(ref).parent
            closure = self.open_frame(FunctionRef(ref.path, parent)) if parent is not None else None
            self._frames[key] = Frame(ref.path, ref, self.program.class_flow(ref), closure=closure)
        return self._frames[key]

    def open_frame(self, ref: FunctionRef) -> Frame:
        """The function as somebody unknown may call it."""
        key = (ref.path, ref)
        if key not in self._frames:
            function = self.program.function(ref)
            closure = None
            if function.parent is not None:
                closure = self.open_frame(FunctionRef(ref.path, function.parent))
            self._frames[key] = Frame(
                ref.path, ref, self.program.function_flow(ref), closure=closure
            )
        return self._frames[key]

    def bound_frame(
        self,
        ref: FunctionRef,
        caller: Frame | None,
        site: int,
        args: Arguments | None,
        closure: Frame | None = None,
        this: Val | None = None,
    ) -> Frame:
        """The function as called at `site` of `caller`."""
        function = self.program.function(ref)
        if closure is None and function.parent is not None:
            closure = self.open_frame(FunctionRef(ref.path, function.parent))
        depth = caller.depth + 1 if caller is not None else 0
        return Frame(
            ref.path, ref, self.program.function_flow(ref), caller, site, args, closure, this, depth
        )

    def refuel(self) -> None:
        """A new question begins: it may look into `FUEL` calls."""
        self._fuel = FUEL

    def forget(self) -> None:
        """Drops remembered values when there are many."""
        if len(self._memo) > 200_000:
            self._memo.clear()
            self._made.clear()
            self.origins.clear()

    # --- expressions

    def values(self, frame: Frame, expr: ir.Expr | None) -> Vals:
        """The alternatives of `expr` in `frame`; empty when evaluation goes round in a circle."""
        if expr is None:
            return ()
        key = (id(frame), id(expr))
        known = self._memo.get(key)
        if known is not None:
            return known[2]
        if key in self._busy or len(self._busy) > 400:
            return ()
        self._busy.add(key)
        try:
            found = tuple(self._evaluate(frame, expr))[:MOST]
        finally:
            self._busy.discard(key)
        self._memo[key] = (frame, expr, found)
        return found

    def resolve(self, lazy: Lazy) -> Vals:
        """The alternatives of a lazy value."""
        vals = lazy.known if lazy.known is not None else self.values(lazy.frame, lazy.expr)
        for step in lazy.path:
            vals = self.access(vals, step)
        return vals

    def _evaluate(self, frame: Frame, expr: ir.Expr) -> Iterable[Val]:
        at = expr.at
        match expr:
            case ir.Const(_, value):
                return (Val(Known(value), frame, at),)
            case ir.Name(_, name):
                return self.lookup(frame, name, at)
            case ir.Attr(_, base, name):
                return self.access(self.values(frame, base), f".{name}")
            case ir.Item(_, base, index):
                return self._item(frame, base, index)
            case ir.Part(_, base):
                return self._part(frame, base)
            case ir.Call():
                return self._call(frame, expr)
            case ir.Join(_, op, parts):
                return self._join(frame, expr, op, parts)
            case ir.Format(_, value, spec, _):
                return self._format(frame, expr, value, spec)
            case ir.Bool(_, op, left, right):
                return self._bool(frame, op, left, right)
            case ir.Choice(_, test, then, other):
                return self._choice(frame, test, then, other)
            case ir.Unary(_, op, value):
                if op == "not":
                    return (Val(Unknown("a truth value"), frame, at),)
                return (Val(Text(op, (Lazy(frame, value),)), frame, at),)
            case ir.Mapping(_, entries):
                made = tuple(
                    (Lazy(frame, k) if k is not None else None, Lazy(frame, v)) for k, v in entries
                )
                return (Val(Table(made), frame, at),)
            case ir.Sequence(_, _, items):
                return (
                    Val(Row(tuple((Lazy(frame, i.value), bool(i.star)) for i in items)), frame, at),
                )
            case ir.Comprehension(_, "dict") if (filtered := _filtered(expr)) is not None:
                return self.values(frame, filtered)
            case ir.Comprehension(_, "dict") if (pairs := _spelled_out(expr)) is not None:
                made = tuple((Lazy(frame, key), Lazy(frame, value)) for key, value in pairs)
                return (Val(Table(made), frame, at),)
            case ir.Comprehension(_, "dict", key, element, _):
                entry = (Lazy(frame, key) if key is not None else None, Lazy(frame, element))
                return (Val(Table((entry,)), frame, at),)
            case ir.Comprehension(_, _, _, element, _):
                return (Val(Many((Lazy(frame, element),)), frame, at),)
            case ir.Lambda(_, index):
                return (Val(Callable_(FunctionRef(frame.path, index), frame), frame, at),)
            case ir.Await(_, value) | ir.Walrus(_, _, value):
                return self.values(frame, value)
            case ir.Compare() | ir.Yield() | ir.Opaque():
                return (Val(Unknown(type(expr).__name__.lower()), frame, at),)

    def _part(self, frame: Frame, base: ir.Expr) -> Iterator[Val]:
        for val in self.values(frame, base):
            if isinstance(val.what, Manager):
                yield Val(
                    Manager(val.what.ref, val.what.record, val.what.route + "[:]"),
                    frame,
                    base.at,
                    val.needs,
                )
            else:
                yield val

    def _item(self, frame: Frame, base: ir.Expr, index: ir.Expr) -> Vals:
        vals = self.values(frame, base)
        if isinstance(index, ir.Unary) and isinstance(index.value, ir.Const):
            return self.access(vals, f"[-{index.value.value}]")
        found: list[Val] = []
        for step in self._steps(frame, index):
            found.extend(self.access(vals, step))
        return tuple(found)

    def _steps(self, frame: Frame, index: ir.Expr) -> tuple[str, ...]:
        """The key as access steps: each constant it may be, else `[*]`."""
        keys = {
            f"[{val.what.value}]" if isinstance(val.what, Known) else "[*]"
            for val in self.values(frame, index)
        }
        return tuple(sorted(keys)) or ("[*]",)

    def _join(
        self, frame: Frame, expr: ir.Expr, op: str, parts: tuple[ir.Expr, ...]
    ) -> Iterator[Val]:
        if op == "//" and self._seconds(frame, parts[1]) >= 60:
            for val in self.values(frame, parts[0]):
                yield Val(coarser(val.what), frame, val.at, val.needs)
            return
        yield Val(Text(op, tuple(Lazy(frame, part) for part in parts)), frame, expr.at)

    def _seconds(self, frame: Frame, expr: ir.Expr) -> float:
        for val in self.values(frame, expr):
            if isinstance(val.what, Known) and isinstance(val.what.value, int | float):
                return float(val.what.value)
            if isinstance(val.what, Text) and val.what.op == "*":
                product = 1.0
                for part in val.what.parts:
                    product *= self._seconds(part.frame, part.expr) if part.expr is not None else 0
                return product
        return 0

    def _format(self, frame: Frame, expr: ir.Expr, value: ir.Expr, spec: str) -> Iterator[Val]:
        for val in self.values(frame, value):
            if "%" in spec and isinstance(val.what, Born) and val.what.kind == "clock":
                yield Val(of_format(val.what, spec), frame, val.at, val.needs)
            else:
                yield Val(Text("f", (Lazy(frame, value, known=(val,)),)), frame, expr.at, val.needs)

    def _bool(self, frame: Frame, op: str, left: ir.Expr, right: ir.Expr) -> Iterator[Val]:
        lefts = self.values(frame, left)
        if op == "and":
            yield from (v for v in lefts if is_missing(v))
            yield from self.values(frame, right)
            return
        yield from present(lefts)
        if any(never_missing(v) for v in lefts) and len(lefts) == 1:
            return
        condition = Condition(frame, left)
        for val in self.values(frame, right):
            yield Val(val.what, val.frame, val.at, (*val.needs, condition), val.sure)

    def _choice(self, frame: Frame, test: ir.Expr, then: ir.Expr, other: ir.Expr) -> Iterator[Val]:
        for branch, holds in ((then, True), (other, False)):
            told = list(facts(test, holds))
            needs = tuple(Condition(frame, expr) for expr, present in told if not present)
            here = {repr_of(expr) for expr, present in told if present}
            gone = {repr_of(expr) for expr, present in told if not present}
            for val in self.values(frame, branch):
                spelled = repr_of(branch)
                if spelled in here and is_missing(val):
                    continue
                if spelled in gone:
                    if is_missing(val):
                        yield val
                    continue
                yield Val(
                    val.what, val.frame, val.at, (*val.needs, *needs), val.sure or spelled in here
                )

    # --- names

    def lookup(self, frame: Frame, name: str, at: int) -> Vals:
        """What a name may be where it is read."""
        definitions = frame.flow.reaching(name, at) if name not in frame.flow.outer else ()
        if definitions:
            return self._all(frame, definitions)
        if name in frame.flow.everything and name not in frame.flow.outer and frame.owner is None:
            return self._all(frame, frame.flow.final(name))
        if name in frame.flow.outer:
            return self._shared(frame, name, at)
        return self._outer(frame, name, at)

    def _shared(self, frame: Frame, name: str, at: int) -> Vals:
        """A `global` or `nonlocal` name: what was put into it while it was empty stays there."""
        assigned = [d for d in frame.flow.everything.get(name, ()) if d.kind == "value"]
        guarded = [
            d
            for d in assigned
            if any(isinstance(n.value, ir.Name) and n.value.id == name for n in d.needs)
        ]
        if not guarded:
            reaching = frame.flow.reaching(name, at)
            return self._all(frame, reaching) if reaching else self._outer(frame, name, at)
        kept = [v for d in guarded for v in self.defined(frame, d)]
        if frame.closure is None or name not in frame.closure.flow.everything:
            kept = [in_process(v) for v in kept]
        else:
            place = (
                self.program.function(frame.owner).at
                if isinstance(frame.owner, FunctionRef)
                else at
            )
            kept = [Val(w, frame.closure, place, sure=True) for v in kept for w in self._drawn(v)]
        return (*kept, *present(self._outer(frame, name, at)))

    def _drawn(self, val: Val) -> Iterator[Born]:
        """The births in a value, apart from where they lie."""
        from stripe_idem_lint.solve.origin import UNSTABLE, sources

        for source in sources(self, (val,)):
            kind = source.kind if source.kind in UNSTABLE else "stable"
            yield Born(kind, f"{source.text}, kept from the first time", source.scope)

    def _outer(self, frame: Frame, name: str, at: int = -1) -> Vals:
        """A name of an enclosing function, of the module, or a builtin."""
        inner: Frame = frame
        scope = frame.closure
        while scope is not None:
            if name in scope.flow.everything and name not in scope.flow.outer:
                return self._closed_over(scope, name, inner)
            inner, scope = scope, scope.closure
        module = self.module_frame(frame.path)
        if name in module.flow.everything and frame is not module:
            return self._all(module, module.flow.final(name)) + self._set_as_global(
                frame.path, name
            )
        found = self._starred(module, name)
        if found:
            return found
        return (Val(External(f"builtins.{name}"), frame, at),)

    def _set_as_global(self, path: str, name: str) -> Vals:
        """What functions put into a module's name (`global name`): kept as long as the process."""
        module = self.program.module(path)
        found: list[Val] = []
        for function in module.functions if module is not None else ():
            ref = FunctionRef(path, function.index)
            if not any(
                isinstance(s, ir.Outer) and name in s.names for s in ir.statements(function.body)
            ):
                continue
            frame = self.open_frame(ref)
            assigned = [d for d in frame.flow.everything.get(name, ()) if d.kind == "value"]
            found.extend(in_process(v) for v in self._all(frame, assigned))
        return tuple(found)

    def _closed_over(self, scope: Frame, name: str, inner: Frame) -> Vals:
        """A name of the enclosing function: as it stands where the inner one is made, if nothing changes it later."""
        if isinstance(inner.owner, FunctionRef):
            made = self.program.function(inner.owner).at
            reaching = scope.flow.reaching(name, made)
            if reaching and all(d.at <= made for d in scope.flow.everything[name]):
                return self._all(scope, reaching)
        final = scope.flow.final(name)
        if len(final) == 1 and final[0].kind in (
            "attribute",
            "item",
            "reset",
            "update",
            "default",
            "append",
        ):
            return self._all(scope, final)
        everything = [
            d for d in scope.flow.everything[name] if d.kind not in ("present", "missing")
        ]
        changed = {id(b) for d in everything for b in d.base}
        return self._all(scope, tuple(d for d in everything if id(d) not in changed))

    def _starred(self, module: Frame, name: str) -> Vals:
        for definition in module.flow.everything.get("*", ()):
            if isinstance(definition.stmt, ir.ImportFrom):
                target = self.program.imported(
                    ir.ImportFrom(
                        definition.at, definition.stmt.module, definition.stmt.level, name, name
                    ),
                    module.path,
                )
                vals = self._import_target(module, definition.at, target)
                if any(not isinstance(v.what, External) for v in vals):
                    return vals
        return ()

    def _all(self, frame: Frame, definitions: Iterable[Def]) -> Vals:
        found: list[Val] = []
        for definition in definitions:
            found.extend(self.defined(frame, definition))
        return tuple(found[:MOST])

    def defined(self, frame: Frame, definition: Def) -> Vals:
        """What a definition gives."""
        key = (id(frame), id(definition))
        known = self._made.get(key)
        if known is not None:
            return known[2]
        if key in self._busy:
            return ()
        self._busy.add(key)
        try:
            vals = self._defined(frame, definition)[:MOST]
        finally:
            self._busy.discard(key)
        if definition.needs:
            needs = tuple(Condition(frame, need.value) for need in definition.needs)
            vals = tuple(Val(v.what, v.frame, v.at, v.needs + needs, v.sure) for v in vals)
        self._made[key] = (frame, definition, vals)
        return vals

    def _defined(self, frame: Frame, definition: Def) -> Vals:
        d = definition
        match d.kind:
            case "value":
                return self._told_by(frame, d, self.resolve(Lazy(frame, d.value, d.path)))
            case "element":
                return self._element(frame, d)
            case "entered":
                return self._entered(frame, d)
            case "param":
                return self.parameter(frame, d.name)
            case "pattern":
                return self.resolve(Lazy(frame, d.value, ("[*]",)))
            case "import" | "from":
                assert isinstance(d.stmt, ir.Import | ir.ImportFrom)
                return self._import_target(frame, d.at, self.program.imported(d.stmt, frame.path))
            case "function":
                assert isinstance(d.stmt, ir.Define)
                return self.function_value(frame, FunctionRef(frame.path, d.stmt.function))
            case "class":
                assert isinstance(d.stmt, ir.DefineClass)
                return (Val(Type(ClassRef(frame.path, d.stmt.cls)), frame, d.at),)
            case "under":
                return self._all(frame, d.base)
            case "augment":
                return self._augmented(frame, d)
            case "present" | "missing" if not d.path:
                base = self._all(frame, d.base)
                if d.kind == "present":
                    return present(base)
                return missing(base)
            case (
                "item"
                | "attribute"
                | "update"
                | "default"
                | "append"
                | "present"
                | "missing"
                | "reset"
            ):
                return self._changed(frame, d)
            case _:
                return (Val(Unknown("a caught exception"), frame, d.at),)

    def _told_by(self, frame: Frame, d: Def, vals: Vals) -> Vals:
        """Values that cannot be told are what the annotation says they are."""
        annotation = d.stmt.annotation if isinstance(d.stmt, ir.Assign) else None
        if annotation is None or not all(isinstance(v.what, Unknown) for v in vals):
            return vals
        return self.annotated(self.module_frame(frame.path), annotation, frame) or vals

    def _changed(self, frame: Frame, d: Def) -> Vals:
        base = self._all(frame, d.base) if d.base or not d.root else self._outer(frame, d.root)
        if d.kind == "reset":
            if d.name in self.reloads:
                return tuple(self._reloaded(v) for v in base)
            if not any(isinstance(v.what, Instance) for v in base):
                return base
        if not base and d.kind in ("item", "attribute", "update", "default"):
            base = (Val(Unknown("a changed value"), frame, d.at),)
        return (Val(Changed(d, frame, base), frame, d.at),)

    def _reloaded(self, val: Val) -> Val:
        what = val.what
        while isinstance(what, Changed) and what.base:
            what = what.base[0].what
        if isinstance(what, Instance):
            return Val(
                Instance(what.ref, "loaded", record=what.record), val.frame, val.at, val.needs
            )
        return Val(Unknown("read again from the database"), val.frame, val.at, val.needs)

    def _augmented(self, frame: Frame, d: Def) -> Vals:
        """`n += 1` counts; `key += x` joins."""
        assert isinstance(d.value, ir.Join)
        amount = d.value.parts[1]
        if d.value.op in "+-" and isinstance(amount, ir.Const) and isinstance(amount.value, int):
            return (Val(Born("counter", f"counting by {amount.value}"), frame, d.at),)
        base = Lazy(frame, None, known=self._all(frame, d.base))
        return (Val(Text(d.value.op, (base, Lazy(frame, amount))), frame, d.at),)

    def _element(self, frame: Frame, d: Def) -> Vals:
        vals = self.access(self.values(frame, d.value), "[*]")
        for step in d.path:
            vals = self.access(vals, step)
        counted = tuple(
            Val(Born("counter", v.what.text), frame, d.at, v.needs)
            if isinstance(v.what, Born) and v.what.kind == "counter"
            else v
            for v in vals
        )
        return counted or (Val(Unknown("an item of an iteration"), frame, d.at),)

    def _entered(self, frame: Frame, d: Def) -> Vals:
        found: list[Val] = []
        for val in self.values(frame, d.value):
            if isinstance(val.what, Many):
                found.extend(self.access((val,), "[*]"))
            elif isinstance(val.what, Instance):
                entered = self.class_member(val.what.ref, "__enter__") or self.class_member(
                    val.what.ref, "__aenter__"
                )
                got = (
                    self._inline(Callable_(entered, None, val), Arguments(), frame, d.at)
                    if entered
                    else ()
                )
                found.extend(got or (val,))
            else:
                found.append(val)
        vals = tuple(found)
        for step in d.path:
            vals = self.access(vals, step)
        return vals

    def _import_target(
        self, frame: Frame, at: int, target: ModuleRef | Outside | tuple[str, str]
    ) -> Vals:
        match target:
            case ModuleRef(path):
                if self.program.module(path) is None:
                    return (Val(Unknown("a module that cannot be analysed"), frame, at),)
                return (Val(File(path), frame, at),)
            case Outside(name):
                return (Val(External(self.catalog.canonical(name)), frame, at),)
            case (path, name):
                if self.program.module(path) is None:
                    return (Val(Unknown("a module that cannot be analysed"), frame, at),)
                return self.access((Val(File(path), frame, at),), f".{name}")

    def function_value(self, frame: Frame, ref: FunctionRef) -> Vals:
        """A function as its name gives it: wrapped by those of its decorators that are project code."""
        closure = frame if isinstance(frame.owner, FunctionRef) else None
        current = Val(Callable_(ref, closure), frame, self.program.function(ref).at)
        for decorator in reversed(self.program.function(ref).decorators):
            wrapped = self.wrapped_by(frame, decorator, current)
            if wrapped is not None:
                current = wrapped
        return (current,)

    def wrapped_by(self, frame: Frame, decorator: ir.Expr, inner: Val) -> Val | None:
        """What a project decorator makes of `inner`; None for decorators that are not project code."""
        for val in self.values(frame, decorator):
            what = val.what
            if isinstance(what, Callable_ | Instance | Type):
                args = Arguments((Lazy(frame, None, known=(inner,)),))
                for made in self.invoke(val, args, frame, decorator.at):
                    if isinstance(made.what, Callable_):
                        return made
                    if isinstance(made.what, Instance) and self.class_member(
                        made.what.ref, "__call__"
                    ):
                        method = self.class_member(made.what.ref, "__call__")
                        assert method is not None
                        return Val(Callable_(method, None, made), frame, decorator.at)
        return None

    def parameter(self, frame: Frame, name: str) -> Vals:
        """What a parameter of the frame's function holds."""
        if not isinstance(frame.owner, FunctionRef):
            return ()
        function = self.program.function(frame.owner)
        position = next((i for i, p in enumerate(function.params) if p.name == name), None)
        if position is None:
            return ()
        param = function.params[position]
        bound = self._receiver(frame, function, position)
        if bound is not None:
            return (bound,)
        typed, bound_instance = self.typed_parameters(frame.owner)
        if position in typed and (frame.args is None or (bound_instance and position == 0)):
            return (Val(Object(typed[position], typed[position]), frame, -1),)
        if frame.args is None:
            return self._injected(frame, param) or (self._hole(frame, param),)
        shift = 1 if self.takes_receiver(function) or bound_instance else 0
        vals = self._argument(frame, frame.args, param, position - shift, function)
        if frame.caller is not None and frame.caller.owner == frame.owner:
            return tuple(self._counted(frame, v) for v in vals)
        return vals

    def _counted(self, frame: Frame, val: Val) -> Val:
        """`retry(attempt + 1)`: a parameter that counts the recursion."""
        what = val.what
        if isinstance(what, Text) and what.op in "+-" and what.op and len(what.parts) == 2:
            amount = self.resolve(what.parts[1])
            if any(isinstance(a.what, Known) and isinstance(a.what.value, int) for a in amount):
                return Val(Born("counter", "counting calls"), frame, -1, val.needs)
        return val

    def typed_parameters(self, ref: FunctionRef) -> tuple[dict[int, str], bool]:
        """Classes of parameters that a decorator tells, and whether the first is the bound instance (`bind=True`)."""
        if ref not in self._typed:
            self._typed[ref] = ({}, False)
            self._typed[ref] = self._find_typed(ref)
        return self._typed[ref]

    def _find_typed(self, ref: FunctionRef) -> tuple[dict[int, str], bool]:
        from stripe_idem_lint.solve.options import any_holds

        function = self.program.function(ref)
        typed: dict[int, str] = {}
        bound = False
        for model, args in self.models_of(ref):
            if model.on_by and not any_holds(self, model.on_by, args):
                continue
            binds = bool(model.bound_by) and any_holds(self, model.bound_by, args)
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

    def models_of(self, ref: FunctionRef) -> Iterator[tuple[ContextModel, Arguments]]:
        """Context models of a function's decorators, with the decorators' arguments; shapes too."""
        scope = self._decorator_scope(ref)
        function = self.program.function(ref)
        for decorator in function.decorators:
            args = (
                self.arguments(scope, decorator.args)
                if isinstance(decorator, ir.Call)
                else Arguments()
            )
            for name in self.outside_names(scope, decorator):
                for model in self.catalog.decorators(name):
                    yield model, args
        for model in self.catalog.shapes():
            shape = model.function
            if shape is None or not model.parameters or function.cls is not None:
                continue
            names = tuple(p.name for p in function.params)
            if len(names) == len(shape.parameters) and all(
                wanted in ("*", name) for wanted, name in zip(shape.parameters, names, strict=True)
            ):
                yield model, Arguments()

    def takes_receiver(self, function: ir.Function) -> bool:
        """It is a method that gets `self` or `cls` without being handed it."""
        return function.cls is not None and "staticmethod" not in decorator_names(function)

    def _receiver(self, frame: Frame, function: ir.Function, position: int) -> Val | None:
        if position or not self.takes_receiver(function):
            return None
        assert function.cls is not None
        if frame.this is not None:
            return frame.this
        ref = ClassRef(frame.path, function.cls)
        if "classmethod" in decorator_names(function):
            return Val(Type(ref), frame, -1)
        return Val(Instance(ref, "open"), frame, -1)

    def _hole(self, frame: Frame, param: ir.Param) -> Val:
        return Val(
            Hole(frame, param.name, self.item_of(frame, param), self._hint(frame, param)), frame, -1
        )

    def _injected(self, frame: Frame, param: ir.Param) -> Vals:
        """What a framework puts in for a default that calls a function for each entry (`Depends(f)`)."""
        scope = self._definition_frame(frame)
        for call in (*_calls_of(param.default), *_calls_of(param.annotation)):
            for name in self.outside_names(scope, call):
                edge = self.catalog.edge(name)
                if edge is None or edge.gives != "result":
                    continue
                vals = [v for a in call.args[:1] for v in self.values(scope, a.value)]
                return tuple(
                    made
                    for v in vals
                    if isinstance(v.what, Callable_)
                    for made in self.invoke(v, Arguments(), frame, -1)
                )
        return ()

    def item_of(self, frame: Frame, param: ir.Param) -> tuple[str, ...]:
        """The accesses that a default such as `Header()` stands for."""
        scope = self._definition_frame(frame)
        for call in (*_calls_of(param.default), *_calls_of(param.annotation)):
            for name in self.outside_names(scope, call):
                model = self.catalog.parameter(name)
                if model is None:
                    continue
                alias = next((a.value for a in call.args if a.name == model.alias), None)
                key = alias.value if isinstance(alias, ir.Const) else param.name.replace("_", "-")
                return (f".{model.item}", f"[{key}]")
        return ()

    def _hint(self, frame: Frame, param: ir.Param) -> Vals:
        """What the annotation of a parameter tells."""
        return self.annotated(self._definition_frame(frame), param.annotation, frame)

    def annotated(self, scope: Frame, annotation: ir.Expr | None, frame: Frame) -> Vals:
        """Instances of the classes that an annotation names."""
        found: list[Val] = []
        for name in annotation_names(annotation):
            for val in self.values(scope, name):
                if isinstance(val.what, Type):
                    record = self.record_of(val.what.ref)
                    how = "loaded" if record is not None and record.row else "open"
                    found.append(Val(Instance(val.what.ref, how, record=record), frame, -1))
                elif isinstance(val.what, External) and not val.what.name.startswith(
                    ("builtins.", "typing.")
                ):
                    found.append(Val(Object(val.what.name, val.what.name), frame, -1))
        return tuple(found)

    def _definition_frame(self, frame: Frame) -> Frame:
        """Where defaults and annotations of the frame's function are evaluated."""
        if frame.closure is not None:
            return frame.closure
        function = (
            self.program.function(frame.owner) if isinstance(frame.owner, FunctionRef) else None
        )
        if function is not None and function.cls is not None:
            return self.class_frame(ClassRef(frame.path, function.cls))
        return self.module_frame(frame.path)

    def _argument(
        self, frame: Frame, args: Arguments, param: ir.Param, position: int, function: ir.Function
    ) -> Vals:
        match param.kind:
            case "rest":
                items = tuple((lazy, False) for lazy in args.positional[position:])
                return (Val(Row((*items, *((s, True) for s in args.star))), frame, -1),)
            case "named":
                taken = {p.name for p in function.params if p.kind in ("plain", "keyword")}
                entries: list[tuple[Lazy | str | None, Lazy]] = [
                    (None, lazy) for lazy in args.double
                ]
                entries += [(key, lazy) for key, lazy in args.named if key not in taken]
                return (Val(Table(tuple(entries)), frame, -1),)
            case _:
                pass
        if param.kind != "keyword" and 0 <= position < len(args.positional):
            return self.resolve(args.positional[position])
        for key, lazy in args.named:
            if key == param.name and param.kind != "positional":
                return self.resolve(lazy)
        found: list[Val] = []
        certain = False
        for lazy in args.double:
            vals = self.access(self.resolve(lazy), f"[{param.name}]")
            there = [v for v in vals if not is_absent(v)]
            found.extend(there)
            if there and len(there) == len(vals):
                certain = True
        if param.kind != "keyword" and args.star and not certain:
            for lazy in args.star:
                offset = position - len(args.positional)
                found.extend(
                    v for v in self.access(self.resolve(lazy), f"[{offset}]") if not is_absent(v)
                )
            certain = bool(found)
        if not certain:
            found.extend(self.default_of(frame, param))
        return tuple(found)

    def default_of(self, frame: Frame, param: ir.Param) -> Vals:
        """The default of a parameter: made once, when the function was defined."""
        if param.default is None:
            return ()
        scope = self._definition_frame(frame)
        vals = self.values(scope, param.default)
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

    # --- access

    def access(self, vals: Vals, step: str) -> Vals:
        """An attribute (`.name`), an item (`[key]`) or any item (`[*]`) of each alternative."""
        self._access_depth += 1
        try:
            if self._access_depth > 120:
                return ()
            found: list[Val] = []
            for val in vals:
                got = self._access(val, step)
                found.extend(
                    Val(g.what, g.frame, g.at, val.needs + g.needs, g.sure) if val.needs else g
                    for g in got
                )
                if len(found) >= MOST:
                    break
            return tuple(found[:MOST])
        finally:
            self._access_depth -= 1

    def _access(self, val: Val, step: str) -> Vals:
        what, frame, at = val.what, val.frame, val.at
        match what:
            case Known(None):
                return ()
            case Known():
                return (
                    (val,)
                    if step in (".value", ".name")
                    else (Val(Method(val, step[1:]), frame, at),)
                )
            case Born("clock", _, _) if step in _COARSE_PARTS:
                return (Val(coarser(what), frame, at),)
            case Born():
                return (Val(Text(step, (Lazy(frame, None, known=(val,)),)), frame, at, sure=True),)
            case Text() if step.startswith("."):
                return (
                    Val(Text(step, (Lazy(frame, None, known=(val,)),)), frame, at, sure=val.sure),
                )
            case Text():
                return self._access_text(val, what, step)
            case Hole():
                return self._access_hole(val, what, step)
            case External(name, _, trail):
                if step.startswith("."):
                    return (Val(self._external(f"{name}{step}", what.of), frame, at),)
                if step == "[*]":
                    given = self.catalog.returns_loop(name)
                    if given:
                        return (Val(Object(given[0].gives, name), frame, at),)
                outside = tuple(f".{part}" for part in name.split(".")[1:])
                return (Val(Unknown(f"an item of {name}", (*outside, *trail, step)), frame, at),)
            case Object():
                return self._access_object(val, what, step)
            case Type(ref):
                return self._access_type(val, ref, step)
            case Instance():
                return self._access_instance(val, what, step)
            case Manager(ref, record, route):
                if step.startswith("."):
                    return (Val(Manager(ref, record, f"{route}{step}"), frame, at),)
                return (Val(Instance(ref, "loaded", record=record), frame, at),)
            case File(path):
                return self._access_file(val, path, step)
            case Table(entries):
                return self._access_table(val, entries, step)
            case Row(items):
                return self._access_row(val, items, step)
            case Many(items):
                if step.startswith("."):
                    return (Val(Method(val, step[1:]), frame, at),)
                return tuple(v for lazy in items for v in self.resolve(lazy))
            case Changed():
                return tuple(self._bound_to(val, v) for v in self._access_changed(val, what, step))
            case Super(ref, this):
                return self._access_super(val, ref, this, step)
            case Callable_() | Partial() | Method():
                return (Val(Method(val, step[1:]), frame, at),)
            case Unknown(reason, trail):
                return (Val(Unknown(reason, (*trail, step)), frame, at),)

    def _external(self, name: str, of: Object | None) -> External:
        return External(self.catalog.canonical(name), of)

    def _access_text(self, val: Val, what: Text, step: str) -> Vals:
        if what.op == "|" and step.startswith("["):
            right = self.access(self.resolve(what.parts[1]), step)
            if right and not any(is_absent(v) or isinstance(v.what, Unknown) for v in right):
                return right
            return right + self.access(self.resolve(what.parts[0]), step)
        if what.op == "+" and step.startswith("["):
            rows = [
                v
                for part in what.parts
                for v in self.resolve(part)
                if isinstance(v.what, Row | Many)
            ]
            if rows:
                return self.access(tuple(rows), "[*]")
        return (val,)

    def _access_hole(self, val: Val, what: Hole, step: str) -> Vals:
        found: list[Val] = []
        hints: list[Val] = []
        for hint in what.hint:
            got = self._access(hint, step)
            for v in got:
                if isinstance(v.what, Callable_ | Born) or (
                    isinstance(hint.what, Instance) and not isinstance(v.what, Unknown | Hole)
                ):
                    found.append(v)
                elif isinstance(v.what, External | Object | Instance):
                    hints.append(v)
        if found and all(isinstance(v.what, Callable_) for v in found):
            return tuple(found)
        hole = Hole(what.frame, what.name, (*what.trail, step), tuple(hints[:4]))
        extra = tuple(v for v in found if isinstance(v.what, Born | Text | Known))
        return (Val(hole, val.frame, val.at), *extra)

    def _access_object(self, val: Val, what: Object, step: str) -> Vals:
        if step == "[*]":
            given = self.catalog.returns_loop(what.cls)
            if given:
                return (Val(Object(given[0].gives, what.cls), val.frame, val.at),)
        if not step.startswith("."):
            return (Val(Unknown(f"an item of {what.cls}", (step,)), val.frame, val.at),)
        given = self.catalog.returns_attribute(f"{what.cls}{step}")
        if given:
            return (
                Val(
                    Object(given[0].gives, f"{what.cls}{step}", what.call, what.args),
                    val.frame,
                    val.at,
                ),
            )
        return (Val(self._external(f"{what.cls}{step}", what), val.frame, val.at),)

    def _access_file(self, val: Val, path: str, step: str) -> Vals:
        if not step.startswith(".") or self.program.module(path) is None:
            return ()
        name = step[1:]
        frame = self.module_frame(path)
        if name in frame.flow.everything:
            return self._all(frame, frame.flow.final(name))
        inner = self.program.submodule(path, name)
        if inner is not None and self.program.module(inner) is not None:
            return (Val(File(inner), val.frame, val.at),)
        found = self._starred(frame, name)
        return found or (Val(Unknown(f"{name} is not defined in {path}"), val.frame, val.at),)

    def _access_table(
        self, val: Val, entries: tuple[tuple[Lazy | str | None, Lazy], ...], step: str
    ) -> Vals:
        if step.startswith("."):
            return (Val(Method(val, step[1:]), val.frame, val.at),)
        wanted = step[1:-1]
        found: list[Val] = []
        for key, lazy in reversed(entries):
            if key is None:
                inner = self.access(self.resolve(lazy), step)
                found.extend(v for v in inner if not is_absent(v))
                if inner and not any(is_absent(v) or isinstance(v.what, Unknown) for v in inner):
                    return tuple(found)
                continue
            match_ = self._key_matches(key, wanted)
            if match_ is None or match_:
                found.extend(self.resolve(lazy))
            if match_:
                return tuple(found)
        if wanted == "*":
            return tuple(found)
        return (*found, absent(val.frame, val.at))

    def _key_matches(self, key: Lazy | str, wanted: str) -> bool | None:
        """True, False, or None for "perhaps"."""
        if isinstance(key, str):
            return same_key(key, wanted) if wanted != "*" else None
        vals = self.resolve(key)
        names = [str(v.what.value) for v in vals if isinstance(v.what, Known)]
        if len(names) != len(vals) or not names:
            return None
        if wanted == "*":
            return None
        hits = [same_key(name, wanted) for name in names]
        return True if all(hits) else (None if any(hits) else False)

    def _access_row(self, val: Val, items: tuple[tuple[Lazy, bool], ...], step: str) -> Vals:
        if step.startswith("."):
            return (Val(Method(val, step[1:]), val.frame, val.at),)
        try:
            index = int(step[1:-1])
        except ValueError:
            index = None
        if index is not None and not any(star for _, star in items):
            if -len(items) <= index < len(items):
                return self.resolve(items[index][0])
            return (absent(val.frame, val.at),)
        if index is not None and 0 <= index < next(i for i, (_, star) in enumerate(items) if star):
            return self.resolve(items[index][0])
        found: list[Val] = []
        for lazy, star in items:
            vals = self.resolve(lazy)
            found.extend(self.access(vals, "[*]") if star else vals)
        return tuple(found)

    def _access_changed(self, val: Val, what: Changed, step: str) -> Vals:
        change = what.change
        if change.kind == "append":
            base = self.access(what.base, step)
            if step.startswith("."):
                return base if base else (Val(Method(val, step[1:]), val.frame, val.at),)
            added = self.values(what.frame, change.value)
            return (*(v for v in base if not is_absent(v)), *added)
        if change.kind == "reset":
            return self._access_after_method(val, what, step)
        route = change.path if change.kind in ("present", "missing") else route_of(change)
        base = self.access(what.base, step)
        if what.depth < len(route):
            if not same_step(route[what.depth], step):
                return base
            if what.depth + 1 < len(route) or change.kind not in (
                "attribute",
                "present",
                "missing",
            ):
                return (Val(Changed(change, what.frame, base, what.depth + 1), val.frame, val.at),)
            return self._changed_to(what, base)
        match change.kind:
            case "item" | "default":
                return self._access_item_change(what, base, step)
            case "update":
                updated = self.access(self.values(what.frame, change.value), step)
                present = tuple(v for v in updated if not is_absent(v))
                if (
                    present
                    and len(present) == len(updated)
                    and not any(isinstance(v.what, Unknown) for v in present)
                ):
                    return self._under(what, present, base)
                return (*present, *base)
            case _:
                return base

    def _under(self, what: Changed, vals: Vals, base: Vals) -> Vals:
        """The new values; those of before too where the change stands under a condition of its own."""
        return vals

    def _changed_to(self, what: Changed, base: Vals) -> Vals:
        change = what.change
        if change.kind == "present":
            return present(base)
        if change.kind == "missing":
            return missing(base)
        return self._stored(what, self.resolve(Lazy(what.frame, change.value, change.path)))

    def _access_item_change(self, what: Changed, base: Vals, step: str) -> Vals:
        change = what.change
        assert change.key is not None
        matches = (
            self._key_matches(Lazy(what.frame, change.key), step[1:-1])
            if step.startswith("[")
            else False
        )
        if matches is False:
            return base
        new = self._stored(what, self.resolve(Lazy(what.frame, change.value, change.path)))
        if not change.base and any(self._same_place(n.value, change) for n in change.needs):
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

    def _stored(self, what: Changed, vals: Vals) -> Vals:
        """A drawn value that is put where it was missing and saved before it is used is kept from then on."""
        change = what.change
        guards = [n for n in change.needs if self._same_place(n.value, change)]
        if not guards or not self._saved_after(what):
            return vals
        if any(
            isinstance(v.what, Instance) and v.what.how in ("created", "made") for v in what.base
        ):
            return vals
        return tuple(self._kept_value(v) for v in vals)

    def _kept_value(self, val: Val) -> Val:
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

    def _same_place(self, expr: ir.Expr, change: Def) -> bool:
        """The condition asks for the place that the change fills."""
        split = root_of(expr)
        place = route_of(change)
        if change.kind in ("item", "default"):
            known = change.key.value if isinstance(change.key, ir.Const) else "*"
            place = (*place, f"[{known}]")
        return split is not None and bool(split[1]) and split[1] == place[: len(split[1])]

    def _saved_after(self, what: Changed) -> bool:
        """A save or commit follows the change in the same body."""
        owner = what.frame.owner
        body: tuple[ir.Stmt, ...]
        if isinstance(owner, FunctionRef):
            body = self.program.function(owner).body
        elif isinstance(owner, ClassRef):
            body = self.program.cls(owner).body
        else:
            module = self.program.module(what.frame.path)
            body = module.body if module is not None else ()
        for stmt in ir.statements(body):
            if stmt.at <= what.change.at:
                continue
            for expr in ir.expressions(stmt):
                for node in ir.walk(expr):
                    if isinstance(node, ir.Call) and isinstance(node.func, ir.Attr):
                        if node.func.name in self.saves:
                            return True
                        if self._sends(what.frame, node.func):
                            return False
        return False

    def _sends(self, frame: Frame, func: ir.Attr) -> bool:
        """The call goes to the service: what is saved after it is saved too late."""
        return func.name in self.verbs and any(
            isinstance(v.what, External) and self.catalog.sink(v.what.name) is not None
            for v in self.values(frame, func)
        )

    def _bound_to(self, changed: Val, member: Val) -> Val:
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

    def _access_after_method(self, val: Val, what: Changed, step: str) -> Vals:
        """An attribute read after a method ran on the object: what the method stored, else what was there."""
        base = self.access(what.base, step)
        if not step.startswith(".") or not isinstance(what.change.value, ir.Call):
            return base
        for holder in what.base:
            inner = holder.what
            while isinstance(inner, Changed) and inner.base:
                inner = inner.base[0].what
            if not isinstance(inner, Instance):
                continue
            method = self.class_member(inner.ref, what.change.name)
            if method is None:
                continue
            flow = self.program.function_flow(method)
            this = self.program.function(method).params[:1]
            if not this or not any(
                d.kind == "attribute" and route_of(d)[:1] == (step,)
                for d in flow.everything.get(this[0].name, ())
            ):
                continue
            call = what.change.value
            args = self.arguments(what.frame, call.args)
            frame = self.bound_frame(method, what.frame, call.at, args, None, holder)
            return self.access(self._all(frame, flow.final(this[0].name)), step)
        return base

    # --- classes

    def bases_of(self, ref: ClassRef) -> tuple[tuple[ClassRef, ...], tuple[str, ...]]:
        """Project classes in lookup order (the class itself first) and outside bases."""
        if ref in self._bases:
            return self._bases[ref]
        self._bases[ref] = ((ref,), ())
        inner: list[ClassRef] = [ref]
        outer: list[str] = []
        frame = self._class_scope(ref)
        for arg in self.program.cls(ref).bases:
            if arg.name is not None:
                continue
            base = arg.value.base if isinstance(arg.value, ir.Item) else arg.value
            for val in self.values(frame, base):
                if isinstance(val.what, Type) and val.what.ref not in inner:
                    more, outside = self.bases_of(val.what.ref)
                    inner.extend(m for m in more if m not in inner)
                    outer.extend(outside)
                elif isinstance(val.what, External):
                    outer.append(val.what.name)
                elif isinstance(val.what, Object):
                    outer += [val.what.cls, val.what.made]
        self._bases[ref] = (tuple(inner), tuple(dict.fromkeys(outer)))
        return self._bases[ref]

    def _class_scope(self, ref: ClassRef) -> Frame:
        parent = self.program.cls(ref).parent
        return (
            self.open_frame(FunctionRef(ref.path, parent))
            if parent is not None
            else self.module_frame(ref.path)
        )

    def class_member(self, ref: ClassRef, name: str) -> FunctionRef | None:
        """The method `name` as the class has it."""
        for cls in self.bases_of(ref)[0]:
            for method, index in self.program.cls(cls).methods:
                if method == name:
                    return FunctionRef(cls.path, index)
        return None

    def record_of(self, ref: ClassRef) -> RecordModel | None:
        """The record model that the class falls under."""
        inner, outer = self.bases_of(ref)
        for base in outer:
            model = self.catalog.record(base)
            if model is not None:
                return model
        for cls in inner:
            for decorator in self.program.cls(cls).decorators:
                target = decorator.func if isinstance(decorator, ir.Call) else decorator
                for val in self.values(self._class_scope(cls), target):
                    if isinstance(val.what, External):
                        model = self.catalog.record(val.what.name)
                        if model is not None:
                            return model
        return None

    def _access_type(self, val: Val, ref: ClassRef, step: str) -> Vals:
        if not step.startswith("."):
            return (val,)
        name = step[1:]
        method = self.class_member(ref, name)
        if method is not None:
            kinds = decorator_names(self.program.function(method))
            this = val if "classmethod" in kinds else None
            return self._method_value(method, this)
        for cls in self.bases_of(ref)[0]:
            flow = self.program.class_flow(cls)
            if name in flow.everything:
                return self._all(self.class_frame(cls), flow.final(name))
        record = self.record_of(ref)
        if record is not None and record.row:
            return (Val(Manager(ref, record, name), val.frame, val.at),)
        if record is not None and name in (*record.load, *record.create):
            return (Val(Manager(ref, record, name), val.frame, val.at),)
        outer = self.bases_of(ref)[1]
        if outer:
            return (Val(self._external(f"{outer[0]}.{name}", None), val.frame, val.at),)
        return (Val(Unknown(f"attribute {name} of a class"), val.frame, val.at),)

    def _method_value(self, method: FunctionRef, this: Val | None) -> Vals:
        """A method, wrapped by its project decorators, bound."""
        function = self.program.function(method)
        frame = (
            self.class_frame(ClassRef(method.path, function.cls))
            if function.cls is not None
            else None
        )
        scope = frame if frame is not None else self.module_frame(method.path)
        current = Val(Callable_(method, None, this), scope, function.at)
        for decorator in reversed(function.decorators):
            wrapped = self.wrapped_by(scope, decorator, current)
            if wrapped is not None:
                current = wrapped
        return (current,)

    def _access_instance(self, val: Val, what: Instance, step: str) -> Vals:
        if not step.startswith("."):
            if what.how in ("loaded", "created", "found", "replaced"):
                return (val,)
            method = self.class_member(what.ref, "__getitem__")
            return (
                self._inline(Callable_(method, None, val), Arguments(), val.frame, val.at)
                if method
                else (Val(Unknown("an item of an object", (step,)), val.frame, val.at),)
            )
        name = step[1:]
        method = self.class_member(what.ref, name)
        if method is not None:
            return self._bound_member(val, method, name)
        later = (
            self._after_init(val, what, step)
            if what.how == "made" and what.record is not None
            else ()
        )
        if later:
            return later
        if what.record is not None and what.how != "blank":
            field = self._field(val, what, name)
            if field is not None:
                return field
        found = self._assigned(val, what, name) if what.how not in ("blank", "given") else ()
        if found:
            return found
        for cls in self.bases_of(what.ref)[0]:
            flow = self.program.class_flow(cls)
            if name in flow.everything and any(d.value is not None for d in flow.everything[name]):
                return self._all(self.class_frame(cls), flow.final(name))
            hinted = self._annotated_attribute(cls, name, val.frame)
            if hinted:
                return hinted
        outer = self.bases_of(what.ref)[1]
        if what.record is not None and what.record.row:
            if what.how in ("loaded", "found", "open"):
                return (Val(Born("stable", f"{name} of a stored row"), val.frame, val.at),)
            if name in what.record.identity:
                return self._identity(val, what, name)
            return (Val(Unknown(f"{name} of a row", (step,)), val.frame, val.at),)
        if outer:
            return (
                Val(
                    self._external(f"{outer[0]}.{name}", Object(outer[0], outer[0])),
                    val.frame,
                    val.at,
                ),
            )
        return (Val(Unknown(f"attribute {name}", (step,)), val.frame, val.at),)

    def _after_init(self, val: Val, what: Instance, step: str) -> Vals:
        """What `__post_init__` makes of a field; empty if it leaves the field alone."""
        method = self.class_member(what.ref, "__post_init__")
        if method is None:
            return ()
        flow = self.program.function_flow(method)
        this = self.program.function(method).params[0].name
        changes = flow.everything.get(this, ())
        if not any(d.kind == "attribute" and route_of(d) == (step,) for d in changes):
            return ()
        given = Instance(what.ref, "given", what.frame, what.at, what.args, what.record)
        holder = Val(given, val.frame, val.at)
        frame = self.bound_frame(method, what.frame, what.at, Arguments(), None, holder)
        return self.access(self._all(frame, flow.final(this)), step)

    def _annotated_attribute(self, cls: ClassRef, name: str, frame: Frame) -> Vals:
        for stmt in self.program.cls(cls).body:
            if not isinstance(stmt, ir.Assign) or stmt.annotation is None:
                continue
            if stmt.value is None:
                names = [t.id for t in stmt.targets if isinstance(t, ir.Name)]
                if name in names:
                    return self.annotated(self._class_scope(cls), stmt.annotation, frame)
        return ()

    def _bound_member(self, val: Val, method: FunctionRef, name: str) -> Vals:
        kinds = decorator_names(self.program.function(method))
        if kinds & _PROPERTIES:
            got = self._inline(Callable_(method, None, val), Arguments(), val.frame, val.at)
            return tuple(in_process(v) for v in got) if "cached_property" in kinds else got
        if "staticmethod" in kinds:
            return self._method_value(method, None)
        if "classmethod" in kinds:
            assert isinstance(val.what, Instance)
            return self._method_value(method, Val(Type(val.what.ref), val.frame, val.at))
        return self._method_value(method, val)

    def _identity(self, val: Val, what: Instance, name: str) -> Vals:
        frame = what.frame or val.frame
        return (Val(Born("fresh_row", f"{name} of a row made in the same run"), frame, what.at),)

    def _field(self, val: Val, what: Instance, name: str) -> Vals | None:
        """A declared field of a record; None when the class declares no such field."""
        record = what.record
        assert record is not None
        declared = self._declared(what.ref, name)
        sought = dict(what.args.named).get(name) if what.how == "found" and what.args else None
        if sought is not None:
            return self.resolve(sought)
        if what.how in ("loaded", "found"):
            if declared is None and not record.row:
                return None
            return (Val(Born("stable", f"{name} of a stored row"), val.frame, val.at),)
        given = self._given(what, name, record)
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
            return self._identity(val, what, name)
        if declared is None:
            return None
        default = self._field_default(*declared, record, frame, what.at)
        if what.how in ("parsed", "open"):
            outside = Val(
                Unknown(f"field {name}, given from outside", (f".{name}",)), frame, what.at
            )
            soft = tuple(
                Val(Known(None, True), v.frame, v.at) if is_missing(v) else v for v in default
            )
            return (outside, *soft)
        return default or (Val(Unknown(f"field {name}"), frame, what.at),)

    def _declared(self, ref: ClassRef, name: str) -> tuple[ClassRef, ir.Assign] | None:
        for cls in self.bases_of(ref)[0]:
            for stmt in self.program.cls(cls).body:
                if isinstance(stmt, ir.Assign) and any(
                    isinstance(t, ir.Name) and t.id == name for t in stmt.targets
                ):
                    return cls, stmt
        return None

    def field_names(self, ref: ClassRef) -> tuple[str, ...]:
        """The declared fields in the order of the constructor."""
        names: dict[str, None] = {}
        for cls in reversed(self.bases_of(ref)[0]):
            for stmt in self.program.cls(cls).body:
                if isinstance(stmt, ir.Assign) and stmt.annotation is not None:
                    names.update((t.id, None) for t in stmt.targets if isinstance(t, ir.Name))
        return tuple(names)

    def _given(self, what: Instance, name: str, record: RecordModel) -> Vals | None:
        """The value handed to the constructor or to `create` for a field."""
        if what.args is None:
            return None
        args = what.args
        if what.how == "replaced":
            return self._given_to_replace(args, name, record)
        for key, lazy in args.named:
            if key == name:
                return self.resolve(lazy)
        names = self.field_names(what.ref) if record.positional else ()
        if name in names and names.index(name) < len(args.positional):
            return self.resolve(args.positional[names.index(name)])
        found: list[Val] = []
        for lazy in args.double:
            vals = self.access(self.resolve(lazy), f"[{name}]")
            present = [v for v in vals if not is_absent(v)]
            if present and len(present) == len(vals):
                return tuple(present)
            found.extend(present)
        return tuple(found) or None

    def _given_to_replace(self, args: Arguments, name: str, record: RecordModel) -> Vals | None:
        for key, lazy in args.named:
            if key == record.find_defaults:
                vals = self.access(self.resolve(lazy), f"[{name}]")
                present = tuple(v for v in vals if not is_absent(v))
                if present:
                    return present
            elif key == name:
                return self.resolve(lazy)
        return None

    def _field_default(
        self, cls: ClassRef, stmt: ir.Assign, record: RecordModel, frame: Frame, at: int
    ) -> Vals:
        """The default a field gets in a new object: made per object by a callable, else once per process."""
        scope = self.class_frame(cls)
        value = stmt.value
        if value is None:
            return ()
        if isinstance(value, ir.Call):
            names = {
                v.what.name for v in self.values(scope, value.func) if isinstance(v.what, External)
            }
            if any(self.catalog.record_field(name) is not None for name in names):
                return self._declared_default(value, scope, record, frame, at)
        return tuple(in_process(v) for v in self.values(scope, value))

    def _declared_default(
        self, value: ir.Call, scope: Frame, record: RecordModel, frame: Frame, at: int
    ) -> Vals:
        found: list[Val] = []
        for number, arg in enumerate(value.args):
            is_default = arg.name in record.default or (
                arg.name is None and number == 0 and not record.row
            )
            if arg.name in record.default_factory or is_default:
                for val in self.values(scope, arg.value):
                    callable_ = isinstance(val.what, Callable_ | External | Partial)
                    if callable_ and (record.row or arg.name in record.default_factory):
                        found.extend(self.invoke(val, Arguments(), frame, at))
                    elif not callable_:
                        found.append(in_process(val))
        return tuple(found)

    def _assigned(self, val: Val, what: Instance, name: str) -> Vals:
        """`self.name = …` in the constructor, then in other methods."""
        found: list[Val] = []
        step = f".{name}"
        init = self.class_member(what.ref, "__init__") or self.class_member(
            what.ref, "__post_init__"
        )
        methods = [init] if init is not None else []
        for cls in self.bases_of(what.ref)[0]:
            methods += [FunctionRef(cls.path, i) for _, i in self.program.cls(cls).methods]
        seen: set[FunctionRef] = set()
        for method in methods:
            if method in seen:
                continue
            seen.add(method)
            function = self.program.function(method)
            if not function.params or "staticmethod" in decorator_names(function):
                continue
            this = function.params[0].name
            flow = self.program.function_flow(method)
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
                frame = self.bound_frame(method, what.frame, what.at, what.args, None, blank)
                found.extend(self.access(self._all(frame, flow.final(this)), step))
            else:
                frame = self.open_frame(method)
                for d in changes:
                    found.extend(self.resolve(Lazy(frame, d.value, d.path)))
        return tuple(v for v in found if not is_absent(v))

    def _access_super(self, val: Val, ref: ClassRef, this: Val | None, step: str) -> Vals:
        name = step[1:]
        start = (
            this.what.ref if this is not None and isinstance(this.what, Instance | Type) else ref
        )
        order = self.bases_of(start)[0]
        later = order[order.index(ref) + 1 :] if ref in order else self.bases_of(ref)[0][1:]
        for cls in later:
            for method, index in self.program.cls(cls).methods:
                if method == name:
                    return (
                        Val(Callable_(FunctionRef(cls.path, index), None, this), val.frame, val.at),
                    )
        outer = self.bases_of(ref)[1]
        if outer:
            return (
                Val(
                    self._external(f"{outer[0]}.{name}", Object(outer[0], outer[0])),
                    val.frame,
                    val.at,
                ),
            )
        return (Val(Unknown(f"super().{name}"), val.frame, val.at),)

    # --- calls

    def arguments(self, frame: Frame, args: tuple[ir.Arg, ...]) -> Arguments:
        """The arguments as written."""
        return Arguments(
            tuple(Lazy(frame, a.value) for a in args if a.name is None and not a.star),
            tuple((a.name, Lazy(frame, a.value)) for a in args if a.name is not None),
            tuple(Lazy(frame, a.value) for a in args if a.star == 1),
            tuple(Lazy(frame, a.value) for a in args if a.star == 2),
        )

    def _call(self, frame: Frame, expr: ir.Call) -> Iterator[Val]:
        args = self.arguments(frame, expr.args)
        if isinstance(expr.func, ir.Attr):
            for base in self.values(frame, expr.func.base):
                got = self.method_call(base, expr.func.name, args, frame, expr)
                yield from (
                    Val(v.what, v.frame, v.at, base.needs + v.needs, v.sure) if base.needs else v
                    for v in got
                )
            return
        for callee in self.values(frame, expr.func):
            yield from self.invoke(callee, args, frame, expr.at, expr)

    def method_call(
        self, base: Val, name: str, args: Arguments, frame: Frame, expr: ir.Call
    ) -> Vals:
        from stripe_idem_lint.solve.methods import call_method

        return call_method(self, base, name, args, frame, expr)

    def invoke(
        self, callee: Val, args: Arguments, frame: Frame, at: int, expr: ir.Call | None = None
    ) -> Vals:
        """What calling `callee` gives."""
        from stripe_idem_lint.solve.outside import call_outside

        what = callee.what
        match what:
            case Callable_(_, _, _, given):
                return self._inline(what, joined(given, args), frame, at)
            case Type(ref):
                record = self.record_of(ref)
                how = "created" if record is not None and record.row else "made"
                return (Val(Instance(ref, how, frame, at, args, record), frame, at),)
            case External(name):
                return call_outside(self, name, what.of, args, frame, at, expr)
            case Partial(target, given, _, _):
                return self.invoke(target, joined(given, args), frame, at, expr)
            case Manager():
                return self._through_manager(what, args, frame, at)
            case Method(base, name):
                return self.method_call(base, name, args, frame, expr) if expr is not None else ()
            case Instance(ref):
                method = self.class_member(ref, "__call__")
                if method is not None:
                    return self._inline(Callable_(method, None, callee), args, frame, at)
                return (Val(Unknown("call of an object"), frame, at),)
            case Object(_, made) if args.positional and self.catalog.decorators(made):
                return self.resolve(args.positional[0])
            case Object(cls):
                return call_outside(self, f"{cls}.__call__", what, args, frame, at, expr)
            case Hole(_, _, trail) | Unknown(_, trail):
                return (Val(Unknown("call of an unknown function", (*trail, "()")), frame, at),)
            case _:
                return (Val(Unknown("call of something that is no function"), frame, at),)

    def _inline(self, what: Callable_, args: Arguments, frame: Frame, at: int) -> Vals:
        """Evaluates a project function for these arguments."""
        if self._recursive(frame, what.ref):
            return (Val(Unknown("recursion"), frame, at),)
        if frame.depth >= DEEPEST or self._fuel <= 0:
            return (Val(Unknown("calls too deep to follow"), frame, at),)
        self._fuel -= 1
        function = self.program.function(what.ref)
        inner = self.bound_frame(what.ref, frame, at, args, what.closure, what.this)
        if function.generator:
            items = tuple(
                Lazy(inner, y.value, ("[*]",) if y.delegates else ())
                for y in inner.flow.yields
                if y.value is not None
            )
            return (Val(Many(items), frame, at),)
        found: list[Val] = []
        for stmt in inner.flow.returns:
            if stmt.value is None:
                found.append(Val(Known(None), inner, stmt.at))
            else:
                conditions = tuple(
                    Condition(inner, n.value) for n in inner.flow.needs.get(stmt.at, ())
                )
                found.extend(
                    Val(v.what, v.frame, v.at, v.needs + conditions, v.sure) if conditions else v
                    for v in self.values(inner, stmt.value)
                )
        if inner.flow.end is not None and not function.is_lambda:
            found.append(Val(Known(None), inner, function.at))
        if function.returns is not None and all(isinstance(v.what, Unknown) for v in found):
            found = (
                list(self.annotated(self._definition_frame(inner), function.returns, inner))
                or found
            )
        return self._kept(what.ref, tuple(found[:MOST]))

    def _recursive(self, frame: Frame | None, ref: FunctionRef) -> bool:
        count = 0
        while frame is not None:
            count += frame.owner == ref
            frame = frame.caller
        return count > 1

    def _kept(self, ref: FunctionRef, vals: Vals) -> Vals:
        """Memoised functions keep their results in the process, durable steps in a journal."""
        for decorator in self.program.function(ref).decorators:
            for name in self.outside_names(self._decorator_scope(ref), decorator):
                if self.catalog.memo(name):
                    return tuple(in_process(v) for v in vals)
                if any(model.journaled for model in self.catalog.decorators(name)):
                    return tuple(journaled(v) for v in vals)
        return vals

    def _decorator_scope(self, ref: FunctionRef) -> Frame:
        function = self.program.function(ref)
        if function.cls is not None:
            return self.class_frame(ClassRef(ref.path, function.cls))
        if function.parent is not None:
            return self.open_frame(FunctionRef(ref.path, function.parent))
        return self.module_frame(ref.path)

    def outside_names(self, frame: Frame, expr: ir.Expr) -> tuple[str, ...]:
        """The outside names an expression (a decorator, bare or called) may be."""
        target = expr.func if isinstance(expr, ir.Call) else expr
        return tuple(
            v.what.name for v in self.values(frame, target) if isinstance(v.what, External)
        )

    def _through_manager(self, what: Manager, args: Arguments, frame: Frame, at: int) -> Vals:
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


# --- small judgements on values


def is_missing(val: Val) -> bool:
    """Certainly None, empty or absent."""
    return isinstance(val.what, Known) and val.what.value in (None, "", False, b"")


def present(vals: Vals) -> Vals:
    """The alternatives that are left once the value has been shown to be there."""
    return tuple(Val(v.what, v.frame, v.at, v.needs, True) for v in vals if not is_missing(v))


def missing(vals: Vals) -> Vals:
    """The alternatives that are left once the value has been shown to be missing."""
    return tuple(
        v for v in vals if not never_missing(v) and not isinstance(v.what, Text | Instance)
    )


def never_missing(val: Val) -> bool:
    """Certainly there, and not empty."""
    match val.what:
        case Known():
            return val.sure or not is_missing(val)
        case Table(entries):
            return val.sure or any(key is not None for key, _ in entries)
        case Row(items):
            return val.sure or any(not star for _, star in items)
        case Born():
            return True
        case _:
            return val.sure


def absent(frame: Frame, at: int) -> Val:
    """The value of a key that a dictionary does not have."""
    return Val(Known(None), frame, at)


def is_absent(val: Val) -> bool:
    return isinstance(val.what, Known) and val.what.value is None and not val.what.soft


def in_process(val: Val) -> Val:
    """The value when it is made once per process."""
    what = val.what
    if isinstance(what, Born) and what.kind in ("fresh", "clock", "fresh_row", "delivery"):
        return Val(Born("process", what.text), val.frame, val.at, val.needs)
    if isinstance(what, Text):
        parts = tuple(Lazy(p.frame, p.expr, p.path, p.known) for p in what.parts)
        return Val(Text("process", parts), val.frame, val.at, val.needs)
    return val


def journaled(val: Val) -> Val:
    """The value when the framework keeps it over re-execution."""
    if isinstance(val.what, Born | Text):
        return Val(Born("stable", "result kept by the framework"), val.frame, val.at, val.needs)
    return val


def coarser(what: object) -> Born | Unknown:
    """A clock cut to a minute or longer."""
    if isinstance(what, Born) and what.kind in ("clock", "window"):
        return Born("window", what.text)
    return what if isinstance(what, Born) else Unknown("a quotient")


def of_format(what: Born, spec: str) -> Born:
    """A clock printed with a `strftime` format: with seconds it is a clock, without a window."""
    fine = any(code in spec for code in ("%S", "%f", "%s", "%T", "%X", "%c", "%r"))
    return what if fine else Born("window", what.text)


def same_key(one: str, two: str) -> bool:
    """Keys are equal; header names (with a hyphen) without regard to case."""
    return one == two or ("-" in one and one.lower() == two.lower())


def same_step(one: str, two: str) -> bool:
    return (
        same_key(one, two)
        or (one == "[*]" and two.startswith("["))
        or (two == "[*]" and one.startswith("["))
    )


def route_of(change: Def) -> tuple[str, ...]:
    """The accesses from the changed name to the place that changes."""
    return tuple(part for part in change.name.split("\0") if part) if change.kind != "reset" else ()


def joined(given: Arguments | None, args: Arguments) -> Arguments:
    """Arguments given earlier (`partial`), then those of the call."""
    if given is None:
        return args
    named = {**dict(given.named), **dict(args.named)}
    return Arguments(
        given.positional + args.positional,
        tuple(named.items()),
        given.star + args.star,
        given.double + args.double,
    )


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


def _calls_of(expr: ir.Expr | None) -> Iterator[ir.Call]:
    if expr is not None:
        yield from (node for node in ir.walk(expr) if isinstance(node, ir.Call))


def _filtered(expr: ir.Comprehension) -> ir.Expr | None:
    """The dictionary of `{k: v for k, v in d.items() if …}`: the same entries, perhaps fewer."""
    match expr:
        case ir.Comprehension(
            _, "dict", ir.Name(id=key), ir.Name(id=value),
            (ir.Clause(
                ir.Sequence(_, _, (ir.Arg(ir.Name(id=first)), ir.Arg(ir.Name(id=second)))),
                ir.Call(_, ir.Attr(_, base, "items"), ()),
            ),),
        ) if (key, value) == (first, second):  # fmt: skip
            return base
        case _:
            return None


def _spelled_out(expr: ir.Comprehension) -> list[tuple[ir.Expr, ir.Expr]] | None:
    """The entries of `{k: v for k, v in (("a", x), ("b", y)) if …}`."""
    match expr:
        case ir.Comprehension(
            _, "dict", ir.Name(id=key), ir.Name(id=value),
            (ir.Clause(
                ir.Sequence(_, _, (ir.Arg(ir.Name(id=first)), ir.Arg(ir.Name(id=second)))),
                ir.Sequence(_, _, items),
            ),),
        ) if (key, value) == (first, second):  # fmt: skip
            pairs = [
                i.value.items
                for i in items
                if isinstance(i.value, ir.Sequence) and len(i.value.items) == 2
            ]
            return (
                [(one.value, two.value) for one, two in pairs] if len(pairs) == len(items) else None
            )
        case _:
            return None


def repr_of(expr: ir.Expr) -> str:
    from stripe_idem_lint.ir.text import text

    return text(expr)


_PROPERTIES = frozenset({"property", "cached_property", "abstractproperty", "hybrid_property"})
_COARSE_PARTS = frozenset({".year", ".month", ".day", ".hour", ".minute"})
