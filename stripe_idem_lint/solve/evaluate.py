"""What an expression may be, asked for on demand: names, attributes, containers and calls across files.

`Evaluator.values(frame, expr)` gives the alternatives; everything else is in service of it. Calls of project functions are
evaluated in a new frame bound to the call's arguments, so that one helper with two callers keeps their values apart. Libraries
are known through the catalog alone.
"""

from __future__ import annotations

from collections.abc import Iterable

from stripe_idem_lint.ir import nodes as ir
from stripe_idem_lint.link.flow import Def
from stripe_idem_lint.link.program import ClassRef, FunctionRef, Program
from stripe_idem_lint.models.catalog import Catalog
from stripe_idem_lint.solve.access import accessed
from stripe_idem_lint.solve.alternatives import joined
from stripe_idem_lint.solve.classes import annotated, class_member, record_of
from stripe_idem_lint.solve.decorators import kept_by_decorators
from stripe_idem_lint.solve.expressions import evaluate
from stripe_idem_lint.solve.methods import call_method
from stripe_idem_lint.solve.names import definition_values
from stripe_idem_lint.solve.origin import Source
from stripe_idem_lint.solve.outside import call_outside
from stripe_idem_lint.solve.records import through_manager
from stripe_idem_lint.solve.scopes import definition_frame
from stripe_idem_lint.solve.values import (
    Arguments,
    Callable_,
    Condition,
    External,
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
    Type,
    Unknown,
    Val,
    Vals,
)

MOST = 24
"""Alternatives kept per expression."""
DEEPEST = 10
"""Frames below one another."""
NESTED = 20
"""Calls under evaluation at one time, those of decorators and receivers included: each takes some twenty Python frames."""
BUSY = 250
"""Expressions and definitions under evaluation at one time: each takes up to ten Python frames."""
FUEL = 600
"""Calls of project functions that one question may look into."""


class Evaluator:
    """Answers questions about one program. Results are memoised; `forget` drops them between sinks."""

    def __init__(self, program: Program, catalog: Catalog) -> None:
        self.program = program
        self.catalog = catalog
        self.origins: dict[tuple[int, bool], tuple[Val, tuple[Source, ...]]] = {}
        self._memo: dict[tuple[int, int], tuple[Frame, ir.Expr, Vals]] = {}
        self._busy: set[tuple[int, int]] = set()
        self._made: dict[tuple[int, int], tuple[Frame, Def, Vals]] = {}
        self._fuel = FUEL
        self._nested = 0
        self._frames: dict[tuple[str, object], Frame] = {}
        self._access_depth = 0
        self.typed: dict[FunctionRef, tuple[dict[int, str], bool]] = {}
        self.bases: dict[ClassRef, tuple[tuple[ClassRef, ...], tuple[str, ...]]] = {}

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

    def values(self, frame: Frame, expr: ir.Expr | None) -> Vals:
        """The alternatives of `expr` in `frame`; empty when evaluation goes round in a circle."""
        if expr is None:
            return ()
        key = (id(frame), id(expr))
        known = self._memo.get(key)
        if known is not None:
            return known[2]
        if key in self._busy or len(self._busy) > BUSY:
            return ()
        self._busy.add(key)
        try:
            found = tuple(evaluate(self, frame, expr))[:MOST]
        finally:
            self._busy.discard(key)
        if self._fuel > 0:
            self._memo[key] = (frame, expr, found)
        return found

    def resolve(self, lazy: Lazy) -> Vals:
        """The alternatives of a lazy value."""
        vals = lazy.known if lazy.known is not None else self.values(lazy.frame, lazy.expr)
        for step in lazy.path:
            vals = self.access(vals, step)
        return vals

    def access(self, vals: Vals, step: str) -> Vals:
        """An attribute (`.name`), an item (`[key]`) or any item (`[*]`) of each alternative."""
        self._access_depth += 1
        try:
            if self._access_depth > 120:
                return ()
            found: list[Val] = []
            for val in vals:
                got = accessed(self, val, step)
                found.extend(
                    Val(g.what, g.frame, g.at, val.needs + g.needs, g.sure) if val.needs else g
                    for g in got
                )
                if len(found) >= MOST:
                    break
            return tuple(found[:MOST])
        finally:
            self._access_depth -= 1

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
            vals = definition_values(self, frame, definition)[:MOST]
        finally:
            self._busy.discard(key)
        if definition.needs:
            needs = tuple(Condition(frame, need.value) for need in definition.needs)
            vals = tuple(Val(v.what, v.frame, v.at, v.needs + needs, v.sure) for v in vals)
        if self._fuel > 0:
            self._made[key] = (frame, definition, vals)
        return vals

    def defined_by(self, frame: Frame, definitions: Iterable[Def]) -> Vals:
        found: list[Val] = []
        for definition in definitions:
            found.extend(self.defined(frame, definition))
        return tuple(found[:MOST])

    def invoke(
        self, callee: Val, args: Arguments, frame: Frame, at: int, expr: ir.Call | None = None
    ) -> Vals:
        """What calling `callee` gives."""
        what = callee.what
        match what:
            case Callable_(_, _, _, given):
                return self.inline(what, joined(given, args), frame, at)
            case Type(ref):
                record = record_of(self, ref)
                how = "created" if record is not None and record.row else "made"
                return (Val(Instance(ref, how, frame, at, args, record), frame, at),)
            case External(name):
                return call_outside(self, name, what.of, args, frame, at, expr)
            case Partial(target, given, _, _):
                return self.invoke(target, joined(given, args), frame, at, expr)
            case Manager():
                return through_manager(what, args, frame, at)
            case Method(base, name):
                return call_method(self, base, name, args, frame, expr) if expr is not None else ()
            case Instance(ref):
                method = class_member(self, ref, "__call__")
                if method is not None:
                    return self.inline(Callable_(method, None, callee), args, frame, at)
                return (Val(Unknown("call of an object"), frame, at),)
            case Object(_, made) if args.positional and self.catalog.decorators(made):
                return self.resolve(args.positional[0])
            case Object(cls):
                return call_outside(self, f"{cls}.__call__", what, args, frame, at, expr)
            case Hole(_, _, trail) | Unknown(_, trail):
                return (Val(Unknown("call of an unknown function", (*trail, "()")), frame, at),)
            case _:
                return (Val(Unknown("call of something that is no function"), frame, at),)

    def inline(self, what: Callable_, args: Arguments, frame: Frame, at: int) -> Vals:
        """What a project function gives for these arguments."""
        if _recursive(frame, what.ref):
            return (Val(Unknown("recursion"), frame, at),)
        if frame.depth >= DEEPEST or self._nested >= NESTED or self._fuel <= 0:
            return (Val(Unknown("calls too deep to follow"), frame, at),)
        self._fuel -= 1
        self._nested += 1
        try:
            return self._run(what, args, frame, at)
        finally:
            self._nested -= 1

    def _run(self, what: Callable_, args: Arguments, frame: Frame, at: int) -> Vals:
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
                list(annotated(self, definition_frame(self, inner), function.returns, inner))
                or found
            )
        return kept_by_decorators(self, what.ref, tuple(found[:MOST]))


def _recursive(frame: Frame | None, ref: FunctionRef) -> bool:
    count = 0
    while frame is not None:
        count += frame.owner == ref
        frame = frame.caller
    return count > 1
