"""Source-like text of expressions, for messages and dumps. Short by design, not for parsing again."""

from __future__ import annotations

from stripe_idem_lint.ir import nodes as ir


def text(expr: ir.Expr | None) -> str:
    """The expression in one line; long parts become `…`."""
    match expr:
        case None:
            return ""
        case ir.Const(_, value):
            return repr(value)
        case ir.Name(_, name):
            return name
        case ir.Attr(_, base, name):
            return f"{text(base)}.{name}"
        case ir.Item(_, base, index):
            return f"{text(base)}[{text(index)}]"
        case ir.Part(_, base):
            return f"{text(base)}[:]"
        case ir.Call(_, func, args):
            return f"{text(func)}({', '.join(map(_arg, args))})"
        case ir.Join(_, "f", parts):
            return "f'" + "".join(map(_piece, parts)) + "'"
        case ir.Join(_, op, parts):
            return f" {op} ".join(map(text, parts))
        case ir.Format(_, value, _, _):
            return "{" + text(value) + "}"
        case ir.Bool(_, op, left, right) | ir.Compare(_, op, left, right):
            return f"{text(left)} {op} {text(right)}"
        case ir.Choice(_, test, then, other):
            return f"{text(then)} if {text(test)} else {text(other)}"
        case ir.Unary(_, op, value):
            return f"not {text(value)}" if op == "not" else f"{op}{text(value)}"
        case ir.Mapping(_, entries):
            return (
                "{"
                + ", ".join(f"{text(k)}: {text(v)}" if k else f"**{text(v)}" for k, v in entries)
                + "}"
            )
        case ir.Sequence(_, kind, items):
            brackets = {"list": "[{}]", "tuple": "({})", "set": "{{{}}}"}[kind]
            return brackets.format(", ".join(map(_arg, items)))
        case ir.Comprehension(_, _, _, element, clauses):
            loops = " ".join(f"for {text(c.target)} in {text(c.iter)}" for c in clauses)
            return f"({text(element)} {loops})"
        case ir.Lambda():
            return "lambda: …"
        case ir.Await(_, value):
            return f"await {text(value)}"
        case ir.Yield(_, value, _):
            return f"yield {text(value)}"
        case ir.Walrus(_, name, value):
            return f"{name} := {text(value)}"
        case ir.Opaque(_, what):
            return f"<{what}>"


def _arg(arg: ir.Arg) -> str:
    prefix = f"{arg.name}=" if arg.name else "*" * arg.star
    return prefix + text(arg.value)


def _piece(part: ir.Expr) -> str:
    if isinstance(part, ir.Const) and isinstance(part.value, str):
        return part.value
    return text(part) if isinstance(part, ir.Format) else "{" + text(part) + "}"
