"""`http.client`, and `urllib.request` with it: a socket that is answered from memory.

The connection does not connect; what is written to it is a request, what is read the answer. So
everything above (redirects, `HTTPError`, proxies that tunnel) works as it does over a network.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
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
    patches = [Patch(module.HTTPConnection, "connect", _connect)]
    if hasattr(module, "HTTPSConnection"):
        patches.append(Patch(module.HTTPSConnection, "connect", _connect))
    return patches


def _connect(original: Callable[..., Any]) -> Callable[..., Any]:
    def connect(self: Any) -> None:
        host = self._tunnel_host or self.host
        if not takes(host):
            original(self)
            return
        timeout = self.timeout if isinstance(self.timeout, int | float) else None
        self.sock = _MemorySocket(host, timeout)

    return connect


class _MemorySocket:
    """As much of a socket as `http.client` uses."""

    def __init__(self, host: str, timeout: float | None) -> None:
        self._host, self._timeout = host, timeout
        self._written = bytearray()

    def sendall(self, data: Any) -> None:
        self._written += bytes(data)

    def makefile(self, mode: str = "rb", *args: Any, **more: Any) -> io.RawIOBase:
        """Called when the answer is wanted: everything has been written by then."""
        assert "r" in mode, "only reading goes through a file"
        request = wire.read_request(io.BytesIO(bytes(self._written)))
        self._written.clear()
        assert request is not None, "an answer is read after a request"
        request = wire.make_request(
            request.method, self._host, _target(request), request.headers, request.body
        )
        caller = caller_of("http.client", request.idempotency_key, self._timeout)
        return _Answering(request, caller)

    def settimeout(self, timeout: float | None) -> None:
        self._timeout = timeout

    def setsockopt(self, *args: Any) -> None: ...

    def shutdown(self, how: int) -> None: ...

    def close(self) -> None: ...


class _Answering(io.RawIOBase):
    """A stream that asks the fake when it is first read: a fault is met in `getresponse`."""

    def __init__(self, request: StripeRequest, caller: Caller) -> None:
        self._request, self._caller = request, caller
        self._answer: io.BytesIO | None = None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self._bytes().readinto(buffer)

    def readline(self, size: int | None = -1, /) -> bytes:
        return self._bytes().readline(size)

    def read(self, size: int | None = -1, /) -> bytes:
        return self._bytes().read(size)

    def peek(self, size: int = 1) -> bytes:
        here = self._bytes()
        return here.getvalue()[here.tell() :][: max(size, 1)]

    def read1(self, size: int = -1) -> bytes:
        return self._bytes().read(size)

    def _bytes(self) -> io.BytesIO:
        if self._answer is None:
            outcome = switch.answer(self._request, self._caller)
            self._answer = io.BytesIO(_native(outcome))
        return self._answer


def _native(outcome: Outcome) -> bytes:
    if isinstance(outcome, StripeResponse):
        return wire.write_response(outcome)
    match outcome.how:
        case Break.READ_TIMEOUT:
            raise TimeoutError("The read operation timed out")
        case Break.RESET:
            raise ConnectionResetError(104, "Connection reset by peer")
        case Break.KILLED:
            raise ProcessKilled


def _target(request: StripeRequest) -> str:
    return f"{request.path}?{request.query}" if request.query else request.path
