"""All objects of one account in one mode: made, found, listed, and the events about them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import cache
from typing import Any

from pytest_stripe_idem.core import catalog
from pytest_stripe_idem.core.ids import Ids
from pytest_stripe_idem.core.ledger import Ledger
from pytest_stripe_idem.core.testcards import TestCard

Json = dict[str, Any]


class World:
    """One account space.

    Attributes:
        account: Its id; the platform's own is `acct_platform`.
        ledger: Its money.
    """

    def __init__(self, account: str, live: bool, ids: Ids, api_version: str) -> None:
        self.account, self.live = account, live
        self._ids, self._api_version = ids, api_version
        self._objects: dict[str, Json] = {}
        self._by_kind: dict[str, list[str]] = {}
        self._events: list[str] = []
        self._later: list[Callable[[int], None]] = []
        self.singletons: dict[str, Json] = {}
        # What the bank says about a payment method, source or token, by id.
        self.cards: dict[str, TestCard] = {}
        self.ledger = Ledger(lambda: ids.new("balance_transaction"))

    def new_id(self, kind: str) -> str:
        return self._ids.new(kind)

    def add(self, kind: str, now: int, values: Json, id: str | None = None) -> Json:
        """Makes an object: all fields its class has, then `values` over them.

        Args:
            kind: Its `object` name.
            now: Its `created`, where it has one.
            id: Its id; counted where none is given.
        """
        made = {"id": id or self.new_id(kind), "object": kind, **self.blank(kind, now), **values}
        self._keep(made)
        return made

    def blank(self, kind: str, now: int) -> Json:
        """The fields of a class at their defaults."""
        fixed, fresh = _prototype(kind)
        blank = dict(fixed)
        for name, letter in fresh:
            blank[name] = _default(letter, name)
        if kind.startswith("v2."):
            blank["created"] = _iso(now)
        elif "created" in blank or not blank:
            blank["created"] = now
        if "livemode" in blank or not blank:
            blank["livemode"] = self.live
        return blank

    def _keep(self, made: Json) -> None:
        if made["id"] not in self._objects:
            self._by_kind.setdefault(made["object"], []).append(made["id"])
        self._objects[made["id"]] = made

    def find(self, id: str, kind: str | None = None) -> Json | None:
        """The live object, or None; of one kind only where `kind` is given."""
        found = self._objects.get(id)
        return found if found and (kind is None or found["object"] == kind) else None

    def remove(self, id: str) -> None:
        """Deletes an object; afterwards it is unknown."""
        gone = self._objects.pop(id)
        self._by_kind[gone["object"]].remove(id)

    def all(self, kind: str) -> Iterator[Json]:
        """Of one kind, newest first, as Stripe lists them."""
        if kind == "balance_transaction":
            yield from (dict(each) for each in reversed(list(self.ledger.entries())))
        elif kind == "event":
            yield from (json.loads(each) for each in reversed(self._events))
        else:
            yield from (self._objects[id] for id in reversed(self._by_kind.get(kind, [])))

    def __len__(self) -> int:
        return len(self._objects)

    def later(self, step: Callable[[int], None]) -> None:
        """Something that happens after the answer, of itself: when the next request comes."""
        self._later.append(step)

    def catch_up(self, now: int) -> None:
        """Lets happen what was to happen in the meantime."""
        steps, self._later = self._later, []
        for step in steps:
            step(now)

    def emit(self, name: str, about: Json, now: int, request: str | None, key: str | None) -> None:
        """Records an event with a snapshot of its object."""
        event: Json = {
            "id": self.new_id("event"),
            "object": "event",
            "api_version": self._api_version,
            "created": now,
            "data": {"object": about},
            "livemode": self.live,
            "pending_webhooks": 1,
            "request": {"id": request, "idempotency_key": key},
            "type": name,
        }
        if self.account != PLATFORM:
            event["account"] = self.account
        # As text: a snapshot that cannot change, and quicker to make than a copy.
        self._events.append(json.dumps(event, ensure_ascii=False))

    def events(self) -> tuple[Json, ...]:
        """All events so far, oldest first."""
        return tuple(json.loads(each) for each in self._events)


PLATFORM = "acct_platform"


def page(items: Iterator[Json], url: str, limit: int, start: str | None, end: str | None) -> Json:
    """One page of a v1 list: `limit` objects after `starting_after`, or before `ending_before`."""
    rows = list(items)
    places = {row["id"]: place for place, row in enumerate(rows)}
    if end is not None:
        last = places.get(end, 0)
        first = max(0, last - limit)
        return listing(rows[first:last], url, first > 0)
    first = places[start] + 1 if start in places else 0 if start is None else len(rows)
    return listing(rows[first : first + limit], url, first + limit < len(rows))


def listing(rows: list[Json], url: str, more: bool = False) -> Json:
    """A v1 list object."""
    return {"object": "list", "data": rows, "has_more": more, "url": url}


@cache
def _prototype(kind: str) -> tuple[Json, tuple[tuple[str, str], ...]]:
    """The fields of a class: values that may be shared, and those to be made for each object."""
    letters = catalog.fields(kind)
    fresh = tuple((name, letter) for name, letter in letters.items() if letter in _MUTABLE)
    fixed = {
        name: _default(letter, name) for name, letter in letters.items() if letter not in _MUTABLE
    }
    return fixed, fresh


_MUTABLE = frozenset("lah")


def _default(letter: str, name: str) -> Any:
    match letter:
        case "l":
            return listing([], f"/v1/{name}")
        case "a":
            return []
        case "h":
            return {}
        case "i":
            return 0
        case "f":
            return 0.0
        case "b":
            return False
        case "s":
            return ""
        case "n":
            return None
        case words:
            return _usual(words.removeprefix("=").split("|"))


# The word an object has when it is new, where its class allows it.
_USUAL = (
    "requires_payment_method", "draft", "open", "active", "pending", "requires_input", "created",
    "processing", "enabled", "new", "posted", "succeeded",
)  # fmt: skip


def _usual(words: list[str]) -> str:
    return next((word for word in _USUAL if word in words), words[0])


def _iso(now: int) -> str:
    return datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
