"""aiohttp: a connection of its own kind whose other end is in memory.

The connector makes its usual protocol object and is given a transport that answers from the fake;
aiohttp itself writes the request and reads the response. The line of the user's code is noted where
the request begins, because the writing happens in a task of aiohttp's.
"""

from __future__ import annotations

import asyncio
import io
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from types import ModuleType
from typing import Any

from pytest_stripe_idem.core.exchange import Caller
from pytest_stripe_idem.core.request import StripeRequest
from pytest_stripe_idem.core.response import Break, Outcome, StripeResponse
from pytest_stripe_idem.transports import wire
from pytest_stripe_idem.transports.errors import ProcessKilled
from pytest_stripe_idem.transports.patches import Patch
from pytest_stripe_idem.transports.switch import caller_of, switch, takes

_caller: ContextVar[Caller | None] = ContextVar("stripe_idem_caller", default=None)


def plan_client(module: ModuleType) -> Sequence[Patch]:
    return [Patch(module.ClientSession, "_request", _noting_caller)]


def plan_connector(module: ModuleType) -> Sequence[Patch]:
    return [Patch(module.TCPConnector, "_create_connection", _create)]


def _noting_caller(original: Callable[..., Any]) -> Callable[..., Any]:
    async def _request(self: Any, method: str, str_or_url: Any, **more: Any) -> Any:
        given = more.get("timeout")
        timeout = getattr(given, "total", None) or getattr(self.timeout, "total", None)
        key = wire.lower_headers(more.get("headers")).get("idempotency-key")
        token = _caller.set(caller_of("aiohttp", key, timeout))
        try:
            return await original(self, method, str_or_url, **more)
        finally:
            _caller.reset(token)

    return _request


def _create(original: Callable[..., Any]) -> Callable[..., Any]:
    async def _create_connection(self: Any, req: Any, traces: Any, timeout: Any) -> Any:
        host = req.url.raw_host
        if not takes(host):
            return await original(self, req, traces, timeout)
        protocol = self._factory()
        protocol.connection_made(_MemoryTransport(protocol, host))
        return protocol

    return _create_connection


class _MemoryTransport(asyncio.Transport):
    """Collects what is written until it is a request, then feeds the answer."""

    def __init__(self, protocol: Any, host: str) -> None:
        super().__init__()
        self._protocol, self._host = protocol, host
        self._written = bytearray()
        self._closed = False
        # A task that nobody holds may be collected before it has run.
        self._answering: set[asyncio.Task[None]] = set()

    def write(self, data: Any) -> None:
        self._written += bytes(data)
        request = self._complete()
        if request is not None:
            self._written.clear()
            task = asyncio.get_running_loop().create_task(self._answer(request))
            self._answering.add(task)
            task.add_done_callback(self._answering.discard)

    def _complete(self) -> StripeRequest | None:
        written = bytes(self._written)
        head, blank, rest = written.partition(b"\r\n\r\n")
        if not blank:
            return None
        names = head.lower()
        if b"transfer-encoding: chunked" in names and not rest.endswith(b"0\r\n\r\n"):
            return None
        request = wire.read_request(io.BytesIO(written))
        assert request is not None, "a head was written"
        wanted = int(request.headers.get("content-length", "0"))
        if len(request.body) < wanted:
            return None
        target = f"{request.path}?{request.query}" if request.query else request.path
        return wire.make_request(request.method, self._host, target, request.headers, request.body)

    async def _answer(self, request: StripeRequest) -> None:
        caller = _caller.get() or caller_of("aiohttp", request.idempotency_key)
        try:
            outcome = await switch.answer_async(request, caller)
        except Exception as error:  # noqa: BLE001 - it is raised in the client's task instead
            self._protocol.set_exception(error)
            return
        self._feed(outcome)

    def _feed(self, outcome: Outcome) -> None:
        if isinstance(outcome, StripeResponse):
            self._protocol.data_received(wire.write_response(outcome))
            return
        match outcome.how:
            case Break.READ_TIMEOUT:
                import aiohttp

                error = aiohttp.ServerTimeoutError("Timeout on reading data from socket")
                self._protocol.set_exception(error)
            case Break.RESET:
                self._drop(ConnectionResetError(104, "Connection reset by peer"))
            case Break.KILLED:
                self._protocol.set_exception(ProcessKilled())

    def _drop(self, error: Exception | None) -> None:
        if not self._closed:
            self._closed = True
            self._protocol.connection_lost(error)

    def close(self) -> None:
        if not self._closed:
            asyncio.get_running_loop().call_soon(self._drop, None)

    def abort(self) -> None:
        self.close()

    def is_closing(self) -> bool:
        return self._closed

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return default

    def can_write_eof(self) -> bool:
        return False

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...

    def is_reading(self) -> bool:
        return True

    def get_write_buffer_size(self) -> int:
        return 0
