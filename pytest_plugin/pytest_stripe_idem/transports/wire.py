"""HTTP/1.1 as bytes: a request read from a stream, a response written to one.

Just what the loopback server and the patched sockets need; no connection is made here.
"""

from __future__ import annotations

import http.client
from collections.abc import Iterable, Mapping
from typing import IO, Any

from pytest_stripe_idem.core.request import API_HOST, StripeRequest
from pytest_stripe_idem.core.response import StripeResponse

MAX_HEAD = 64 * 1024


class BadRequest(ValueError):
    """Bytes that are no HTTP request."""


def lower_headers(headers: Mapping[Any, Any] | Iterable[tuple[Any, Any]] | None) -> dict[str, str]:
    """Header names in lower case, values as text."""
    pairs = headers.items() if isinstance(headers, Mapping) else headers or ()
    return {_text(name).lower(): _text(value) for name, value in pairs}


def body_bytes(body: Any) -> bytes:
    """A body in any form that HTTP clients take: text, bytes, a file, an iterable of those."""
    match body:
        case None:
            return b""
        case bytes():
            return body
        case bytearray() | memoryview():
            return bytes(body)
        case str():
            return body.encode("utf-8")
        case _ if hasattr(body, "read"):
            return body_bytes(body.read())
        case _:
            return b"".join(body_bytes(part) for part in body)


def make_request(
    method: str, host: str, target: str, headers: Mapping[str, str], body: bytes
) -> StripeRequest:
    """A request from the parts every client has; `target` is path and query."""
    path, _, query = target.partition("?")
    return StripeRequest(method.upper(), path, query, headers, body, host.lower())


def read_request(stream: IO[bytes]) -> StripeRequest | None:
    """The next request of a connection; None when it has ended.

    Raises:
        BadRequest: The bytes are no request.
    """
    line = stream.readline(MAX_HEAD)
    if not line.strip():
        return None
    parts = line.decode("latin-1").split()
    if len(parts) != 3:
        raise BadRequest("the first line is not METHOD PATH VERSION")
    headers = _read_headers(stream)
    body = _read_body(stream, headers)
    host = headers.get("x-stripe-idem-host", API_HOST)
    target = parts[1]
    if target.startswith(("http://", "https://")):
        target = "/" + target.split("/", 3)[3] if target.count("/") > 2 else "/"
    return make_request(parts[0], host, target, headers, body)


def write_response(response: StripeResponse, *, close: bool = False) -> bytes:
    """All bytes of a response, in one piece: two would wait for each other on a socket."""
    reason = http.client.responses.get(response.status, "")
    lines = [f"HTTP/1.1 {response.status} {reason}"]
    lines += [f"{name}: {value}" for name, value in response.headers]
    lines += [f"Content-Length: {len(response.body)}"]
    lines += ["Connection: close"] if close else []
    return "\r\n".join([*lines, "", ""]).encode("latin-1", "replace") + response.body


def _text(value: Any) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)


def _read_headers(stream: IO[bytes]) -> dict[str, str]:
    headers: dict[str, str] = {}
    while True:
        line = stream.readline(MAX_HEAD)
        if line in (b"\r\n", b"\n", b""):
            return headers
        name, colon, value = line.decode("latin-1").partition(":")
        if not colon:
            raise BadRequest("a header without a colon")
        headers[name.strip().lower()] = value.strip()


def _read_body(stream: IO[bytes], headers: Mapping[str, str]) -> bytes:
    if headers.get("transfer-encoding", "").lower() == "chunked":
        return b"".join(_chunks(stream))
    length = headers.get("content-length", "0")
    if not length.isdigit():
        raise BadRequest("Content-Length is no number")
    return stream.read(int(length)) if length != "0" else b""


def _chunks(stream: IO[bytes]) -> Iterable[bytes]:
    while True:
        size = int(stream.readline(MAX_HEAD).split(b";")[0].strip() or b"0", 16)
        if size == 0:
            while stream.readline(MAX_HEAD).strip():
                pass
            return
        yield stream.read(size)
        stream.readline(MAX_HEAD)
