"""The faults, each with what it does to one request.

They act at three places: before the key store is touched (`Edge`, `Reset`, `KillBefore`), instead
of a plain execution (`ServerError`, `LockTimeout`, `Declined`), and around or after it (`Hold`,
`Slow`, `LoseResponse`, `KillAfter`). Those of different places can meet in one request.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Self

from pytest_stripe_idem.core import errors
from pytest_stripe_idem.core.errors import ApiError
from pytest_stripe_idem.core.machine import Decline, Override
from pytest_stripe_idem.core.response import Break


@dataclass(frozen=True, slots=True)
class Edge:
    """An answer of 429, 502, 503 or 504 from before the key store: nothing is stored."""

    status: int
    name: str = "edge"

    def error(self) -> ApiError:
        return errors.rate_limited() if self.status == 429 else errors.edge(self.status)


@dataclass(frozen=True, slots=True)
class Reset:
    """The connection breaks before the request is executed."""

    name: str = "reset before execution"


@dataclass(frozen=True, slots=True)
class KillBefore:
    """The calling process dies before the request is executed."""

    name: str = "killed before"


@dataclass(frozen=True, slots=True)
class Instead:
    """Another outcome than that of a plain execution; it is stored."""

    override: Override | Decline
    name: str = "instead"


@dataclass(frozen=True, slots=True)
class LoseResponse:
    """Executed and stored; the client never hears of it."""

    how: Break = Break.READ_TIMEOUT
    name: str = "response lost"


@dataclass(frozen=True, slots=True)
class KillAfter:
    """The calling process dies after the request was executed."""

    name: str = "killed after"


@dataclass(frozen=True, slots=True)
class Slow:
    """The execution takes that long. A client that waits less gives up meanwhile.

    Attributes:
        seconds: How long.
        real: Time passes on the wall; otherwise only on the clock of the fake.
    """

    seconds: float
    real: bool = False
    name: str = "slow"


class Held:
    """A request that stays in flight until it is released. As a context manager: until the end."""

    # Nobody waits for ever: a test that forgets to release fails instead of hanging.
    LIMIT = 30.0

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._released = False
        self._since: float | None = None
        self.overdue = False

    @property
    def in_flight(self) -> bool:
        """Whether a request is held just now."""
        return self._since is not None and not self._released

    def release(self) -> None:
        """Lets the request go on."""
        self._released = True

    def arrive(self) -> Callable[[], bool]:
        """Called by the request; what is returned says when it may go on."""
        self._since = self._monotonic()
        return self._may_go

    def wait(self, sleep: Callable[[float], None] | None = None) -> None:
        """Waits until a request has arrived, for a test whose other thread sends it.

        Raises:
            TimeoutError: None came.
        """
        from time import sleep as real_sleep

        begun = self._monotonic()
        while self._since is None:
            if self._monotonic() - begun > self.LIMIT:
                raise TimeoutError("no request came that could be held")
            (sleep or real_sleep)(0.001)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def _may_go(self) -> bool:
        assert self._since is not None, "a request asks after it has arrived"
        if not self._released and self._monotonic() - self._since > self.LIMIT:
            self.overdue = True
        return self._released or self.overdue


@dataclass(frozen=True, slots=True)
class Hold:
    """Keeps the key in flight: whoever sends it meanwhile is answered 409."""

    held: Held = field(compare=False)
    name: str = "held"


Kind = Edge | Reset | KillBefore | Instead | LoseResponse | KillAfter | Slow | Hold
