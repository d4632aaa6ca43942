"""What a client is given: a response, or a connection that failed."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Any


@dataclass(frozen=True, slots=True)
class StripeResponse:
    """Status, headers in order, body as sent over the wire."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def header(self, name: str) -> str | None:
        """The value of a header, whatever its case; None when it is absent."""
        wanted = name.lower()
        return next((value for key, value in self.headers if key.lower() == wanted), None)

    def json(self) -> Any:
        return json.loads(self.body)

    def with_headers(self, more: Iterable[tuple[str, str]]) -> StripeResponse:
        return StripeResponse(self.status, (*self.headers, *more), self.body)


class Break(Enum):
    """How a connection failed, as the client sees it."""

    READ_TIMEOUT = "the response did not come in time"
    RESET = "the connection was reset"
    KILLED = "the calling process was killed"


@dataclass(frozen=True, slots=True)
class ConnectionBroken:
    """No response: each transport raises what its client would raise."""

    how: Break


Outcome = StripeResponse | ConnectionBroken


def encode(body: Any) -> bytes:
    """The bytes of a JSON body."""
    return json.dumps(body, ensure_ascii=False).encode("utf-8")
