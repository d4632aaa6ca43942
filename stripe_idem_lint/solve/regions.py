"""Regions of a body by their shape: loops that go round again after a failure, item loops, tries, locks.

Only the text's structure is read here; what a called name means comes from the models and is asked for by the caller.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from stripe_idem_lint.ir import nodes as ir
from stripe_idem_lint.link.flow import spelled


@dataclass(frozen=True, slots=True)
class Around:
    """A statement that encloses a place.

    Attributes:
        stmt: The statement.
        part: Which part of it: `body`, `orelse`, `final`, `handler` or `head`.
        number: Of the handler.
        end: One past the last node number inside the statement.
    """

    stmt: ir.Stmt
    part: str
    number: int
    end: int


def around(module: ir.Module, body: tuple[ir.Stmt, ...], at: int) -> list[Around]:
    """The statements that enclose the node `at`, outermost first."""
    found: list[Around] = []
    while True:
        inner = _holding(module, body, at)
        if inner is None:
            return found
        stmt, end = inner
        part, number, block = _part(module, stmt, at)
        found.append(Around(stmt, part, number, end))
        if block is None:
            return found
        body = block


def _holding(module: ir.Module, body: tuple[ir.Stmt, ...], at: int) -> tuple[ir.Stmt, int] | None:
    for stmt in body:
        if stmt.at > at:
            return None
        end = end_of(module, stmt)
        if at < end:
            return stmt, end
    return None


def _part(module: ir.Module, stmt: ir.Stmt, at: int) -> tuple[str, int, tuple[ir.Stmt, ...] | None]:
    for name, number, block in _parts(stmt):
        if block and block[0].at <= at < end_of(module, block[-1]):
            return name, number, block
    return "head", 0, None


def _parts(stmt: ir.Stmt) -> Iterator[tuple[str, int, tuple[ir.Stmt, ...]]]:
    match stmt:
        case (
            ir.If(_, _, body, orelse) | ir.While(_, _, body, orelse) | ir.For(_, _, _, body, orelse)
        ):
            yield "body", 0, body
            yield "orelse", 0, orelse
        case ir.Try(_, body, handlers, orelse, final):
            yield "body", 0, body
            for number, handler in enumerate(handlers):
                yield "handler", number, handler.body
            yield "orelse", 0, orelse
            yield "final", 0, final
        case ir.With(_, _, body):
            yield "body", 0, body
        case ir.Match(_, _, cases):
            for number, case in enumerate(cases):
                yield "body", number, case.body
        case _:
            return


def end_of(module: ir.Module, stmt: ir.Stmt) -> int:
    """One past the last node number inside a statement, nested functions included."""
    last = stmt.at
    for inner in ir.statements((stmt,)):
        last = max(last, inner.at)
        if isinstance(inner, ir.Define):
            last = max(last, module.functions[inner.function].end - 1)
        elif isinstance(inner, ir.DefineClass):
            for nested in module.classes[inner.cls].body:
                last = max(last, end_of(module, nested) - 1)
        for expr in ir.expressions(inner):
            for node in ir.walk(expr):
                last = max(last, node.at)
                if isinstance(node, ir.Lambda):
                    last = max(last, module.functions[node.function].end - 1)
    return last + 1


def leaves(body: tuple[ir.Stmt, ...]) -> bool:
    """Every way through the statements raises, returns or breaks out of the loop."""
    for stmt in body:
        match stmt:
            case ir.Raise() | ir.Return() | ir.Jump(_, "break"):
                return True
            case ir.Jump(_, "continue"):
                return False
            case ir.If(_, _, then, orelse) if orelse and leaves(then) and leaves(orelse):
                return True
            case ir.With(_, _, inner) if leaves(inner):
                return True
            case ir.Try(_, inner, handlers, _, final):
                if leaves(final) or (leaves(inner) and all(leaves(h.body) for h in handlers)):
                    return True
            case _:
                continue
    return False


def raises_always(body: tuple[ir.Stmt, ...]) -> bool:
    """Every way through the statements ends in a `raise`."""
    for stmt in body:
        match stmt:
            case ir.Raise():
                return True
            case ir.Return() | ir.Jump():
                return False
            case ir.If(_, _, then, orelse) if (
                orelse and raises_always(then) and raises_always(orelse)
            ):
                return True
            case _:
                continue
    return False


def exits(stmts: tuple[ir.Stmt, ...]) -> bool:
    """A `return` or a `break` of this loop stands somewhere in the statements (inner loops' breaks do not count)."""
    for stmt in stmts:
        match stmt:
            case ir.Return() | ir.Jump(_, "break"):
                return True
            case ir.For(_, _, _, body, _) | ir.While(_, _, body, _):
                if any(isinstance(s, ir.Return) for s in ir.statements(body)):
                    return True
            case _:
                if any(exits(block) for block in ir.blocks(stmt)):
                    return True
    return False


def after(module: ir.Module, body: tuple[ir.Stmt, ...], at: int) -> tuple[ir.Stmt, ...]:
    """The statements of a body from the one that holds `at` on."""
    for number, stmt in enumerate(body):
        if stmt.at <= at < end_of(module, stmt):
            return body[number:]
    return ()


def success_leaves(module: ir.Module, loop: ir.For | ir.While, path: list[Around], at: int) -> bool:
    """When the place `at` inside the loop comes back without an exception, the loop is left.

    `path`: the statements around the place inside the loop, outermost first.
    """
    rest = after(module, loop.body, at)
    if rest and _exits_on_success(module, rest, at):
        return True
    if isinstance(loop, ir.While):
        tested = {n.id for n in ir.walk(loop.test) if isinstance(n, ir.Name)}
        for stmt in ir.statements(loop.body):
            if not isinstance(stmt, ir.Assign) or stmt.value is None:
                continue
            if stmt.at <= at < end_of(module, stmt):
                return any(isinstance(t, ir.Name) and t.id in tested for t in stmt.targets)
            if stmt.at <= at:
                continue
            flags = any(isinstance(t, ir.Name) and t.id in tested for t in stmt.targets)
            if flags and isinstance(stmt.value, ir.Const):
                return not _in_handler(module, path, stmt.at)
    return False


def _in_handler(module: ir.Module, path: list[Around], at: int) -> bool:
    for step in path:
        if isinstance(step.stmt, ir.Try):
            for handler in step.stmt.handlers:
                if handler.body and handler.body[0].at <= at < end_of(module, handler.body[-1]):
                    return True
    return False


def _exits_on_success(module: ir.Module, stmts: tuple[ir.Stmt, ...], at: int) -> bool:
    """On the way on from `at` a return or break comes, handlers of the tries around it left aside."""
    first, *later = stmts
    match first:
        case ir.Return():
            return True
        case ir.With(_, _, body) if not after(module, body, at) and exits(body):
            return True
        case ir.Try(_, body, handlers, orelse, final):
            inside = after(module, body, at)
            if inside:
                if _exits_on_success(module, inside, at) or exits(orelse) or exits(final):
                    return True
            else:
                for handler in handlers:
                    inner = after(module, handler.body, at)
                    if inner and _exits_on_success(module, inner, at):
                        return True
        case _:
            for block in ir.blocks(first):
                inside = after(module, block, at)
                if inside and _exits_on_success(module, inside, at):
                    return True
    return exits(tuple(later))


def goes_round(attempt: ir.Try) -> tuple[ir.Handler, ...]:
    """The handlers after which the loop goes on."""
    return tuple(h for h in attempt.handlers if not leaves(h.body))


def puts_back(loop: ir.For | ir.While, handler: ir.Handler, take: Collection[str]) -> bool:
    """The handler puts the failed item back into what the loop takes its items from, by methods called `take`."""
    grown = assigned_names(handler.body)
    taken: set[str] = set()
    if isinstance(loop, ir.While):
        taken |= names_in(loop.test)
    for stmt in ir.statements(loop.body):
        for expr in ir.expressions(stmt):
            for node in ir.walk(expr):
                if (
                    isinstance(node, ir.Call)
                    and isinstance(node.func, ir.Attr)
                    and node.func.name in take
                ):
                    taken |= names_in(node.func.base)
    return bool(grown & taken)


def narrowed(handler: ir.Handler) -> ir.Expr | None:
    """The exceptions that get past the handler's own test: `if not isinstance(e, X): raise`, `if isinstance(e, X): … else: raise`,
    `if isinstance(e, X): continue` with a `raise` after it."""
    for number, stmt in enumerate(handler.body):
        if not isinstance(stmt, ir.If):
            continue
        wanted, negated = _asked(stmt.test, handler.name)
        if wanted is None:
            continue
        rest = stmt.orelse or handler.body[number + 1 :]
        if raises_always(stmt.body if negated else rest):
            return wanted
    return None


def _asked(test: ir.Expr, name: str | None) -> tuple[ir.Expr | None, bool]:
    """What a test asks the caught exception to be, and whether it asks for the contrary."""
    match test:
        case ir.Unary(_, "not", value):
            wanted, negated = _asked(value, name)
            return wanted, not negated
        case ir.Bool(_, "or", left, right):
            for part in (left, right):
                wanted, negated = _asked(part, name)
                if wanted is not None and negated:
                    return wanted, True
            return None, False
        case ir.Call(_, ir.Name(_, "isinstance"), (ir.Arg(ir.Name(_, asked)), ir.Arg(kind))):
            return (kind, False) if asked == name else (None, False)
        case _:
            return None, False


def swallowing(attempt: ir.Try) -> tuple[ir.Handler, ...]:
    """The handlers that do not always raise."""
    return tuple(h for h in attempt.handlers if not raises_always(h.body))


def is_literal(expr: ir.Expr) -> bool:
    """A display of constants, a range, or command line arguments."""
    match expr:
        case ir.Sequence(_, _, items):
            return all(
                isinstance(i.value, ir.Const | ir.Sequence | ir.Mapping | ir.Unary) for i in items
            )
        case ir.Mapping(_, entries):
            return all(isinstance(v, ir.Const | ir.Sequence | ir.Mapping) for _, v in entries)
        case ir.Call(_, func, _):
            return spelled(func) in ("range", "count", "itertools.count")
        case ir.Const():
            return True
        case ir.Part(_, base):
            return is_literal(base) or spelled(base) == "sys.argv"
        case ir.Attr():
            return spelled(expr) == "sys.argv"
        case _:
            return False


def is_counting(expr: ir.Expr) -> bool:
    """The loop only counts or paces: a range, or literal numbers."""
    match expr:
        case ir.Call(_, func, args):
            name = spelled(func).rpartition(".")[2]
            if name == "enumerate" and args:
                return is_counting(args[0].value)
            return name in ("range", "count", "repeat")
        case ir.Sequence(_, _, items):
            return all(
                isinstance(i.value, ir.Const) and isinstance(i.value.value, int | float)
                for i in items
            )
        case _:
            return False


def names_in(expr: ir.Expr) -> frozenset[str]:
    return frozenset(node.id for node in ir.walk(expr) if isinstance(node, ir.Name))


def assigned_names(body: tuple[ir.Stmt, ...]) -> frozenset[str]:
    """Names that statements assign or grow (`failed.append(x)`)."""
    found: set[str] = set()
    for stmt in ir.statements(body):
        if isinstance(stmt, ir.Assign | ir.Augment):
            targets = stmt.targets if isinstance(stmt, ir.Assign) else (stmt.target,)
            for target in targets:
                found |= {n.id for n in ir.walk(target) if isinstance(n, ir.Name)}
        if isinstance(stmt, ir.Evaluate) and isinstance(stmt.value, ir.Call):
            func = stmt.value.func
            if isinstance(func, ir.Attr) and func.name in (
                "append",
                "add",
                "extend",
                "put",
                "appendleft",
            ):
                found |= names_in(func.base)
    return frozenset(found)


def marks_item(module: ir.Module, loop: ir.For, at: int, store: Collection[str]) -> bool:
    """After the place `at` the loop writes down, by an assignment or a method called `store`, that its item is done."""
    items = names_in(loop.target)
    if not items:
        return False
    for stmt in ir.statements(after(module, loop.body, at)):
        if isinstance(stmt, ir.Assign) and stmt.at > at:
            for target in stmt.targets:
                if not isinstance(target, ir.Name) and names_in(target) & items:
                    return True
        if isinstance(stmt, ir.Evaluate) and end_of(module, stmt) > at:
            value = stmt.value.value if isinstance(stmt.value, ir.Await) else stmt.value
            if isinstance(value, ir.Call) and _writes(value, items, store) and value.at > at:
                return True
    return False


def _writes(call: ir.Call, items: frozenset[str], store: Collection[str]) -> bool:
    if not isinstance(call.func, ir.Attr):
        return False
    if names_in(call.func) & items:
        return True
    used = any(names_in(arg.value) & items for arg in call.args) or any(
        isinstance(node, ir.Call) and any(names_in(a.value) & items for a in node.args)
        for node in ir.walk(call.func)
    )
    return call.func.name in store and used
