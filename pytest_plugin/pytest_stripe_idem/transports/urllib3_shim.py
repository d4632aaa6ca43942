"""urllib3, and requests with it: one method of the connection pool.

Below `responses` and every adapter, so that what passes them through meets the fake too. urllib3's
own `Retry` is honoured as urllib3 honours it, without its pauses.
"""

from __future__ import annotations

import io
import socket
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from pytest_stripe_idem.core.response import Break, Outcome, StripeResponse
from pytest_stripe_idem.transports import wire
from pytest_stripe_idem.transports.errors import ProcessKilled
from pytest_stripe_idem.transports.patches import Patch
from pytest_stripe_idem.transports.switch import caller_of, switch, takes


def plan(module: ModuleType) -> Sequence[Patch]:
    return [Patch(module.HTTPConnectionPool, "urlopen", _urlopen)]


def _urlopen(original: Callable[..., Any]) -> Callable[..., Any]:
    def urlopen(
        self: Any, method: str, url: str, body: Any = None, headers: Any = None, **more: Any
    ) -> Any:
        if not takes(self.host):
            return original(self, method, url, body, headers, **more)
        from urllib3.util.retry import Retry

        retries = more.pop("retries", None)
        if not isinstance(retries, Retry):
            retries = Retry.from_int(
                retries, redirect=more.get("redirect", True), default=self.retries
            )
        sent = wire.lower_headers(self.headers if headers is None else headers)
        _need_latin_1(sent)
        return _attempts(self, method, url, wire.body_bytes(body), sent, retries, more)

    return urlopen


def _need_latin_1(headers: dict[str, str]) -> None:
    """As `http.client` does when it writes them: a key it cannot write is never sent.

    Raises:
        UnicodeEncodeError: A value has other characters.
    """
    for value in headers.values():
        value.encode("latin-1")


def _attempts(
    pool: Any, method: str, url: str, body: bytes, headers: dict[str, str], retries: Any, more: Any
) -> Any:
    from urllib3.exceptions import HTTPError

    target = url.split("/", 3)[3] if url.startswith("http") else url.removeprefix("/")
    request = wire.make_request(method, pool.host, "/" + target, headers, body)
    while True:
        caller = caller_of("urllib3", request.idempotency_key, _timeout(pool, more))
        outcome = switch.answer(request, caller)
        try:
            response = _native(pool, url, method, outcome, retries, more)
        except HTTPError as error:
            retries = retries.increment(method, url, error=error, _pool=pool)
            continue
        if not retries.is_retry(method, response.status, False):
            return response
        retries = retries.increment(method, url, response=response, _pool=pool)
        response.drain_conn()


def _native(pool: Any, url: str, method: str, outcome: Outcome, retries: Any, more: Any) -> Any:
    from urllib3.exceptions import ProtocolError, ReadTimeoutError

    if isinstance(outcome, StripeResponse):
        return _response(outcome, method, url, retries, more)
    match outcome.how:
        case Break.READ_TIMEOUT:
            raise ReadTimeoutError(pool, url, "Read timed out.")
        case Break.RESET:
            error = ConnectionResetError(104, "Connection reset by peer")
            raise ProtocolError("Connection aborted.", error)
        case Break.KILLED:
            raise ProcessKilled


def _response(outcome: StripeResponse, method: str, url: str, retries: Any, more: Any) -> Any:
    import http.client

    from urllib3.response import HTTPResponse

    return HTTPResponse(
        body=io.BytesIO(outcome.body),
        headers=dict(outcome.headers),
        status=outcome.status,
        version=11,
        reason=http.client.responses.get(outcome.status, ""),
        preload_content=more.get("preload_content", True),
        decode_content=more.get("decode_content", True),
        request_method=method,
        request_url=url,
        retries=retries,
    )


def _timeout(pool: Any, more: dict[str, Any]) -> float | None:
    given = more.get("timeout", pool.timeout)
    read = getattr(given, "read_timeout", given)
    if isinstance(read, bool) or not isinstance(read, int | float):
        return socket.getdefaulttimeout()
    return float(read)
