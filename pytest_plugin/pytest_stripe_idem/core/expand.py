"""`expand[]=latest_charge.balance_transaction`: ids in an answer replaced by their objects."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from typing import Any

from pytest_stripe_idem.core.world import Json

Find = Callable[[str], Json | None]


def expanded(answer: Json, paths: Iterable[str], find: Find) -> Json:
    """A copy of the answer with the ids at those paths replaced; unknown ones stay."""
    made = copy.deepcopy(answer)
    for path in paths:
        _expand(made, str(path).split("."), find)
    return made


def _expand(inside: Any, steps: list[str], find: Find) -> None:
    if not steps:
        return
    if isinstance(inside, list):
        for each in inside:
            _expand(each, steps, find)
        return
    if not isinstance(inside, dict):
        return
    head, rest = steps[0], steps[1:]
    if head not in inside:
        return
    inside[head] = _found(inside[head], find)
    _expand(inside[head], rest, find)


def _found(value: Any, find: Find) -> Any:
    if isinstance(value, str):
        found = find(value)
        return copy.deepcopy(found) if found else value
    if isinstance(value, list):
        return [_found(each, find) for each in value]
    return value
