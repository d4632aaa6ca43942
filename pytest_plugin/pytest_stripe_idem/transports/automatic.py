"""Tells keys the SDK made by itself from keys of the user's code.

The SDK's generator is wrapped: `_generate_idempotency_key` from 15.3.1 on, the module attribute
`uuid` before that (8 versions tried, 2.76 to 16.1).
"""

from __future__ import annotations

import uuid
from collections import deque
from collections.abc import Callable
from types import ModuleType
from typing import Any

# Keys are short-lived: more than these are never in question.
_KEPT = 20_000

_made: set[str] = set()
_order: deque[str] = deque()


def was_generated(key: str | None) -> bool:
    """Whether the SDK made this key."""
    return key is not None and key in _made


def note(key: str) -> None:
    """Remembers a key that the SDK made."""
    if key in _made:
        return
    _made.add(key)
    _order.append(key)
    if len(_order) > _KEPT:
        _made.discard(_order.popleft())


def wrap_generator(module: ModuleType) -> Callable[[], None]:
    """Wraps the generator of `stripe._api_requestor` (or the older `stripe.api_requestor`)."""
    name = "_generate_idempotency_key" if hasattr(module, "_generate_idempotency_key") else "uuid"
    if not hasattr(module, name):
        return lambda: None
    original = getattr(module, name)
    setattr(module, name, _noting(original) if callable(original) else _NotingUuid())
    return lambda: setattr(module, name, original)


def _noting(generate: Callable[[], str]) -> Callable[[], str]:
    def generate_and_note() -> str:
        key = generate()
        note(key)
        return key

    return generate_and_note


class _NotingUuid:
    """Stands for the module `uuid` inside the SDK."""

    def __getattr__(self, name: str) -> Any:
        return getattr(uuid, name)

    @staticmethod
    def uuid4() -> uuid.UUID:
        made = uuid.uuid4()
        note(str(made))
        return made
