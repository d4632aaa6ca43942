"""Between a transport and the fake: who calls, where to wait, who answers.

A transport hands a `StripeRequest` and a `Caller` to a `Handler` and drives what it gets back: a
generator that yields a `Pause` wherever time may pass, and returns the outcome. The same generator
is driven by a thread that sleeps and by a task that awaits; that is why a second request under one
key finds the first in flight under asyncio as it does with threads.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Literal, Protocol

from pytest_stripe_idem.core.request import StripeRequest
from pytest_stripe_idem.core.response import Outcome


@dataclass(frozen=True, slots=True)
class Place:
    """A line of somebody's code."""

    file: str
    line: int
    function: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line} in {self.function}"


@dataclass(frozen=True, slots=True)
class Caller:
    """Who sent a request.

    Attributes:
        client: `urllib3`, `httpx`, `aiohttp`, `http.client`, `loopback`, `respx`.
        place: The innermost line of the user's own code; None where it cannot be known.
        automatic: The SDK made the key, not the user's code.
        worker: Process and thread or task: two requests of different workers may overlap.
        timeout: Seconds the client waits for an answer; None for ever or unknown.
        run: Name of the run it belongs to, where it comes from a fresh interpreter.
    """

    client: str
    place: Place | None = None
    automatic: bool = False
    worker: str = ""
    timeout: float | None = None
    run: str = ""


@dataclass(frozen=True, slots=True)
class Pause:
    """A point where others may run.

    Attributes:
        until: Says when to go on; None: at once, after others had their turn.
    """

    until: Callable[[], bool] | None = None


# What a driver sends back into the generator: `gone` when its client does not wait any more.
Signal = Literal["gone"] | None

Handling = Generator[Pause, Signal, Outcome]


class Handler(Protocol):
    """The fake, as a transport sees it."""

    def handle(self, request: StripeRequest, caller: Caller) -> Handling:
        """Answers one request."""
        ...
