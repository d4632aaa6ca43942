"""The text form of a lowered file: what `debug lower` prints and the stage tests compare.

One statement a line, indented by nesting, expressions in a source-like spelling; functions and classes in the order in which
they stand in the file, each under its qualified name.
"""

from __future__ import annotations

from collections.abc import Iterator

from stripe_idem_lint.ir import nodes as ir
from stripe_idem_lint.ir.text import text


def dump(module: ir.Module) -> str:
    """The whole file."""
    lines = [f"module {module.path}", *_block(module, module.body, 1)]
    for cls in module.classes:
        bases = ", ".join(text(arg.value) for arg in cls.bases)
        lines.append(f"class {cls.qualname}({bases})")
        lines.extend(_block(module, cls.body, 1))
    for function in module.functions:
        lines.append(
            f"def {function.qualname}({', '.join(map(_param, function.params))}){_flags(function)}"
        )
        lines.extend(f"  @{text(decorator)}" for decorator in function.decorators)
        lines.extend(_block(module, function.body, 1))
    return "\n".join(lines) + "\n"


def _flags(function: ir.Function) -> str:
    return " generator" if function.generator else ""


def _param(param: ir.Param) -> str:
    prefix = {"rest": "*", "named": "**"}.get(param.kind, "")
    default = f"={text(param.default)}" if param.default is not None else ""
    return f"{prefix}{param.name}{default}"


def _block(module: ir.Module, body: tuple[ir.Stmt, ...], depth: int) -> Iterator[str]:
    pad = "  " * depth
    for stmt in body:
        yield f"{pad}{_line(module, stmt)}"
        for label, block in _blocks(stmt):
            if label:
                yield f"{pad}{label}"
            yield from _block(module, block, depth + 1)


def _blocks(stmt: ir.Stmt) -> Iterator[tuple[str, tuple[ir.Stmt, ...]]]:
    match stmt:
        case (
            ir.If(_, _, body, orelse) | ir.For(_, _, _, body, orelse) | ir.While(_, _, body, orelse)
        ):
            yield "", body
            if orelse:
                yield "else", orelse
        case ir.Try(_, body, handlers, orelse, final):
            yield "", body
            for handler in handlers:
                named = f" as {handler.name}" if handler.name else ""
                yield f"except {text(handler.type)}{named}".rstrip(), handler.body
            if orelse:
                yield "else", orelse
            if final:
                yield "finally", final
        case ir.With(_, _, body):
            yield "", body
        case ir.Match(_, _, cases):
            for case in cases:
                yield f"case {', '.join(case.names)}".rstrip(), case.body
        case _:
            return


def _line(module: ir.Module, stmt: ir.Stmt) -> str:
    match stmt:
        case ir.Assign(_, targets, value, _):
            left = " = ".join(map(text, targets))
            return f"{left} = {text(value)}" if value is not None else f"{left}: declared"
        case ir.Augment(_, op, target, value):
            return f"{text(target)} {op}= {text(value)}"
        case ir.Evaluate(_, value):
            return text(value)
        case ir.Return(_, value):
            return f"return {text(value)}".rstrip()
        case ir.Raise(_, value):
            return f"raise {text(value)}".rstrip()
        case ir.If(_, test, _, _):
            return f"if {text(test)}"
        case ir.For(_, target, iterable, _, _):
            return f"for {text(target)} in {text(iterable)}"
        case ir.While(_, test, _, _):
            return f"while {text(test)}"
        case ir.Try():
            return "try"
        case ir.With(_, items, _):
            return "with " + ", ".join(
                text(v) + (f" as {text(t)}" if t is not None else "") for v, t in items
            )
        case ir.Match(_, subject, _):
            return f"match {text(subject)}"
        case ir.Define(_, function):
            return f"def {module.functions[function].qualname}"
        case ir.DefineClass(_, cls):
            return f"class {module.classes[cls].qualname}"
        case ir.Import(_, name, bound, _):
            return f"import {name} as {bound}"
        case ir.ImportFrom(_, name, level, source, bound):
            return f"from {'.' * level}{name} import {source} as {bound}"
        case ir.Jump(_, kind):
            return kind
        case ir.Outer(_, names):
            return f"outer {', '.join(names)}"
        case ir.Assert(_, test):
            return f"assert {text(test)}"
        case ir.Delete(_, targets):
            return f"del {', '.join(map(text, targets))}"
