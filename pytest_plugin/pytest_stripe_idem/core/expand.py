"""`expand[]=latest_charge.balance_transaction`: ids in an answer replaced by their objects."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from typing import Any

from pytest_stripe_idem.core.world import Json

Find = Callable[[str], Json | None]
# For an object and a field's name: the list that stands there only when it is asked for.
Include = Callable[[Json, str], Json | None]


def expanded(answer: Json, paths: Iterable[str], find: Find, include: Include) -> Json:
    """A copy of the answer with the ids at those paths replaced; unknown ones stay."""
    made = copy.deepcopy(answer)
    for path in paths:
        _expand(made, str(path).split("."), find, include)
    return made


def _expand(inside: Any, steps: list[str], find: Find, include: Include) -> None:
    if not steps:
        return
    if isinstance(inside, list):
        for each in inside:
            _expand(each, steps, find, include)
        return
    if not isinstance(inside, dict):
        return
    head, rest = steps[0], steps[1:]
    more = include(inside, head)
    if more is not None:
        inside[head] = more
    if head not in inside:
        return
    inside[head] = _found(inside[head], find)
    _expand(inside[head], rest, find, include)


def _found(value: Any, find: Find) -> Any:
    if isinstance(value, str):
        found = find(value)
        return copy.deepcopy(found) if found else value
    if isinstance(value, list):
        return [_found(each, find) for each in value]
    return value
