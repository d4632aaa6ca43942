"""From a libcst tree to `ir.nodes.Module`, by walking its semantic fields only.

No visitor and no metadata: libcst's own visitor spends nine tenths of its time on white space. Each node gets the next number
when it is visited, so that a second, slower pass can find the source of just the numbers that a person needs to see.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

import libcst as cst

from stripe_idem_lint.ir import nodes as ir


def lower_module(tree: cst.Module, path: str, seen: list[cst.CSTNode] | None = None) -> ir.Module:
    """Lowers one file.

    Args:
        tree: The parsed file.
        path: Goes into `Module.path`.
        seen: If given, node number *n* is put at `seen[n]`: the way back from numbers to source.

    Raises:
        RecursionError: The file nests deeper than Python's stack allows.
    """
    lowering = _Lowering(seen)
    body = lowering.block(tree.body)
    return ir.Module(path, body, tuple(lowering.functions), tuple(lowering.classes))


class _Lowering:
    """The state of one walk: the counter, and the functions and classes met so far."""

    def __init__(self, seen: list[cst.CSTNode] | None) -> None:
        self._next = 0
        self._seen = seen
        self.functions: list[ir.Function] = []
        self.classes: list[ir.Class] = []
        self._scope: list[tuple[str, int]] = []
        self._yields: list[bool] = [False]
        self._names: dict[int, str] = {}

    def number(self, node: cst.CSTNode) -> int:
        if self._seen is not None:
            self._seen.append(node)
        self._next += 1
        return self._next - 1

    # --- statements

    def block(self, body: Sequence[cst.CSTNode]) -> tuple[ir.Stmt, ...]:
        found: list[ir.Stmt] = []
        for node in body:
            if isinstance(node, cst.SimpleStatementLine | cst.SimpleStatementSuite):
                for small in node.body:
                    self._statement(small, found)
            else:
                self._statement(node, found)
        return tuple(found)

    def suite(self, body: cst.BaseSuite) -> tuple[ir.Stmt, ...]:
        if isinstance(body, cst.SimpleStatementSuite):
            return self.block((body,))
        return self.block(body.body)

    def _statement(self, node: cst.CSTNode, found: list[ir.Stmt]) -> None:
        lower = _STATEMENTS.get(type(node))
        if lower is not None:
            lower(self, node, found)

    def _assign(self, node: cst.Assign, found: list[ir.Stmt]) -> None:
        at = self.number(node)
        value = self.expr(node.value)
        targets = tuple(self.expr(target.target) for target in node.targets)
        found.append(ir.Assign(at, targets, value))

    def _ann_assign(self, node: cst.AnnAssign, found: list[ir.Stmt]) -> None:
        at = self.number(node)
        value = self.expr(node.value) if node.value is not None else None
        target = self.expr(node.target)
        found.append(ir.Assign(at, (target,), value, self.expr(node.annotation.annotation)))

    def _aug_assign(self, node: cst.AugAssign, found: list[ir.Stmt]) -> None:
        at = self.number(node)
        value = self.expr(node.value)
        target = self.expr(node.target)
        op = _AUGMENTS.get(type(node.operator), "?")
        found.append(ir.Augment(at, op, target, value))

    def _evaluate(self, node: cst.Expr, found: list[ir.Stmt]) -> None:
        at = self.number(node)
        found.append(ir.Evaluate(at, self.expr(node.value)))

    def _return(self, node: cst.Return, found: list[ir.Stmt]) -> None:
        at = self.number(node)
        found.append(ir.Return(at, self.optional(node.value)))

    def _raise(self, node: cst.Raise, found: list[ir.Stmt]) -> None:
        at = self.number(node)
        found.append(ir.Raise(at, self.optional(node.exc)))

    def _if(self, node: cst.If, found: list[ir.Stmt]) -> None:
        at = self.number(node)
        test = self.expr(node.test)
        body = self.suite(node.body)
        orelse: tuple[ir.Stmt, ...] = ()
        if isinstance(node.orelse, cst.If):
            inner: list[ir.Stmt] = []
            self._if(node.orelse, inner)
            orelse = tuple(inner)
        elif node.orelse is not None:
            orelse = self.suite(node.orelse.body)
        found.append(ir.If(at, test, body, orelse))

    def _for(self, node: cst.For, found: list[ir.Stmt]) -> None:
        at = self.number(node)
        iterable = self.expr(node.iter)
        target = self.expr(node.target)
        body = self.suite(node.body)
        found.append(ir.For(at, target, iterable, body, self._else(node.orelse)))

    def _while(self, node: cst.While, found: list[ir.Stmt]) -> None:
        at = self.number(node)
        test = self.expr(node.test)
        body = self.suite(node.body)
        found.append(ir.While(at, test, body, self._else(node.orelse)))

    def _else(self, node: cst.Else | None) -> tuple[ir.Stmt, ...]:
        return self.suite(node.body) if node is not None else ()

    def _try(self, node: cst.Try | cst.TryStar, found: list[ir.Stmt]) -> None:
        at = self.number(node)
        body = self.suite(node.body)
        handlers = []
        for handler in node.handlers:
            place = self.number(handler)
            kind = self.optional(handler.type)
            name = None
            if handler.name is not None and isinstance(handler.name.name, cst.Name):
                name = handler.name.name.value
            handlers.append(ir.Handler(place, kind, name, self.suite(handler.body)))
        orelse = self._else(node.orelse)
        final = self.suite(node.finalbody.body) if node.finalbody is not None else ()
        found.append(ir.Try(at, body, tuple(handlers), orelse, final))

    def _with(self, node: cst.With, found: list[ir.Stmt]) -> None:
        at = self.number(node)
        items = []
        for item in node.items:
            value = self.expr(item.item)
            items.append((value, self.expr(item.asname.name) if item.asname is not None else None))
        found.append(ir.With(at, tuple(items), self.suite(node.body)))

    def _match(self, node: cst.Match, found: list[ir.Stmt]) -> None:
        at = self.number(node)
        subject = self.expr(node.subject)
        cases = []
        for case in node.cases:
            place = self.number(case)
            names = tuple(_bound_names(case.pattern))
            guard = self.optional(case.guard)
            cases.append(ir.Case(place, names, guard, self.suite(case.body)))
        found.append(ir.Match(at, subject, tuple(cases)))

    def _import(self, node: cst.Import, found: list[ir.Stmt]) -> None:
        for alias in node.names:
            at = self.number(alias)
            module = _dotted(alias.name)
            if alias.asname is not None and isinstance(alias.asname.name, cst.Name):
                found.append(ir.Import(at, module, alias.asname.name.value, True))
            else:
                found.append(ir.Import(at, module, module.partition(".")[0], False))

    def _import_from(self, node: cst.ImportFrom, found: list[ir.Stmt]) -> None:
        module = _dotted(node.module) if node.module is not None else ""
        level = len(node.relative)
        if isinstance(node.names, cst.ImportStar):
            found.append(ir.ImportFrom(self.number(node), module, level, "*", "*"))
            return
        for alias in node.names:
            at = self.number(alias)
            source = _dotted(alias.name)
            name = source
            if alias.asname is not None and isinstance(alias.asname.name, cst.Name):
                name = alias.asname.name.value
            found.append(ir.ImportFrom(at, module, level, source, name))

    def _break(self, node: cst.Break, found: list[ir.Stmt]) -> None:
        found.append(ir.Jump(self.number(node), "break"))

    def _continue(self, node: cst.Continue, found: list[ir.Stmt]) -> None:
        found.append(ir.Jump(self.number(node), "continue"))

    def _outer(self, node: cst.Global | cst.Nonlocal, found: list[ir.Stmt]) -> None:
        found.append(ir.Outer(self.number(node), tuple(item.name.value for item in node.names)))

    def _assert(self, node: cst.Assert, found: list[ir.Stmt]) -> None:
        at = self.number(node)
        found.append(ir.Assert(at, self.expr(node.test)))

    def _delete(self, node: cst.Del, found: list[ir.Stmt]) -> None:
        at = self.number(node)
        target = node.target
        parts = target.elements if isinstance(target, cst.Tuple) else None
        targets = tuple(self.expr(p.value) for p in parts) if parts else (self.expr(target),)
        found.append(ir.Delete(at, targets))

    def _def(self, node: cst.FunctionDef, found: list[ir.Stmt]) -> None:
        at = self.number(node)
        decorators = tuple(self.expr(decorator.decorator) for decorator in node.decorators)
        returns = self.expr(node.returns.annotation) if node.returns is not None else None
        params = self._params(node.params)
        index = self._reserve()
        parent, cls = self._owner()
        qualname = self._qualname(node.name.value)
        self._names[index] = qualname
        self._scope.append(("function", index))
        self._yields.append(False)
        body = self.suite(node.body)
        generator = self._yields.pop()
        self._scope.pop()
        self.functions[index] = ir.Function(
            index, at, self._next, node.name.value, qualname, params, decorators, body, parent, cls,
            generator, False, returns,
        )  # fmt: skip
        found.append(ir.Define(at, index))

    def _class(self, node: cst.ClassDef, found: list[ir.Stmt]) -> None:
        at = self.number(node)
        decorators = tuple(self.expr(decorator.decorator) for decorator in node.decorators)
        bases = tuple(self._arg(arg) for arg in (*node.bases, *node.keywords))
        index = len(self.classes)
        qualname = self._qualname(node.name.value)
        parent, _ = self._owner()
        placeholder = ir.Class(
            index, at, node.name.value, qualname, bases, decorators, (), (), parent
        )
        self.classes.append(placeholder)
        self._scope.append(("class", index))
        body = self.suite(node.body)
        self._scope.pop()
        methods = {
            self.functions[stmt.function].name: stmt.function
            for stmt in ir.statements(body)
            if isinstance(stmt, ir.Define)
        }
        self.classes[index] = ir.Class(
            index,
            at,
            node.name.value,
            qualname,
            bases,
            decorators,
            body,
            tuple(methods.items()),
            parent,
        )
        found.append(ir.DefineClass(at, index))

    def _reserve(self) -> int:
        self.functions.append(_PENDING)
        return len(self.functions) - 1

    def _owner(self) -> tuple[int | None, int | None]:
        """The enclosing function, and the class whose body we stand in."""
        cls = self._scope[-1][1] if self._scope and self._scope[-1][0] == "class" else None
        parent = next((i for kind, i in reversed(self._scope) if kind == "function"), None)
        return parent, cls

    def _qualname(self, name: str) -> str:
        if not self._scope:
            return name
        kind, index = self._scope[-1]
        if kind == "class":
            return f"{self.classes[index].qualname}.{name}"
        return f"{self._names[index]}.<locals>.{name}"

    def _params(self, params: cst.Parameters) -> tuple[ir.Param, ...]:
        found: list[ir.Param] = []
        for kind, group in (
            ("positional", params.posonly_params),
            ("plain", params.params),
        ):
            found.extend(self._param(param, kind) for param in group)
        if isinstance(params.star_arg, cst.Param):
            found.append(self._param(params.star_arg, "rest"))
        found.extend(self._param(param, "keyword") for param in params.kwonly_params)
        if params.star_kwarg is not None:
            found.append(self._param(params.star_kwarg, "named"))
        return tuple(found)

    def _param(self, param: cst.Param, kind: str) -> ir.Param:
        default = self.optional(param.default)
        annotation = (
            self.expr(param.annotation.annotation) if param.annotation is not None else None
        )
        return ir.Param(param.name.value, kind, default, annotation)

    # --- expressions

    def optional(self, node: cst.BaseExpression | None) -> ir.Expr | None:
        return self.expr(node) if node is not None else None

    def expr(self, node: cst.CSTNode) -> ir.Expr:
        lower = _EXPRESSIONS.get(type(node))
        if lower is None:
            return ir.Opaque(self.number(node), type(node).__name__)
        return lower(self, node)

    def _name(self, node: cst.Name) -> ir.Expr:
        at = self.number(node)
        if node.value in _WORDS:
            return ir.Const(at, _WORDS[node.value])
        return ir.Name(at, node.value)

    def _literal(self, node: cst.Integer | cst.Float | cst.Imaginary | cst.SimpleString) -> ir.Expr:
        at = self.number(node)
        try:
            value = ast.literal_eval(node.value)
        except (ValueError, SyntaxError, MemoryError):
            value = node.value
        return ir.Const(at, value if not isinstance(value, complex) else node.value)

    def _ellipsis(self, node: cst.Ellipsis) -> ir.Expr:
        return ir.Const(self.number(node), "...")

    def _concatenated(self, node: cst.ConcatenatedString) -> ir.Expr:
        at = self.number(node)
        left, right = self.expr(node.left), self.expr(node.right)
        if isinstance(left, ir.Const) and isinstance(right, ir.Const):
            if isinstance(left.value, str) and isinstance(right.value, str):
                return ir.Const(at, left.value + right.value)
            if isinstance(left.value, bytes) and isinstance(right.value, bytes):
                return ir.Const(at, left.value + right.value)
        return ir.Join(at, "f", (*_pieces(left), *_pieces(right)))

    def _formatted(self, node: cst.FormattedString) -> ir.Expr:
        at = self.number(node)
        parts: list[ir.Expr] = []
        for part in node.parts:
            if isinstance(part, cst.FormattedStringText):
                parts.append(
                    ir.Const(self.number(part), part.value.replace("{{", "{").replace("}}", "}"))
                )
            else:
                parts.append(self._replacement(part))
        return ir.Join(at, "f", tuple(parts))

    def _replacement(self, part: cst.BaseFormattedStringContent) -> ir.Expr:
        assert isinstance(part, cst.FormattedStringExpression)
        at = self.number(part)
        value = self.expr(part.expression)
        spec: list[str] = []
        extra: list[ir.Expr] = []
        for piece in part.format_spec or ():
            if isinstance(piece, cst.FormattedStringText):
                spec.append(piece.value)
            else:
                extra.append(self._replacement(piece))
        found: ir.Expr = ir.Format(at, value, "".join(spec), part.conversion or "")
        if extra:
            found = ir.Join(at, "f", (found, *extra))
        return found

    def _attribute(self, node: cst.Attribute) -> ir.Expr:
        at = self.number(node)
        return ir.Attr(at, self.expr(node.value), node.attr.value)

    def _subscript(self, node: cst.Subscript) -> ir.Expr:
        at = self.number(node)
        base = self.expr(node.value)
        if len(node.slice) == 1:
            piece = node.slice[0].slice
            if isinstance(piece, cst.Index):
                return ir.Item(at, base, self.expr(piece.value))
            return ir.Part(at, base)
        items = tuple(
            ir.Arg(self.expr(element.slice.value))
            for element in node.slice
            if isinstance(element.slice, cst.Index)
        )
        return ir.Item(at, base, ir.Sequence(at, "tuple", items))

    def _call(self, node: cst.Call) -> ir.Expr:
        at = self.number(node)
        func = self.expr(node.func)
        return ir.Call(at, func, tuple(self._arg(arg) for arg in node.args))

    def _arg(self, node: cst.Arg) -> ir.Arg:
        name = node.keyword.value if node.keyword is not None else None
        return ir.Arg(self.expr(node.value), name, len(node.star))

    def _binary(self, node: cst.BinaryOperation) -> ir.Expr:
        at = self.number(node)
        left = self.expr(node.left)
        right = self.expr(node.right)
        return ir.Join(at, _BINARY.get(type(node.operator), "?"), (left, right))

    def _boolean(self, node: cst.BooleanOperation) -> ir.Expr:
        at = self.number(node)
        left = self.expr(node.left)
        right = self.expr(node.right)
        return ir.Bool(at, "and" if isinstance(node.operator, cst.And) else "or", left, right)

    def _compare(self, node: cst.Comparison) -> ir.Expr:
        at = self.number(node)
        left = self.expr(node.left)
        first, *rest = node.comparisons
        right = self.expr(first.comparator)
        for more in rest:
            self.expr(more.comparator)
        return ir.Compare(at, _COMPARE.get(type(first.operator), "?"), left, right)

    def _unary(self, node: cst.UnaryOperation) -> ir.Expr:
        at = self.number(node)
        op = "not" if isinstance(node.operator, cst.Not) else "-"
        return ir.Unary(at, op, self.expr(node.expression))

    def _choice(self, node: cst.IfExp) -> ir.Expr:
        at = self.number(node)
        test = self.expr(node.test)
        then = self.expr(node.body)
        return ir.Choice(at, test, then, self.expr(node.orelse))

    def _mapping(self, node: cst.Dict) -> ir.Expr:
        at = self.number(node)
        entries: list[tuple[ir.Expr | None, ir.Expr]] = []
        for element in node.elements:
            if isinstance(element, cst.DictElement):
                key = self.expr(element.key)
                entries.append((key, self.expr(element.value)))
            else:
                entries.append((None, self.expr(element.value)))
        return ir.Mapping(at, tuple(entries))

    def _sequence(self, node: cst.List | cst.Tuple | cst.Set) -> ir.Expr:
        at = self.number(node)
        kind = type(node).__name__.lower()
        items = tuple(
            ir.Arg(self.expr(e.value), None, 1 if isinstance(e, cst.StarredElement) else 0)
            for e in node.elements
        )
        return ir.Sequence(at, kind, items)

    def _starred(self, node: cst.StarredElement) -> ir.Expr:
        return self.expr(node.value)

    def _comprehension(self, node: cst.BaseComp) -> ir.Expr:
        at = self.number(node)
        clauses: list[ir.Clause] = []
        loop: cst.CompFor | None = node.for_in
        while loop is not None:
            iterable = self.expr(loop.iter)
            target = self.expr(loop.target)
            clauses.append(ir.Clause(target, iterable, tuple(self.expr(i.test) for i in loop.ifs)))
            loop = loop.inner_for_in
        if isinstance(node, cst.DictComp):
            key = self.expr(node.key)
            return ir.Comprehension(at, "dict", key, self.expr(node.value), tuple(clauses))
        kind = {cst.ListComp: "list", cst.SetComp: "set"}.get(type(node), "generator")
        assert isinstance(node, cst.ListComp | cst.SetComp | cst.GeneratorExp)
        return ir.Comprehension(at, kind, None, self.expr(node.elt), tuple(clauses))

    def _lambda(self, node: cst.Lambda) -> ir.Expr:
        at = self.number(node)
        params = self._params(node.params)
        index = self._reserve()
        parent, cls = self._owner()
        qualname = self._qualname("<lambda>")
        self._scope.append(("function", index))
        self._yields.append(False)
        self._names[index] = qualname
        value = self.expr(node.body)
        self._yields.pop()
        self._scope.pop()
        body: tuple[ir.Stmt, ...] = (ir.Return(value.at, value),)
        self.functions[index] = ir.Function(
            index,
            at,
            self._next,
            "<lambda>",
            qualname,
            params,
            (),
            body,
            parent,
            cls,
            False,
            True,
            None,
        )
        return ir.Lambda(at, index)

    def _await(self, node: cst.Await) -> ir.Expr:
        at = self.number(node)
        return ir.Await(at, self.expr(node.expression))

    def _yield(self, node: cst.Yield) -> ir.Expr:
        at = self.number(node)
        self._yields[-1] = True
        if node.value is None:
            return ir.Yield(at, None, False)
        if isinstance(node.value, cst.From):
            return ir.Yield(at, self.expr(node.value.item), True)
        return ir.Yield(at, self.expr(node.value), False)

    def _walrus(self, node: cst.NamedExpr) -> ir.Expr:
        at = self.number(node)
        value = self.expr(node.value)
        name = node.target.value if isinstance(node.target, cst.Name) else "?"
        return ir.Walrus(at, name, value)


def _pieces(node: ir.Expr) -> tuple[ir.Expr, ...]:
    return node.parts if isinstance(node, ir.Join) and node.op == "f" else (node,)


def _dotted(node: cst.CSTNode) -> str:
    parts: list[str] = []
    while isinstance(node, cst.Attribute):
        parts.append(node.attr.value)
        node = node.value
    if isinstance(node, cst.Name):
        parts.append(node.value)
    return ".".join(reversed(parts))


def _bound_names(pattern: cst.CSTNode) -> list[str]:
    """The names that a `case` pattern binds."""
    found: list[str] = []
    stack: list[cst.CSTNode] = [pattern]
    while stack:
        node = stack.pop()
        name = getattr(node, "name", None)
        if isinstance(node, cst.MatchAs | cst.MatchStar) and isinstance(name, cst.Name):
            found.append(name.value)
        if isinstance(node, cst.MatchMapping) and isinstance(node.rest, cst.Name):
            found.append(node.rest.value)
        stack.extend(child for child in node.children if not isinstance(child, cst.Name))
    return found


_PENDING = ir.Function(-1, 0, 0, "", "", (), (), (), None, None, False, False, None)
_WORDS: dict[str, object] = {"None": None, "True": True, "False": False}
_BINARY = {
    cst.Add: "+", cst.Subtract: "-", cst.Multiply: "*", cst.Divide: "/", cst.FloorDivide: "//", cst.Modulo: "%",
    cst.Power: "**", cst.BitAnd: "&", cst.BitOr: "|", cst.BitXor: "^", cst.LeftShift: "<<", cst.RightShift: ">>",
    cst.MatrixMultiply: "@",
}  # fmt: skip
_AUGMENTS = {
    cst.AddAssign: "+", cst.SubtractAssign: "-", cst.MultiplyAssign: "*", cst.DivideAssign: "/",
    cst.FloorDivideAssign: "//", cst.ModuloAssign: "%", cst.PowerAssign: "**", cst.BitAndAssign: "&",
    cst.BitOrAssign: "|", cst.BitXorAssign: "^",
}  # fmt: skip
_COMPARE = {
    cst.Equal: "==", cst.NotEqual: "!=", cst.Is: "is", cst.IsNot: "is not", cst.In: "in", cst.NotIn: "not in",
    cst.LessThan: "<", cst.LessThanEqual: "<=", cst.GreaterThan: ">", cst.GreaterThanEqual: ">=",
}  # fmt: skip

_STATEMENTS: dict[type[cst.CSTNode], Callable[[_Lowering, Any, list[ir.Stmt]], None]] = {
    cst.Assign: _Lowering._assign,
    cst.AnnAssign: _Lowering._ann_assign,
    cst.AugAssign: _Lowering._aug_assign,
    cst.Expr: _Lowering._evaluate,
    cst.Return: _Lowering._return,
    cst.Raise: _Lowering._raise,
    cst.If: _Lowering._if,
    cst.For: _Lowering._for,
    cst.While: _Lowering._while,
    cst.Try: _Lowering._try,
    cst.TryStar: _Lowering._try,
    cst.With: _Lowering._with,
    cst.Match: _Lowering._match,
    cst.Import: _Lowering._import,
    cst.ImportFrom: _Lowering._import_from,
    cst.Break: _Lowering._break,
    cst.Continue: _Lowering._continue,
    cst.Global: _Lowering._outer,
    cst.Nonlocal: _Lowering._outer,
    cst.Assert: _Lowering._assert,
    cst.Del: _Lowering._delete,
    cst.FunctionDef: _Lowering._def,
    cst.ClassDef: _Lowering._class,
}
_EXPRESSIONS: dict[type[cst.CSTNode], Callable[[_Lowering, Any], ir.Expr]] = {
    cst.Name: _Lowering._name,
    cst.Integer: _Lowering._literal,
    cst.Float: _Lowering._literal,
    cst.Imaginary: _Lowering._literal,
    cst.SimpleString: _Lowering._literal,
    cst.Ellipsis: _Lowering._ellipsis,
    cst.ConcatenatedString: _Lowering._concatenated,
    cst.FormattedString: _Lowering._formatted,
    cst.Attribute: _Lowering._attribute,
    cst.Subscript: _Lowering._subscript,
    cst.Call: _Lowering._call,
    cst.BinaryOperation: _Lowering._binary,
    cst.BooleanOperation: _Lowering._boolean,
    cst.Comparison: _Lowering._compare,
    cst.UnaryOperation: _Lowering._unary,
    cst.IfExp: _Lowering._choice,
    cst.Dict: _Lowering._mapping,
    cst.List: _Lowering._sequence,
    cst.Tuple: _Lowering._sequence,
    cst.Set: _Lowering._sequence,
    cst.StarredElement: _Lowering._starred,
    cst.ListComp: _Lowering._comprehension,
    cst.SetComp: _Lowering._comprehension,
    cst.GeneratorExp: _Lowering._comprehension,
    cst.DictComp: _Lowering._comprehension,
    cst.Lambda: _Lowering._lambda,
    cst.Await: _Lowering._await,
    cst.Yield: _Lowering._yield,
    cst.NamedExpr: _Lowering._walrus,
}
