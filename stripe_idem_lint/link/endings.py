"""Calls that never come back: `sys.exit(1)` stands in the program as the `raise` that it is.

Knows Python only; which outside callables never return is handed in.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from stripe_idem_lint.ir import nodes as ir
from stripe_idem_lint.ir.text import text as spelled

_NEVER = ("NoReturn", "Never")


def with_endings(module: ir.Module, never: frozenset[str]) -> ir.Module:
    """The module with each statement that only calls something that never returns as a `raise`.

    Args:
        never: Dotted names of outside callables (`sys.exit`). Functions of the file that are
            annotated so, or that can only raise, are found here.
    """
    names = {*_imported(module, never), *_own(module)}
    methods = _methods(module)
    if not names and not methods:
        return module
    functions = tuple(
        replace(f, body=_ended(f.body, names | methods.get(_class_around(module, f), set())))
        for f in module.functions
    )
    classes = tuple(replace(c, body=_ended(c.body, names)) for c in module.classes)
    return replace(module, body=_ended(module.body, names), functions=functions, classes=classes)


def _imported(module: ir.Module, never: frozenset[str]) -> Iterator[str]:
    """How the file spells the outside callables."""
    yield from (name.removeprefix("builtins.") for name in never if name.startswith("builtins."))
    for body in (module.body, *(f.body for f in module.functions)):
        for stmt in ir.statements(body):
            match stmt:
                case ir.Import(_, outer, bound, whole):
                    known = outer if whole else bound
                    for name in never:
                        if name.startswith(f"{known}."):
                            yield bound + name[len(known) :]
                case ir.ImportFrom(_, outer, 0, source, bound):
                    known = f"{outer}.{source}"
                    for name in never:
                        if name == known or name.startswith(f"{known}."):
                            yield bound + name[len(known) :]
                case _:
                    continue


def _own(module: ir.Module) -> Iterator[str]:
    """Functions at the top of the file that never return, if the file has no other of their name."""
    for function in module.functions:
        at_top = function.parent is None and function.cls is None and not function.is_lambda
        alone = sum(other.name == function.name for other in module.functions) == 1
        if at_top and alone and _never_returns(function):
            yield function.name


def _methods(module: ir.Module) -> dict[int | None, set[str]]:
    """For each class, by number, the calls on `self` of its methods that never return."""
    found: dict[int | None, set[str]] = {}
    for function in module.functions:
        if function.cls is not None and _never_returns(function):
            found.setdefault(function.cls, set()).add(f"self.{function.name}")
    return found


def _class_around(module: ir.Module, function: ir.Function) -> int | None:
    """The class whose method the function is, or stands in."""
    while function.cls is None and function.parent is not None:
        function = module.functions[function.parent]
    return function.cls


def _never_returns(function: ir.Function) -> bool:
    if function.generator:
        return False
    told = function.returns is not None and spelled(function.returns).endswith(_NEVER)
    return told or _only_raises(function.body)


def _only_raises(body: tuple[ir.Stmt, ...]) -> bool:
    """The last statement raises, and none before it returns. `raise NotImplementedError` promises an override."""
    match body[-1:]:
        case (ir.Raise(_, value),):
            abstract = value is not None and "NotImplemented" in spelled(value)
            return not abstract and not any(isinstance(s, ir.Return) for s in ir.statements(body))
        case _:
            return False


def _ended(body: tuple[ir.Stmt, ...], names: set[str]) -> tuple[ir.Stmt, ...]:
    return tuple(_end(stmt, names) for stmt in body)


def _end(stmt: ir.Stmt, names: set[str]) -> ir.Stmt:
    match stmt:
        case ir.Evaluate(at, value):
            call = value.value if isinstance(value, ir.Await) else value
            ends = isinstance(call, ir.Call) and spelled(call.func) in names
            return ir.Raise(at, value) if ends else stmt
        case ir.If() | ir.For() | ir.While():
            return replace(stmt, body=_ended(stmt.body, names), orelse=_ended(stmt.orelse, names))
        case ir.With():
            return replace(stmt, body=_ended(stmt.body, names))
        case ir.Try():
            return replace(
                stmt,
                body=_ended(stmt.body, names),
                handlers=tuple(replace(h, body=_ended(h.body, names)) for h in stmt.handlers),
                orelse=_ended(stmt.orelse, names),
                final=_ended(stmt.final, names),
            )
        case ir.Match():
            return replace(
                stmt, cases=tuple(replace(c, body=_ended(c.body, names)) for c in stmt.cases)
            )
        case _:
            return stmt
