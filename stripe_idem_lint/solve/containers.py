"""Steps into dictionaries, lists and tuples."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stripe_idem_lint.solve.alternatives import absent, is_absent, same_key
from stripe_idem_lint.solve.values import Known, Lazy, Method, Unknown, Val, Vals

if TYPE_CHECKING:
    from stripe_idem_lint.solve.evaluate import Evaluator


def access_table(
    ev: Evaluator, val: Val, entries: tuple[tuple[Lazy | str | None, Lazy], ...], step: str
) -> Vals:
    if step.startswith("."):
        return (Val(Method(val, step[1:]), val.frame, val.at),)
    wanted = step[1:-1]
    found: list[Val] = []
    computed = False
    for key, lazy in reversed(entries):
        if key is None:
            inner = ev.access(ev.resolve(lazy), step)
            found.extend(v for v in inner if not is_absent(v))
            if inner and not any(is_absent(v) or isinstance(v.what, Unknown) for v in inner):
                return tuple(found)
            continue
        match_ = key_matches(ev, key, wanted)
        if match_ is None or match_:
            found.extend(ev.resolve(lazy))
        if match_:
            return tuple(found)
        computed = computed or match_ is None
    if wanted == "*":
        return tuple(found)
    if computed:
        return (*found, Val(Unknown("an entry whose key is computed"), val.frame, val.at))
    return (*found, absent(val.frame, val.at))


def key_matches(ev: Evaluator, key: Lazy | str, wanted: str) -> bool | None:
    """True, False, or None for "perhaps"."""
    if isinstance(key, str):
        return same_key(key, wanted) if wanted != "*" else None
    vals = ev.resolve(key)
    names = [str(v.what.value) for v in vals if isinstance(v.what, Known)]
    if len(names) != len(vals) or not names:
        return None
    if wanted == "*":
        return None
    hits = [same_key(name, wanted) for name in names]
    return True if all(hits) else (None if any(hits) else False)


def access_row(ev: Evaluator, val: Val, items: tuple[tuple[Lazy, bool], ...], step: str) -> Vals:
    if step.startswith("."):
        return (Val(Method(val, step[1:]), val.frame, val.at),)
    try:
        index = int(step[1:-1])
    except ValueError:
        index = None
    if index is not None and not any(star for _, star in items):
        if -len(items) <= index < len(items):
            return ev.resolve(items[index][0])
        return (absent(val.frame, val.at),)
    if index is not None and 0 <= index < next(i for i, (_, star) in enumerate(items) if star):
        return ev.resolve(items[index][0])
    found: list[Val] = []
    for lazy, star in items:
        vals = ev.resolve(lazy)
        found.extend(ev.access(vals, "[*]") if star else vals)
    return tuple(found)
