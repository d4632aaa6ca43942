"""Who runs a function: calls, task submissions, functions handed over, and what its decorators and looks say.

Answers are about one function and remembered; `reexecution` strings them together into ways from a sink to what runs it.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterator
from dataclasses import dataclass

from stripe_idem_lint.ir import nodes as ir
from stripe_idem_lint.ir.text import text
from stripe_idem_lint.link.program import ClassRef, FunctionRef
from stripe_idem_lint.models.schema import ContextModel, FunctionShape
from stripe_idem_lint.solve.classes import bases_of, class_member, decorator_names
from stripe_idem_lint.solve.decorators import outside_names, wrapped_by
from stripe_idem_lint.solve.evaluate import Evaluator
from stripe_idem_lint.solve.options import any_holds, argument
from stripe_idem_lint.solve.regions import is_literal
from stripe_idem_lint.solve.scopes import decorator_scope
from stripe_idem_lint.solve.sinks import calls_in
from stripe_idem_lint.solve.values import (
    Arguments,
    Callable_,
    External,
    Frame,
    Hole,
    Instance,
    Known,
    Lazy,
    Object,
    Row,
    Type,
    Unknown,
    Val,
)


@dataclass(frozen=True, slots=True)
class Again:
    """Something that runs code again.

    Attributes:
        category: As in the models, and `lock`.
        name: Its source, short.
        again: Why, as a clause.
        plain: One level lower.
        catches: Exceptions after which it runs again; None where exceptions play no part.
        entry: Outside code starts the function here.
        shape: `model`, `loop`, `recursion`, `handler` (called again in an except), `batch`.
    """

    category: str
    name: str
    path: str
    at: int
    again: str
    plain: bool = False
    catches: tuple[str, ...] | None = None
    entry: bool = False
    shape: str = "model"


@dataclass(frozen=True, slots=True)
class Wrapper:
    """A project decorator: its inner function calls the decorated one at `at`."""

    ref: FunctionRef
    closure: Frame
    at: int


@dataclass(frozen=True, slots=True)
class GuardMark:
    """Something that narrows the window without closing it."""

    path: str
    at: int
    why: str


@dataclass(frozen=True, slots=True)
class Edge:
    """One way by which a function is run.

    Attributes:
        path, owner: The body it is run from; owner None for module code.
        at: The call, or the reference where no call is visible.
        how: `call`, `name` (matched by a unique method name), `task`, `packed`, `handed`, `reference`.
        inner: Helpers between the call and the function: (helper, place of its call), innermost first.
        again: What the way itself adds (a retry helper, a scheduler).
        each: It runs once per item of something.
    """

    path: str
    owner: FunctionRef | None
    at: int
    how: str
    inner: tuple[tuple[FunctionRef, int], ...] = ()
    again: tuple[Again, ...] = ()
    each: bool = False


ENTRIES = frozenset(
    {"http", "webhook", "message", "serverless", "tool", "workflow", "schedule", "recovery", "task"}
)
_GENERIC = (
    frozenset(dir(str))
    | frozenset(dir(dict))
    | frozenset(dir(list))
    | frozenset(
        {
            "run",
            "create",
            "save",
            "delete",
            "send",
            "execute",
            "commit",
            "close",
            "open",
            "start",
            "stop",
            "call",
            "handle",
        }
    )
)


class Callers:
    """Remembers the answers for one program."""

    def __init__(self, ev: Evaluator) -> None:
        self.ev = ev
        self._edges: dict[FunctionRef, tuple[Edge, ...]] = {}
        self._imports: dict[str, frozenset[str]] = {}
        self._around: dict[FunctionRef, tuple[Again | Wrapper | GuardMark, ...]] = {}
        self._words = frozenset(
            name
            for file in ev.catalog.files
            for c in file.context
            for name in (*c.calls, *c.packed_calls)
        )

    # --- what stands around a function itself

    def around(self, ref: FunctionRef) -> tuple[Again | Wrapper | GuardMark, ...]:
        """Contexts, guards and project wrappers of a function, from the inside out."""
        if ref not in self._around:
            self._around[ref] = ()
            self._around[ref] = tuple(self._find_around(ref))
        return self._around[ref]

    def _find_around(self, ref: FunctionRef) -> Iterator[Again | Wrapper | GuardMark]:
        function = self.ev.program.function(ref)
        scope = decorator_scope(self.ev, ref)
        current = Val(Callable_(ref, None), scope, function.at)
        for decorator in reversed(function.decorators):
            yield from self._of_decorator(ref, scope, decorator)
            wrapped = wrapped_by(self.ev, scope, decorator, current)
            if (
                wrapped is not None
                and isinstance(wrapped.what, Callable_)
                and wrapped.what.ref != ref
            ):
                yield from self._wrappers(wrapped, current)
                current = wrapped
        yield from self._of_class(ref, function)
        yield from self._of_shape(ref, function)

    def _wrappers(self, wrapped: Val, inner: Val) -> Iterator[Wrapper]:
        """The places where a wrapper calls what it wraps."""
        what = wrapped.what
        assert isinstance(what, Callable_)
        assert isinstance(inner.what, Callable_)
        closure = what.closure
        if closure is None:
            return
        frame = self.ev.bound_frame(what.ref, None, -1, None, closure, what.this)
        body = self.ev.program.function(what.ref).body
        for call in calls_in(body):
            for val in self.ev.values(frame, call.func):
                if isinstance(val.what, Callable_) and val.what.ref == inner.what.ref:
                    yield Wrapper(what.ref, closure, call.at)
                    break
            else:
                if any(
                    self._hands(frame, arg.value, inner.what.ref)
                    for arg in call.args
                    if not arg.star
                ):
                    yield Wrapper(what.ref, closure, call.at)

    def _hands(self, frame: Frame, expr: ir.Expr, ref: FunctionRef) -> bool:
        if not isinstance(expr, ir.Name | ir.Attr | ir.Lambda):
            return False
        return any(
            isinstance(v.what, Callable_) and v.what.ref == ref for v in self.ev.values(frame, expr)
        )

    def _of_decorator(
        self, ref: FunctionRef, scope: Frame, decorator: ir.Expr
    ) -> Iterator[Again | GuardMark]:
        args = self._decorator_arguments(scope, decorator)
        function = self.ev.program.function(ref)
        for model in self.decorator_models(scope, decorator, ref.path):
            again = self.enabled(model, args, scope, function.body, function, ref.path, decorator)
            if again is not None:
                yield again
        for name in outside_names(self.ev, scope, decorator):
            guard = self.ev.catalog.guard_decorator(name)
            if guard is not None:
                yield GuardMark(ref.path, decorator.at, guard.why or name)
            if self.ev.catalog.entry_decorator(name) is not None:
                yield self._command(ref.path, decorator, "command")

    def _decorator_arguments(self, scope: Frame, decorator: ir.Expr) -> Arguments:
        """Options at the decorator, or where the decorator was made (`patiently = retry(stop=…)`)."""
        if isinstance(decorator, ir.Call):
            return Arguments.of(scope, decorator.args)
        for val in self.ev.values(scope, decorator):
            if isinstance(val.what, Object) and val.what.args is not None:
                return val.what.args
        return Arguments()

    def _command(self, path: str, node: ir.Expr, kind: str) -> Again:
        return Again(
            "command", text(node), path, node.at, "it is started again", entry=True, shape=kind
        )

    def decorator_models(
        self, scope: Frame, decorator: ir.Expr, path: str
    ) -> Iterator[ContextModel]:
        """The context models that a decorator falls under."""
        target = decorator.func if isinstance(decorator, ir.Call) else decorator
        vals = self.ev.values(scope, target)
        resolved = False
        seen: set[int] = set()
        for val in vals:
            names = self._names_of(val)
            resolved = resolved or bool(names)
            for name in names:
                for model in self.ev.catalog.decorators(name):
                    if id(model) not in seen:
                        seen.add(id(model))
                        yield model
        if seen or not isinstance(target, ir.Attr):
            return
        if resolved and not any(isinstance(v.what, Unknown | Hole) for v in vals):
            return
        for model in self.ev.catalog.unresolved_decorators(target.name, self.imports(path)):
            if not model.path_argument or self._path_matches(model, scope, decorator):
                yield model
                return

    def _names_of(self, val: Val) -> tuple[str, ...]:
        match val.what:
            case External(name):
                return (name,)
            case Object(cls, made):
                return (cls, made)
            case _:
                return ()

    def _path_matches(self, model: ContextModel, scope: Frame, decorator: ir.Expr) -> bool:
        if not isinstance(decorator, ir.Call) or not decorator.args:
            return False
        for val in self.ev.values(scope, decorator.args[0].value):
            if isinstance(val.what, Known) and isinstance(val.what.value, str):
                return re.search(model.path_argument, val.what.value) is not None
        return False

    def enabled(
        self,
        model: ContextModel,
        args: Arguments,
        scope: Frame,
        body: tuple[ir.Stmt, ...],
        function: ir.Function | None,
        path: str,
        node: ir.Expr,
    ) -> Again | None:
        """The context, unless its options switch it off."""
        this = function.params[0].name if function is not None and function.params else ""
        if model.off_by and any_holds(self.ev, model.off_by, args, body, this):
            return None
        switched_on = not model.on_by or any_holds(self.ev, model.on_by, args, body, this)
        if not switched_on and not self._calls_resolved(model.on_by, scope):
            return None
        plain = model.plain and not any_holds(self.ev, model.raised_by, args, body, this)
        catches = self._catches(model, args)
        if catches is not None and model.category == "task":
            plain = plain or self._only_refusals(model, args, catches)
            catches = None
        entry = model.category in ENTRIES
        again = model.again or "it runs again"
        return Again(model.category, _short(node), path, node.at, again, plain, catches, entry)

    def _calls_resolved(self, tests: tuple[str, ...], scope: Frame) -> bool:
        """`call:` tests against what the calls around resolve to."""
        wanted = {test.removeprefix("call:") for test in tests if test.startswith("call:")}
        if not wanted:
            return False
        body = self._body_of(scope)
        for call in calls_in(body):
            for val in self.ev.values(scope, call.func):
                if isinstance(val.what, External) and val.what.name in wanted:
                    return True
        return False

    def _body_of(self, scope: Frame) -> tuple[ir.Stmt, ...]:
        if isinstance(scope.owner, FunctionRef):
            return self.ev.program.function(scope.owner).body
        if isinstance(scope.owner, ClassRef):
            return self.ev.program.cls(scope.owner).body
        module = self.ev.program.module(scope.path)
        return module.body if module is not None else ()

    def _catches(self, model: ContextModel, args: Arguments) -> tuple[str, ...] | None:
        if model.catches is None:
            return ("builtins.Exception",) if model.category in ("retry", "transaction") else None
        for key in model.catches.argument:
            lazy = argument(args, key)
            if lazy is not None:
                return self.exception_names(lazy, model)
        return tuple(_builtin(n) for n in model.catches.default)

    def _only_refusals(
        self, model: ContextModel, args: Arguments, catches: tuple[str, ...]
    ) -> bool:
        """The task's own retry is limited to refusals, so that it does not raise the level."""
        raising = [t for t in model.raised_by if any_holds(self.ev, (t,), args)]
        if not raising or model.catches is None:
            return False
        own = {f"{key}=" for key in model.catches.argument}
        return (
            set(raising) <= own and bool(catches) and not any(map(self._may_follow_a_call, catches))
        )

    def _may_follow_a_call(self, name: str) -> bool:
        """An executed call of the SDK can raise the exception, as far as can be told."""
        refused = {self.ev.catalog.canonical(n) for n in self.ev.catalog.service.refused}
        general = name in ("builtins.Exception", "builtins.BaseException")
        return general or not (name in refused or name.startswith("builtins."))

    def exception_names(self, lazy: Lazy, model: ContextModel | None = None) -> tuple[str, ...]:
        """The exceptions an argument names; what cannot be told is `?`."""
        found: list[str] = []
        for val in self.ev.resolve(lazy):
            found.extend(self._exceptions(val, model, 0))
        return tuple(dict.fromkeys(found)) or ("?",)

    def _exceptions(self, val: Val, model: ContextModel | None, depth: int) -> Iterator[str]:
        what = val.what
        if depth > 4:
            return
        match what:
            case External(name):
                yield name
            case Row(items):
                for lazy, _ in items:
                    for inner in self.ev.resolve(lazy):
                        yield from self._exceptions(inner, model, depth + 1)
            case Object(_, made, _, args) if (
                args is not None and model is not None and model.catches is not None
            ):
                if made in self._canonical(model.catches.through):
                    for lazy in args.positional or tuple(z for _, z in args.named):
                        for inner in self.ev.resolve(lazy):
                            yield from self._exceptions(inner, None, depth + 1)
                else:
                    yield "?"
            case Type(ref):
                yield from self._own_exception(ref)
            case _:
                yield "?"

    def _own_exception(self, ref: ClassRef) -> Iterator[str]:
        yield f"own:{self.ev.program.cls(ref).name}"

    def _canonical(self, names: tuple[str, ...]) -> frozenset[str]:
        return frozenset(self.ev.catalog.canonical(n) for n in names)

    def _of_class(self, ref: FunctionRef, function: ir.Function) -> Iterator[Again]:
        if function.cls is None:
            return
        cls = ClassRef(ref.path, function.cls)
        for base in self._outer_bases(cls):
            for model in self.ev.catalog.methods(base, function.name):
                again = model.again or "it runs again"
                options = self._class_options(cls)
                body = function.body
                this = function.params[0].name if function.params else ""
                if model.on_by and not any_holds(self.ev, model.on_by, options, body, this):
                    continue
                if model.off_by and any_holds(self.ev, model.off_by, options, body, this):
                    continue
                plain = model.plain and not any_holds(self.ev, model.raised_by, options, body, this)
                name = f"{self.ev.program.cls(cls).name}.{function.name}"
                yield Again(
                    model.category, name, ref.path, function.at, again, plain, self._catches(model, Arguments()),
                    model.category in ENTRIES,
                )  # fmt: skip
                break
            if self.ev.catalog.entry_method(base, function.name) is not None:
                name = f"{self.ev.program.cls(cls).name}.{function.name}"
                yield Again(
                    "command",
                    name,
                    ref.path,
                    function.at,
                    "it is started again",
                    entry=True,
                    shape="command",
                )

    def _outer_bases(self, cls: ClassRef) -> tuple[str, ...]:
        return bases_of(self.ev, cls)[1]

    def _class_options(self, cls: ClassRef) -> Arguments:
        """Class attributes as options (`acks_late = True`)."""
        frame = self.ev.class_frame(cls)
        named = []
        for name, definitions in frame.flow.everything.items():
            for definition in definitions:
                if definition.kind == "value":
                    named.append((name, Lazy(frame, definition.value, definition.path)))
        return Arguments((), tuple(named))

    def _of_shape(self, ref: FunctionRef, function: ir.Function) -> Iterator[Again]:
        for model in self.ev.catalog.shapes():
            shape = model.function
            if shape is not None and self._fits(shape, ref, function):
                name = f"def {function.name}({', '.join(p.name for p in function.params)})"
                again = model.again or "it runs again"
                yield Again(
                    model.category,
                    name,
                    ref.path,
                    function.at,
                    again,
                    model.plain,
                    None,
                    model.category in ENTRIES,
                )

    def _fits(self, shape: FunctionShape, ref: FunctionRef, function: ir.Function) -> bool:
        if function.is_lambda or function.parent is not None:
            return False
        if shape.names and not any(fnmatch.fnmatchcase(function.name, p) for p in shape.names):
            return False
        params = [p.name for p in function.params]
        if shape.parameters and function.cls is not None and shape.parameters[0] != "self":
            return False
        if shape.parameters and not (
            len(params) == len(shape.parameters)
            and all(w in ("*", p) for w, p in zip(shape.parameters, params, strict=True))
        ):
            return False
        if shape.first_parameter and (
            not params or params[0] != shape.first_parameter or function.cls is not None
        ):
            return False
        if shape.files and not any(
            fnmatch.fnmatchcase(ref.path, p) or fnmatch.fnmatchcase(f"/{ref.path}", p)
            for p in shape.files
        ):
            return False
        if self._calls_parameter(function):
            return False
        return not (shape.uncalled and self.edges(ref))

    def _calls_parameter(self, function: ir.Function) -> bool:
        """A helper that runs what it is given, no job of its own."""
        names = {p.name for p in function.params}
        return any(
            isinstance(c.func, ir.Name) and c.func.id in names for c in calls_in(function.body)
        )

    def imports(self, path: str) -> frozenset[str]:
        """Roots of the outside modules that a file imports anywhere."""
        if path not in self._imports:
            module = self.ev.program.module(path)
            roots: set[str] = set()
            if module is not None:
                bodies = [
                    module.body,
                    *(f.body for f in module.functions),
                    *(c.body for c in module.classes),
                ]
                for body in bodies:
                    for stmt in ir.statements(body):
                        if isinstance(stmt, ir.Import) or (
                            isinstance(stmt, ir.ImportFrom) and not stmt.level
                        ):
                            roots.add(stmt.module.partition(".")[0])
            self._imports[path] = frozenset(roots)
        return self._imports[path]

    # --- who runs it

    def edges(self, ref: FunctionRef) -> tuple[Edge, ...]:
        """All visible ways by which the function is run."""
        if ref not in self._edges:
            self._edges[ref] = ()
            self._edges[ref] = tuple(dict.fromkeys(self._find_edges(ref)))
        return self._edges[ref]

    def _find_edges(self, ref: FunctionRef) -> Iterator[Edge]:
        function = self.ev.program.function(ref)
        names = [function.name]
        if function.cls is not None and function.name in (
            "__init__",
            "__call__",
            "__enter__",
            "__post_init__",
        ):
            names = [self.ev.program.cls(ClassRef(ref.path, function.cls)).name]
        seen: set[str] = set()
        while names:
            name = names.pop()
            if name in seen:
                continue
            seen.add(name)
            for path in self._searched(ref, function, name):
                for edge in self._in_file(ref, function, name, path):
                    if isinstance(edge, Edge):
                        yield edge
                    else:
                        names.append(edge)

    def _searched(self, ref: FunctionRef, function: ir.Function, name: str) -> Iterator[str]:
        """The files that mention the name and can get hold of the function."""
        if function.parent is not None or function.is_lambda:
            yield ref.path
            return
        anywhere = function.cls is not None and self._unique(name)
        reaching = self._reaching(ref, function)
        spelled = [f"{m}.{function.qualname}" for m in self.ev.program.unit(ref.path).modules]
        for path in self.ev.program.mentioning(name):
            near = anywhere and not self.ev.program.strangers(path, ref.path)
            if near or path in reaching or self.ev.program.holds(path, spelled):
                yield path

    def _reaching(self, ref: FunctionRef, function: ir.Function) -> frozenset[str]:
        """The files that can get hold of the function, or of the method that it overrides.

        Who calls the methods of a library's class is for the models to say, even where the library's source is part of the
        program.
        """
        found = self.ev.program.reaching(ref.path)
        if function.cls is None:
            return found
        for base in bases_of(self.ev, ClassRef(ref.path, function.cls))[0]:
            if base.path == ref.path or self.ev.program.tops(base.path) & self.ev.catalog.libraries:
                continue
            if function.name in {method for method, _ in self.ev.program.cls(base).methods}:
                found |= self.ev.program.reaching(base.path)
        return found

    def _in_file(
        self, ref: FunctionRef, function: ir.Function, name: str, path: str
    ) -> Iterator[Edge | str]:
        module = self.ev.program.module(path)
        if module is None:
            return
        for owner, frame, body in self._bodies(path, module):
            for stmt in ir.statements(body):
                for expr in ir.expressions(stmt):
                    yield from self._in_expression(ref, function, name, owner, frame, expr, stmt)
                if isinstance(stmt, ir.Define | ir.DefineClass):
                    yield from self._in_decorators(ref, function, name, owner, frame, stmt, module)

    def _in_decorators(
        self,
        ref: FunctionRef,
        function: ir.Function,
        name: str,
        owner: FunctionRef | None,
        frame: Frame,
        stmt: ir.Define | ir.DefineClass,
        module: ir.Module,
    ) -> Iterator[Edge | str]:
        """References in arguments of decorators and in defaults."""
        if isinstance(stmt, ir.Define):
            inner = module.functions[stmt.function]
            exprs = [*inner.decorators, *(p.default for p in inner.params if p.default is not None)]
        else:
            exprs = [a.value for a in module.classes[stmt.cls].bases]
        for expr in exprs:
            if isinstance(expr, ir.Call):
                for arg in expr.args:
                    yield from self._in_expression(
                        ref, function, name, owner, frame, arg.value, stmt
                    )

    def _bodies(
        self, path: str, module: ir.Module
    ) -> Iterator[tuple[FunctionRef | None, Frame, tuple[ir.Stmt, ...]]]:
        yield None, self.ev.module_frame(path), module.body
        for cls in module.classes:
            yield None, self.ev.class_frame(ClassRef(path, cls.index)), cls.body
        for function in module.functions:
            inner = FunctionRef(path, function.index)
            yield inner, self.ev.open_frame(inner), function.body

    def _in_expression(
        self,
        ref: FunctionRef,
        function: ir.Function,
        name: str,
        owner: FunctionRef | None,
        frame: Frame,
        expr: ir.Expr,
        stmt: ir.Stmt,
    ) -> Iterator[Edge | str]:
        for node, parents in _walk_with_parents(expr):
            if not self._mentions(node, name, function):
                continue
            matched = self._matches(ref, function, frame, node, parents)
            if not matched:
                continue
            yield from self._edge(ref, owner, frame, node, parents, stmt, matched)

    def _mentions(self, node: ir.Expr, name: str, function: ir.Function) -> bool:
        match node:
            case ir.Name(_, spelled):
                return spelled == name
            case ir.Attr(_, _, spelled):
                return spelled == name
            case ir.Const(_, str() as value):
                return value.endswith(f".{name}")
            case ir.Lambda(_, index):
                return function.is_lambda and index == function.index
            case _:
                return False

    def _matches(
        self,
        ref: FunctionRef,
        function: ir.Function,
        frame: Frame,
        node: ir.Expr,
        parents: tuple[ir.Expr, ...],
    ) -> str:
        """How the node means the function: `call`, `name`, `value` (a container that holds it), or empty."""
        if isinstance(node, ir.Lambda):
            return "call" if frame.path == ref.path else ""
        if isinstance(node, ir.Const):
            modules = self.ev.program.unit(ref.path).modules
            return "call" if node.value in {f"{m}.{function.qualname}" for m in modules} else ""
        vals = self.ev.values(frame, node)
        for val in vals:
            if self.leads_to(val, ref):
                return "call"
        if isinstance(node, ir.Attr):
            kinds = decorator_names(function)
            if kinds & {"property", "cached_property"}:
                bases = self.ev.values(frame, node.base)
                if any(
                    isinstance(b.what, Instance)
                    and class_member(self.ev, b.what.ref, node.name) == ref
                    for b in bases
                ):
                    return "property"
            if function.cls is not None and self._unresolved(vals) and self._unique(function.name):
                return "name"
        if isinstance(node, ir.Name) and node.id != function.name:
            for parent in parents[:2]:
                called = self.ev.values(frame, parent.func) if isinstance(parent, ir.Call) else ()
                if any(self.leads_to(v, ref) for v in called):
                    return "value"
        return ""

    def _unresolved(self, vals: tuple[Val, ...]) -> bool:
        return not vals or all(isinstance(v.what, Unknown | Hole) for v in vals)

    def _unique(self, name: str) -> bool:
        return name not in _GENERIC and self.ev.program.defined_once(name)

    def leads_to(self, val: Val, ref: FunctionRef, depth: int = 0) -> bool:
        """Calling the value runs the function, perhaps through wrappers."""
        what = val.what
        if isinstance(what, Type) and depth == 0:
            member = class_member(self.ev, what.ref, "__init__") or class_member(
                self.ev, what.ref, "__post_init__"
            )
            return member == ref
        if isinstance(what, Instance) and depth == 0:
            return class_member(self.ev, what.ref, "__call__") == ref
        if not isinstance(what, Callable_) or depth > 4:
            return False
        if what.ref == ref or self.overrides(ref, what.ref):
            return True
        closure = what.closure
        while closure is not None:
            if closure.args is not None:
                for lazy in closure.args.positional:
                    if lazy.known is not None and any(
                        self.leads_to(v, ref, depth + 1) for v in lazy.known
                    ):
                        return True
            closure = closure.closure
        return False

    def overrides(self, ref: FunctionRef, base: FunctionRef) -> bool:
        one, two = self.ev.program.function(ref), self.ev.program.function(base)
        if one.cls is None or two.cls is None or one.name != two.name or one.name == "__init__":
            return False
        return ClassRef(base.path, two.cls) in bases_of(self.ev, ClassRef(ref.path, one.cls))[0]

    def _edge(
        self,
        ref: FunctionRef,
        owner: FunctionRef | None,
        frame: Frame,
        node: ir.Expr,
        parents: tuple[ir.Expr, ...],
        stmt: ir.Stmt,
        matched: str,
    ) -> Iterator[Edge | str]:
        parent = parents[0] if parents else None
        if matched == "property":
            yield Edge(frame.path, owner, node.at, "property")
            return
        if matched == "value":
            call = next(p for p in parents if isinstance(p, ir.Call))
            yield Edge(frame.path, owner, call.at, "call")
            return
        if isinstance(parent, ir.Call):
            if parent.func is node:
                yield Edge(frame.path, owner, parent.at, matched)
            else:
                yield from self._handed(ref, owner, frame, parent)
            return
        if isinstance(parent, ir.Attr) and len(parents) > 1:
            call_ = parents[1]
            if isinstance(call_, ir.Call) and call_.func is parent and parent.name in self._words:
                how = "packed" if self._is_packed(ref, parent.name) else "task"
                yield Edge(frame.path, owner, call_.at, how)
                return
        if isinstance(parent, ir.Sequence | ir.Mapping) or isinstance(stmt, ir.Assign):
            holder = next((p for p in parents if isinstance(p, ir.Call)), None)
            if holder is not None:
                yield from self._handed(ref, owner, frame, holder)
            if isinstance(stmt, ir.Assign):
                yield from self._by_attribute(owner, frame, node, stmt)
                for target in stmt.targets:
                    if isinstance(target, ir.Name):
                        yield target.id
                    elif isinstance(target, ir.Attr):
                        yield target.name
                    elif isinstance(target, ir.Item) and isinstance(target.base, ir.Name):
                        yield target.base.id
            return
        if owner is not None:
            yield Edge(frame.path, owner, node.at, "reference")

    def _by_attribute(
        self, owner: FunctionRef | None, frame: Frame, node: ir.Expr, stmt: ir.Assign
    ) -> Iterator[Edge]:
        """A function put into an attribute that a library reads (`on_message = f`, `functions = [f]`)."""
        for target in stmt.targets:
            names: list[str] = []
            if isinstance(target, ir.Name) and isinstance(frame.owner, ClassRef):
                names = [f"project.{self.ev.program.cls(frame.owner).name}.{target.id}"]
            elif isinstance(target, ir.Attr):
                bases = self.ev.values(frame, target.base)
                names = [f"{b.what.cls}.{target.name}" for b in bases if isinstance(b.what, Object)]
            for name in names:
                for model in self.ev.catalog.assigned(name):
                    again = self.enabled(model, Arguments(), frame, (), None, frame.path, node)
                    if again is not None:
                        yield Edge(frame.path, owner, node.at, "handed", again=(again,))

    def _is_packed(self, ref: FunctionRef, method: str) -> bool:
        scope = decorator_scope(self.ev, ref)
        for decorator in self.ev.program.function(ref).decorators:
            for model in self.decorator_models(scope, decorator, ref.path):
                if method in model.packed_calls:
                    return True
                if method in model.calls:
                    return False
        return any(method in c.packed_calls for f in self.ev.catalog.files for c in f.context)

    def _handed(
        self,
        ref: FunctionRef,
        owner: FunctionRef | None,
        frame: Frame,
        call: ir.Call,
    ) -> Iterator[Edge]:
        """The function is an argument of a call."""
        found = False
        for callee in self.ev.values(frame, call.func):
            what = callee.what
            if isinstance(what, Callable_):
                for edge in self._through_helper(ref, owner, frame, call, what):
                    found = True
                    yield edge
                continue
            decorating = self._decorates(callee)
            if decorating:
                found = True
                yield from self.by_models(decorating, owner, frame, call)
                continue
            for name in self.callable_names(callee):
                models = self.ev.catalog.calls(name)
                if models:
                    found = True
                    yield from self.by_models(models, owner, frame, call)
                    break
                edge_model = self.ev.catalog.edge(name)
                if edge_model is not None:
                    found = True
                    each = edge_model.arguments == "each" and not self._literal_items(call)
                    yield Edge(frame.path, owner, call.at, "handed", each=each)
                    break
        if found:
            return
        if isinstance(call.func, ir.Attr):
            models = self.ev.catalog.unresolved_calls(call.func.name, self.imports(frame.path))
            if models:
                yield from self.by_models(models, owner, frame, call)
                return
        yield Edge(frame.path, owner, call.at, "reference")

    def _literal_items(self, call: ir.Call) -> bool:
        return len(call.args) > 1 and is_literal(call.args[1].value)

    def callable_names(self, val: Val) -> tuple[str, ...]:
        match val.what:
            case External(name):
                return (name,)
            case Object(cls, _):
                return (f"{cls}.__call__", cls)
            case _:
                return ()

    def _decorates(self, callee: Val) -> tuple[ContextModel, ...]:
        """Models of a decorator that is applied by hand (`retry(stop=…)(f)`)."""
        return (
            self.ev.catalog.decorators(callee.what.made) if isinstance(callee.what, Object) else ()
        )

    def by_models(
        self,
        models: tuple[ContextModel, ...],
        owner: FunctionRef | None,
        frame: Frame,
        call: ir.Call,
    ) -> Iterator[Edge]:
        args = Arguments.of(frame, call.args)
        made = self._maker_arguments(frame, call)
        for model in models:
            options = Arguments(args.positional, (*args.named, *made.named), args.star, args.double)
            again = self.enabled(model, options, frame, (), None, frame.path, call)
            yield Edge(
                frame.path, owner, call.at, "handed", again=(again,) if again is not None else ()
            )
            return

    def _maker_arguments(self, frame: Frame, call: ir.Call) -> Arguments:
        """Options given to the object that is called (`Retrying(retry=…)(f)`)."""
        for val in self.ev.values(frame, call.func):
            if isinstance(val.what, Object) and val.what.args is not None:
                return val.what.args
            if (
                isinstance(val.what, External)
                and val.what.of is not None
                and val.what.of.args is not None
            ):
                return val.what.of.args
        return Arguments()

    def _through_helper(
        self,
        ref: FunctionRef,
        owner: FunctionRef | None,
        frame: Frame,
        call: ir.Call,
        helper: Callable_,
    ) -> Iterator[Edge]:
        """A project function gets the function and calls it somewhere inside."""
        function = self.ev.program.function(helper.ref)
        module = self.ev.program.module(helper.ref.path)
        assert module is not None
        args = Arguments.of(frame, call.args)
        inner = self.ev.bound_frame(helper.ref, frame, call.at, args, helper.closure, helper.this)
        direct = list(self._called_in(inner, function.body, ref))
        for at in direct:
            yield Edge(frame.path, owner, call.at, "call", ((helper.ref, at),))
        for nested in module.functions:
            if nested.parent == helper.ref.index:
                nested_ref = FunctionRef(helper.ref.path, nested.index)
                nested_frame = self.ev.bound_frame(nested_ref, inner, nested.at, Arguments(), inner)
                for at in self._called_in(nested_frame, nested.body, ref):
                    yield Edge(
                        frame.path,
                        owner,
                        call.at,
                        "call",
                        ((nested_ref, at), (helper.ref, nested.at)),
                    )
                    direct.append(at)
        if not direct:
            yield Edge(frame.path, owner, call.at, "reference")

    def _called_in(
        self, frame: Frame, body: tuple[ir.Stmt, ...], ref: FunctionRef
    ) -> Iterator[int]:
        for call in calls_in(body):
            if any(self.leads_to(v, ref) for v in self.ev.values(frame, call.func)):
                yield call.at
                continue
            for arg in call.args:
                if isinstance(arg.value, ir.Name) and any(
                    self.leads_to(v, ref) for v in self.ev.values(frame, arg.value)
                ):
                    yield call.at
                    break


def _walk_with_parents(expr: ir.Expr) -> Iterator[tuple[ir.Expr, tuple[ir.Expr, ...]]]:
    stack: list[tuple[ir.Expr, tuple[ir.Expr, ...]]] = [(expr, ())]
    while stack:
        node, parents = stack.pop()
        yield node, parents
        inner = (node, *parents[:3])
        stack.extend((child, inner) for child in reversed(ir.children(node)))


def _short(node: ir.Expr) -> str:
    """The source of a decorator or call, cut for a message."""
    spelled = text(node)
    return spelled if len(spelled) <= 60 else spelled[:57] + "…"


def _builtin(name: str) -> str:
    return name if "." in name else f"builtins.{name}"
