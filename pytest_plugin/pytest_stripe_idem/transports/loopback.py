"""A real HTTP server on 127.0.0.1 with the same fake behind it, a thread per connection.

For child processes, for other programs, and for `stripe-idem-server`. A lost response is a real
reset of the connection. Paths below `/_idem/` go to a control function instead of the fake.
"""

from __future__ import annotations

import contextlib
import json
import select
import socket
import struct
import threading
from collections.abc import Callable
from typing import IO, Any

from pytest_stripe_idem.core import errors
from pytest_stripe_idem.core.exchange import Handler
from pytest_stripe_idem.core.request import StripeRequest
from pytest_stripe_idem.core.response import Outcome, StripeResponse, encode
from pytest_stripe_idem.transports import forward, wire
from pytest_stripe_idem.transports.driving import drive

CONTROL = "/_idem/"
ADDRESS = "127.0.0.1"

# Given a request below `/_idem/`: status and JSON of the answer.
Control = Callable[[StripeRequest], tuple[int, Any]]
FindHandler = Callable[[], Handler | None]


class Loopback:
    """The server.

    Args:
        find_handler: Gives the fake that answers just now, or None.
        control: Answers requests below `/_idem/`; without it they are a 404.
        port: 0 takes a free one.
        reserved: A socket that is bound already; its port is taken.
    """

    def __init__(
        self,
        find_handler: FindHandler,
        control: Control | None = None,
        port: int = 0,
        *,
        reserved: socket.socket | None = None,
    ) -> None:
        self._find_handler, self._control = find_handler, control
        self._socket = reserved or socket.create_server((ADDRESS, port))
        self._socket.settimeout(None)  # whatever `socket.setdefaulttimeout` says
        self._socket.listen(128)
        self.port: int = self._socket.getsockname()[1]
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._stopped = False
        self._thread = threading.Thread(
            target=self._accept, name="stripe-idem loopback", daemon=True
        )

    @property
    def url(self) -> str:
        """The base to point a client at."""
        return f"http://{ADDRESS}:{self.port}"

    def start(self) -> Loopback:
        self._thread.start()
        return self

    def stop(self) -> None:
        """Closes everything at once; requests under way get no answer."""
        with self._lock:
            self._stopped = True
        # Closing alone does not wake a thread that waits in `accept`.
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        with self._lock:
            open_now = list(self._open)
        for each in open_now:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        if self._thread.is_alive():
            self._thread.join(timeout=5)

    def _accept(self) -> None:
        while True:
            try:
                # Not `accept`: it makes a `socket.socket`, which pytest-socket forbids.
                number, _ = self._socket._accept()  # type: ignore[attr-defined]
                kind = type(self._socket)
                connection = kind(self._socket.family, self._socket.type, fileno=number)
                connection.settimeout(None)
            except OSError:
                return
            with self._lock:
                if self._stopped:
                    connection.close()
                    return
                self._open.add(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        try:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with connection.makefile("rb") as stream:
                while self._one(connection, stream):
                    pass
        except (OSError, ValueError):
            return  # the client is gone, or sent no HTTP and was told so
        finally:
            with self._lock:
                self._open.discard(connection)
            connection.close()

    def _one(self, connection: socket.socket, stream: IO[bytes]) -> bool:
        """Answers one request; whether the connection stays open."""
        try:
            request = wire.read_request(stream)
        except wire.BadRequest as error:
            refusal = errors.ApiError(400, "invalid_request_error", str(error))
            connection.sendall(wire.write_response(_json(400, refusal.body()), close=True))
            return False
        if request is None:
            return False
        outcome = self._answer(request, connection)
        if not isinstance(outcome, StripeResponse):
            if forward.CALLER not in request.headers:
                _reset(connection)
                return False
            outcome = _told(outcome.how.name)
        close = request.headers.get("connection", "").lower() == "close"
        connection.sendall(wire.write_response(outcome, close=close))
        return not close

    def _answer(self, request: StripeRequest, connection: socket.socket) -> Outcome:
        if request.path.startswith(CONTROL):
            status, body = (
                self._control(request) if self._control else (404, {"error": "no control"})
            )
            return _json(status, body)
        if request.live:
            message = "A live key must never be sent to a fake. Use a test key (sk_test_…)."
            return _json(401, errors.ApiError(401, "invalid_request_error", message).body())
        handler = self._find_handler()
        if handler is None:
            return _nobody(forward.CALLER in request.headers)
        caller = forward.read_caller(request.headers)
        return drive(handler.handle(request, caller), lambda: _hung_up(connection))


def _json(status: int, body: Any) -> StripeResponse:
    return StripeResponse(status, (("Content-Type", "application/json"),), encode(body))


def _told(word: str) -> StripeResponse:
    """For a child, which breaks its own connection as its client would see it."""
    return StripeResponse(forward.BREAK_STATUS, ((forward.BREAK, word),), b"")


def _nobody(forwarded: bool) -> StripeResponse:
    if forwarded:
        return _told(forward.REFUSED)
    message = "No test has the fake just now: it begins with the fixture `fake_stripe_server`."
    return _json(503, {"error": {"type": "api_error", "message": message}})


def _reset(connection: socket.socket) -> None:
    """RST instead of FIN: the client sees `connection reset by peer`."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def _hung_up(connection: socket.socket) -> bool:
    try:
        readable, _, _ = select.select([connection], [], [], 0)
        return bool(readable) and connection.recv(1, socket.MSG_PEEK) == b""
    except ValueError:
        return False  # more open files than `select` can look at: nobody can tell
    except OSError:
        return True


def read_json(request: StripeRequest) -> dict[str, Any]:
    """The JSON object in the body of a control request; empty without one.

    Raises:
        ValueError: It is no JSON object.
    """
    found = json.loads(request.body or b"{}")
    if not isinstance(found, dict):
        raise ValueError("the body is no JSON object")  # noqa: TRY004 - the text is at fault
    return found
