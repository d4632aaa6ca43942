"""From a sink outward: every visible way that leads to it, and what runs each stretch of the way again.

A *chain* is one such way, innermost place first. Its *hits* are the contexts met, each with its extent: a level of the chain
(everything that runs below it) or a region of one body. Frames are built from the outside in, so that the key can be evaluated
with the arguments of just this way.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from stripe_idem_lint.ir import nodes as ir
from stripe_idem_lint.ir.text import text
from stripe_idem_lint.link.flow import spelled
from stripe_idem_lint.link.program import FunctionRef
from stripe_idem_lint.solve import regions
from stripe_idem_lint.solve.alternatives import joined
from stripe_idem_lint.solve.callers import ENTRIES, Again, Callers, Edge, GuardMark, Wrapper
from stripe_idem_lint.solve.classes import class_member
from stripe_idem_lint.solve.decorators import models_of, outside_names
from stripe_idem_lint.solve.evaluate import Evaluator
from stripe_idem_lint.solve.options import any_holds
from stripe_idem_lint.solve.outside import handed_over, unpacked
from stripe_idem_lint.solve.sinks import Hop, Site, calls_in, sink_calls
from stripe_idem_lint.solve.values import (
    Arguments,
    Callable_,
    External,
    Frame,
    Hole,
    Instance,
    Lazy,
    Method,
    Object,
    Row,
    Table,
    Type,
    Unknown,
    Val,
)

MOST_CHAINS = 400
DEEPEST = 14


@dataclass(frozen=True, slots=True)
class Hit:
    """A context on a chain.

    Attributes:
        level: Number of the hop in whose function it stands.
        start, end: The region of that body; both -1 when the whole function, with all below it, is the extent.
        swallowed: It runs again only if a failure is swallowed further inside.
    """

    level: int
    start: int
    end: int
    again: Again
    swallowed: bool = False


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop over items on a chain."""

    level: int
    at: int
    path: str
    literal: bool
    marks: bool
    source: str


@dataclass(frozen=True, slots=True, eq=False)
class Chain:
    """One way from a sink to its outermost visible caller.

    Attributes:
        hops: Innermost first.
        hows: How each hop is entered from the next (`call`, `task`, …); one shorter than `hops`.
        guards: What narrows the window, with the level of the chain at which it stands.
        swallows: Levels at which a try swallows failures of what is below.
        raises: Exceptions that waiting on the way can raise by itself.
        ends: Why it ends: `entry`, `module`, `open` (no caller visible).
    """

    hops: tuple[Hop, ...]
    hows: tuple[str, ...]
    hits: tuple[Hit, ...]
    loops: tuple[Loop, ...]
    guards: tuple[tuple[int, GuardMark], ...]
    locks: tuple[GuardMark, ...]
    swallows: frozenset[int]
    raises: tuple[str, ...]
    ends: str


@dataclass(frozen=True, slots=True, eq=False)
class _Way:
    """A chain being built."""

    hops: tuple[Hop, ...]
    hows: tuple[str, ...] = ()
    hits: tuple[Hit, ...] = ()
    loops: tuple[Loop, ...] = ()
    guards: tuple[tuple[int, GuardMark], ...] = ()
    locks: tuple[GuardMark, ...] = ()
    swallows: frozenset[int] = frozenset()
    raises: tuple[str, ...] = ()

    def done(self, ends: str) -> Chain:
        return Chain(
            self.hops,
            self.hows,
            self.hits,
            self.loops,
            self.guards,
            self.locks,
            self.swallows,
            self.raises,
            ends,
        )


class Climber:
    """Finds the chains of sinks; remembers what it saw around each place."""

    def __init__(self, ev: Evaluator, callers: Callers) -> None:
        self.ev = ev
        self.callers = callers
        self._places: dict[tuple[str, FunctionRef | None, int], _Way] = {}
        self._nodes: dict[str, dict[int, ir.Expr]] = {}
        self._count = 0

    def chains(self, site: Site) -> list[Chain]:
        """All chains of a sink, at most `MOST_CHAINS`."""
        way = _Way(())
        for number, hop in enumerate(site.hops):
            how = () if number == 0 else ("call",)
            way = self._step(replace(way, hows=way.hows + how), hop)
            if number < len(site.hops) - 1 and hop.owner is not None:
                way = self._own_contexts(way, hop.owner, number)
        way = replace(way, hits=(*way.hits, *self._handing(site.hops[0])))
        self._count = 0
        return list(self._climb(way, frozenset()))

    def _handing(self, hop: Hop) -> Iterator[Hit]:
        """The call hands the service's function to something that runs it again; its arguments are made outside."""
        node = self._node(hop.path, hop.at)
        if not isinstance(node, ir.Call):
            return
        frame, _ = self._body(hop)
        for val in self.ev.values(frame, node.func):
            for name in self.callers.callable_names(val):
                for edge in self.callers.by_models(self.ev.catalog.calls(name), None, frame, node):
                    yield from (Hit(-1, -1, -1, again) for again in edge.again)

    def _own_contexts(self, way: _Way, owner: FunctionRef, level: int) -> _Way:
        for item in self.callers.around(owner):
            if isinstance(item, Again):
                way = replace(way, hits=(*way.hits, Hit(level, -1, -1, item)))
        return way

    def _step(self, way: _Way, hop: Hop) -> _Way:
        """Adds a hop and what its body shows around the place."""
        level = len(way.hops)
        seen = self._place(hop)
        return replace(
            way,
            hops=(*way.hops, hop),
            hits=(*way.hits, *(replace(h, level=level) for h in seen.hits)),
            loops=(*way.loops, *(replace(loop, level=level) for loop in seen.loops)),
            guards=(*way.guards, *((level, mark) for _, mark in seen.guards)),
            locks=(*way.locks, *seen.locks),
            swallows=way.swallows | ({level} if seen.swallows else frozenset()),
            raises=(*way.raises, *seen.raises),
        )

    # --- climbing

    def _climb(self, way: _Way, visited: frozenset[tuple[object, int]]) -> Iterator[Chain]:
        if self._count >= MOST_CHAINS:
            return
        hop = way.hops[-1]
        if hop.owner is None:
            yield self._finish(way, "module")
            return
        for wrapped, entry in self._wrapped(way, hop.owner, 0):
            yield from self._outward(wrapped, hop.owner, entry, visited)

    def _wrapped(self, way: _Way, owner: FunctionRef, start: int) -> Iterator[tuple[_Way, bool]]:
        """The way through the function's decorators, innermost first; says whether outside code enters there."""
        entry = False
        around = self.callers.around(owner)
        number = start
        while number < len(around):
            item = around[number]
            level = len(way.hops) - 1
            if isinstance(item, Again):
                way = replace(way, hits=(*way.hits, Hit(level, -1, -1, item)))
                entry = entry or item.entry
            elif isinstance(item, GuardMark):
                way = replace(way, guards=(*way.guards, (level, item)))
            else:
                alternatives = [item]
                while number + 1 < len(around):
                    following = around[number + 1]
                    if not isinstance(following, Wrapper) or following.ref != item.ref:
                        break
                    alternatives.append(following)
                    number += 1
                way = self._through_wrappers(way, alternatives)
            number += 1
        yield way, entry

    def _through_wrappers(self, way: _Way, places: list[Wrapper]) -> _Way:
        """One hop through a wrapper; of several places that call the wrapped function the one that repeats counts."""
        ways = [
            self._step(
                replace(way, hows=(*way.hows, "call")), Hop(p.ref.path, p.ref, p.at, p.closure)
            )
            for p in places
        ]
        return max(ways, key=lambda w: len(w.hits))

    def _outward(
        self, way: _Way, owner: FunctionRef, entry: bool, visited: frozenset[tuple[object, int]]
    ) -> Iterator[Chain]:
        edges = self.callers.edges(owner)
        level = len(way.hops) - 1
        followed = False
        for edge in edges:
            key = (edge.owner or edge.path, edge.at)
            if key in visited or len(way.hops) >= DEEPEST:
                continue
            onward = self._along(way, owner, edge, level)
            if onward is None:
                continue
            if edge.how == "reference" and edge.owner is None:
                continue
            followed = True
            yield from self._climb(onward, visited | {key})
            if self._count >= MOST_CHAINS:
                return
        categories = {h.again.category for h in way.hits if h.level == level and h.start == -1}
        framework = bool(categories & (ENTRIES - {"task"})) or any(
            h.again.shape == "command" for h in way.hits if h.level == level
        )
        if not followed or (entry and framework):
            yield self._finish(way, "entry" if entry else "open")

    def _along(self, way: _Way, owner: FunctionRef, edge: Edge, level: int) -> _Way | None:
        """The way continued over an edge; None for a recursion that is no retry."""
        recursive = edge.owner is not None and edge.owner == owner
        for again in edge.again:
            way = replace(way, hits=(*way.hits, Hit(level, -1, -1, again)))
        for helper, at in edge.inner:
            way = self._step(replace(way, hows=(*way.hows, "call")), Hop(helper.path, helper, at))
            way = self._own_contexts(way, helper, len(way.hops) - 1)
        if recursive:
            again_ = self._recursion(owner, edge)
            if again_ is None:
                return None
            way = replace(way, hits=(*way.hits, Hit(level, -1, -1, again_)))
        way = self._step(
            replace(way, hows=(*way.hows, edge.how)), Hop(edge.path, edge.owner, edge.at)
        )
        if edge.each:
            loop = Loop(len(way.hops) - 1, edge.at, edge.path, False, False, "")
            way = replace(way, loops=(*way.loops, loop))
        if edge.owner is None and edge.how not in ("reference",):
            way = self._script(way, edge)
        return way

    def _script(self, way: _Way, edge: Edge) -> _Way:
        """Module code that calls: a program that somebody starts."""
        if edge.how not in ("call", "name"):
            return way
        again = Again(
            "command",
            "the script",
            edge.path,
            edge.at,
            "it is started again",
            entry=True,
            shape="command",
        )
        return replace(way, hits=(*way.hits, Hit(len(way.hops) - 1, -1, -1, again)))

    def _recursion(self, owner: FunctionRef, edge: Edge) -> Again | None:
        """A function that calls itself after a failure."""
        module = self.ev.program.module(owner.path)
        assert module is not None
        function = self.ev.program.function(owner)
        path = regions.around(module, function.body, edge.at)
        catches: tuple[str, ...] | None = None
        for step in path:
            if isinstance(step.stmt, ir.Try) and step.part == "handler":
                catches = self._handler_names(
                    self.ev.open_frame(owner), step.stmt.handlers[step.number]
                )
        if catches is None:
            for stmt in function.body:
                if isinstance(stmt, ir.Try) and stmt.at < edge.at and regions.swallowing(stmt):
                    handlers = regions.swallowing(stmt)
                    frame = self.ev.open_frame(owner)
                    catches = tuple(n for h in handlers for n in self._handler_names(frame, h))
        if catches is None:
            return None
        category = "task" if edge.how in ("task", "packed") else "retry"
        return Again(
            category, f"{function.name}(…) calls itself", owner.path, edge.at,
            "the function calls itself after a failure", False, catches, False, "recursion",
        )  # fmt: skip

    def _finish(self, way: _Way, ends: str) -> Chain:
        self._count += 1
        return way.done(ends)

    # --- what a body shows around a place

    def _place(self, hop: Hop) -> _Way:
        key = (hop.path, hop.owner, hop.at)
        if key not in self._places:
            self._places[key] = self._look(hop)
        return self._places[key]

    def _look(self, hop: Hop) -> _Way:
        module = self.ev.program.module(hop.path)
        assert module is not None
        frame, body = self._body(hop)
        path = regions.around(module, body, hop.at)
        found = _Way(())
        for number, step in enumerate(path):
            inner = path[number + 1 :]
            match step.stmt:
                case ir.For() | ir.While() if step.part in ("body", "orelse"):
                    found = self._of_loop(found, module, frame, step, inner, hop)
                case ir.With() if step.part == "body":
                    found = self._of_with(found, frame, step, hop.path)
                case ir.Try():
                    found = self._of_try(found, frame, step, hop)
                case _:
                    pass
        found = self._of_comprehensions(found, body, hop)
        found = self._of_inside(found, module, frame, body, path, hop)
        found = self._of_locks(found, frame, body, hop)
        found = self._of_checks(found, module, body, hop)
        return self._of_wait(found, frame, hop)

    def _body(self, hop: Hop) -> tuple[Frame, tuple[ir.Stmt, ...]]:
        if hop.owner is None:
            module = self.ev.program.module(hop.path)
            assert module is not None
            return self.ev.module_frame(hop.path), module.body
        return self.ev.open_frame(hop.owner), self.ev.program.function(hop.owner).body

    def _of_loop(
        self,
        found: _Way,
        module: ir.Module,
        frame: Frame,
        step: regions.Around,
        inner: list[regions.Around],
        hop: Hop,
    ) -> _Way:
        loop = step.stmt
        assert isinstance(loop, ir.For | ir.While)
        if isinstance(loop, ir.For):
            modelled = self._modelled_loop(frame, loop, hop.path)
            if modelled is not None:
                return _hit(found, loop.at, step.end, modelled)
        shaped = self._retry_shape(module, frame, loop, inner, hop)
        if shaped is not None:
            return replace(found, hits=(*found.hits, replace(shaped, start=loop.at, end=step.end)))
        if isinstance(loop, ir.For) and not regions.is_counting(loop.iter):
            literal = regions.is_literal(loop.iter) or self._literal_values(frame, loop.iter)
            marks = regions.marks_item(module, loop, hop.at, self.ev.catalog.words.store)
            item = Loop(0, loop.at, hop.path, literal, marks, text(loop.iter))
            return replace(found, loops=(*found.loops, item))
        return found

    def _of_comprehensions(self, found: _Way, body: tuple[ir.Stmt, ...], hop: Hop) -> _Way:
        """`[charge(x) for x in rows]` is a loop over items too."""
        for stmt in ir.statements(body):
            for expr in ir.expressions(stmt):
                for node in ir.walk(expr):
                    if isinstance(node, ir.Comprehension) and any(
                        n.at == hop.at for n in ir.walk(node.element)
                    ):
                        source = node.clauses[0].iter
                        literal = regions.is_literal(source)
                        item = Loop(0, node.at, hop.path, literal, False, text(source))
                        found = replace(found, loops=(*found.loops, item))
        return found

    def _literal_values(self, frame: Frame, expr: ir.Expr) -> bool:
        """The iterable is a name for a display of constants."""
        match expr:
            case ir.Call(_, ir.Attr(_, base, "items" | "values" | "keys"), ()):
                return self._literal_table(frame, base)
            case _:
                pass
        vals = self.ev.values(frame, expr) if isinstance(expr, ir.Name | ir.Attr) else ()
        return bool(vals) and all(
            isinstance(v.what, Row)
            and all(
                lazy.expr is not None and not star and _is_constant(lazy.expr)
                for lazy, star in v.what.items
            )
            for v in vals
        )

    def _literal_table(self, frame: Frame, expr: ir.Expr) -> bool:
        """The name stands for a dictionary of constants."""
        vals = self.ev.values(frame, expr)
        return bool(vals) and all(
            isinstance(v.what, Table)
            and all(lazy.expr is not None and _is_constant(lazy.expr) for _, lazy in v.what.entries)
            for v in vals
        )

    def _modelled_loop(self, frame: Frame, loop: ir.For, path: str) -> Again | None:
        for val in self.ev.values(frame, loop.iter):
            for name in self._iterated_names(val):
                for model in self.ev.catalog.loops(name):
                    args = self._made_with(val)
                    again = self.callers.enabled(model, args, frame, (), None, path, loop.iter)
                    if again is not None:
                        return again
        if isinstance(loop.iter, ir.Call) and isinstance(loop.iter.func, ir.Attr):
            imports = self.callers.imports(path)
            for model in self.ev.catalog.unresolved_loops(loop.iter.func.name, imports):
                if self._is_unresolved(frame, loop.iter.func):
                    return self.callers.enabled(
                        model, Arguments(), frame, (), None, path, loop.iter
                    )
        return None

    def _is_unresolved(self, frame: Frame, expr: ir.Expr) -> bool:
        vals = self.ev.values(frame, expr)
        return not vals or any(isinstance(v.what, Unknown | Hole) for v in vals)

    def _iterated_names(self, val: Val) -> tuple[str, ...]:
        match val.what:
            case Object(cls, made):
                return (cls, made)
            case External(name):
                return (name,)
            case _:
                return ()

    def _made_with(self, val: Val) -> Arguments:
        if isinstance(val.what, Object) and val.what.args is not None:
            return val.what.args
        return Arguments()

    def _retry_shape(
        self,
        module: ir.Module,
        frame: Frame,
        loop: ir.For | ir.While,
        inner: list[regions.Around],
        hop: Hop,
    ) -> Hit | None:
        """A loop that goes round again after a failure of the same item."""
        leaves = regions.success_leaves(module, loop, inner, hop.at)
        counting = isinstance(loop, ir.While) or regions.is_counting(loop.iter)
        name = (
            f"for {text(loop.target)} in {text(loop.iter)}"
            if isinstance(loop, ir.For)
            else f"while {text(loop.test)}"
        )
        for step in inner:
            suppressed = self._suppressed(frame, step.stmt)
            if suppressed and leaves:
                return Hit(0, 0, 0, self._loop_again(name, hop.path, loop.at, suppressed))
            if not isinstance(step.stmt, ir.Try) or step.part not in ("body", "orelse"):
                continue
            handlers = regions.goes_round(step.stmt)
            if regions.leaves(regions.after(module, loop.body, hop.at)[1:]):
                handlers = tuple(h for h in handlers if _skips(h.body))
            refilled = tuple(
                h for h in handlers if regions.puts_back(loop, h, self.ev.catalog.words.take)
            )
            if handlers and (leaves or refilled):
                catches = tuple(n for h in handlers for n in self._handler_names(frame, h))
                return Hit(0, 0, 0, self._loop_again(name, hop.path, loop.at, catches))
        if counting and leaves:
            again = self._loop_again(name, hop.path, loop.at, ("builtins.Exception",))
            return Hit(0, 0, 0, again, swallowed=True)
        if counting and self._refills(loop, inner):
            again = self._loop_again(name, hop.path, loop.at, ("builtins.Exception",))
            return Hit(0, 0, 0, again, swallowed=True)
        return None

    def _suppressed(self, frame: Frame, stmt: ir.Stmt) -> tuple[str, ...]:
        """The exceptions of `with contextlib.suppress(…):`."""
        found: list[str] = []
        for expr, _ in stmt.items if isinstance(stmt, ir.With) else ():
            if isinstance(expr, ir.Call) and any(
                map(self.ev.catalog.suppresses, outside_names(self.ev, frame, expr))
            ):
                args = Arguments.of(frame, expr.args)
                found.extend(
                    n for lazy in args.positional for n in self.callers.exception_names(lazy)
                )
        return tuple(found)

    def _loop_again(self, name: str, path: str, at: int, catches: tuple[str, ...]) -> Again:
        shown = name if len(name) <= 60 else name[:57] + "…"
        return Again(
            "retry",
            shown,
            path,
            at,
            "the loop goes round again after a failure",
            False,
            catches,
            False,
            "loop",
        )

    def _refills(self, loop: ir.For | ir.While, inner: list[regions.Around]) -> bool:
        """Each round takes up what failed in the round before: the list it works through is assigned inside."""
        assigned = regions.assigned_names(loop.body)
        if isinstance(loop, ir.While) and isinstance(loop.test, ir.Const):
            return False
        used: set[str] = set()
        if isinstance(loop, ir.While):
            used |= regions.names_in(loop.test)
        worked: set[str] = set()
        for step in inner:
            if isinstance(step.stmt, ir.For):
                worked |= regions.names_in(step.stmt.iter)
        for stmt in ir.statements(loop.body):
            for expr in ir.expressions(stmt):
                for node in ir.walk(expr):
                    if (
                        isinstance(node, ir.Call)
                        and isinstance(node.func, ir.Attr)
                        and node.func.name == "map"
                    ):
                        worked |= {n for a in node.args for n in regions.names_in(a.value)}
        if isinstance(loop, ir.While):
            return bool(assigned & used & worked)
        return bool(assigned & worked)

    def _handler_names(self, frame: Frame, handler: ir.Handler) -> tuple[str, ...]:
        narrowed = regions.narrowed(handler)
        if narrowed is not None:
            return self.callers.exception_names(Lazy(frame, narrowed))
        if handler.type is None:
            return ("builtins.BaseException",)
        return self.callers.exception_names(Lazy(frame, handler.type))

    def _of_with(self, found: _Way, frame: Frame, step: regions.Around, path: str) -> _Way:
        assert isinstance(step.stmt, ir.With)
        for expr, _ in step.stmt.items:
            for val in self.ev.values(frame, expr):
                for name in self._iterated_names(val):
                    edge = self.ev.catalog.edge(name)
                    if edge is not None and edge.raises:
                        found = replace(found, raises=(*found.raises, *edge.raises))
                    for model in self.ev.catalog.enters(name):
                        args = self._made_with(val)
                        again = self.callers.enabled(model, args, frame, (), None, path, expr)
                        if again is not None:
                            found = _hit(found, step.stmt.at, step.end, again)
        return found

    def _of_try(self, found: _Way, frame: Frame, step: regions.Around, hop: Hop) -> _Way:
        """Failures swallowed here, and the same call made again in the except of its own try."""
        attempt = step.stmt
        assert isinstance(attempt, ir.Try)
        if step.part == "body" and regions.swallowing(attempt):
            found = replace(found, swallows=frozenset({0}))
        called = self._node(hop.path, hop.at)
        if not isinstance(called, ir.Call):
            return found
        wanted = spelled(called.func)
        if step.part == "body":
            handlers = [h for h in attempt.handlers if self._again_in(h.body, called)]
        elif step.part == "handler" and self._again_in(attempt.body, called):
            handlers = [attempt.handlers[step.number]]
        else:
            return found
        if self._is_sink(frame, called):
            return found
        for handler in handlers:
            first = attempt.body if step.part == "handler" else handler.body
            same = any(_same_arguments(call, called) for call in self._again_in(first, called))
            again = Again(
                "retry" if same else "batch", f"except around {wanted}(…)", hop.path, handler.at,
                "the call is made again in the except of its own try", False,
                self._handler_names(frame, handler), False, "handler",
            )  # fmt: skip
            found = _hit(found, attempt.at, step.end, again)
        return found

    def _again_in(self, body: tuple[ir.Stmt, ...], called: ir.Call) -> list[ir.Call]:
        """Calls of the same function in other statements."""
        wanted = spelled(called.func)
        return [call for call in calls_in(body) if wanted and spelled(call.func) == wanted]

    def _is_sink(self, frame: Frame, call: ir.Call) -> bool:
        return next(iter(sink_calls(self.ev, frame, call)), None) is not None

    def _of_inside(
        self,
        found: _Way,
        module: ir.Module,
        frame: Frame,
        body: tuple[ir.Stmt, ...],
        path: list[regions.Around],
        hop: Hop,
    ) -> _Way:
        """A call that fetches work (`poll`, `receive`) makes the loop around it, or the rest, a context."""
        imports = self.callers.imports(hop.path)
        for call in calls_in(body):
            if call.at > hop.at or not isinstance(call.func, ir.Attr):
                continue
            again = self._fetches(frame, call, imports, hop.path)
            if again is None:
                continue
            loops = [
                s
                for s in path
                if isinstance(s.stmt, ir.For | ir.While) and s.stmt.at <= call.at < s.end
            ]
            if loops:
                return _hit(found, loops[0].stmt.at, loops[0].end, again)
            end = max((regions.end_of(module, stmt) for stmt in body), default=hop.at + 1)
            return _hit(found, call.at, end, again)
        return found

    def _fetches(
        self, frame: Frame, call: ir.Call, imports: frozenset[str], path: str
    ) -> Again | None:
        assert isinstance(call.func, ir.Attr)
        vals = self.ev.values(frame, call.func)
        for val in vals:
            if isinstance(val.what, External):
                for model in self.ev.catalog.insides(val.what.name):
                    args = Arguments.of(frame, call.args)
                    return self.callers.enabled(model, args, frame, (), None, path, call)
        if not vals or any(isinstance(v.what, Unknown | Hole) for v in vals):
            for model in self.ev.catalog.unresolved_insides(call.func.name, imports):
                return self.callers.enabled(model, Arguments(), frame, (), None, path, call)
        return None

    def _of_locks(self, found: _Way, frame: Frame, body: tuple[ir.Stmt, ...], hop: Hop) -> _Way:
        """Locks and claims taken before the place, or around it."""
        for call in calls_in(body):
            if call.at >= hop.at:
                continue
            args = Arguments.of(frame, call.args)
            for val in self.ev.values(frame, call.func):
                if not isinstance(val.what, External):
                    continue
                lock = self.ev.catalog.lock(val.what.name)
                if lock is not None:
                    mark = GuardMark(hop.path, call.at, f"lock {val.what.name.rpartition('.')[2]}")
                    limited = not lock.limit or any_holds(self.ev, lock.limit, args)
                    renewed = any_holds(self.ev, lock.renewed_by, args)
                    if limited and not renewed:
                        found = replace(found, locks=(*found.locks, mark))
                    found = replace(found, guards=(*found.guards, (0, mark)))
                guard = self.ev.catalog.guard_call(val.what.name)
                if guard is not None:
                    found = replace(
                        found, guards=(*found.guards, (0, GuardMark(hop.path, call.at, guard.why)))
                    )
            for arg in call.args[:1]:
                if isinstance(arg.value, ir.Const) and isinstance(arg.value.value, str):
                    query = self.ev.catalog.lock_sql(arg.value.value)
                    if query is not None:
                        mark = GuardMark(hop.path, call.at, "advisory lock")
                        found = replace(found, guards=(*found.guards, (0, mark)))
                        if query.limit or not query.renewed_by:
                            found = replace(found, locks=(*found.locks,))
        return found

    def _of_checks(
        self,
        found: _Way,
        module: ir.Module,
        body: tuple[ir.Stmt, ...],
        hop: Hop,
    ) -> _Way:
        """An early way out, or a branch, that asks whether the work is done already."""
        for stmt in ir.statements(body):
            if stmt.at >= hop.at or not isinstance(stmt, ir.If):
                continue
            end = regions.end_of(module, stmt)
            encloses = stmt.at < hop.at < end
            if encloses and stmt.orelse and any(c for c in calls_in(stmt.orelse)):
                continue
            if not encloses and not regions.leaves(stmt.body) and not _skips(stmt.body):
                continue
            if self._asks_state(stmt.test):
                mark = GuardMark(hop.path, stmt.at, f"check {text(stmt.test)}")
                found = replace(found, guards=(*found.guards, (0, mark)))
        return found

    def _asks_state(self, test: ir.Expr) -> bool:
        for node in ir.walk(test):
            word = ""
            if isinstance(node, ir.Attr):
                word = node.name
            elif isinstance(node, ir.Name):
                word = node.id
            elif isinstance(node, ir.Item) and isinstance(node.index, ir.Const):
                word = str(node.index.value)
            if any(part in self.ev.catalog.words.done for part in word.lower().split("_")):
                return True
        return False

    def _of_wait(self, found: _Way, frame: Frame, hop: Hop) -> _Way:
        """Exceptions that the way itself can raise although the call goes on (`Future.result(timeout=…)`)."""
        for node in self._calls_around(hop):
            for val in self.ev.values(frame, node.func):
                name = val.what.name if isinstance(val.what, External) else ""
                edge = self.ev.catalog.edge(name) if name else None
                if edge is not None and edge.raises:
                    found = replace(found, raises=(*found.raises, *edge.raises))
        return found

    def _calls_around(self, hop: Hop) -> Iterator[ir.Call]:
        """The call at the place, and calls that get its result as an argument (`wait_for(f(), 5)`)."""
        node = self._node(hop.path, hop.at)
        if isinstance(node, ir.Call):
            yield node
        _, body = self._body(hop)
        for call in calls_in(body):
            if call.at < hop.at and any(
                inner.at == hop.at for arg in call.args for inner in ir.walk(arg.value)
            ):
                yield call

    # --- frames

    def frames(self, chain: Chain) -> list[Frame]:
        """One activation per hop, innermost first, each bound to the arguments of this chain."""
        hops = chain.hops
        made: list[Frame | None] = [None] * len(hops)
        for number in range(len(hops) - 1, -1, -1):
            hop = hops[number]
            if hop.owner is None:
                made[number] = self.ev.module_frame(hop.path)
            elif number == len(hops) - 1:
                made[number] = self._outermost(hop)
            else:
                outer = made[number + 1]
                assert outer is not None
                made[number] = self._enter(hop, hops[number + 1], outer, chain.hows[number], made)
        return [frame for frame in made if frame is not None]

    def _outermost(self, hop: Hop) -> Frame:
        assert hop.owner is not None
        if hop.closure is not None:
            return self.ev.bound_frame(hop.owner, None, -1, None, hop.closure)
        function = self.ev.program.function(hop.owner)
        closure = None
        if function.parent is not None:
            closure = self.ev.open_frame(FunctionRef(hop.path, function.parent))
        return Frame(hop.path, hop.owner, self.ev.program.function_flow(hop.owner), closure=closure)

    def _enter(
        self, hop: Hop, outer_hop: Hop, outer: Frame, how: str, made: list[Frame | None]
    ) -> Frame:
        """The activation of `hop` as the call at `outer_hop.at` makes it."""
        assert hop.owner is not None
        closure = hop.closure or self._closure(hop.owner, made)
        node = self._node(outer_hop.path, outer_hop.at)
        if isinstance(node, ir.Call):
            frame = self._by_call(hop.owner, outer, node, how, closure)
            if frame is not None:
                return frame
        if isinstance(node, ir.Attr) and how == "property":
            for base in self.ev.values(outer, node.base):
                if isinstance(base.what, Instance):
                    return self.ev.bound_frame(
                        hop.owner, outer, node.at, Arguments(), closure, base
                    )
        return self.ev.bound_frame(hop.owner, outer, outer_hop.at, None, closure)

    def _closure(self, owner: FunctionRef, made: list[Frame | None]) -> Frame | None:
        parent = self.ev.program.function(owner).parent
        if parent is None:
            return None
        for frame in made:
            if frame is not None and frame.owner == FunctionRef(owner.path, parent):
                return frame
        return None

    def _by_call(
        self, owner: FunctionRef, outer: Frame, call: ir.Call, how: str, closure: Frame | None
    ) -> Frame | None:
        args = Arguments.of(outer, call.args)
        for val in self.ev.values(outer, call.func):
            frame = self._from_value(owner, val, args, outer, call.at, closure, how)
            if frame is not None:
                return frame
        if how in ("call", "name"):
            if isinstance(call.func, ir.Attr):
                bases = self.ev.values(outer, call.func.base)
                this = bases[0] if bases and isinstance(bases[0].what, Instance) else None
                return self.ev.bound_frame(owner, outer, call.at, args, closure, this)
            return self.ev.bound_frame(owner, outer, call.at, args, closure)
        if how == "handed":
            return self._guess_handed(owner, args, outer, call, closure)
        return None

    def _from_value(
        self,
        owner: FunctionRef,
        val: Val,
        args: Arguments,
        outer: Frame,
        at: int,
        closure: Frame | None,
        how: str,
    ) -> Frame | None:
        what = val.what
        match what:
            case Callable_(ref, inner, this, given) if ref == owner or self.callers.overrides(
                owner, ref
            ):
                return self.ev.bound_frame(
                    owner, outer, at, joined(given, args), inner or closure, this
                )
            case Type(ref):
                member = class_member(self.ev, ref, "__init__") or class_member(
                    self.ev, ref, "__post_init__"
                )
                if member == owner:
                    this = Val(Instance(ref, "blank", outer, at, args), outer, at)
                    return self.ev.bound_frame(owner, outer, at, args, closure, this)
            case Instance(ref):
                if class_member(self.ev, ref, "__call__") == owner:
                    return self.ev.bound_frame(owner, outer, at, args, closure, val)
            case Method(base, _) if how in ("task", "packed"):
                if self.callers.leads_to(base, owner):
                    handed = args if how == "task" else self._packed(owner, args)
                    return self.ev.bound_frame(owner, outer, at, handed, closure)
            case External(name) | Object(name):
                return self._handed(owner, name, what, args, outer, at, closure)
            case _:
                return None
        return None

    def _packed(self, owner: FunctionRef, args: Arguments) -> Arguments:
        for model, _ in models_of(self.ev, owner):
            if model.packed_calls:
                return unpacked(
                    self.ev, args, (*model.packed_args, "0"), (*model.packed_kwargs, "1")
                )
        return unpacked(self.ev, args, ("args", "0"), ("kwargs", "1"))

    def _handed(
        self,
        owner: FunctionRef,
        name: str,
        what: External | Object,
        args: Arguments,
        outer: Frame,
        at: int,
        closure: Frame | None,
    ) -> Frame | None:
        names = (name,) if isinstance(what, External) else (f"{name}.__call__", name)
        for one in names:
            models = self.ev.catalog.calls(one)
            edge = self.ev.catalog.edge(one)
            model = models[0] if models else edge
            if model is None:
                continue
            function, handed = handed_over(self.ev, model, args)
            if function is None:
                continue
            for val in self.ev.resolve(function):
                if isinstance(val.what, Callable_) and self.callers.leads_to(val, owner):
                    given = joined(val.what.given, handed)
                    inner = val.what.closure or closure
                    if model.arguments == "none":
                        return self.ev.bound_frame(
                            owner, outer, at, val.what.given, inner, val.what.this
                        )
                    return self.ev.bound_frame(owner, outer, at, given, inner, val.what.this)
        return None

    def _guess_handed(
        self,
        owner: FunctionRef,
        args: Arguments,
        outer: Frame,
        call: ir.Call,
        closure: Frame | None,
    ) -> Frame | None:
        """A method of an unresolved object that is known by its name."""
        if not isinstance(call.func, ir.Attr):
            return None
        imports = self.callers.imports(outer.path)
        for model in self.ev.catalog.unresolved_calls(call.func.name, imports):
            function, handed = handed_over(self.ev, model, args)
            if function is not None:
                return self.ev.bound_frame(owner, outer, call.at, handed, closure)
        return None

    def _node(self, path: str, at: int) -> ir.Expr | None:
        """The expression with this number."""
        if path not in self._nodes:
            module = self.ev.program.module(path)
            table: dict[int, ir.Expr] = {}
            if module is not None:
                for expr in _all_expressions(module):
                    for node in ir.walk(expr):
                        known = table.get(node.at)
                        if known is None or isinstance(node, ir.Call):
                            table[node.at] = node
            self._nodes[path] = table
        return self._nodes[path].get(at)


def _all_expressions(module: ir.Module) -> Iterator[ir.Expr]:
    bodies = [module.body, *(f.body for f in module.functions), *(c.body for c in module.classes)]
    for body in bodies:
        for stmt in ir.statements(body):
            yield from ir.expressions(stmt)
    for function in module.functions:
        yield from function.decorators
        yield from (p.default for p in function.params if p.default is not None)


def _is_constant(expr: ir.Expr) -> bool:
    return isinstance(expr, ir.Const) or regions.is_literal(expr)


def _same_arguments(one: ir.Call, two: ir.Call) -> bool:
    """The first argument is spelled alike: the same work."""
    first = [a.value for a in one.args if a.name is None][:1]
    second = [a.value for a in two.args if a.name is None][:1]
    return [text(a) for a in first] == [text(a) for a in second]


def _hit(way: _Way, start: int, end: int, again: Again) -> _Way:
    return replace(way, hits=(*way.hits, Hit(0, start, end, again)))


def _skips(body: tuple[ir.Stmt, ...]) -> bool:
    """The statements end in `continue`."""
    return bool(body) and isinstance(body[-1], ir.Jump)
