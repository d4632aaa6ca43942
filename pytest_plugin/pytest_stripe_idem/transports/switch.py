"""One switch per process: where a request to Stripe goes just now.

- to a handler, while a test has the fake;
- to the loopback server of another process, in a child of such a test;
- nowhere: it is refused with an error that names the fixture.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from pytest_stripe_idem.core.exchange import Caller, Handler
from pytest_stripe_idem.core.request import STRIPE_HOSTS, StripeRequest
from pytest_stripe_idem.core.response import Outcome
from pytest_stripe_idem.transports import automatic, callers
from pytest_stripe_idem.transports.driving import drive, drive_async
from pytest_stripe_idem.transports.errors import LiveKeyRefused, StripeRefused

Forward = Callable[[StripeRequest, Caller], Outcome]


@dataclass(slots=True)
class Switch:
    """Where requests go.

    Attributes:
        handler: The fake of the running test.
        forward: In a child process: sends to the fake of its parent.
        respx: respx routes the requests of httpx itself; its route leads to the fake.
        refused: What was refused, in words.
    """

    handler: Handler | None = None
    forward: Forward | None = None
    respx: bool = False
    refused: list[str] = field(default_factory=list)

    def answer(self, request: StripeRequest, caller: Caller) -> Outcome:
        """Answers in this thread.

        Raises:
            StripeRefused: No test has asked for the fake.
            LiveKeyRefused: The API key is a live one.
        """
        self._admit(request)
        if self.handler is not None:
            return drive(self.handler.handle(request, caller))
        assert self.forward is not None, "an admitted request has somewhere to go"
        return self.forward(request, caller)

    async def answer_async(self, request: StripeRequest, caller: Caller) -> Outcome:
        """Answers in this task; see `answer`."""
        self._admit(request)
        if self.handler is not None:
            return await drive_async(self.handler.handle(request, caller))
        assert self.forward is not None, "an admitted request has somewhere to go"
        return self.forward(request, caller)

    def _admit(self, request: StripeRequest) -> None:
        open_way = self.handler is not None or self.forward is not None
        if open_way and not request.live:
            return
        self.refused.append(f"{request.method} https://{request.host}{request.path}")
        if request.live:
            raise LiveKeyRefused(request.secret or "")
        raise StripeRefused(request.method, request.host, request.path)


switch = Switch()


def takes(host: object) -> bool:
    """Whether a host is one of Stripe's."""
    return isinstance(host, str) and host.lower().rstrip(".") in STRIPE_HOSTS


def caller_of(client: str, key: str | None, timeout: float | None = None) -> Caller:
    """Who is calling, seen from here."""
    return Caller(
        client=client,
        place=callers.find(),
        automatic=automatic.was_generated(key),
        worker=callers.worker(),
        timeout=timeout,
        run=_run,
    )


# The run that a fresh interpreter carries out; set once, when it starts.
_run = ""


def name_run(name: str) -> None:
    """All requests of this process belong to that run."""
    global _run
    _run = name
