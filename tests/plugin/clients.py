"""Every client that reaches the fake, behind one method: `send`.

An adapter gives status, headers and body as its client saw them, and says which exceptions that
client raises when a connection breaks. Libraries that are not installed leave their adapters out.
"""

from __future__ import annotations

import asyncio
import base64
import importlib.util
import json
import os
import pickle
import ssl
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from plugin.sending import SECRET, encoded

API = "https://api.stripe.com"


@dataclass(frozen=True, slots=True)
class Reply:
    """What a client was given; header names in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True, slots=True)
class Wanted:
    """One request: the parts every client has."""

    method: str
    path: str
    params: Mapping[str, Any]
    headers: Mapping[str, str]

    @property
    def target(self) -> str:
        """Path and, for what has no body, the query."""
        if self.method == "POST" or not self.params:
            return self.path
        return f"{self.path}?{encoded(self.params)}"

    @property
    def url(self) -> str:
        return API + self.target

    @property
    def body(self) -> bytes:
        if self.method != "POST":
            return b""
        if self.path.startswith("/v2/"):
            return json.dumps(self.params).encode()
        return encoded(self.params).encode()


def all_words(error: BaseException | None) -> str:
    """What an exception and all that caused it say."""
    words = ""
    while error is not None:
        words += f"{type(error).__name__} {error} "
        error = error.__cause__ or error.__context__
    return words


Send = Callable[[Wanted], Reply]


@dataclass(frozen=True, slots=True)
class Client:
    """One adapter.

    Attributes:
        needs: The packages without which it is left out.
        timeout: Exceptions for a response that never came.
        reset: Exceptions for a connection that broke.
        any_key: It sends whatever key it is given (the SDK does not).
        v2: It can send JSON bodies.
    """

    name: str
    needs: tuple[str, ...]
    send: Send
    timeout: Callable[[], tuple[type[BaseException], ...]]
    reset: Callable[[], tuple[type[BaseException], ...]]
    any_key: bool = True
    v2: bool = True

    @property
    def installed(self) -> bool:
        return all(importlib.util.find_spec(name) is not None for name in self.needs)


def wanted(
    method: str,
    path: str,
    params: Mapping[str, Any] | None = None,
    key: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> Wanted:
    """A request with the headers every Stripe client sends."""
    kind = "application/json" if path.startswith("/v2/") else "application/x-www-form-urlencoded"
    sent = {"Authorization": f"Bearer {SECRET}", "Content-Type": kind}
    sent |= {"Idempotency-Key": key} if key is not None else {}
    return Wanted(method, path, params or {}, {**sent, **(headers or {})})


@cache
def _context() -> ssl.SSLContext:
    """Made once: loading the certificates takes longer than everything else here."""
    return ssl.create_default_context()


def _lower(pairs: Any) -> dict[str, str]:
    items = pairs.items() if hasattr(pairs, "items") else pairs
    return {str(name).lower(): str(value) for name, value in items}


def _requests(want: Wanted) -> Reply:
    import requests

    got = requests.request(
        want.method, want.url, data=want.body, headers=dict(want.headers), timeout=5
    )
    return Reply(got.status_code, _lower(got.headers), got.content)


def _requests_errors(name: str) -> tuple[type[BaseException], ...]:
    import requests

    return (requests.ReadTimeout,) if name == "timeout" else (requests.ConnectionError,)


def _urllib3(want: Wanted) -> Reply:
    import urllib3

    pool = urllib3.PoolManager(retries=False)
    got = pool.request(want.method, want.url, body=want.body, headers=dict(want.headers))
    return Reply(got.status, _lower(got.headers), got.data)


def _urllib3_errors(name: str) -> tuple[type[BaseException], ...]:
    import urllib3

    errors = urllib3.exceptions
    return (errors.ReadTimeoutError,) if name == "timeout" else (errors.ProtocolError,)


def _httpx_like(module_name: str) -> tuple[Send, Send]:
    def sync(want: Wanted) -> Reply:
        module = importlib.import_module(module_name)
        with module.Client(verify=_context()) as client:
            got = client.request(
                want.method, want.url, content=want.body, headers=dict(want.headers)
            )
        return Reply(got.status_code, _lower(got.headers), got.content)

    async def one(want: Wanted) -> Reply:
        module = importlib.import_module(module_name)
        async with module.AsyncClient(verify=_context()) as client:
            got = await client.request(
                want.method, want.url, content=want.body, headers=dict(want.headers)
            )
        return Reply(got.status_code, _lower(got.headers), got.content)

    return sync, lambda want: asyncio.run(one(want))


def _httpx_errors(module_name: str) -> Callable[[str], tuple[type[BaseException], ...]]:
    def errors(name: str) -> tuple[type[BaseException], ...]:
        module = importlib.import_module(module_name)
        return (module.ReadTimeout,) if name == "timeout" else (module.ReadError,)

    return errors


def _aiohttp(want: Wanted) -> Reply:
    return asyncio.run(aiohttp_once(want))


async def aiohttp_once(want: Wanted) -> Reply:
    """One request in a session of its own."""
    import aiohttp

    async with (
        aiohttp.ClientSession() as session,
        session.request(
            want.method, want.url, data=want.body or None, headers=dict(want.headers)
        ) as got,
    ):
        return Reply(got.status, _lower(got.headers), await got.read())


def _aiohttp_errors(name: str) -> tuple[type[BaseException], ...]:
    import aiohttp

    return (aiohttp.ServerTimeoutError,) if name == "timeout" else (aiohttp.ClientOSError,)


def _urllib(want: Wanted) -> Reply:
    import urllib.error
    import urllib.request

    request = urllib.request.Request(
        want.url, data=want.body or None, headers=dict(want.headers), method=want.method
    )
    try:
        with urllib.request.urlopen(request, timeout=5, context=_context()) as got:
            return Reply(got.status, _lower(got.headers), got.read())
    except urllib.error.HTTPError as error:
        with error:
            return Reply(error.code, _lower(error.headers), error.read())


def _http_client(want: Wanted) -> Reply:
    import http.client

    connection = http.client.HTTPSConnection("api.stripe.com", timeout=5, context=_context())
    connection.request(want.method, want.target, want.body, dict(want.headers))
    got = connection.getresponse()
    reply = Reply(got.status, _lower(got.getheaders()), got.read())
    connection.close()
    return reply


def _socket_errors(name: str) -> tuple[type[BaseException], ...]:
    return (TimeoutError,) if name == "timeout" else (ConnectionResetError,)


@cache
def _stripe_client() -> Any:
    import stripe

    return stripe.StripeClient(SECRET, max_network_retries=0)


def _sdk(want: Wanted) -> Reply:
    import stripe

    args, options = _raw(want)
    if sdk_major() >= 11:
        return _from_sdk(lambda: _stripe_client().raw_request(*args, **options))
    params = dict(want.params) if want.method == "POST" else None
    old: Any = stripe
    if sdk_major() >= 8:
        requestor = old._api_requestor._APIRequestor._global_instance()
        sent = {name: options[name] for name in options.keys() - want.params.keys()}
        body, status, headers = requestor.request_raw(
            *args, params=params, options=sent, base_address="api", api_mode="V1"
        )
    else:
        requestor = old.api_requestor.APIRequestor(key=options["api_key"])
        body, status, headers, _ = requestor.request_raw(*args, params, dict(want.headers))
    spelled = body.encode() if isinstance(body, str) else body
    return Reply(status, _lower(headers), spelled)


def sdk_major() -> int:
    """The installed SDK's major version; 0 where there is none."""
    try:
        return int(version("stripe").partition(".")[0])
    except PackageNotFoundError:
        return 0


def _sdk_async(want: Wanted) -> Reply:
    # Made anew: a client of httpx belongs to the event loop it was first used in.
    client = _stripe_client.__wrapped__()

    async def once() -> Any:
        return await client.raw_request_async(*_raw(want)[0], **_raw(want)[1])

    return _from_sdk(lambda: asyncio.run(once()))


def _raw(want: Wanted) -> tuple[tuple[str, str], dict[str, Any]]:
    names = {"idempotency-key": "idempotency_key", "stripe-account": "stripe_account"}
    options: dict[str, Any] = {
        names[name.lower()]: value for name, value in want.headers.items() if name.lower() in names
    }
    options["api_key"] = want.headers["Authorization"].removeprefix("Bearer ")
    if want.method == "POST":
        options |= dict(want.params)
    return (want.method.lower(), want.target), options


def _from_sdk(call: Callable[[], Any]) -> Reply:
    import stripe

    try:
        got = call()
    except stripe.APIConnectionError:
        raise
    except stripe.StripeError as error:
        body: Any = error.http_body
        spelled = body.encode() if isinstance(body, str) else body
        return Reply(error.http_status or 0, _lower(error.headers or {}), spelled)
    return Reply(got.code, _lower(got.headers), str(got.body).encode())


def _sdk_errors(name: str) -> tuple[type[BaseException], ...]:
    import stripe

    errors: Any = stripe if sdk_major() >= 8 else stripe.error
    return (errors.APIConnectionError,)


def _forked(want: Wanted) -> Reply:
    """A child of `os.fork` sends the request and tells what it saw through a pipe."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            told: Any = _urllib(want)
        except Exception as error:  # noqa: BLE001 - raised again in the parent
            told = error
        os.write(writing, pickle.dumps(told))
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        answer = stream.read()
    os.waitpid(child, 0)
    return _opened(answer)


def _opened(answer: bytes) -> Reply:
    told = pickle.loads(answer)
    if isinstance(told, BaseException):
        raise told
    assert isinstance(told, Reply)
    return told


_WORKER = """\
import base64, pickle, sys
sys.path[:] = pickle.loads(base64.b64decode(sys.argv[1]))
from plugin.clients import answer_for_ever
answer_for_ever()
"""

_worker: subprocess.Popen[bytes] | None = None


def _other_program(want: Wanted) -> Reply:
    """A Python started with `subprocess`, which lives as long as this one."""
    global _worker
    if _worker is None:
        path = base64.b64encode(pickle.dumps(sys.path)).decode()
        _worker = subprocess.Popen(
            [sys.executable, "-c", _WORKER, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
    assert _worker.stdin is not None
    assert _worker.stdout is not None
    _worker.stdin.write(base64.b64encode(pickle.dumps(want)) + b"\n")
    _worker.stdin.flush()
    return _opened(base64.b64decode(_worker.stdout.readline()))


def charge_in_child(form: Mapping[str, Any], key: str) -> int:
    """The status of one charge; `multiprocessing` runs it in a child.

    It stands here because a spawned child imports the module by its name, which pytest's import
    mode does not allow for a test module: a pool whose workers die of that waits for ever.
    """
    return _urllib(wanted("POST", "/v1/charges", form, key)).status


def stop_other_program() -> None:
    """Ends the program of `_other_program`."""
    global _worker
    if _worker is not None:
        _worker.communicate(timeout=5)
        _worker = None


def answer_for_ever() -> None:
    """The main loop of that program."""
    for line in sys.stdin.buffer:
        try:
            told: Any = _urllib(pickle.loads(base64.b64decode(line)))
        except Exception as error:  # noqa: BLE001 - raised again in the parent
            told = error
        sys.stdout.buffer.write(base64.b64encode(pickle.dumps(told)) + b"\n")
        sys.stdout.buffer.flush()


def _client(
    name: str,
    needs: tuple[str, ...],
    send: Send,
    errors: Callable[[str], tuple[type[BaseException], ...]],
    any_key: bool = True,
    v2: bool = True,
) -> Client:
    return Client(
        name, needs, send, lambda: errors("timeout"), lambda: errors("reset"), any_key, v2
    )


def _all() -> tuple[Client, ...]:
    httpx, httpx_async = _httpx_like("httpx")
    httpx2, httpx2_async = _httpx_like("httpx2")
    sdk_async = ("stripe", "httpx", "anyio")
    recent = sdk_major() >= 11
    return (
        _client("requests", ("requests",), _requests, _requests_errors),
        _client("urllib3", ("urllib3",), _urllib3, _urllib3_errors),
        _client("httpx", ("httpx",), httpx, _httpx_errors("httpx")),
        _client("httpx async", ("httpx",), httpx_async, _httpx_errors("httpx")),
        _client("httpx2", ("httpx2",), httpx2, _httpx_errors("httpx2")),
        _client("httpx2 async", ("httpx2",), httpx2_async, _httpx_errors("httpx2")),
        _client("aiohttp", ("aiohttp",), _aiohttp, _aiohttp_errors),
        _client("urllib", (), _urllib, _socket_errors),
        _client("http.client", (), _http_client, _socket_errors),
        _client("stripe", ("stripe", "requests"), _sdk, _sdk_errors, False, sdk_major() >= 11),
        *([_client("stripe async", sdk_async, _sdk_async, _sdk_errors, False)] if recent else []),
        _client("forked child", (), _forked, _socket_errors),
        _client("other program", (), _other_program, _socket_errors),
    )


CLIENTS = tuple(client for client in _all() if client.installed)


def loopback_client(port: int) -> Client:
    """Plain HTTP to the loopback server, as a program in another language would."""

    def send(want: Wanted) -> Reply:
        import http.client

        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        try:
            connection.request(want.method, want.target, want.body, dict(want.headers))
            got = connection.getresponse()
            return Reply(got.status, _lower(got.getheaders()), got.read())
        finally:
            connection.close()

    broken = (ConnectionResetError, BrokenPipeError)
    return Client("loopback", (), send, lambda: broken, lambda: broken)
