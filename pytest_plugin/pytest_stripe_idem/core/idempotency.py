"""The key store: who sent which key first, with what, and what came out.

A worked example, `K` a key, times in hours:

    claim K, POST /v1/charges {…}   0      in flight
    look up K, same request         0      InFlight
    complete K, 200 …               0      stored
    look up K, same request         1      Stored(200 …)
    look up K, other parameters     1      Stored(…): the caller compares and refuses
    look up K                      24      None: forgotten, the next request executes again
"""

from __future__ import annotations

from dataclasses import dataclass

from pytest_stripe_idem.core.response import StripeResponse


@dataclass(frozen=True, slots=True)
class KeyId:
    """What makes a key one key. `endpoint` is empty for v1: there the key alone counts."""

    account: str
    live: bool
    api: str
    endpoint: str
    key: str


@dataclass(slots=True)
class Entry:
    """One key: the request that came first, and its answer once there is one.

    Attributes:
        fingerprint: The parameters as compared.
        expires: Seconds since 1970 from which on the key is unknown again.
        request: Id of the first request.
        made: Id of the object that answered (v2 answers a replay with its present state).
    """

    method: str
    path: str
    fingerprint: str
    expires: float
    request: str
    response: StripeResponse | None = None
    made: str | None = None


class KeyStore:
    """All keys of all accounts."""

    def __init__(self) -> None:
        self._entries: dict[KeyId, Entry] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def look_up(self, key: KeyId, now: float) -> Entry | None:
        """The entry, or None where the key is unknown or forgotten."""
        found = self._entries.get(key)
        if found is None:
            return None
        if found.expires <= now and found.response is not None:
            del self._entries[key]
            return None
        return found

    def claim(self, key: KeyId, entry: Entry, now: float) -> None:
        """Takes a free key. The claim lasts until it is completed or released."""
        assert self.look_up(key, now) is None, "a key in use cannot be claimed"
        self._forget_old(now)
        self._entries[key] = entry

    def complete(self, key: KeyId, response: StripeResponse, made: str | None) -> None:
        """Stores the answer."""
        entry = self._entries[key]
        entry.response, entry.made = response, made

    def release(self, key: KeyId) -> None:
        """Frees a claimed key: its request never began to execute."""
        self._entries.pop(key, None)

    def _forget_old(self, now: float) -> None:
        """Drops expired entries from the oldest on, so that a long run does not grow for ever."""
        while self._entries:
            oldest = next(iter(self._entries))
            entry = self._entries[oldest]
            if entry.expires > now or entry.response is None:
                return
            del self._entries[oldest]
