"""Small judgements on alternatives: which are missing, which are kept, what a clock cut or printed is worth."""

from __future__ import annotations

from stripe_idem_lint.solve.values import (
    Arguments,
    Born,
    Frame,
    Instance,
    Known,
    Lazy,
    Row,
    Table,
    Text,
    Unknown,
    Val,
    Vals,
)


def is_missing(val: Val) -> bool:
    """Certainly None, empty or absent."""
    return isinstance(val.what, Known) and val.what.value in (None, "", False, b"")


def present(vals: Vals) -> Vals:
    """The alternatives that are left once the value has been shown to be there."""
    return tuple(Val(v.what, v.frame, v.at, v.needs, True) for v in vals if not is_missing(v))


def missing(vals: Vals) -> Vals:
    """The alternatives that are left once the value has been shown to be missing."""
    return tuple(
        v for v in vals if not never_missing(v) and not isinstance(v.what, Text | Instance)
    )


def never_missing(val: Val) -> bool:
    """Certainly there, and not empty."""
    match val.what:
        case Known():
            return val.sure or not is_missing(val)
        case Table(entries):
            return val.sure or any(key is not None for key, _ in entries)
        case Row(items):
            return val.sure or any(not star for _, star in items)
        case Born():
            return True
        case _:
            return val.sure


_ABSENT = Known(None)


def absent(frame: Frame, at: int) -> Val:
    """The value of a key that a dictionary does not have."""
    return Val(_ABSENT, frame, at)


def subscripted(vals: Vals) -> Vals:
    """What `d[k]` gives: a key that is not there is an exception, never a value."""
    return tuple(v for v in vals if v.what is not _ABSENT)


def is_absent(val: Val) -> bool:
    return isinstance(val.what, Known) and val.what.value is None and not val.what.soft


def in_process(val: Val) -> Val:
    """The value when it is made once per process."""
    what = val.what
    if isinstance(what, Born) and what.kind in ("fresh", "clock", "fresh_row", "delivery"):
        return Val(Born("process", what.text), val.frame, val.at, val.needs)
    if isinstance(what, Text):
        parts = tuple(Lazy(p.frame, p.expr, p.path, p.known) for p in what.parts)
        return Val(Text("process", parts), val.frame, val.at, val.needs)
    return val


def journaled(val: Val) -> Val:
    """The value when the framework keeps it over re-execution."""
    if isinstance(val.what, Born | Text):
        return Val(Born("stable", "result kept by the framework"), val.frame, val.at, val.needs)
    return val


def coarser(what: object) -> Born | Unknown:
    """A clock cut to a minute or longer."""
    if isinstance(what, Born) and what.kind in ("clock", "window"):
        return Born("window", what.text)
    return what if isinstance(what, Born) else Unknown("a quotient")


def of_format(what: Born, spec: str) -> Born:
    """A clock printed with a `strftime` format: with seconds it is a clock, without a window."""
    fine = any(code in spec for code in ("%S", "%f", "%s", "%T", "%X", "%c", "%r"))
    return what if fine else Born("window", what.text)


def same_key(one: str, two: str) -> bool:
    """Keys are equal; header names (with a hyphen) without regard to case."""
    return one == two or ("-" in one and one.lower() == two.lower())


def same_step(one: str, two: str) -> bool:
    return (
        same_key(one, two)
        or (one == "[*]" and two.startswith("["))
        or (two == "[*]" and one.startswith("["))
    )


def joined(given: Arguments | None, args: Arguments) -> Arguments:
    """Arguments given earlier (`partial`), then those of the call."""
    if given is None:
        return args
    named = {**dict(given.named), **dict(args.named)}
    return Arguments(
        given.positional + args.positional,
        tuple(named.items()),
        given.star + args.star,
        given.double + args.double,
    )
