"""What an expression may be: the abstract values of the provenance analysis.

A value is lazy: it names an expression and the frame it would run in, and is looked into only as far as a question goes.
Alternatives (branches, callers) are separate values of one tuple.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from stripe_idem_lint.ir import nodes as ir
from stripe_idem_lint.link.flow import Def, Flow
from stripe_idem_lint.link.program import ClassRef, FunctionRef
from stripe_idem_lint.models.schema import RecordModel


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """One activation of a body: the function, and, as far as they are known, who called it with what.

    Attributes:
        owner: The function or class whose body runs; None for a module.
        caller: The activation that called it, None if not known (then parameters are holes).
        site: Number of the call in `caller`.
        args: What the call handed over; None if not known.
        closure: The activation of the enclosing function.
        this: The object or class a method is bound to.
    """

    path: str
    owner: FunctionRef | ClassRef | None
    flow: Flow
    caller: Frame | None = None
    site: int = -1
    args: Arguments | None = None
    closure: Frame | None = None
    this: Val | None = None
    depth: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Lazy:
    """An expression in its frame, with accesses still to make; or values that are known already."""

    frame: Frame
    expr: ir.Expr | None
    path: tuple[str, ...] = ()
    known: tuple[Val, ...] | None = None

    @property
    def at(self) -> int:
        return self.expr.at if self.expr is not None else -1


@dataclass(frozen=True, slots=True, eq=False)
class Arguments:
    """The arguments of a call, not yet matched to parameters."""

    positional: tuple[Lazy, ...] = ()
    named: tuple[tuple[str, Lazy], ...] = ()
    star: tuple[Lazy, ...] = ()
    double: tuple[Lazy, ...] = ()

    @classmethod
    def of(cls, frame: Frame, args: tuple[ir.Arg, ...]) -> Arguments:
        """The arguments as written in `frame`."""
        return cls(
            tuple(Lazy(frame, a.value) for a in args if a.name is None and not a.star),
            tuple((a.name, Lazy(frame, a.value)) for a in args if a.name is not None),
            tuple(Lazy(frame, a.value) for a in args if a.star == 1),
            tuple(Lazy(frame, a.value) for a in args if a.star == 2),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Condition:
    """The value holds only if `expr`, read in `frame`, is missing."""

    frame: Frame
    expr: ir.Expr


@dataclass(frozen=True, slots=True)
class Known:
    """A constant; None stands for a missing value. `soft`: missing only if an outside party leaves it out."""

    value: object
    soft: bool = False


@dataclass(frozen=True, slots=True)
class Born:
    """A value that is made here, of a kind of the glossary (also `counter`: a number that a loop counts).

    Attributes:
        text: How it is made (`uuid.uuid4`).
        scope: For `delivery`: `message` or `hop`.
    """

    kind: str
    text: str
    scope: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Text:
    """Several values made into one. `op` is the operator, `f`, or the function that does it."""

    op: str
    parts: tuple[Lazy, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Hole:
    """A parameter whose caller is not known, with the accesses made on it."""

    frame: Frame
    name: str
    trail: tuple[str, ...] = ()
    hint: tuple[Val, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class External:
    """Something outside the program by its dotted name; `of` is the object it was read from."""

    name: str
    of: Object | None = None
    trail: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Object:
    """An instance of an outside class, or what an outside call gave (`made` is the callable's name)."""

    cls: str
    made: str
    call: ir.Call | None = None
    args: Arguments | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Callable_:
    """A function of the program, perhaps bound to an object, perhaps with arguments already given."""

    ref: FunctionRef
    closure: Frame | None
    this: Val | None = None
    given: Arguments | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Partial:
    """An outside callable with arguments already given; `at` is where it was made."""

    target: Val
    given: Arguments
    frame: Frame
    at: int


@dataclass(frozen=True, slots=True)
class Type:
    """A class of the program."""

    ref: ClassRef


@dataclass(frozen=True, slots=True, eq=False)
class Instance:
    """An object of a class of the program.

    Attributes:
        how: `made` (by its constructor, `args` given), `open` (came from elsewhere), `loaded`, `created`, `found`,
            `replaced` (rows), `parsed` (from outside data).
    """

    ref: ClassRef
    how: str
    frame: Frame | None = None
    at: int = -1
    args: Arguments | None = None
    record: RecordModel | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Manager:
    """Attributes behind a record class that lead to its rows (`Order.objects.filter()`)."""

    ref: ClassRef
    record: RecordModel
    route: str


@dataclass(frozen=True, slots=True)
class File:
    """A module of the program."""

    path: str


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """A dictionary: entries in order; a key of None is `**value`."""

    entries: tuple[tuple[Lazy | str | None, Lazy], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """A fixed sequence; `star` marks items that are sequences themselves."""

    items: tuple[tuple[Lazy, bool], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Many:
    """Something to iterate over, of which only the items are known."""

    items: tuple[Lazy, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Changed:
    """A value that was changed in place by `change`; `depth` accesses of the change's route are made already."""

    change: Def
    frame: Frame
    base: tuple[Val, ...]
    depth: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Method:
    """A method read from a value that is no object of the program (`key.encode`, `params.get`)."""

    base: Val
    name: str


@dataclass(frozen=True, slots=True)
class Super:
    """`super()` inside a method of `ref`."""

    ref: ClassRef
    this: Val | None


@dataclass(frozen=True, slots=True)
class Unknown:
    """Cannot be told, and why; `trail` are the accesses made on it."""

    reason: str
    trail: tuple[str, ...] = ()


What = (
    Known | Born | Text | Hole | External | Object | Callable_ | Partial | Type | Instance | Manager | File | Table
    | Row | Many | Changed | Method | Super | Unknown
)  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Val:
    """One alternative.

    Attributes:
        frame, at: Where it comes to be.
        needs: Conditions under which it does.
        sure: A branch has shown that it is not missing.
    """

    what: What
    frame: Frame
    at: int
    needs: tuple[Condition, ...] = field(default=())
    sure: bool = False


Vals = tuple[Val, ...]
"""The alternatives of an expression."""
