"""The loopback server, its control API, and the command that runs it for other languages."""

from __future__ import annotations

import contextlib
import json
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from plugin.sending import SECRET
from pytest_stripe_idem.server import start
from pytest_stripe_idem.transports.loopback import Loopback


@pytest.fixture
def server() -> Iterator[Loopback]:
    running = start()
    yield running
    running.stop()


def ask(server: Loopback, method: str, path: str, body: Any = None) -> Any:
    """JSON in, JSON out, for the control API."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(server.url + path, data=data, method=method)
    with urllib.request.urlopen(request, timeout=5) as answer:
        return json.load(answer)


def charge(
    server: Loopback, key: str, form: str = "amount=100&currency=usd&source=tok_visa"
) -> Any:
    request = urllib.request.Request(
        f"{server.url}/v1/charges",
        data=form.encode(),
        headers={"Authorization": f"Bearer {SECRET}", "Idempotency-Key": key},
    )
    with urllib.request.urlopen(request, timeout=5) as answer:
        return json.load(answer)


class TestControl:
    def test_requests_charges_and_divergences_are_told(self, server: Loopback) -> None:
        ask(server, "POST", "/_idem/faults", {"fault": "lose_response"})
        with pytest.raises((ConnectionError, urllib.error.URLError)):
            charge(server, "one")
        charge(server, "two")
        told = ask(server, "GET", "/_idem/exchanges")
        assert [each["outcome"] for each in told] == ["executed, response lost", "executed"]
        [one] = ask(server, "GET", "/_idem/charges")
        assert one["executed"] == 2
        [found] = ask(server, "GET", "/_idem/divergences")
        assert found["severity"] == "error"
        assert found["text"].startswith("one charge, two keys: POST /v1/charges")

    def test_the_clock_is_moved_and_keys_are_forgotten(self, server: Loopback) -> None:
        first = charge(server, "k")["id"]
        before = ask(server, "GET", "/_idem/clock")["now"]
        assert ask(server, "POST", "/_idem/clock", {"hours": 25})["now"] >= before + 25 * 3600
        assert charge(server, "k")["id"] != first

    def test_faults_are_listed_and_cleared(self, server: Loopback) -> None:
        told = ask(server, "POST", "/_idem/faults", {"fault": "decline", "key": "k"})
        assert told == {"waiting": ["declined (nth=1, key='k')"]}
        assert ask(server, "DELETE", "/_idem/faults") == {"waiting": []}

    def test_funding_and_reset(self, server: Loopback) -> None:
        assert ask(server, "POST", "/_idem/fund", {"amount": 700}) == {"balance": 700}
        charge(server, "k")
        ask(server, "POST", "/_idem/reset")
        assert ask(server, "GET", "/_idem/exchanges") == []

    @pytest.mark.parametrize(
        ("method", "path", "body", "status", "words"),
        [
            ("GET", "/_idem/nothing", None, 404, "no such control"),
            ("POST", "/_idem/faults", {"fault": "flood"}, 400, "unknown fault 'flood'"),
            ("POST", "/_idem/faults", {"fault": "decline", "when": 1, "x": 2}, 400, "x"),
            (
                "POST",
                "/_idem/faults",
                {"fault": "decline", "endpoint": "/v1/x"},
                400,
                "no endpoint",
            ),
            ("POST", "/_idem/clock", {"hours": -1}, 400, "only moves forward"),
            ("POST", "/_idem/clock", [1], 400, "no JSON object"),
        ],
    )
    def test_a_wrong_request_says_what_is_wrong(
        self, server: Loopback, method: str, path: str, body: Any, status: int, words: str
    ) -> None:
        with pytest.raises(urllib.error.HTTPError) as caught:
            ask(server, method, path, body)
        with caught.value as error:
            assert error.code == status
            assert words in json.load(error)["error"]


class TestWire:
    def raw(self, server: Loopback, *pieces: bytes) -> bytes:
        with socket.create_connection(("127.0.0.1", server.port), timeout=5) as connection:
            for piece in pieces:
                connection.sendall(piece)
            connection.shutdown(socket.SHUT_WR)
            return b"".join(iter(lambda: connection.recv(65536), b""))

    def test_only_this_machine_is_served(self, server: Loopback) -> None:
        assert server.url.startswith("http://127.0.0.1:")
        assert server._socket.getsockname()[0] == "127.0.0.1"

    def test_two_requests_on_one_connection(self, server: Loopback) -> None:
        one = b"GET /v1/balance HTTP/1.1\r\nAuthorization: Bearer sk_test_1\r\n\r\n"
        assert self.raw(server, one + one).count(b"HTTP/1.1 200 OK") == 2

    def test_a_chunked_body_is_read(self, server: Loopback) -> None:
        head = (
            b"POST /v1/customers HTTP/1.1\r\nAuthorization: Bearer sk_test_1\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n"
        )
        answer = self.raw(server, head, b"5\r\nname=\r\n", b"3\r\nAnn\r\n", b"0\r\n\r\n")
        assert b'"name": "Ann"' in answer

    def test_what_is_no_http_is_told_so(self, server: Loopback) -> None:
        assert self.raw(server, b"nonsense\r\n\r\n").startswith(b"HTTP/1.1 400")
        assert charge(server, "k")["object"] == "charge"

    def test_basic_authorization_as_curl_sends_it(self, server: Loopback) -> None:
        head = b"GET /v1/balance HTTP/1.1\r\nAuthorization: Basic c2tfdGVzdF8xOg==\r\n\r\n"
        assert self.raw(server, head).startswith(b"HTTP/1.1 200")

    def test_a_live_key_gets_401(self, server: Loopback) -> None:
        head = b"GET /v1/balance HTTP/1.1\r\nAuthorization: Bearer sk_live_1\r\n\r\n"
        answer = self.raw(server, head)
        assert answer.startswith(b"HTTP/1.1 401")
        assert b"live key" in answer

    def test_a_client_that_hangs_up_leaves_the_request_running(self, server: Loopback) -> None:
        ask(server, "POST", "/_idem/faults", {"fault": "slow", "seconds": 0.2, "real": True})
        body = b"amount=100&currency=usd&source=tok_visa"
        head = (
            b"POST /v1/charges HTTP/1.1\r\nAuthorization: Bearer sk_test_1\r\n"
            b"Content-Length: %d\r\n\r\n" % len(body)
        )
        connection = socket.create_connection(("127.0.0.1", server.port), timeout=5)
        connection.sendall(head + body)
        connection.close()
        until = time.monotonic() + 10
        while time.monotonic() < until:
            told = ask(server, "GET", "/_idem/exchanges")
            if told and told[0]["executed"]:
                break
            time.sleep(0.01)
        assert (told[0]["executed"], told[0]["delivered"]) == (True, False)

    def test_it_stops_at_once_with_requests_under_way(self) -> None:
        running = start()
        with socket.create_connection(("127.0.0.1", running.port), timeout=5) as connection:
            connection.sendall(b"GET /v1/ba")
            running.stop()
            # A connection that nobody had accepted yet is reset, any other is closed.
            with contextlib.suppress(ConnectionResetError):
                assert connection.recv(1) == b""

    def test_a_long_run_remembers_so_many_requests_and_no_more(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("pytest_stripe_idem.server.KEPT", 5)
        running = start()
        threads = [threading.Thread(target=charge, args=(running, f"k{n}")) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        told = ask(running, "GET", "/_idem/exchanges")
        running.stop()
        assert [each["number"] for each in told] == [4, 5, 6, 7, 8]


class TestCommand:
    def test_it_prints_how_to_point_clients_at_it_and_ends_on_interrupt(self) -> None:
        command = [sys.executable, "-m", "pytest_stripe_idem.server", "--port", "0"]
        running = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert running.stdout is not None
        try:
            told = ""
            while "control:" not in told:
                told += running.stdout.readline()
            url = told.split()[3]
            with urllib.request.urlopen(f"{url}/_idem/clock", timeout=5) as answer:
                assert "now" in json.load(answer)
            running.send_signal(signal.SIGINT)
            running.communicate(timeout=5)
        finally:
            running.kill()
        assert running.returncode == 0
        for name in ("stripe-python", "stripe-node", "curl", "/_idem/exchanges"):
            assert name in told

    def test_a_wrong_assumption_is_told(self) -> None:
        command = [sys.executable, "-m", "pytest_stripe_idem.server", "--assume", "expand=1"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert "unknown assumption 'expand'" in done.stderr

    @pytest.mark.filterwarnings("ignore:`verify=<str>`")  # version 8's own call into httpx
    def test_the_sdk_reaches_it_as_the_printed_lines_say(self, server: Loopback) -> None:
        stripe = pytest.importorskip("stripe")
        if not hasattr(stripe, "StripeClient"):
            pytest.skip("this version of the SDK has no client of its own")
        client = stripe.StripeClient("sk_test_123", base_addresses={"api": server.url})
        service = getattr(client, "v1", client)
        assert service.customers.create({"name": "Jenny"}).name == "Jenny"
