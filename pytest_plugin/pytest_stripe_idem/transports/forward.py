"""From a child process to the fake of its parent: over the loopback server, in plain HTTP.

What the child knows and the parent cannot (the line of code, who made the key, how long the client
waits) travels in headers that begin with `X-Stripe-Idem-`.
"""

from __future__ import annotations

import http.client
import json
import os
import signal
from collections.abc import Mapping

from pytest_stripe_idem.core.exchange import Caller, Place
from pytest_stripe_idem.core.request import StripeRequest
from pytest_stripe_idem.core.response import Break, ConnectionBroken, Outcome, StripeResponse
from pytest_stripe_idem.transports.errors import StripeRefused

HOST = "x-stripe-idem-host"
CALLER = "x-stripe-idem-caller"
BREAK = "X-Stripe-Idem-Break"
REFUSED = "REFUSED"
BREAK_STATUS = 599


class Forward:
    """Sends requests to `127.0.0.1:port`."""

    def __init__(self, port: int) -> None:
        self._port = port

    def __call__(self, request: StripeRequest, caller: Caller) -> Outcome:
        """The outcome in the parent; a kill is carried out here, on this process.

        Raises:
            StripeRefused: The test that started this process is over.
        """
        outcome = self._ask(request, caller)
        if isinstance(outcome, ConnectionBroken) and outcome.how is Break.KILLED:
            os.kill(os.getpid(), signal.SIGKILL)
        return outcome

    def _ask(self, request: StripeRequest, caller: Caller) -> Outcome:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=600)
        target = f"{request.path}?{request.query}" if request.query else request.path
        try:
            connection.request(request.method, target, request.body, _headers(request, caller))
            answer = connection.getresponse()
            body = answer.read()
        except OSError as error:
            raise StripeRefused(request.method, request.host, request.path) from error
        finally:
            connection.close()
        return _outcome(request, answer, body)


def read_caller(headers: Mapping[str, str]) -> Caller:
    """Who sent a forwarded request; for any other program only that it came over the loopback."""
    if CALLER not in headers:
        return Caller(client="loopback", worker="another program")
    told = json.loads(headers[CALLER])
    place = told.pop("place")
    return Caller(place=Place(*place) if place else None, **told)


def _headers(request: StripeRequest, caller: Caller) -> dict[str, str]:
    place = caller.place
    told = {
        "automatic": caller.automatic,
        "client": caller.client,
        "place": [place.file, place.line, place.function] if place else None,
        "run": caller.run,
        "timeout": caller.timeout,
        "worker": caller.worker,
    }
    dropped = {"host", "content-length", "transfer-encoding", "accept-encoding", "connection"}
    kept = {name: value for name, value in request.headers.items() if name not in dropped}
    return {**kept, HOST: request.host, CALLER: json.dumps(told)}


def _outcome(request: StripeRequest, answer: http.client.HTTPResponse, body: bytes) -> Outcome:
    broken = answer.getheader(BREAK)
    if broken == REFUSED:
        raise StripeRefused(request.method, request.host, request.path)
    if broken is not None:
        return ConnectionBroken(Break[broken])
    dropped = {"content-length", "connection"}
    headers = tuple(pair for pair in answer.getheaders() if pair[0].lower() not in dropped)
    return StripeResponse(answer.status, headers, body)
