"""From values to origins: the kinds a key is made of, and the conditions they stand under.

Joined parts take the worst part, so the unstable ones are kept and the others dropped; alternatives are all kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from stripe_idem_lint.ir import nodes as ir
from stripe_idem_lint.link.program import FunctionRef
from stripe_idem_lint.solve.classes import bases_of, class_member
from stripe_idem_lint.solve.values import (
    Arguments,
    Born,
    Callable_,
    Changed,
    Condition,
    External,
    Frame,
    Hole,
    Instance,
    Known,
    Many,
    Object,
    Row,
    Table,
    Text,
    Unknown,
    Val,
)

if TYPE_CHECKING:
    from stripe_idem_lint.solve.evaluate import Evaluator

UNSTABLE = frozenset(
    {"fresh", "clock", "window", "attempt", "delivery", "process", "fresh_row", "counter"}
)


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """One origin of a key, still in terms of frames.

    Attributes:
        kind: A kind of the glossary, or `counter`, or `hole` (a parameter nobody visible fills).
        text: How it is made, or why it is unknown.
        scope: For `delivery`.
        soft: For `missing`: an outside party may leave it out.
        hole: For `hole`.
        alone: The origin is the whole key, not a part of it.
        maker: For ids of what an outside call gave: the callable, with the call's place in `frame`, `at`.
        sure: Shown not to be missing.
    """

    kind: str
    text: str
    frame: Frame
    at: int
    needs: tuple[Condition, ...] = ()
    scope: str = ""
    soft: bool = False
    hole: Hole | None = None
    alone: bool = True
    maker: Object | None = None
    sure: bool = False


def sources(ev: Evaluator, vals: tuple[Val, ...]) -> tuple[Source, ...]:
    """The origins of a key with these alternatives."""
    found: list[Source] = []
    for val in vals:
        made = _known(ev, val, True, 0)
        found.extend(replace(source, sure=True) if val.sure else source for source in made)
    return _unique(found)


MOST = 48
"""Origins kept per value: beyond that the first unstable ones tell enough."""


def _known(ev: Evaluator, val: Val, alone: bool, depth: int) -> tuple[Source, ...]:
    """The origins of one value, remembered: parts of parts come up many times."""
    key = (id(val), alone)
    known = ev.origins.get(key)
    if known is None:
        ev.origins[key] = (val, ())
        found = _unique(list(_of(ev, val, alone, depth)))
        unstable = [s for s in found if s.kind in UNSTABLE or s.kind in ("hole", "missing")]
        others = [s for s in found if s not in unstable]
        ev.origins[key] = known = (val, tuple([*unstable, *others][:MOST]))
    return known[1]


def _unique(found: list[Source]) -> tuple[Source, ...]:
    kept: dict[tuple[str, str, int, int, tuple[int, ...]], Source] = {}
    for source in found:
        if len(source.needs) > 1:
            source = replace(
                source,
                needs=tuple({(id(n.frame), id(n.expr)): n for n in source.needs}.values())[:8],
            )
        needs = tuple(id(n.expr) for n in source.needs)
        kept.setdefault(
            (source.kind, source.frame.path, id(source.frame), source.at, needs), source
        )
    return tuple(kept.values())


def _of(ev: Evaluator, val: Val, alone: bool, depth: int) -> Iterator[Source]:
    what, frame, at = val.what, val.frame, val.at
    if depth > 40:
        return
    match what:
        case Known(value, soft):
            kind = "missing" if value in (None, "") and alone else "stable"
            yield Source(kind, repr(value), frame, at, val.needs, soft=soft, alone=alone)
        case Born(kind, text, scope):
            yield Source(kind, text, frame, at, val.needs, scope, alone=alone)
        case Text():
            yield from _of_text(ev, val, what, depth)
        case Hole():
            yield from _of_hole(ev, val, what, alone)
        case External():
            yield _of_external(ev, val, what, alone)
        case Instance():
            yield from _of_instance(ev, val, what, alone, depth)
        case Changed():
            yield from _of_changed(ev, what, alone, depth)
        case Row(items):
            for lazy, star in items:
                vals = ev.access(ev.resolve(lazy), "[*]") if star else ev.resolve(lazy)
                for inner in vals:
                    yield from _known(ev, inner, False, depth + 1)
        case Many(items):
            for lazy in items:
                for inner in ev.resolve(lazy):
                    yield from _known(ev, inner, False, depth + 1)
        case Table(entries):
            for _key, lazy in entries:
                for inner in ev.resolve(lazy):
                    yield from _known(ev, inner, False, depth + 1)
        case Unknown(reason, trail):
            model = ev.catalog.match_item(trail) if trail else None
            if model is not None:
                text = "".join(trail).lstrip(".")
                yield Source(model.kind, text, frame, at, val.needs, model.scope, alone=alone)
            else:
                yield Source("unknown", reason, frame, at, val.needs, alone=alone)
        case Object(_, made):
            yield Source(
                "unknown", f"the result of {made}", frame, at, val.needs, alone=alone, maker=what
            )
        case _:
            yield Source("unknown", type(what).__name__.lower(), frame, at, val.needs, alone=alone)


def _of_text(ev: Evaluator, val: Val, what: Text, depth: int) -> Iterator[Source]:
    """Every unstable part; if there is none, the text is as good as its parts."""
    unstable: list[Source] = []
    others: list[Source] = []
    for lazy in what.parts:
        for inner in ev.resolve(lazy):
            for source in _known(ev, inner, False, depth + 1):
                (unstable if source.kind in UNSTABLE or source.kind == "hole" else others).append(
                    source
                )
    if what.op in ("process", "default"):
        unstable = [_process(s) for s in unstable]
    for source in unstable:
        yield replace(source, needs=source.needs + val.needs, alone=False, sure=True)
    if not unstable:
        vague = next((s for s in others if s.kind == "unknown"), None)
        kind, text = (
            (vague.kind, vague.text) if vague is not None else ("stable", "made of stable parts")
        )
        yield Source(
            kind,
            text,
            val.frame,
            val.at,
            val.needs,
            alone=False,
            maker=vague.maker if vague else None,
        )


def _process(source: Source) -> Source:
    kind = "process" if source.kind in ("fresh", "clock", "fresh_row", "delivery") else source.kind
    return Source(kind, source.text, source.frame, source.at, source.needs, alone=source.alone)


def _of_hole(ev: Evaluator, val: Val, what: Hole, alone: bool) -> Iterator[Source]:
    for hint in what.hint:
        if isinstance(hint.what, External):
            told = _attribute(ev, hint.what.name)
            if told is not None:
                kind, scope = told
                yield Source(kind, hint.what.name, val.frame, val.at, val.needs, scope, alone=alone)
                return
    model = ev.catalog.match_item((f".{what.name}", *what.trail)) if what.trail else None
    if model is not None and model.kind != "stable":
        text = what.name + "".join(what.trail)
        yield Source(model.kind, text, val.frame, val.at, val.needs, model.scope, alone=alone)
        return
    text = what.name + "".join(what.trail)
    yield Source("hole", text, what.frame, val.at, val.needs, hole=what, alone=alone)


def _attribute(ev: Evaluator, name: str) -> tuple[str, str] | None:
    for model in ev.catalog.value_attribute(name):
        return model.kind, model.scope
    return None


def _of_external(ev: Evaluator, val: Val, what: External, alone: bool) -> Source:
    told = _attribute(ev, what.name)
    if told is None and what.of is not None and _is_new_row(ev, val, what.of, what.name):
        place = what.of.call.at if what.of.call is not None else val.at
        return Source(
            "fresh_row",
            f"{what.name.rpartition('.')[2]} of a row made in the same run",
            val.frame,
            place,
            val.needs,
            alone=alone,
        )
    if told is None:
        trail = tuple(f".{part}" for part in what.name.split(".")[1:])
        model = ev.catalog.match_item(trail)
        told = (model.kind, model.scope) if model is not None else None
    if told is not None:
        kind, scope = told
        return Source(kind, what.name, val.frame, val.at, val.needs, scope, alone=alone)
    return Source(
        "unknown",
        f"outside name {what.name}",
        val.frame,
        val.at,
        val.needs,
        alone=alone,
        maker=what.of,
    )


def _is_new_row(ev: Evaluator, val: Val, of: Object, name: str) -> bool:
    """The identity of a row of a class that is not visible: made by a manager, or by its constructor and added."""
    if name.rpartition(".")[2] not in ev.catalog.identities or of.call is None:
        return False
    if any(of.made.endswith(f".{route}") for route in ev.catalog.creators):
        return True
    if of.made != of.cls or name.partition(".")[0] in ev.catalog.libraries:
        return False
    owner = val.frame.owner
    body = ev.program.function(owner).body if isinstance(owner, FunctionRef) else ()
    return any(
        _adds(node) for s in ir.statements(body) for e in ir.expressions(s) for node in ir.walk(e)
    )


def _adds(node: ir.Expr) -> bool:
    added = ("add", "add_all", "save", "insert")
    return isinstance(node, ir.Call) and isinstance(node.func, ir.Attr) and node.func.name in added


def _of_instance(
    ev: Evaluator, val: Val, what: Instance, alone: bool, depth: int
) -> Iterator[Source]:
    """An object in a text is its `__str__`; without one its address is."""
    if alone:
        yield Source("unknown", "an object as key", val.frame, val.at, val.needs)
        return
    for name in ("__format__", "__str__", "__repr__"):
        method = class_member(ev, what.ref, name)
        if method is not None:
            made = ev.inline(Callable_(method, None, val), Arguments(), val.frame, val.at)
            for inner in made:
                yield from _known(ev, inner, False, depth + 1)
            return
    _, outer = bases_of(ev, what.ref)
    if what.how in ("made", "open") and what.record is None and not outer:
        place = what.frame or val.frame
        name = ev.program.cls(what.ref).name
        yield Source("process", f"default text of {name}", place, what.at, val.needs, alone=False)
        return
    yield Source("unknown", "the text of an object", val.frame, val.at, val.needs, alone=False)


def _of_changed(ev: Evaluator, what: Changed, alone: bool, depth: int) -> Iterator[Source]:
    """A changed value as a whole: what it was, and what was put into it (`digest.update(x)`)."""
    if what.change.kind in ("update", "append", "item"):
        for inner in ev.values(what.frame, what.change.value):
            yield from _known(ev, inner, False, depth + 1)
    if what.change.kind == "reset" and what.change.value is not None:
        call = what.change.value

        if isinstance(call, ir.Call) and what.change.name == "update":
            for arg in call.args:
                for inner in ev.values(what.frame, arg.value):
                    yield from _known(ev, inner, False, depth + 1)
    for inner in what.base:
        yield from _known(ev, inner, alone, depth + 1)
