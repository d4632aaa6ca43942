"""One request and what became of it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import Enum

from pytest_stripe_idem.core.exchange import Place
from pytest_stripe_idem.core.money_call import MoneyCall

# The scope of all runs in other interpreters.
FRESH = "fresh"


class Known(Enum):
    """What the client can know about the outcome."""

    SUCCESS = "it was told of a success"
    REFUSAL = "it was told of a refusal that is final"
    NOTHING = "it was told nothing it can rely on"


@dataclass(frozen=True, slots=True)
class Run:
    """Part of a repetition on purpose.

    Attributes:
        scope: Which repetition: all its runs do the same work.
        number: Which run of it, from 1.
    """

    scope: str
    number: int

    @property
    def fresh(self) -> bool:
        """It happened in another interpreter: the same work from the start."""
        return self.scope == FRESH

    @classmethod
    def read(cls, spelled: str) -> Run | None:
        """`fresh#2` to its parts; None for the empty text."""
        scope, _, number = spelled.rpartition("#")
        return cls(scope, int(number)) if scope else None

    def __str__(self) -> str:
        return f"{self.scope}#{self.number}"


@dataclass(slots=True)
class Exchange:
    """A request under way, then done.

    Attributes:
        number: Position among all requests of the test, from 1.
        at: Clock of the fake when it came, in seconds.
        began, ended: Order among all beginnings and ends; `ended` is 0 while it is under way.
        executed: Its endpoint began to execute.
        replayed: Answered from the key store.
        status: HTTP status that the fake gave; 0 where there was none.
        broken: How the connection failed, in words; empty where it did not.
        delivered: The client was given the response.
        forgotten: When its process was killed, in that order: what it knew is gone since; else 0.
        moved: Amount that was executed, in the smallest unit; None where there is none to tell.
    """

    number: int
    at: float
    call: MoneyCall
    client: str
    place: Place | None
    worker: str
    run: Run | None
    began: int
    ended: int = 0
    status: int = 0
    error_type: str = ""
    error_code: str = ""
    executed: bool = False
    replayed: bool = False
    made: str | None = None
    moved: int | None = None
    currency: str = ""
    broken: str = ""
    delivered: bool = False
    forgotten: int = 0
    faults: list[str] = field(default_factory=list)

    @property
    def succeeded(self) -> bool:
        """It was executed here and changed something, whatever the client was told."""
        return self.executed and (self.status < 300 or "500 after the effect" in self.faults)

    @property
    def known(self) -> Known:
        """What the client can know after this request alone."""
        if not self.delivered or self.status >= 500 or self.status in {0, 409, 429}:
            return Known.NOTHING
        if self.error_type == "idempotency_error":
            return Known.NOTHING
        return Known.SUCCESS if self.status < 300 else Known.REFUSAL

    @property
    def process(self) -> str:
        """`process 123`, of the worker that sent it."""
        return " ".join(self.worker.split()[:2])

    def known_to(self, other: Exchange) -> Known:
        """What whoever sent `other` can know of this one."""
        if not self.ended or self.ended > other.began:
            return Known.NOTHING
        lost = self.forgotten and self.forgotten < other.began
        return Known.NOTHING if lost and self.known is Known.SUCCESS else self.known

    def overlaps(self, other: Exchange) -> bool:
        """Whether both were under way at one time."""
        ends = [each.ended or 1 << 60 for each in (self, other)]
        return max(self.began, other.began) < min(ends)


_UUID = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-([0-9a-f])[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}\Z", re.IGNORECASE
)
_HEX = re.compile(r"[0-9a-f]{32,128}\Z", re.IGNORECASE)


def look_of(key: str) -> str:
    """What a key looks like: `uuid4`, `uuid1`, `hash`, `number`, `words`, `text`."""
    if match := _UUID.match(key):
        return f"uuid{match[1]}" if match[1] in "134567" else "uuid"
    if _HEX.match(key):
        return "hash"
    if re.fullmatch(r"-?\d+", key):
        return "number"
    return (
        "words" if re.fullmatch(r"[\w .:/|@-]+", key) and re.search(r"[a-zA-Z]{2}", key) else "text"
    )


def short(key: str) -> str:
    """`3f7c…d1`; a key of up to twelve characters whole."""
    return key if len(key) <= 12 else f"{key[:4]}…{key[-2:]}"


def key_words(call: MoneyCall) -> str:
    """`key 3f7c…d1 (uuid4, explicit)`."""
    key = call.counted_key
    if key is None:
        return "no key"
    if key != call.key:
        return key
    return f"key {short(key)} ({look_of(key)}, {'automatic' if call.automatic else 'explicit'})"
