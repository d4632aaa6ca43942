"""What is known of each sink in the end: its key's origins, and which contexts run which births again.

This is all that rules see. Places are still node numbers; whoever shows them computes positions.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from stripe_idem_lint.core.span import Place
from stripe_idem_lint.ir import nodes as ir
from stripe_idem_lint.ir.text import text
from stripe_idem_lint.link.flow import spelled
from stripe_idem_lint.link.program import FunctionRef, Program
from stripe_idem_lint.models.catalog import Catalog
from stripe_idem_lint.models.schema import Words
from stripe_idem_lint.solve import regions
from stripe_idem_lint.solve.callers import Again, Callers
from stripe_idem_lint.solve.evaluate import Evaluator
from stripe_idem_lint.solve.origin import UNSTABLE, Source, sources
from stripe_idem_lint.solve.parameters import default_of, item_of
from stripe_idem_lint.solve.reexecution import Chain, Climber, Hit
from stripe_idem_lint.solve.sinks import (
    Hop,
    KeyArgument,
    SinkCall,
    Site,
    effect_of,
    find_sites,
    key_of,
    sink_calls,
)
from stripe_idem_lint.solve.values import Born, Condition, Frame, Hole, Known, Object, Text, Val


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a part of the key was born.

    Attributes:
        kind: `stable`, `fresh`, `clock`, `window`, `attempt`, `delivery`, `process`, `fresh_row`, `missing` or `unknown`.
        text: How it is made; for `unknown` the reason.
        scope: For `delivery`: `message` (with `republished` telling whether a republish is visible) or `hop`.
        soft: For `missing`: an outside party may leave it out.
        given: For `missing`: the call does name a key.
    """

    kind: str
    text: str
    place: Place
    scope: str = ""
    soft: bool = False
    given: bool = True
    republished: bool = False


@dataclass(frozen=True, slots=True)
class Mark:
    """A place with a remark: a step of a path, or a guard."""

    place: Place
    role: str
    note: str


@dataclass(frozen=True, slots=True)
class Exposure:
    """A birth that lies inside the extent of something that runs again.

    Attributes:
        category: Of the context; `lock` for a batch behind a lock that runs out.
        context: Its source, short, with its place.
        again: Why it runs again, a clause.
        plain: The context counts one level lower.
        fixed: A scheduled job without stored work: the same constant arguments on each run.
        guards: What narrows the window on this way.
        path: The key's way from its birth to the call.
        route: The re-execution's way from the context to the call.
    """

    origin: Origin
    category: str
    context: str
    place: Place
    again: str
    plain: bool
    fixed: bool
    guards: tuple[Mark, ...]
    path: tuple[Mark, ...]
    route: tuple[Mark, ...]
    entry: bool = False


@dataclass(frozen=True, slots=True)
class CallFact:
    """One sink of the program.

    Attributes:
        place: Where its finding sits.
        name: The callable, or method and path of a raw request.
        effect: `money`, `payable`, `guarded`, `other`, or `unknown`.
        keyed: The call names a key.
        misplaced: Why Stripe does not read the key, else empty.
        dropped: The wrapper parameter that takes a key and is not handed on, with its place, else None.
        origins: All origins of the key on all ways.
        exposures: Births inside contexts.
        contexts: Names of all contexts that run the call, whether they matter or not.
        ways: How many ways lead to the call.
    """

    place: Place
    name: str
    effect: str
    keyed: bool
    misplaced: str
    dropped: Mark | None
    origins: tuple[Origin, ...]
    exposures: tuple[Exposure, ...]
    contexts: tuple[tuple[str, str, Place], ...]
    ways: int
    function: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Facts:
    """All sinks, sorted by place."""

    calls: tuple[CallFact, ...]
    unknown: tuple[tuple[str, int], ...] = field(default=())


def solve(
    program: Program,
    catalog: Catalog,
    paths: Sequence[str],
    tick: Callable[[str, int, int], None] = lambda stage, done, total: None,
) -> Facts:
    """Answers the one question for every sink in `paths` (files that may hold one).

    `tick` is told the stage, how many files are done and how many there are.
    """
    ev = Evaluator(program, catalog)
    solver = _Solver(ev)
    calls: dict[tuple[Place, str], CallFact] = {}
    with _room_for(FRAMES):
        for number, path in enumerate(paths):
            tick("solve", number, len(paths))
            for site in find_sites(ev, path):
                fact = solver.fact(site)
                if fact is not None:
                    key = (fact.place, fact.name)
                    calls[key] = _both(calls[key], fact) if key in calls else fact
            ev.forget()
    found = tuple(sorted(calls.values(), key=lambda c: (c.place, c.name)))
    reasons: dict[str, int] = {}
    for call in found:
        for origin in call.origins:
            if origin.kind == "unknown":
                reasons[origin.text] = reasons.get(origin.text, 0) + 1
    return Facts(found, tuple(sorted(reasons.items(), key=lambda item: (-item[1], item[0]))))


FRAMES = 4000
"""Python frames that evaluation may use: its own limits (`BUSY`, `NESTED`) end it well before."""


@contextmanager
def _room_for(frames: int) -> Iterator[None]:
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, frames))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


def _both(one: CallFact, two: CallFact) -> CallFact:
    """Two ways of seeing one call."""
    return replace(
        one,
        origins=tuple(dict.fromkeys(one.origins + two.origins)),
        exposures=tuple(dict.fromkeys(one.exposures + two.exposures)),
        contexts=tuple(dict.fromkeys(one.contexts + two.contexts)),
        ways=one.ways + two.ways,
    )


_BETWEEN_PROCESSES = frozenset({"retry", "transaction"})


class _Solver:
    """Works through the chains of one sink after the other."""

    def __init__(self, ev: Evaluator) -> None:
        self.ev = ev
        self.callers = Callers(ev)
        self.climber = Climber(ev, self.callers)
        service = ev.catalog.service
        canonical = ev.catalog.canonical
        self._executed = {canonical(n) for n in service.executed}
        self._refused = {canonical(n) for n in service.refused}
        self._keys: set[str] = set()
        self._texts: set[str] = set()
        self._libraries = {root for file in ev.catalog.files for root in file.library.imports} | {
            "builtins"
        }
        self._republished: dict[FunctionRef, bool] = {}

    def fact(self, site: Site) -> CallFact | None:
        origins: dict[Origin, None] = {}
        exposures: dict[Exposure, None] = {}
        contexts: dict[tuple[str, str, Place], None] = {}
        effects: list[str] = []
        keyed = False
        misplaced = ""
        dropped: Mark | None = None
        chains = self.climber.chains(site)
        name = site.name
        for chain in chains:
            self.ev.refuel()
            frames = self.climber.frames(chain)
            sink = self._sink(frames[0], site)
            if sink is None:
                continue
            name = sink.name if len(chains) == 1 or "{}" not in sink.name else name
            effects.append(effect_of(self.ev, sink))
            key = key_of(self.ev, sink)
            parts = sources(self.ev, key.values)
            self._keys = {s.hole.name for s in parts if s.hole is not None}
            self._keys |= {param for _, param, _ in self._key_parameters(chain)}
            self._texts = {s.text for s in parts if s.kind == "unknown"}
            reached = self._branch(frames[0], site)
            if not all(self._possible(n, 0, None if key.given else chain) for n in reached):
                continue
            handed = self._hands_key(chain)
            no_text = next((t for v in key.values if (t := self._no_text(v))), "")
            key = KeyArgument(key.values, key.given, key.misplaced or no_text)
            key = KeyArgument(key.values, key.given or handed, key.misplaced)
            keyed = keyed or key.given
            misplaced = misplaced or key.misplaced
            hits = list(self._counting(chain, sink))
            for hit in hits:
                contexts[
                    (hit.again.category, hit.again.name, Place(hit.again.path, hit.again.at))
                ] = None
            if not key.given and not key.misplaced:
                dropped = dropped or self._dropped(chain)
            for source in self._sources(chain, frames, key):
                origin = self._origin(source, chain, key)
                if origin is None:
                    continue
                if source.kind != "counter":
                    origins[origin] = None
                for exposure in self._exposures(source, origin, hits, chain, frames):
                    exposures[exposure] = None
                    origins[exposure.origin] = None
        if not effects:
            return None
        effect = max(effects, key=lambda e: _EFFECTS.index(e))
        owner = site.hops[0].owner
        function = self.ev.program.function(owner).qualname if owner is not None else ""
        return CallFact(
            Place(*site.report), name, effect, keyed, misplaced, dropped, tuple(origins), tuple(exposures),
            tuple(contexts), len(chains), function, text(site.call.func),
        )  # fmt: skip

    def _no_text(self, val: Val) -> str:
        """Why the key is no text, else empty."""
        match val.what:
            case Known(int() | float()) if not isinstance(val.what.value, bool):
                return f"the key is a number ({val.what.value!r}); the SDK refuses it before any request"
            case Born(_, made) | Text(made, _) | Object(_, made):
                given = self.ev.catalog.returns_call(made)
                if given and given[0].gives.rpartition(".")[2][:1].isupper():
                    kind = given[0].gives.rpartition(".")[2]
                    return f"the key is a {kind} object, no text; the SDK refuses it before any request"
                if made in ("int", "builtins.int"):
                    return "the key is a number; the SDK refuses it before any request"
                return ""
            case _:
                return ""

    def _sink(self, frame: Frame, site: Site) -> SinkCall | None:
        found = [s for s in sink_calls(self.ev, frame, site.call)]
        same = [s for s in found if s.name == site.name]
        requests = [s for s in found if s.http is not None]
        candidates = same or requests or found
        return candidates[0] if candidates else None

    # --- which contexts count

    def _counting(self, chain: Chain, sink: SinkCall) -> Iterator[Hit]:
        for hit in chain.hits:
            if hit.again.shape == "command":
                continue
            if hit.swallowed and not any(level < hit.level for level in chain.swallows):
                continue
            if hit.again.catches is None or self._catches(hit, chain, sink):
                yield hit
        yield from self._batches(chain)

    def _catches(self, hit: Hit, chain: Chain, sink: SinkCall) -> bool:
        """POLICY: a retry counts only if it catches something that an executed call can raise."""
        assert hit.again.catches is not None
        return any(self._may_follow(name, chain, sink) for name in hit.again.catches)

    def _may_follow(self, name: str, chain: Chain, sink: SinkCall) -> bool:
        name = self.ev.catalog.canonical(name)
        if name in ("?", "builtins.Exception", "builtins.BaseException") or name.startswith("own:"):
            return True
        waiting = {self.ev.catalog.canonical(r) for r in chain.raises}
        if name in waiting or f"builtins.{name.rpartition('.')[2]}" in waiting:
            return True
        if sink.http is not None:
            raises = {self.ev.catalog.canonical(r) for r in sink.http.raises}
            plain = name.removeprefix("builtins.")
            return name in raises or any(
                self.ev.catalog.is_subclass(r, base) for r in raises for base in (name, plain)
            )
        if name in self._executed:
            return True
        return name not in self._refused and name.partition(".")[0] not in self._libraries

    def _batches(self, chain: Chain) -> Iterator[Hit]:
        """Loops over stored work, in a program that is started again or that marks each item when it is done."""
        commands = [h for h in chain.hits if h.again.shape == "command"]
        real = [loop for loop in chain.loops if not loop.literal]
        if not real:
            return
        category = "lock" if chain.locks else "batch"
        if commands:
            start = commands[-1]
            why = "the program is started again after a crash and walks the same items"
            yield replace(
                start, again=replace(start.again, category=category, again=why, shape="batch")
            )
        for loop in real:
            if loop.marks or chain.locks:
                why = (
                    "a crash between the charge and the mark makes the next run take the item again"
                )
                if chain.locks:
                    why = "the lock runs out while the batch works, and a second run takes the same items"
                again = Again(
                    category, f"for … in {loop.source}", loop.path, loop.at, why, shape="batch"
                )
                yield Hit(loop.level, -1, -1, again)

    # --- origins

    def _sources(self, chain: Chain, frames: list[Frame], key: KeyArgument) -> Iterator[Source]:
        if key.misplaced:
            return
        if not key.values:
            yield Source("missing", "no key", frames[0], chain.hops[0].at, alone=True)
            return
        found = sources(self.ev, key.values)
        for source in found:
            standing = chain if source.kind == "missing" else None
            if all(self._possible(need, 0, standing) for need in source.needs):
                yield self._made(source)

    def _branch(self, frame: Frame, site: Site) -> tuple[Condition, ...]:
        """The conditions of the branch that the sink stands in."""
        flow = frame.flow
        needs = flow.needs.get(flow.statement(site.call.at), ())
        return tuple(Condition(frame, need.value) for need in needs)

    def _possible(self, need: Condition, depth: int, standing: Chain | None) -> bool:
        """The condition may hold: what it asks for may be missing.

        With `standing`, a wrapper's default that no visible caller of this chain leaves standing does not count, nor that a
        stored value which the key is made of might be empty.
        """
        if depth > 6:
            return True
        vals = self.ev.values(need.frame, need.expr)
        if not vals:
            return True
        for source in sources(self.ev, vals):
            if source.sure or not all(self._possible(n, depth + 1, standing) for n in source.needs):
                continue
            hole = source.hole
            if hole is not None and self._fills_default(need) and not self._optional(source):
                continue
            if hole is not None and self._whole(hole) and hole.name not in self._keys:
                return True
            if standing is not None and hole is not None and self._whole(hole):
                if self._left_out(source, standing):
                    return True
                continue
            told = source.text in self._texts or self._fills_default(need)
            if standing is not None and source.kind == "unknown" and told:
                continue
            if source.kind in ("missing", "unknown"):
                return True
            if source.kind == "hole" and self._optional(source):
                return True
            if (source.kind == "stable" and source.text in ("False", "0")) or source.text.endswith(
                "of a stored row"
            ):
                return True
        return False

    def _fills_default(self, need: Condition) -> bool:
        """The condition asks for an optional parameter that a visible caller hands something to."""
        frame = need.frame
        if (
            not isinstance(need.expr, ir.Name)
            or not isinstance(frame.owner, FunctionRef)
            or frame.args is None
        ):
            return False
        params = self.ev.program.function(frame.owner).params
        param = next((p for p in params if p.name == need.expr.id), None)
        return param is not None and self._default_missing(frame, param)

    def _optional(self, source: Source) -> bool:
        """A parameter that nobody visible fills may be left out: it has a default of None, or is read from something."""
        hole = source.hole
        if hole is None or not self._whole(hole):
            return True
        if not isinstance(hole.frame.owner, FunctionRef):
            return True
        function = self.ev.program.function(hole.frame.owner)
        param = next((p for p in function.params if p.name == hole.name), None)
        if param is None or param.kind in ("rest", "named"):
            return True
        return (
            self._default_missing(hole.frame, param)
            or "None" in text(param.annotation)
            or "Optional" in text(param.annotation)
        )

    def _whole(self, hole: Hole) -> bool:
        """The parameter itself, no part of it (a header parameter counts as itself)."""
        if not hole.trail or not isinstance(hole.frame.owner, FunctionRef):
            return not hole.trail
        function = self.ev.program.function(hole.frame.owner)
        param = next((p for p in function.params if p.name == hole.name), None)
        if param is None:
            return False
        passed_on = param.kind in ("rest", "named") and len(hole.trail) == 1
        return passed_on or hole.trail == item_of(self.ev, hole.frame, param)

    def _default_missing(self, frame: Frame, param: ir.Param) -> bool:
        """`= None`, `= ""`, `= Header(None)`."""
        for val in default_of(self.ev, frame, param):
            what = val.what
            if isinstance(what, Known) and what.value in (None, ""):
                return True
            if isinstance(what, Object) and what.args is not None:
                first = what.args.positional[:1] or tuple(
                    z for k, z in what.args.named if k == "default"
                )
                if any(
                    isinstance(v.what, Known) and v.what.value in (None, "")
                    for z in first
                    for v in self.ev.resolve(z)
                ):
                    return True
        return False

    def _made(self, source: Source) -> Source:
        """The id of an object that a sink without a stable key made is as fresh as that call."""
        maker = source.maker
        if source.kind != "unknown" or maker is None or maker.args is None or maker.call is None:
            return source
        model = self.ev.catalog.sink(maker.made)
        if model is None or model.effect == "guarded":
            return source
        sink = SinkCall(maker.made, model, maker.args, maker.call.at)
        key = key_of(self.ev, sink)
        unstable = not key.given or any(s.kind in UNSTABLE for s in sources(self.ev, key.values))
        if unstable:
            label = f"{maker.made}(…), an id made by a call without a stable key"
            return replace(source, kind="fresh_row", text=label, at=maker.call.at)
        return replace(source, kind="stable", text=f"{maker.made}(…) under a stable key")

    def _origin(self, source: Source, chain: Chain, key: KeyArgument) -> Origin | None:
        place = Place(source.frame.path, max(source.at, 0))
        kind, soft = source.kind, source.soft
        if kind == "hole":
            if source.alone and not source.sure and self._left_out(source, chain):
                return Origin("missing", f"{source.text} is optional", place, soft=True)
            if chain.ends == "entry":
                return Origin("stable", f"{source.text}, handed in from outside", place)
            return Origin("unknown", f"{source.text}, from callers that are not in sight", place)
        if kind in ("fresh", "clock", "fresh_row") and self._at_import(source, chain):
            kind = "process"
        republished = (
            kind == "delivery" and source.scope == "message" and self._is_republished(chain)
        )
        return Origin(kind, source.text, place, source.scope, soft, key.given, republished)

    def _at_import(self, source: Source, chain: Chain) -> bool:
        """Born in module or class code that is not itself on the way: made when the module is imported."""
        if isinstance(source.frame.owner, FunctionRef):
            return False
        on_way = any(hop.owner is None and hop.path == source.frame.path for hop in chain.hops)
        return not on_way or source.frame.owner is not None

    def _left_out(self, source: Source, chain: Chain) -> bool:
        """An optional parameter of a function that outside code enters, passed on as it is."""
        hole = source.hole
        if (
            hole is None
            or chain.ends != "entry"
            or not self._whole(hole)
            or not isinstance(hole.frame.owner, FunctionRef)
        ):
            return False
        entered = any(
            h.again.category in ("http", "webhook", "message", "serverless") and h.start == -1
            for h in chain.hits
        )
        if not entered:
            return False
        function = self.ev.program.function(hole.frame.owner)
        param = next((p for p in function.params if p.name == hole.name), None)
        return param is not None and self._default_missing(hole.frame, param)

    # --- exposures

    def _exposures(
        self, source: Source, origin: Origin, hits: list[Hit], chain: Chain, frames: list[Frame]
    ) -> Iterator[Exposure]:
        if origin.kind in ("stable", "unknown", "hole"):
            return
        where = self._anchor(source, frames)
        for hit in hits:
            kind = origin.kind
            if source.kind == "counter":
                if not self._counts(hit, where):
                    continue
                kind = "attempt"
            elif kind == "process" or kind == "delivery":
                if hit.again.category in _BETWEEN_PROCESSES:
                    continue
            elif kind == "attempt":
                pass
            elif kind != "missing" and not self._inside(hit, where):
                continue
            yield self._exposure(replace(origin, kind=kind), source, hit, chain, frames)

    def _anchor(self, source: Source, frames: list[Frame]) -> tuple[int, int] | None:
        """The level of the chain at which a birth happens, and the place there; None: outside."""
        frame: Frame | None = source.frame
        at = source.at
        while frame is not None:
            for level, known in enumerate(frames):
                if known is frame:
                    return level, at
            at, frame = frame.site, frame.caller
        return None

    def _inside(self, hit: Hit, where: tuple[int, int] | None) -> bool:
        if where is None:
            return False
        level, at = where
        if level != hit.level:
            return level < hit.level
        return hit.start == -1 or hit.start <= at < hit.end

    def _counts(self, hit: Hit, where: tuple[int, int] | None) -> bool:
        """The counter counts the attempts of just this retry."""
        if hit.again.category not in _BETWEEN_PROCESSES or where is None:
            return False
        if hit.again.shape == "recursion":
            return where[0] == hit.level
        return where[0] == hit.level and hit.start <= where[1] < hit.end

    def _exposure(
        self, origin: Origin, source: Source, hit: Hit, chain: Chain, frames: list[Frame]
    ) -> Exposure:
        again = hit.again
        category = again.category
        stored = any(not loop.literal for loop in chain.loops) or bool(chain.locks)
        fixed = category == "schedule" and not stored
        if category == "batch" and chain.locks:
            category = "lock"
        guards = tuple(
            dict.fromkeys(
                Mark(Place(mark.path, mark.at), "guard", mark.why)
                for level, mark in chain.guards
                if self._inside(hit, (level, mark.at))
            )
        )
        return Exposure(
            origin, category, again.name, Place(again.path, again.at), again.again, again.plain, fixed, guards,
            self._key_path(source, chain, frames), self._route(hit, chain), again.entry,
        )  # fmt: skip

    def _key_path(self, source: Source, chain: Chain, frames: list[Frame]) -> tuple[Mark, ...]:
        """Calls through which the key travels from its birth to the sink."""
        marks: list[Mark] = []
        frame: Frame | None = source.frame
        level = None
        while frame is not None and level is None:
            level = next((n for n, known in enumerate(frames) if known is frame), None)
            if level is None and frame.caller is not None:
                marks.append(Mark(Place(frame.caller.path, frame.site), "passed", ""))
                frame = frame.caller
            elif level is None:
                break
        for number in range(level if level is not None else 0, 0, -1):
            hop = chain.hops[number]
            marks.append(
                Mark(
                    Place(hop.path, hop.at),
                    "passed",
                    "" if source.kind != "missing" else "key not given",
                )
            )
        return tuple(dict.fromkeys(marks))

    def _route(self, hit: Hit, chain: Chain) -> tuple[Mark, ...]:
        """Calls from the context's body to the sink."""
        return tuple(
            Mark(Place(hop.path, hop.at), "passed", "")
            for hop in reversed(chain.hops[1 : hit.level + 1])
        )

    # --- further questions

    def _dropped(self, chain: Chain) -> Mark | None:
        """A function on the way takes a key that nothing in it reads."""
        for hop, param, read in self._key_parameters(chain):
            if not read:
                return Mark(Place(hop.path, self._at(hop)), "dropped", param)
        return None

    def _at(self, hop: Hop) -> int:
        return self.ev.program.function(hop.owner).at if hop.owner is not None else hop.at

    def _hands_key(self, chain: Chain) -> bool:
        """A function on the way takes a key and does something with it: the call is keyed when a key is given."""
        return any(read for hop, _, read in self._key_parameters(chain) if hop is chain.hops[0])

    def _key_parameters(self, chain: Chain) -> Iterator[tuple[Hop, str, bool]]:
        """Parameters on the way that are called a key, and whether the function's body reads them."""
        for hop in chain.hops:
            if hop.owner is None:
                continue
            function = self.ev.program.function(hop.owner)
            for param in function.params:
                if any(word in param.name.lower() for word in self.ev.catalog.words.key):
                    yield hop, param.name, _reads(function.body, param.name, self.ev.catalog.words)

    def _is_republished(self, chain: Chain) -> bool:
        """A call that publishes this work again is visible: in an except branch, a retry, or any context."""
        return any(hop.owner is not None and self._published_again(hop.owner) for hop in chain.hops)

    def _published_again(self, owner: FunctionRef) -> bool:
        if owner not in self._republished:
            self._republished[owner] = False
            self._republished[owner] = self._find_published(owner)
        return self._republished[owner]

    def _find_published(self, owner: FunctionRef) -> bool:
        if not any(
            isinstance(a, Again) and a.category in ("task", "message", "workflow")
            for a in self.callers.around(owner)
        ):
            edges = [e for e in self.callers.edges(owner) if e.again]
        else:
            edges = [e for e in self.callers.edges(owner) if e.how in ("task", "packed", "handed")]
        for edge in edges:
            module = self.ev.program.module(edge.path)
            if edge.owner is None or module is None:
                continue
            body = self.ev.program.function(edge.owner).body
            if any(s.part == "handler" for s in regions.around(module, body, edge.at)):
                return True
            if self._runs_again(edge.owner, 0):
                return True
        return False

    def _runs_again(self, owner: FunctionRef, depth: int) -> bool:
        if any(isinstance(a, Again) and a.shape != "command" for a in self.callers.around(owner)):
            return True
        if depth > 4:
            return False
        return any(
            e.owner is not None and e.owner != owner and self._runs_again(e.owner, depth + 1)
            for e in self.callers.edges(owner)
        )


def _reads(body: tuple[ir.Stmt, ...], name: str, words: Words) -> bool:
    """The statements read the name for more than a log line or metadata."""
    return any(
        _reads_in(expr, name, words)
        for stmt in ir.statements(body)
        for expr in ir.expressions(stmt)
    )


def _reads_in(expr: ir.Expr, name: str, words: Words) -> bool:
    if isinstance(expr, ir.Name):
        return expr.id == name
    if isinstance(expr, ir.Call):
        if spelled(expr.func).partition(".")[0] in words.log:
            return False
        args = [arg.value for arg in expr.args if arg.name not in words.remark]
        return any(_reads_in(part, name, words) for part in (expr.func, *args))
    return any(_reads_in(part, name, words) for part in ir.children(expr))


_EFFECTS = ("other", "unknown", "guarded", "payable", "money")
