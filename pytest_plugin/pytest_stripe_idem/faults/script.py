"""Which request a fault meets: the nth money call, an endpoint, a key, or what a predicate says.

    faults.lose_response(nth=2)                        the second money call from now on
    faults.decline(endpoint="POST /v1/charges")        the next charge
    faults.unavailable(key="order-7", times=3)         the next three requests with that key
    faults.slow(30, when=lambda call: call.params.get("customer") == "cus_7")

Without `endpoint`, `key` and `when` only money calls are counted. A fault meets one request unless
`times` says more. Each counts from when it was put in.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from pytest_stripe_idem.core import catalog
from pytest_stripe_idem.core.machine import Decline, Override
from pytest_stripe_idem.core.money_call import MoneyCall
from pytest_stripe_idem.core.response import Break
from pytest_stripe_idem.faults.kinds import (
    Edge,
    Held,
    Hold,
    Instead,
    KillAfter,
    KillBefore,
    Kind,
    LoseResponse,
    Reset,
    Slow,
)

Predicate = Callable[[MoneyCall], bool]


@dataclass(slots=True)
class Planned:
    """One fault and the requests it is meant for.

    Attributes:
        left: How many requests it will still meet.
        seen: How many it could have met so far.
    """

    kind: Kind
    nth: int
    endpoint: str | None
    key: str | None
    when: Predicate | None
    left: int
    seen: int = 0

    def meets(self, call: MoneyCall) -> bool:
        """Counts a request; whether this one is met."""
        if self.left == 0 or not self._means(call):
            return False
        self.seen += 1
        if self.seen < self.nth:
            return False
        self.left -= 1
        return True

    def __str__(self) -> str:
        where = [f"nth={self.nth}"]
        where += [f"endpoint={self.endpoint!r}"] if self.endpoint else []
        where += [f"key={self.key!r}"] if self.key else []
        where += ["when=…"] if self.when else []
        return f"{self.kind.name} ({', '.join(where)})"

    def _means(self, call: MoneyCall) -> bool:
        if self.endpoint is None and self.key is None and self.when is None:
            return call.moves_money
        return (
            (self.endpoint is None or _is_endpoint(self.endpoint, call))
            and (self.key is None or self.key == call.key)
            and (self.when is None or self.when(call))
        )


@dataclass(slots=True)
class Faults:
    """All faults of one test, and the methods to put them in.

    Args:
        monotonic: A clock for the limits of held requests, in seconds.
    """

    monotonic: Callable[[], float]
    _planned: list[Planned] = field(default_factory=list)

    def lose_response(
        self,
        nth: int = 1,
        *,
        endpoint: str | None = None,
        key: str | None = None,
        when: Predicate | None = None,
        times: int = 1,
        reset: bool = False,
    ) -> None:
        """Executed and stored, but the client sees a timeout (`reset`: a broken connection)."""
        how = Break.RESET if reset else Break.READ_TIMEOUT
        self._put(LoseResponse(how), nth, endpoint, key, when, times)

    def reset_before(
        self,
        nth: int = 1,
        *,
        endpoint: str | None = None,
        key: str | None = None,
        when: Predicate | None = None,
        times: int = 1,
    ) -> None:
        """The connection breaks and nothing was executed."""
        self._put(Reset(), nth, endpoint, key, when, times)

    def server_error(
        self,
        nth: int = 1,
        *,
        endpoint: str | None = None,
        key: str | None = None,
        when: Predicate | None = None,
        times: int = 1,
        after_effect: bool = True,
    ) -> None:
        """A 500 that is stored: after the side effect, or without it."""
        override = Override.ERROR_AFTER_EFFECT if after_effect else Override.ERROR_WITHOUT_EFFECT
        name = "500 after the effect" if after_effect else "500 without effect"
        self._put(Instead(override, name), nth, endpoint, key, when, times)

    def unavailable(
        self,
        nth: int = 1,
        *,
        endpoint: str | None = None,
        key: str | None = None,
        when: Predicate | None = None,
        times: int = 1,
        status: int = 503,
    ) -> None:
        """A 502, 503 or 504 from the edge: nothing executed, nothing stored."""
        if status not in {502, 503, 504}:
            raise ValueError(f"the edge answers 502, 503 or 504, not {status}")
        self._put(Edge(status, f"{status} at the edge"), nth, endpoint, key, when, times)

    def rate_limit(
        self,
        nth: int = 1,
        *,
        endpoint: str | None = None,
        key: str | None = None,
        when: Predicate | None = None,
        times: int = 1,
    ) -> None:
        """A 429 from the limiter: nothing executed, nothing stored."""
        self._put(Edge(429, "rate limited"), nth, endpoint, key, when, times)

    def lock_timeout(
        self,
        nth: int = 1,
        *,
        endpoint: str | None = None,
        key: str | None = None,
        when: Predicate | None = None,
        times: int = 1,
    ) -> None:
        """A 429 `lock_timeout`: nothing executed, and it is stored under the key."""
        kind = Instead(Override.LOCK_TIMEOUT, "lock timeout")
        self._put(kind, nth, endpoint, key, when, times)

    def decline(
        self,
        nth: int = 1,
        *,
        endpoint: str | None = None,
        key: str | None = None,
        when: Predicate | None = None,
        times: int = 1,
        code: str = "card_declined",
        decline_code: str | None = "generic_decline",
    ) -> None:
        """A 402 that is stored."""
        told = decline_code if code == "card_declined" else None
        self._put(Instead(Decline(code, told), "declined"), nth, endpoint, key, when, times)

    def hold(
        self,
        nth: int = 1,
        *,
        endpoint: str | None = None,
        key: str | None = None,
        when: Predicate | None = None,
    ) -> Held:
        """Keeps one request in flight until `release()`; another thread or task has to send it."""
        held = Held(self.monotonic)
        self._put(Hold(held), nth, endpoint, key, when, 1)
        return held

    def slow(
        self,
        seconds: float,
        nth: int = 1,
        *,
        endpoint: str | None = None,
        key: str | None = None,
        when: Predicate | None = None,
        times: int = 1,
        real: bool = False,
    ) -> None:
        """Takes that long: a client with a shorter timeout gives up, and the request is executed.

        With `real` the time passes on the wall, for local timeouts (`asyncio.wait_for`); otherwise
        nobody waits.
        """
        self._put(Slow(seconds, real), nth, endpoint, key, when, times)

    def kill(
        self,
        nth: int = 1,
        *,
        endpoint: str | None = None,
        key: str | None = None,
        when: Predicate | None = None,
        times: int = 1,
        after_commit: bool = True,
    ) -> None:
        """The calling process dies: `ProcessKilled`, a `BaseException`, in the test's own process;
        SIGKILL in a child."""
        self._put(KillAfter() if after_commit else KillBefore(), nth, endpoint, key, when, times)

    def put(self, kind: Kind, *, nth: int = 1, when: Predicate | None = None) -> Planned:
        """Any fault of `faults.kinds`, for what repeats a scenario with each of them."""
        return self._put(kind, nth, None, None, when, 1)

    def clear(self) -> None:
        """Takes out every fault that has not met its request."""
        self._planned.clear()

    @property
    def waiting(self) -> tuple[str, ...]:
        """Faults that have not met their request, in words."""
        return tuple(str(each) for each in self._planned if each.left)

    def due(self, call: MoneyCall) -> tuple[Kind, ...]:
        """Counts a request; the faults it meets, in the order they were put in."""
        met = tuple(each.kind for each in self._planned if each.meets(call))
        if met:
            self._planned = [each for each in self._planned if each.left]
        return met

    def _put(
        self,
        kind: Kind,
        nth: int,
        endpoint: str | None,
        key: str | None,
        when: Predicate | None,
        times: int,
    ) -> Planned:
        if nth < 1 or times < 1:
            raise ValueError("nth and times count from 1")
        if endpoint is not None:
            _check_endpoint(endpoint)
        planned = Planned(kind, nth, endpoint, key, when, times)
        self._planned.append(planned)
        return planned


def _check_endpoint(spelled: str) -> None:
    method, path = _parts(spelled)
    if "*" in path or any(
        catalog.find(verb, path) for verb in ([method] if method else ["POST", "GET", "DELETE"])
    ):
        return
    raise ValueError(
        f"{spelled!r} is no endpoint of Stripe; write it like 'POST /v1/charges' or"
        " '/v1/payment_intents/{}/confirm'"
    )


def _is_endpoint(spelled: str, call: MoneyCall) -> bool:
    method, path = _parts(spelled)
    if method and method != call.method:
        return False
    return path in {call.path, call.endpoint} or fnmatchcase(call.path, path)


def _parts(spelled: str) -> tuple[str, str]:
    """`POST /v1/charges` to its two parts; `charges` to `/v1/charges`."""
    method, _, path = spelled.rpartition(" ")
    path = path if path.startswith("/") else f"/v1/{path}"
    return method.strip().upper(), _with_holes(path)


def _with_holes(path: str) -> str:
    """`/v1/charges/{charge}` to `/v1/charges/{}`."""
    return "/".join("{}" if each.startswith("{") else each for each in path.split("/"))
