"""The nodes of the intermediate representation: Python's meaning without its spelling.

Every node carries `at`, its number in the order in which lowering visits the file; positions for people are computed from it
later and only for files that have findings. Statements keep Python's structure, because what runs again is a region of it.
Nothing here knows a library.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Const:
    """A literal. `value` is None, a bool, int, float, str or bytes; other literals come as their source text."""

    at: int
    value: object


@dataclass(frozen=True, slots=True)
class Name:
    at: int
    id: str


@dataclass(frozen=True, slots=True)
class Attr:
    at: int
    base: Expr
    name: str


@dataclass(frozen=True, slots=True)
class Item:
    """`base[index]`."""

    at: int
    base: Expr
    index: Expr


@dataclass(frozen=True, slots=True)
class Part:
    """`base[a:b]`: a piece of the value."""

    at: int
    base: Expr


@dataclass(frozen=True, slots=True)
class Arg:
    """An argument or an item. `star` is 0, 1 for `*value`, 2 for `**value`."""

    value: Expr
    name: str | None = None
    star: int = 0


@dataclass(frozen=True, slots=True)
class Call:
    at: int
    func: Expr
    args: tuple[Arg, ...]


@dataclass(frozen=True, slots=True)
class Join:
    """Several values made into one: `op` is `f` for an f-string, else the binary operator."""

    at: int
    op: str
    parts: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Format:
    """`{value!r:spec}` in an f-string. `spec` is its literal text, `conversion` is `r`, `s`, `a` or empty."""

    at: int
    value: Expr
    spec: str
    conversion: str


@dataclass(frozen=True, slots=True)
class Bool:
    """`left and right` or `left or right`."""

    at: int
    op: str
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Choice:
    """`then if test else other`."""

    at: int
    test: Expr
    then: Expr
    other: Expr


@dataclass(frozen=True, slots=True)
class Compare:
    """The first comparison of a chain."""

    at: int
    op: str
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Unary:
    at: int
    op: str
    value: Expr


@dataclass(frozen=True, slots=True)
class Mapping:
    """A dictionary display; a None key is `**value`."""

    at: int
    entries: tuple[tuple[Expr | None, Expr], ...]


@dataclass(frozen=True, slots=True)
class Sequence:
    """`kind` is `list`, `tuple` or `set`."""

    at: int
    kind: str
    items: tuple[Arg, ...]


@dataclass(frozen=True, slots=True)
class Clause:
    target: Expr
    iter: Expr
    tests: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Comprehension:
    """`kind` is `list`, `set`, `dict` or `generator`; `key` only for `dict`."""

    at: int
    kind: str
    key: Expr | None
    element: Expr
    clauses: tuple[Clause, ...]


@dataclass(frozen=True, slots=True)
class Lambda:
    """`function` is its number in `Module.functions`."""

    at: int
    function: int


@dataclass(frozen=True, slots=True)
class Await:
    at: int
    value: Expr


@dataclass(frozen=True, slots=True)
class Yield:
    at: int
    value: Expr | None
    delegates: bool


@dataclass(frozen=True, slots=True)
class Walrus:
    at: int
    name: str
    value: Expr


@dataclass(frozen=True, slots=True)
class Opaque:
    """Something this representation does not carry; `what` names it."""

    at: int
    what: str


Expr = (
    Const | Name | Attr | Item | Part | Call | Join | Format | Bool | Choice | Compare | Unary | Mapping | Sequence
    | Comprehension | Lambda | Await | Yield | Walrus | Opaque
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Assign:
    """`targets = value`; `value` is None for a bare annotation."""

    at: int
    targets: tuple[Expr, ...]
    value: Expr | None
    annotation: Expr | None = None


@dataclass(frozen=True, slots=True)
class Augment:
    at: int
    op: str
    target: Expr
    value: Expr


@dataclass(frozen=True, slots=True)
class Evaluate:
    at: int
    value: Expr


@dataclass(frozen=True, slots=True)
class Return:
    at: int
    value: Expr | None


@dataclass(frozen=True, slots=True)
class Raise:
    at: int
    value: Expr | None


@dataclass(frozen=True, slots=True)
class If:
    at: int
    test: Expr
    body: tuple[Stmt, ...]
    orelse: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class For:
    at: int
    target: Expr
    iter: Expr
    body: tuple[Stmt, ...]
    orelse: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class While:
    at: int
    test: Expr
    body: tuple[Stmt, ...]
    orelse: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class Handler:
    at: int
    type: Expr | None
    name: str | None
    body: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class Try:
    at: int
    body: tuple[Stmt, ...]
    handlers: tuple[Handler, ...]
    orelse: tuple[Stmt, ...]
    final: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class With:
    at: int
    items: tuple[tuple[Expr, Expr | None], ...]
    body: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """One `case`: the names its pattern binds, its guard and its body."""

    at: int
    names: tuple[str, ...]
    guard: Expr | None
    body: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class Match:
    at: int
    subject: Expr
    cases: tuple[Case, ...]


@dataclass(frozen=True, slots=True)
class Define:
    """A `def`; `function` is its number in `Module.functions`."""

    at: int
    function: int


@dataclass(frozen=True, slots=True)
class DefineClass:
    """A `class`; `cls` is its number in `Module.classes`."""

    at: int
    cls: int


@dataclass(frozen=True, slots=True)
class Import:
    """`import module as name`, one per module; `name` is what gets bound."""

    at: int
    module: str
    name: str
    whole: bool


@dataclass(frozen=True, slots=True)
class ImportFrom:
    """`from module import source as name`, one per name; `source` may be `*`."""

    at: int
    module: str
    level: int
    source: str
    name: str


@dataclass(frozen=True, slots=True)
class Jump:
    """`break` or `continue`."""

    at: int
    kind: str


@dataclass(frozen=True, slots=True)
class Outer:
    """`global` or `nonlocal`."""

    at: int
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Assert:
    at: int
    test: Expr


@dataclass(frozen=True, slots=True)
class Delete:
    at: int
    targets: tuple[Expr, ...]


Stmt = (
    Assign | Augment | Evaluate | Return | Raise | If | For | While | Try | With | Match | Define | DefineClass
    | Import | ImportFrom | Jump | Outer | Assert | Delete
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Param:
    """`kind` is `plain`, `positional` (before `/`), `keyword` (after `*`), `rest` (`*args`) or `named` (`**kwargs`)."""

    name: str
    kind: str
    default: Expr | None
    annotation: Expr | None


@dataclass(frozen=True, slots=True)
class Function:
    """A `def` or lambda.

    Attributes:
        parent: Number of the enclosing function, None at module or class level.
        cls: Number of the class whose body holds the `def`.
        end: One past the last node number inside.
        generator: Its body yields.
    """

    index: int
    at: int
    end: int
    name: str
    qualname: str
    params: tuple[Param, ...]
    decorators: tuple[Expr, ...]
    body: tuple[Stmt, ...]
    parent: int | None
    cls: int | None
    generator: bool
    is_lambda: bool
    returns: Expr | None


@dataclass(frozen=True, slots=True)
class Class:
    """A class. `methods` maps names to numbers of functions (the last definition wins)."""

    index: int
    at: int
    name: str
    qualname: str
    bases: tuple[Arg, ...]
    decorators: tuple[Expr, ...]
    body: tuple[Stmt, ...]
    methods: tuple[tuple[str, int], ...]
    parent: int | None


@dataclass(frozen=True, slots=True)
class Module:
    """One file. `path` is the file as discovery named it."""

    path: str
    body: tuple[Stmt, ...]
    functions: tuple[Function, ...]
    classes: tuple[Class, ...]


def expressions(stmt: Stmt) -> tuple[Expr, ...]:
    """The expressions a statement evaluates itself, in order; nested statements are not entered."""
    match stmt:
        case Assign(_, targets, value, _):
            return ((value,) if value is not None else ()) + targets
        case Augment(_, _, target, value):
            return (value, target)
        case Evaluate(_, value):
            return (value,)
        case Return(_, value) | Raise(_, value):
            return (value,) if value is not None else ()
        case If(_, test, _, _) | While(_, test, _, _) | Assert(_, test):
            return (test,)
        case For(_, target, iterable, _, _):
            return (iterable, target)
        case With(_, items, _):
            return tuple(part for item in items for part in item if part is not None)
        case Match(_, subject, cases):
            return (subject, *(case.guard for case in cases if case.guard is not None))
        case Delete(_, targets):
            return targets
        case _:
            return ()


def blocks(stmt: Stmt) -> tuple[tuple[Stmt, ...], ...]:
    """The statement lists nested in a statement, in order."""
    match stmt:
        case If(_, _, body, orelse) | For(_, _, _, body, orelse) | While(_, _, body, orelse):
            return (body, orelse)
        case Try(_, body, handlers, orelse, final):
            return (body, *(handler.body for handler in handlers), orelse, final)
        case With(_, _, body):
            return (body,)
        case Match(_, _, cases):
            return tuple(case.body for case in cases)
        case _:
            return ()


def children(expr: Expr) -> tuple[Expr, ...]:
    """The direct parts of an expression, in evaluation order; lambdas' bodies are not entered."""
    match expr:
        case Attr(_, base, _) | Part(_, base):
            return (base,)
        case Item(_, base, index):
            return (base, index)
        case Call(_, func, args):
            return (func, *(arg.value for arg in args))
        case Join(_, _, parts):
            return parts
        case Format(_, value, _, _) | Unary(_, _, value) | Await(_, value) | Walrus(_, _, value):
            return (value,)
        case Bool(_, _, left, right) | Compare(_, _, left, right):
            return (left, right)
        case Choice(_, test, then, other):
            return (test, then, other)
        case Mapping(_, entries):
            return tuple(part for entry in entries for part in entry if part is not None)
        case Sequence(_, _, items):
            return tuple(item.value for item in items)
        case Comprehension(_, _, key, element, clauses):
            loops = tuple(
                part for clause in clauses for part in (clause.iter, clause.target, *clause.tests)
            )
            return (*loops, *((key,) if key is not None else ()), element)
        case Yield(_, value, _):
            return (value,) if value is not None else ()
        case _:
            return ()


def walk(expr: Expr) -> Iterator[Expr]:
    """The expression and all its parts, outermost first."""
    stack = [expr]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(children(node)))


def statements(body: tuple[Stmt, ...]) -> Iterator[Stmt]:
    """All statements of a body, nested ones too, in source order; bodies of functions and classes are not entered."""
    stack = list(reversed(body))
    while stack:
        stmt = stack.pop()
        yield stmt
        for block in reversed(blocks(stmt)):
            stack.extend(reversed(block))
