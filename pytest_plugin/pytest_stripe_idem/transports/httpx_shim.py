"""httpx (and httpx2, which has the same names): the two methods of its transports."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from types import ModuleType
from typing import Any

from pytest_stripe_idem.core.exchange import Caller
from pytest_stripe_idem.core.request import StripeRequest
from pytest_stripe_idem.core.response import Break, Outcome, StripeResponse
from pytest_stripe_idem.transports import wire
from pytest_stripe_idem.transports.errors import ProcessKilled
from pytest_stripe_idem.transports.patches import Patch
from pytest_stripe_idem.transports.switch import caller_of, switch, takes


def plan(module: ModuleType) -> Sequence[Patch]:
    return [
        Patch(module.HTTPTransport, "handle_request", lambda before: _handle(module, before)),
        Patch(
            module.AsyncHTTPTransport,
            "handle_async_request",
            lambda before: _handle_async(module, before),
        ),
    ]


def _handle(module: Any, original: Callable[..., Any]) -> Callable[..., Any]:
    def handle_request(self: Any, request: Any) -> Any:
        if switch.respx or not takes(request.url.host):
            return original(self, request)
        request.read()
        outcome = switch.answer(read_request(request), caller(request))
        return native(module, request, outcome)

    return handle_request


def _handle_async(
    module: Any, original: Callable[..., Awaitable[Any]]
) -> Callable[..., Awaitable[Any]]:
    async def handle_async_request(self: Any, request: Any) -> Any:
        if switch.respx or not takes(request.url.host):
            return await original(self, request)
        await request.aread()
        outcome = await switch.answer_async(read_request(request), caller(request))
        return native(module, request, outcome)

    return handle_async_request


def read_request(request: Any) -> StripeRequest:
    """A request of httpx whose body has been read."""
    target = request.url.raw_path.decode("ascii")
    headers = wire.lower_headers(request.headers.multi_items())
    return wire.make_request(request.method, request.url.host, target, headers, request.content)


def caller(request: Any, client: str = "httpx") -> Caller:
    """Who sends a request of httpx."""
    timeouts = request.extensions.get("timeout") or {}
    return caller_of(client, request.headers.get("idempotency-key"), timeouts.get("read"))


def native(module: Any, request: Any, outcome: Outcome) -> Any:
    """The response or the exception that httpx itself would give."""
    if isinstance(outcome, StripeResponse):
        return module.Response(
            outcome.status,
            headers=list(outcome.headers),
            stream=module.ByteStream(outcome.body),
            request=request,
        )
    match outcome.how:
        case Break.READ_TIMEOUT:
            raise module.ReadTimeout("The read operation timed out", request=request)
        case Break.RESET:
            raise module.ReadError("[Errno 104] Connection reset by peer", request=request)
        case Break.KILLED:
            raise ProcessKilled
