"""Which calls make the service change something, with which parameters and which key.

A call is a sink by what its callee resolves to, never by its looks: the SDK's methods and services, raw HTTP requests to the
service's hosts, and functions of these handed to somebody who calls them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from stripe_idem_lint.ir import nodes as ir
from stripe_idem_lint.link.flow import Def
from stripe_idem_lint.link.program import FunctionRef
from stripe_idem_lint.models.schema import ContextModel, EdgeModel, HttpClient, SinkModel
from stripe_idem_lint.solve.alternatives import is_absent, joined
from stripe_idem_lint.solve.evaluate import Evaluator
from stripe_idem_lint.solve.options import any_holds, argument
from stripe_idem_lint.solve.outside import handed_over, only_passes
from stripe_idem_lint.solve.values import (
    Arguments,
    Born,
    Callable_,
    Changed,
    External,
    Frame,
    Hole,
    Instance,
    Known,
    Lazy,
    Many,
    Object,
    Partial,
    Row,
    Table,
    Text,
    Unknown,
    Val,
)


@dataclass(frozen=True, slots=True, eq=False)
class SinkCall:
    """A sink as one frame sees it.

    Attributes:
        name: The callable (`stripe.Charge.create`), or method and path of a raw request.
        model: None for a raw request whose path cannot be told.
        args: What the callable gets.
        at: Where the finding sits.
        http: For raw requests.
        of: The client object of a raw request.
    """

    name: str
    model: SinkModel | None
    args: Arguments
    at: int
    http: HttpClient | None = None
    of: Object | None = None


@dataclass(frozen=True, slots=True)
class KeyArgument:
    """The key of a sink.

    Attributes:
        values: Its alternatives; empty when none is given at all.
        given: The call names a key.
        misplaced: Why Stripe does not read the key that is there, else empty.
    """

    values: tuple[Val, ...]
    given: bool
    misplaced: str = ""


def sink_calls(ev: Evaluator, frame: Frame, call: ir.Call) -> Iterator[SinkCall]:
    """The sinks that a call expression executes in this frame, itself or through a function it hands over."""
    if not _worth_asking(ev, frame, call):
        return
    args = Arguments.of(frame, call.args)
    for callee in callees(ev, frame, call):
        yield from _direct(ev, callee, args, call.at, frame)
        yield from _handed(ev, callee, args, call, frame)


def _worth_asking(ev: Evaluator, frame: Frame, call: ir.Call) -> bool:
    """By its looks the call may be a sink or hand one over; most calls of a file are neither."""
    if not isinstance(call.func, ir.Attr) or call.func.name in ev.catalog.verbs:
        return True
    return any(may_be_sink(ev, frame, arg.value) for arg in call.args)


def may_be_sink(ev: Evaluator, frame: Frame, expr: ir.Expr, depth: int = 0) -> bool:
    """By its looks the expression may be a function of the service."""
    match expr:
        case ir.Attr(_, _, name):
            return name in ev.catalog.verbs or name in ev.catalog.resource_words
        case ir.Call(_, _, args):
            return depth < 2 and any(may_be_sink(ev, frame, arg.value, depth + 1) for arg in args)
        case ir.Choice(_, _, then, other):
            return any(may_be_sink(ev, frame, part, depth + 1) for part in (then, other))
        case ir.Name(at=at, id=name):
            definitions = frame.flow.reaching(name, at) or tuple(
                ev.module_frame(frame.path).flow.everything.get(name, ())
            )
            return depth < 3 and any(_defines_sink(ev, frame, d, depth) for d in definitions)
        case _:
            return False


def _defines_sink(ev: Evaluator, frame: Frame, definition: Def, depth: int) -> bool:
    if definition.kind == "param":
        return frame.args is not None
    if definition.kind in ("present", "missing", "reset", "handed"):
        return (
            any(_defines_sink(ev, frame, base, depth + 1) for base in definition.base)
            if depth < 3
            else False
        )
    return definition.value is not None and may_be_sink(ev, frame, definition.value, depth + 1)


def callees(ev: Evaluator, frame: Frame, call: ir.Call) -> tuple[Val, ...]:
    """What a call calls."""
    return ev.values(frame, call.func)


def _direct(
    ev: Evaluator, callee: Val, args: Arguments, at: int, frame: Frame
) -> Iterator[SinkCall]:
    what = callee.what
    if isinstance(what, Partial):
        yield from _direct(ev, what.target, joined(what.given, args), what.at, frame)
        return
    if isinstance(what, External):
        model = ev.catalog.sink(what.name)
        if model is not None:
            yield SinkCall(what.name, model, args, at, of=what.of)
            return
        client = ev.catalog.http_call(what.name)
        if client is not None:
            yield from _request(ev, what, client, args, at)
    elif isinstance(what, Hole | Unknown) and what.trail:
        names = tuple(step[1:] for step in what.trail if step.startswith("."))
        below = ev.catalog.sink_below(names) if len(names) == len(what.trail) else None
        if below is not None:
            yield SinkCall(*below, args, at)


def _request(
    ev: Evaluator, what: External, client: HttpClient, args: Arguments, at: int
) -> Iterator[SinkCall]:
    """A raw HTTP request, if it goes to the service and changes something there."""
    if not _posts(ev, what.name, client, args):
        return
    for address in _addresses(ev, what, client, args):
        path = _path_on_service(ev, client, address)
        if path is not None:
            yield SinkCall(f"POST {path}", ev.catalog.sink_path(path), args, at, client, what.of)
            return


def _posts(ev: Evaluator, name: str, client: HttpClient, args: Arguments) -> bool:
    if name not in {ev.catalog.canonical(n) for n in client.method_call}:
        return True
    for key in client.method:
        lazy = argument(args, key)
        if lazy is not None:
            vals = ev.resolve(lazy)
            return any(
                not isinstance(v.what, Known) or str(v.what.value).upper() == "POST" for v in vals
            )
    return False


def _addresses(ev: Evaluator, what: External, client: HttpClient, args: Arguments) -> Iterator[str]:
    lazy = next((a for key in client.url if (a := argument(args, key)) is not None), None)
    if lazy is None:
        return
    bases = [""]
    if client.base and what.of is not None and what.of.args is not None:
        base = argument(what.of.args, client.base)
        if base is not None:
            bases = list(texts(ev, base)) or [""]
    for text in texts(ev, lazy):
        for base_text in bases:
            if "://" in text or not base_text:
                yield text
            else:
                yield base_text.rstrip("/") + "/" + text.lstrip("/")


def _path_on_service(ev: Evaluator, client: HttpClient, address: str) -> str | None:
    if client.service:
        return address.partition("?")[0].rstrip("/") or "/"
    for host in ev.catalog.service.hosts:
        head, found, path = address.partition(host)
        if found and head in ("https://", "http://") and path[:1] in ("", "/", ":"):
            path = path.replace("//", "/")
            return path.partition("?")[0].rstrip("/") or "/"
    return None


def texts(ev: Evaluator, lazy: Lazy, depth: int = 0) -> tuple[str, ...]:
    """The texts a value may be, `{}` standing for what is not known."""
    found: dict[str, None] = {}
    for val in ev.resolve(lazy):
        for text in _texts_of(ev, val, depth):
            found[text] = None
    return tuple(found)[:8]


def _texts_of(ev: Evaluator, val: Val, depth: int) -> tuple[str, ...]:
    what = val.what
    if depth > 8:
        return ("{}",)
    match what:
        case Known(value):
            return (value if isinstance(value, str) else str(value),)
        case Text("f" | "+" | "str", parts):
            return _concatenated(ev, parts, depth)
        case Text("urllib.parse.urljoin", (base, rest)):
            return tuple(
                one.rstrip("/") + "/" + two.lstrip("/")
                for one in texts(ev, base, depth + 1)
                for two in texts(ev, rest, depth + 1)
            )
        case Text("format" | "%", (template, *_)):
            return tuple(_filled(text) for text in texts(ev, template, depth + 1))
        case Text("rstrip" | "lstrip" | "strip" | "default", (base, *_)):
            return texts(ev, base, depth + 1)
        case Born() | Many() | Row() | Table() | Instance():
            return ("{}",)
        case _:
            return ("{}",)


def _concatenated(ev: Evaluator, parts: tuple[Lazy, ...], depth: int) -> tuple[str, ...]:
    results = [""]
    for part in parts:
        pieces = texts(ev, part, depth + 1) or ("{}",)
        results = [r + p for r in results for p in pieces][:8]
    return tuple(results)


def _filled(template: str) -> str:
    return re.sub(r"\{[^{}]*\}|%\([^)]*\)[a-z]|%[a-z]", "{}", template)


def _handed(
    ev: Evaluator, callee: Val, args: Arguments, call: ir.Call, frame: Frame
) -> Iterator[SinkCall]:
    """Sinks among the functions that the call hands to outside code, which calls them."""
    what = callee.what
    if isinstance(what, Callable_):
        return
    name = (
        what.name
        if isinstance(what, External)
        else (f"{what.cls}.__call__" if isinstance(what, Object) else "")
    )
    if name:
        edge = ev.catalog.edge(name)
        if edge is not None:
            if edge.gives != "partial":
                yield from _given(ev, edge, args, call, frame)
            return
        for context in ev.catalog.calls(name):
            yield from _given(ev, context, args, call, frame)
            return
    if isinstance(what, External) and (
        ev.catalog.sink(what.name) is not None
        or only_passes(what.name)
        or ev.catalog.value_call(what.name)
    ):
        return
    for number, arg in enumerate(call.args):
        if arg.star or isinstance(arg.value, ir.Call) or not may_be_sink(ev, frame, arg.value):
            continue
        key = arg.name if arg.name is not None else str(number)
        yield from _given(ev, EdgeModel((), (key,)), args, call, frame)


def _given(
    ev: Evaluator, model: EdgeModel | ContextModel, args: Arguments, call: ir.Call, frame: Frame
) -> Iterator[SinkCall]:
    function, handed = handed_over(ev, model, args)
    if function is None:
        return
    for val in ev.resolve(function):
        target = val.what.target if isinstance(val.what, Partial) else val
        if isinstance(target.what, External) and ev.catalog.sink(target.what.name) is not None:
            yield from _direct(ev, val, handed, call.at, frame)


def handed_sinks(ev: Evaluator, args: Arguments) -> bool:
    """One of the arguments is a function of the service."""
    for lazy in (*args.positional, *(z for _, z in args.named)):
        if lazy.expr is None or not may_be_sink(ev, lazy.frame, lazy.expr):
            continue
        for val in ev.resolve(lazy):
            target = val.what.target if isinstance(val.what, Partial) else val
            if isinstance(target.what, External) and _is_service(ev, target.what.name):
                return True
    return False


def _is_service(ev: Evaluator, name: str) -> bool:
    """A function of the service, or a class that has some."""
    return ev.catalog.sink(name) is not None or name in ev.catalog.resources


# --- parameters and key


def parameters(ev: Evaluator, sink: SinkCall) -> Arguments:
    """The parameters of the request, wherever the style of the call puts them."""
    if sink.http is not None and sink.http.service:
        return sink.args
    if sink.http is not None:
        bodies = tuple(a for key in sink.http.body if (a := argument(sink.args, key)) is not None)
        return Arguments((), (), (), bodies)
    if sink.model is not None and sink.model.style == "service":
        params, _ = _service_arguments(ev, sink)
        return Arguments((), (), (), (params,) if params is not None else ())
    return sink.args


def _service_arguments(ev: Evaluator, sink: SinkCall) -> tuple[Lazy | None, Lazy | None]:
    """`params` and `options` of a service call, by keyword or as the dictionaries among the positions."""
    params = _by_keyword(ev, sink.args, "params")
    options = _by_keyword(ev, sink.args, ev.catalog.service.options)
    rest = [lazy for lazy in _positions(ev, sink.args) if not _is_text(ev, lazy)]
    while rest and not _is_table(ev, rest[0]) and any(_is_table(ev, lazy) for lazy in rest[1:]):
        rest.pop(0)
    if params is None and rest:
        params = rest.pop(0)
    if options is None and rest:
        options = rest.pop(0)
    return params, options


def _by_keyword(ev: Evaluator, args: Arguments, name: str) -> Lazy | None:
    """A keyword, also one that travels in `**values`."""
    lazy = argument(args, name)
    if lazy is not None or not args.double:
        return lazy
    vals = tuple(
        v for d in args.double for v in ev.access(ev.resolve(d), f"[{name}]") if not is_absent(v)
    )
    told = tuple(v for v in vals if isinstance(v.what, Table | Changed))
    return Lazy(args.double[0].frame, None, known=told) if told else None


def _positions(ev: Evaluator, args: Arguments) -> Iterator[Lazy]:
    """The positional arguments, those in `*values` too."""
    yield from args.positional
    for star in args.star:
        for val in ev.resolve(star):
            if isinstance(val.what, Row):
                yield from (lazy for lazy, starred in val.what.items if not starred)


def _is_text(ev: Evaluator, lazy: Lazy) -> bool:
    """The argument is certainly no dictionary but an id."""
    vals = ev.resolve(lazy)
    return bool(vals) and all(isinstance(v.what, Known | Text | Born) for v in vals)


def _is_table(ev: Evaluator, lazy: Lazy) -> bool:
    """The argument is a dictionary; ids of the address come before those."""
    return any(isinstance(v.what, Table | Changed) for v in ev.resolve(lazy))


def effect_of(ev: Evaluator, sink: SinkCall) -> str:
    """`money`, `payable`, `guarded`, `other`, or `unknown` for a raw request whose path cannot be told."""
    if sink.model is None:
        return "unknown"
    if sink.model.money_if and any_holds(ev, sink.model.money_if, parameters(ev, sink)):
        return "money"
    return sink.model.effect


def key_of(ev: Evaluator, sink: SinkCall) -> KeyArgument:
    """The key that the call sends, None and "" included."""
    service = ev.catalog.service
    if sink.http is not None:
        return _header_key(ev, sink, sink.http)
    assert sink.model is not None
    name = service.key_parameter
    if sink.model.style == "service":
        params, options = _service_arguments(ev, sink)
        inside = _entry(ev, params, name)
        if inside and not any(isinstance(v.what, Hole | Unknown) or is_absent(v) for v in inside):
            return KeyArgument(
                (),
                False,
                f"`{name}` stands among the parameters of a service call; it belongs into `{service.options}`",
            )
        key = _entry(ev, options, name) or _in_headers(ev, options)
        return _identified(ev, sink, KeyArgument(key, bool(key)))
    if argument(sink.args, service.options) is not None:
        return KeyArgument(
            (),
            False,
            f"`{service.options}=` on a resource method becomes a body parameter; pass `{name}=`",
        )
    vals = _argument_values(ev, sink.args, name)
    if not vals:
        vals = _entry(ev, argument(sink.args, "headers"), service.key_header)
    return _identified(ev, sink, KeyArgument(vals, bool(vals)))


def _identified(ev: Evaluator, sink: SinkCall, key: KeyArgument) -> KeyArgument:
    """Some calls are told apart by a parameter of their own (`identifier`)."""
    assert sink.model is not None
    if key.given or not sink.model.keyed_by:
        return key
    params = parameters(ev, sink)
    vals = _argument_values(ev, params, sink.model.keyed_by)
    return KeyArgument(vals, bool(vals))


def _argument_values(ev: Evaluator, args: Arguments, name: str) -> tuple[Val, ...]:
    """A keyword, or what `**values` hold under it: absent ones count as missing where others are there."""
    lazy = argument(args, name)
    if lazy is not None:
        return ev.resolve(lazy)
    found: list[Val] = []
    for double in args.double:
        vals = ev.access(ev.resolve(double), f"[{name}]")
        if any(not is_absent(v) for v in vals):
            found.extend(vals)
    return tuple(found)


def _entry(ev: Evaluator, lazy: Lazy | None, name: str) -> tuple[Val, ...]:
    if lazy is None:
        return ()
    vals = ev.access(ev.resolve(lazy), f"[{name}]")
    return vals if any(not is_absent(v) for v in vals) else ()


def _in_headers(ev: Evaluator, options: Lazy | None) -> tuple[Val, ...]:
    if options is None:
        return ()
    headers = tuple(v for v in ev.access(ev.resolve(options), "[headers]") if not is_absent(v))
    vals = ev.access(headers, f"[{ev.catalog.service.key_header}]")
    return vals if any(not is_absent(v) for v in vals) else ()


def _header_key(ev: Evaluator, sink: SinkCall, client: HttpClient) -> KeyArgument:
    header = ev.catalog.service.key_header
    found: tuple[Val, ...] = ()
    if client.key:
        given = _argument_values(ev, sink.args, client.key)
        if given:
            return KeyArgument(given, True)
    lazy = argument(sink.args, client.headers)
    if lazy is not None:
        found = _entry(ev, lazy, header)
    if not found and client.session_headers and sink.of is not None and sink.of.args is not None:
        shared = argument(sink.of.args, client.headers)
        found = _entry(ev, shared, header)
    if not found and sink.args.double:
        unknown = tuple(
            v for d in sink.args.double for v in ev.resolve(d) if isinstance(v.what, Hole | Unknown)
        )
        if unknown:
            return KeyArgument(unknown, True)
    return KeyArgument(found, bool(found))


# --- finding them


@dataclass(frozen=True, slots=True, eq=False)
class Hop:
    """A place inside a function, on the way from a sink outward.

    Attributes:
        owner: The function; None for a module's own code.
        at: The call (or reference) through which the way goes.
        closure: The activation of the enclosing function, where it is fixed.
    """

    path: str
    owner: FunctionRef | None
    at: int
    closure: Frame | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Site:
    """A sink found in the program: the way into it (innermost first) and where its finding sits."""

    hops: tuple[Hop, ...]
    call: ir.Call
    name: str
    report: tuple[str, int]


def find_sites(ev: Evaluator, path: str) -> list[Site]:
    """All sinks of a file."""
    module = ev.program.module(path)
    if module is None:
        return []
    found: list[Site] = []
    for owner, frame, body in _bodies(ev, path, module):
        for call in calls_in(body):
            hop = Hop(path, owner, call.at)
            ev.refuel()
            sinks = list(sink_calls(ev, frame, call))
            for sink in sinks or _addressed_by_callers(ev, frame, call):
                found.append(Site((hop,), call, sink.name, (path, sink.at)))
            found.extend(_inside_helpers(ev, frame, call, (hop,), 0))
    return _unique(found)


def _addressed_by_callers(ev: Evaluator, frame: Frame, call: ir.Call) -> Iterator[SinkCall]:
    """A raw request whose address callers hand in, in a file that names the service: each way to it decides."""
    if not isinstance(call.func, ir.Attr) or call.func.name not in ev.catalog.verbs:
        return
    args = Arguments.of(frame, call.args)
    for callee in callees(ev, frame, call):
        what = callee.what
        client = ev.catalog.http_call(what.name) if isinstance(what, External) else None
        if (
            client is None
            or not isinstance(what, External)
            or not _posts(ev, what.name, client, args)
        ):
            continue
        starts = [text for text in _addresses(ev, what, client, args) if text.startswith("{}")]
        if starts and ev.program.holds(frame.path, ev.catalog.service.hosts):
            yield SinkCall("POST {}", None, args, call.at, client, what.of)
            return


def _unique(found: list[Site]) -> list[Site]:
    kept: dict[tuple[object, ...], Site] = {}
    for site in found:
        key = (site.report, site.name, tuple((h.owner, h.at) for h in site.hops))
        kept.setdefault(key, site)
    return list(kept.values())


def _bodies(
    ev: Evaluator, path: str, module: ir.Module
) -> Iterator[tuple[FunctionRef | None, Frame, tuple[ir.Stmt, ...]]]:
    yield None, ev.module_frame(path), module.body
    for function in module.functions:
        ref = FunctionRef(path, function.index)
        yield ref, ev.open_frame(ref), function.body


def calls_in(body: tuple[ir.Stmt, ...]) -> Iterator[ir.Call]:
    """All calls of a body in source order."""
    for stmt in ir.statements(body):
        for expr in ir.expressions(stmt):
            for node in ir.walk(expr):
                if isinstance(node, ir.Call):
                    yield node


def _inside_helpers(
    ev: Evaluator, frame: Frame, call: ir.Call, hops: tuple[Hop, ...], depth: int
) -> Iterator[Site]:
    """Sinks that a project function executes because this call hands it a function of the service."""
    args = Arguments.of(frame, call.args)
    if depth > 2 or not handed_sinks(ev, args):
        return
    for callee in callees(ev, frame, call):
        what = callee.what
        if not isinstance(what, Callable_):
            continue
        given = joined(what.given, args)
        inner = ev.bound_frame(what.ref, frame, call.at, given, what.closure, what.this)
        yield from _executed(ev, inner, what.ref, hops, call, depth)


def _executed(
    ev: Evaluator, inner: Frame, ref: FunctionRef, hops: tuple[Hop, ...], outer: ir.Call, depth: int
) -> Iterator[Site]:
    function = ev.program.function(ref)
    params = {p.name for p in function.params}
    for call in calls_in(function.body):
        uses = isinstance(call.func, ir.Name) and call.func.id in params
        through = (
            isinstance(call.func, ir.Attr)
            and isinstance(call.func.base, ir.Name)
            and call.func.base.id in params
        )
        passes = any(isinstance(a.value, ir.Name) and a.value.id in params for a in call.args)
        if not (uses or passes or isinstance(call.func, ir.Attr)):
            continue
        hop = Hop(ref.path, ref, call.at)
        if through:
            for sink in sink_calls(ev, inner, call):
                yield Site((hop, *hops), call, sink.name, (ref.path, sink.at))
        elif uses or passes:
            for sink in sink_calls(ev, inner, call):
                yield Site((hop, *hops), call, sink.name, (hops[0].path, outer.at))
        if passes:
            yield from (
                replace(site, report=(hops[0].path, outer.at))
                for site in _inside_helpers(ev, inner, call, (hop, *hops), depth + 1)
            )
    module = ev.program.module(ref.path)
    assert module is not None
    for nested in module.functions:
        if nested.parent == ref.index and nested.cls is None:
            nested_ref = FunctionRef(ref.path, nested.index)
            frame = ev.bound_frame(nested_ref, inner, nested.at, Arguments(), inner)
            for call in calls_in(nested.body):
                if isinstance(call.func, ir.Name) and call.func.id in params:
                    for sink in sink_calls(ev, frame, call):
                        ways = (
                            Hop(ref.path, nested_ref, call.at),
                            Hop(ref.path, ref, nested.at),
                            *hops,
                        )
                        yield Site(ways, call, sink.name, (hops[0].path, outer.at))
