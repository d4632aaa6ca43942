"""Which definitions reach which statement of one body, in order, branches kept as sets.

Worked example, the state after each line in the margin (`|` separates alternatives, `?` marks a condition):

    def pay(order, key=None):        # key: parameter
        if key is None:              #   in the branch: key: parameter, missing
            key = str(uuid4())       #   key: line 3 ?(key was missing)
        params = {"k": key}          # key: line 3 ?(…) | parameter, present      params: line 4
        params["n"] = 1              # params: line 4 with ["n"]

A body is a function's, a class's or a module's. Bodies of nested functions are other bodies. Knows Python only.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field

from stripe_idem_lint.ir import nodes as ir


@dataclass(frozen=True, slots=True)
class Need:
    """A condition: the definition was made in a branch where `value`, read at `at`, was missing (None, empty, absent)."""

    value: ir.Expr
    at: int


@dataclass(frozen=True, slots=True, eq=False)
class Def:
    """One definition of a name.

    Attributes:
        kind: `value`, `element` (of iterating `value`), `entered` (by `with`), `param`, `caught`, `import`, `from`, `function`,
            `class`, `pattern`; or a change of earlier definitions `base`: `augment`, `item` (`x[key] = value`), `attribute`
            (`x.name = value`), `update` (`x.update(value)`), `default` (`x.setdefault(key, value)`), `present` and `missing`
            (a branch has shown that `x` + `path` is so), `under` (the same, in a branch), `reset` (a method may have changed it: `name`), `append`,
            `handed` (a call, `value`, was given it for its parameter `name`, a keyword or a position).
        at: Number of the statement or expression that defines.
        root: For changes: the name that is changed; when `base` is empty it belongs to an outer scope.
        path: Accesses behind `value` (unpacking: `[0]`), or for `attribute`, `present`, `missing`: the part that is meant.
        needs: Conditions under which the definition is made.
    """

    kind: str
    at: int
    value: ir.Expr | None = None
    path: tuple[str, ...] = ()
    base: tuple[Def, ...] = ()
    key: ir.Expr | None = None
    name: str = ""
    stmt: ir.Stmt | None = None
    needs: tuple[Need, ...] = ()
    root: str = ""


FILLING = frozenset({"item", "attribute", "update", "default", "append", "handed"})
"""Kinds of definitions that put something into what a name stands for."""

_Env = dict[str, tuple[Def, ...]]


@dataclass(slots=True)
class Flow:
    """The result for one body.

    Attributes:
        end: Definitions at the end of the body; None if the end is never reached.
        everything: All definitions of each name anywhere in the body, for closures.
        returns: The returned expressions in order.
        yields: The yielded expressions in order (value, `yield from`).
        needs: Per statement number: the conditions of its branch.
    """

    places: list[int] = field(default_factory=list)
    before: dict[int, dict[str, tuple[Def, ...]]] = field(default_factory=dict)
    end: dict[str, tuple[Def, ...]] | None = None
    everything: dict[str, list[Def]] = field(default_factory=dict)
    returns: list[ir.Return] = field(default_factory=list)
    yields: list[ir.Yield] = field(default_factory=list)
    needs: dict[int, tuple[Need, ...]] = field(default_factory=dict)
    outer: frozenset[str] = frozenset()

    def statement(self, at: int) -> int:
        """The number of the statement that evaluates the expression number `at`, -1 if none does."""
        where = bisect_right(self.places, at) - 1
        return self.places[where] if where >= 0 else -1

    def reaching(self, name: str, at: int) -> tuple[Def, ...]:
        """The definitions of `name` that an expression at `at` may read; empty: not a local name there."""
        env = self.before.get(self.statement(at))
        return env.get(name, ()) if env is not None else ()

    def final(self, name: str) -> tuple[Def, ...]:
        """The definitions that somebody reading the name later sees."""
        if self.end is not None and name in self.end:
            return self.end[name]
        return tuple(self.everything.get(name, ()))


def analyse(
    module: ir.Module,
    body: tuple[ir.Stmt, ...],
    params: tuple[ir.Param, ...] = (),
) -> Flow:
    """Runs over a body.

    Args:
        module: The file that holds it.
        body: Its statements.
        params: Parameters of the function, defined at its start.
    """
    flow = Flow()
    flow.outer = frozenset(
        n for s in ir.statements(body) if isinstance(s, ir.Outer) for n in s.names
    )
    walker = _Walker(module, flow)
    env: dict[str, tuple[Def, ...]] = {}
    for param in params:
        definition = Def("param", -1, param.default, name=param.name)
        env[param.name] = (definition,)
        flow.everything.setdefault(param.name, []).append(definition)
    flow.end = walker.block(body, env, ())
    flow.places.sort()
    return flow


class _Walker:
    """One pass over a body; an environment of None means that the place is not reached."""

    def __init__(self, module: ir.Module, flow: Flow) -> None:
        self.module = module
        self.flow = flow
        self._breaks: list[list[_Env]] = []
        self._continues: list[list[_Env]] = []
        self._seen: set[int] = set()

    def block(
        self, body: tuple[ir.Stmt, ...], env: _Env | None, needs: tuple[Need, ...]
    ) -> _Env | None:
        for stmt in body:
            if env is None:
                self._dead(stmt)
                continue
            env, needs = self.statement(stmt, env, needs)
        return env

    def _dead(self, stmt: ir.Stmt) -> None:
        """Keeps unreachable statements addressable, with nothing reaching them."""
        for inner in ir.statements((stmt,)):
            self._enter(inner, {}, ())

    def _enter(self, stmt: ir.Stmt, env: _Env, needs: tuple[Need, ...]) -> None:
        if stmt.at not in self._seen:
            self._seen.add(stmt.at)
            self.flow.places.append(stmt.at)
            self.flow.before[stmt.at] = env
        else:
            self.flow.before[stmt.at] = _merge(self.flow.before[stmt.at], env)
        self.flow.needs[stmt.at] = needs

    def statement(
        self, stmt: ir.Stmt, env: _Env, needs: tuple[Need, ...]
    ) -> tuple[_Env | None, tuple[Need, ...]]:
        env = self._inline(stmt, env, needs)
        self._enter(stmt, env, needs)
        match stmt:
            case ir.Assign(at, targets, value, annotation):
                if value is not None:
                    env = dict(env)
                    for target in targets:
                        self._bind(env, target, "value", at, value, (), needs)
                        if annotation is not None and isinstance(target, ir.Name):
                            told = Def("value", at, value, name=target.id, needs=needs, stmt=stmt)
                            self.flow.everything[target.id].pop()
                            self._define(env, target.id, told)
                    self._removed(env, value, needs)
            case ir.Augment(at, op, target, value):
                env = dict(env)
                joined = ir.Join(at, op, (target, value))
                if isinstance(target, ir.Name):
                    self._define(
                        env,
                        target.id,
                        Def("augment", at, joined, base=env.get(target.id, ()), needs=needs),
                    )
                else:
                    self._bind(env, target, "value", at, joined, (), needs)
            case ir.Evaluate(_, value):
                changed = self._effect(value, env, needs)
                if changed is None:
                    return None, needs
                env = changed
            case ir.Return():
                self.flow.returns.append(stmt)
                return None, needs
            case ir.Raise():
                return None, needs
            case ir.Jump(_, kind):
                stack = self._breaks if kind == "break" else self._continues
                if stack:
                    stack[-1].append(env)
                return None, needs
            case ir.If():
                return self._if(stmt, env, needs)
            case ir.For(at, target, iterable, body, orelse):
                return self._loop(body, orelse, env, needs, (target, at, iterable), None), needs
            case ir.While(_, test, body, orelse):
                return self._loop(body, orelse, env, needs, None, test), needs
            case ir.Try():
                return self._try(stmt, env, needs), needs
            case ir.With(at, items, body):
                env = dict(env)
                for manager, name in items:
                    if name is not None:
                        self._bind(env, name, "entered", at, manager, (), needs)
                return self.block(body, env, needs), needs
            case ir.Match(_, subject, cases):
                return self._match(subject, cases, env, needs), needs
            case ir.Define(at, _):
                env = dict(env)
                self._define(
                    env, self._defined_name(stmt), Def("function", at, stmt=stmt, needs=needs)
                )
            case ir.DefineClass(at, _):
                env = dict(env)
                self._define(
                    env, self._defined_name(stmt), Def("class", at, stmt=stmt, needs=needs)
                )
            case ir.Import(at, _, name, _):
                env = dict(env)
                self._define(env, name, Def("import", at, stmt=stmt, needs=needs))
            case ir.ImportFrom(at, _, _, _, name):
                env = dict(env)
                if name == "*":
                    self.flow.everything.setdefault("*", []).append(Def("from", at, stmt=stmt))
                else:
                    self._define(env, name, Def("from", at, stmt=stmt, needs=needs))
            case ir.Assert(_, test):
                env, more = _assume(test, True, env, stmt.at)
                needs = needs + more
            case ir.Delete(_, targets):
                env = dict(env)
                for target in targets:
                    if isinstance(target, ir.Name):
                        env.pop(target.id, None)
            case _:
                pass
        return env, needs

    def _defined_name(self, stmt: ir.Define | ir.DefineClass) -> str:
        if isinstance(stmt, ir.Define):
            return self.module.functions[stmt.function].name
        return self.module.classes[stmt.cls].name

    def _inline(self, stmt: ir.Stmt, env: _Env, needs: tuple[Need, ...]) -> _Env:
        """Names that expressions of the statement bind themselves: `:=` and the targets of comprehensions."""
        changed: _Env | None = None
        for expr in ir.expressions(stmt):
            for node in ir.walk(expr):
                if isinstance(node, ir.Walrus):
                    changed = dict(changed or env)
                    self._define(
                        changed,
                        node.name,
                        Def("value", node.at, node.value, name=node.name, needs=needs),
                    )
                elif isinstance(node, ir.Comprehension):
                    changed = dict(changed or env)
                    for clause in node.clauses:
                        self._bind(
                            changed, clause.target, "element", node.at, clause.iter, (), needs
                        )
                elif isinstance(node, ir.Yield) and stmt.at not in self._seen:
                    self.flow.yields.append(node)
        return changed if changed is not None else env

    def _define(self, env: _Env, name: str, definition: Def) -> None:
        env[name] = (definition,)
        self.flow.everything.setdefault(name, []).append(definition)

    def _bind(
        self,
        env: _Env,
        target: ir.Expr,
        kind: str,
        at: int,
        value: ir.Expr,
        path: tuple[str, ...],
        needs: tuple[Need, ...],
    ) -> None:
        match target:
            case ir.Name(_, name):
                self._define(env, name, Def(kind, at, value, path, name=name, needs=needs))
            case ir.Sequence(_, _, items):
                for position, item in enumerate(items):
                    step = "[*]" if item.star else f"[{position}]"
                    self._bind(env, item.value, kind, at, value, (*path, step), needs)
            case ir.Item(_, base, index):
                self._store(env, base, (), "item", at, value, path, needs, index)
            case ir.Attr(_, base, name):
                self._store(env, base, (f".{name}",), "attribute", at, value, path, needs, None)
            case _:
                pass

    def _store(
        self,
        env: _Env,
        base: ir.Expr,
        inner: tuple[str, ...],
        kind: str,
        at: int,
        value: ir.Expr,
        path: tuple[str, ...],
        needs: tuple[Need, ...],
        key: ir.Expr | None,
    ) -> None:
        """`root.a.b[key] = value` as a change of the definitions of `root`."""
        split = root_of(base)
        if split is None:
            return
        root, prefix = split
        definition = Def(
            kind,
            at,
            value,
            path,
            env.get(root, ()),
            key,
            "\0".join((*prefix, *inner)),
            needs=needs,
            root=root,
        )
        self._define(env, root, definition)

    def _effect(self, value: ir.Expr, env: _Env, needs: tuple[Need, ...]) -> _Env | None:
        """A call made for its effect: what it changes, None if it never comes back."""
        call = value.value if isinstance(value, ir.Await) else value
        if not isinstance(call, ir.Call):
            return env
        if isinstance(call.func, ir.Attr):
            split = root_of(call.func.base)
            if split is not None:
                env = self._method(call, call.func.name, split, env, needs)
        return self._handed(call, env, needs)

    def _handed(self, call: ir.Call, env: _Env, needs: tuple[Need, ...]) -> _Env:
        """The names that a call made for its effect is handed: it may change what they stand for."""
        made = [
            (arg.value.id, arg.name or str(number))
            for number, arg in enumerate(call.args)
            if isinstance(arg.value, ir.Name) and not arg.star and arg.value.id in env
        ]
        if made:
            env = dict(env)
        for name, parameter in made:
            definition = Def(
                "handed", call.at, call, base=env[name], name=parameter, needs=needs, root=name
            )
            self._define(env, name, definition)
        return env

    def _method(
        self,
        call: ir.Call,
        method: str,
        split: tuple[str, tuple[str, ...]],
        env: _Env,
        needs: tuple[Need, ...],
    ) -> _Env:
        root, prefix = split
        base = env.get(root, ())
        inner = "\0".join(prefix)
        made: list[Def] = []
        if method == "update" and not prefix:
            for arg in call.args:
                if arg.name is None:
                    made.append(
                        Def(
                            "update",
                            call.at,
                            arg.value,
                            base=base,
                            name=inner,
                            needs=needs,
                            root=root,
                        )
                    )
                else:
                    key = ir.Const(call.at, arg.name)
                    made.append(
                        Def(
                            "item", call.at, arg.value, (), base, key, inner, needs=needs, root=root
                        )
                    )
                base = (made[-1],)
        elif method == "update":
            for arg in call.args:
                made.append(
                    Def("update", call.at, arg.value, base=base, name=inner, needs=needs, root=root)
                )
                base = (made[-1],)
        elif method == "setdefault" and len(call.args) == 2:
            first, second = call.args
            made.append(
                Def(
                    "default",
                    call.at,
                    second.value,
                    (),
                    base,
                    first.value,
                    inner,
                    needs=needs,
                    root=root,
                )
            )
        elif method == "pop" and call.args and not prefix:
            env = dict(env)
            self._removed(env, call, needs)
            return env
        elif method in ("append", "add") and len(call.args) == 1 and not prefix:
            made.append(
                Def(
                    "append",
                    call.at,
                    call.args[0].value,
                    base=base,
                    name=inner,
                    needs=needs,
                    root=root,
                )
            )
        elif not prefix and base:
            made.append(Def("reset", call.at, call, base=base, name=method, needs=needs))
        if not made:
            return env
        env = dict(env)
        for definition in made:
            self._define(env, root, definition)
        return env

    def _removed(self, env: _Env, value: ir.Expr, needs: tuple[Need, ...]) -> None:
        """`x = d.pop("k")` takes the key out of `d`."""
        for node in ir.walk(value):
            match node:
                case ir.Call(
                    at,
                    ir.Attr(_, ir.Name(_, root), "pop"),
                    (ir.Arg(ir.Const() as key, None, 0), *_),
                ):
                    if root in env and isinstance(key.value, str):
                        gone = ir.Const(at, None)
                        self._define(
                            env, root, Def("item", at, gone, (), env[root], key, needs=needs)
                        )
                case _:
                    pass

    def _if(
        self, stmt: ir.If, env: _Env, needs: tuple[Need, ...]
    ) -> tuple[_Env | None, tuple[Need, ...]]:
        then, then_needs = _assume(stmt.test, True, env, stmt.at)
        other, other_needs = _assume(stmt.test, False, env, stmt.at)
        after_then = self.block(stmt.body, then, needs + then_needs)
        after_other = self.block(stmt.orelse, other, needs + other_needs)
        if after_then is None:
            return after_other, needs + other_needs
        if after_other is None:
            return after_then, needs + then_needs
        after_then = _conditioned(after_then, after_other, env, then_needs, stmt.at)
        after_other = _conditioned(after_other, after_then, env, other_needs, stmt.at)
        return _merge(after_then, after_other), needs

    def _loop(
        self,
        body: tuple[ir.Stmt, ...],
        orelse: tuple[ir.Stmt, ...],
        env: _Env,
        needs: tuple[Need, ...],
        each: tuple[ir.Expr, int, ir.Expr] | None,
        test: ir.Expr | None,
    ) -> _Env | None:
        head = env
        breaks: list[_Env] = []
        endless = test is not None and isinstance(test, ir.Const) and bool(test.value)
        for _ in range(2):
            self._breaks.append([])
            self._continues.append([])
            inner = dict(head)
            if each is not None:
                target, at, iterable = each
                self._bind(inner, target, "element", at, iterable, (), needs)
            elif test is not None:
                inner, _more = _assume(test, True, inner, body[0].at if body else 0)
            after = self.block(body, inner, needs)
            breaks = self._breaks.pop()
            for other in (after, *self._continues.pop()):
                if other is not None:
                    head = _merge(head, other)
        done = None if endless else self.block(orelse, head, needs)
        for other in breaks:
            done = other if done is None else _merge(done, other)
        return done

    def _try(self, stmt: ir.Try, env: _Env, needs: tuple[Need, ...]) -> _Env | None:
        after = self.block(stmt.body, env, needs)
        caught = env
        for inner in ir.statements(stmt.body):
            state = self.flow.before.get(inner.at)
            if state:
                caught = _merge(caught, state)
        if after is not None:
            caught = _merge(caught, after)
            after = self.block(stmt.orelse, after, needs)
        for handler in stmt.handlers:
            start = dict(caught)
            self._enter_handler(handler, start, needs)
            ended = self.block(handler.body, start, needs)
            if ended is not None:
                after = ended if after is None else _merge(after, ended)
        if stmt.final:
            ended = self.block(stmt.final, after if after is not None else caught, needs)
            return ended if after is not None else None
        return after

    def _enter_handler(self, handler: ir.Handler, env: _Env, needs: tuple[Need, ...]) -> None:
        if handler.name is not None:
            self._define(env, handler.name, Def("caught", handler.at, handler.type, needs=needs))
        if handler.at not in self._seen:
            self._seen.add(handler.at)
            self.flow.places.append(handler.at)
        self.flow.before[handler.at] = env
        self.flow.needs[handler.at] = needs

    def _match(
        self, subject: ir.Expr, cases: tuple[ir.Case, ...], env: _Env, needs: tuple[Need, ...]
    ) -> _Env | None:
        after: _Env | None = env
        for case in cases:
            start = dict(env)
            for name in case.names:
                self._define(start, name, Def("pattern", case.at, subject, ("[*]",), needs=needs))
            ended = self.block(case.body, start, needs)
            if ended is not None:
                after = ended if after is None else _merge(after, ended)
        return after


def root_of(expr: ir.Expr) -> tuple[str, tuple[str, ...]] | None:
    """`order.lines[0].key` as (`order`, (`.lines`, `[0]`, `.key`)); None when the root is no name."""
    path: list[str] = []
    while True:
        match expr:
            case ir.Name(_, name):
                return name, tuple(reversed(path))
            case ir.Attr(_, base, name):
                path.append(f".{name}")
                expr = base
            case ir.Item(_, base, index):
                path.append(f"[{index.value}]" if isinstance(index, ir.Const) else "[*]")
                expr = base
            case _:
                return None


def spelled(expr: ir.Expr) -> str:
    """A dotted name as written, empty when it is none."""
    parts: list[str] = []
    while isinstance(expr, ir.Attr):
        parts.append(expr.name)
        expr = expr.base
    if not isinstance(expr, ir.Name):
        return ""
    return ".".join((expr.id, *reversed(parts)))


def _merge(one: _Env, two: _Env) -> _Env:
    if one is two:
        return one
    merged = dict(one)
    for name, definitions in two.items():
        known = merged.get(name)
        if known is None or known is definitions:
            merged[name] = definitions
        else:
            merged[name] = known + tuple(d for d in definitions if d not in known)
    return merged


def _conditioned(one: _Env, two: _Env, before: _Env, needs: tuple[Need, ...], at: int) -> _Env:
    """What a branch leaves as it was, while the other branch changes it, stands under the branch's condition."""
    if not needs:
        return one
    changed = dict(one)
    for name, definitions in one.items():
        if name in before and two.get(name) is not before[name] and definitions is before[name]:
            changed[name] = (Def("under", at, base=definitions, needs=needs),)
    return changed


def facts(test: ir.Expr, holds: bool) -> Iterator[tuple[ir.Expr, bool]]:
    """What a test tells when it comes out as `holds`: (expression, True = present, False = missing)."""
    match test:
        case ir.Unary(_, "not", value):
            yield from facts(value, not holds)
        case ir.Bool(_, "and", left, right):
            if holds:
                yield from facts(left, True)
                yield from facts(right, True)
        case ir.Bool(_, "or", left, right):
            if not holds:
                yield from facts(left, False)
                yield from facts(right, False)
        case ir.Compare(_, op, left, ir.Const(_, value)) if value in (None, "") and op in _EQUAL:
            yield left, _EQUAL[op] != holds
        case ir.Compare(_, ("in" | "not in") as op, key, container):
            yield ir.Item(test.at, container, key), (op == "in") == holds
        case ir.Compare(_, ("==" | "is"), _, _):
            return
        case ir.Name() | ir.Attr() | ir.Item():
            yield test, holds
        case ir.Call(_, ir.Attr(_, _, "get"), _):
            yield test, holds
        case ir.Walrus(_, name, _):
            yield ir.Name(test.at, name), holds
        case _:
            return


_EQUAL = {"is": True, "==": True, "is not": False, "!=": False}


def _assume(test: ir.Expr, holds: bool, env: _Env, at: int) -> tuple[_Env, tuple[Need, ...]]:
    """The environment in a branch, and the conditions that its definitions stand under."""
    needs: list[Need] = []
    changed: _Env | None = None
    for expr, present in facts(test, holds):
        if not present:
            needs.append(Need(expr, at))
        split = root_of(_plain(expr))
        if split is None:
            continue
        root, path = split
        known = (changed or env).get(root)
        if known is None:
            continue
        changed = dict(changed or env)
        changed[root] = (Def("present" if present else "missing", at, path=path, base=known),)
    return (changed if changed is not None else env), tuple(needs)


def _plain(expr: ir.Expr) -> ir.Expr:
    """`d.get("k")` read as `d["k"]`."""
    match expr:
        case ir.Call(at, ir.Attr(_, base, "get"), (ir.Arg(key, None, 0), *_)):
            return ir.Item(at, base, key)
        case _:
            return expr
