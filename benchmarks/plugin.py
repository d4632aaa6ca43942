"""Measures the pytest plugin: what it adds to the start of pytest, and a load run on its server.

    python benchmarks/plugin.py start
    python benchmarks/plugin.py load [--requests 20000] [--threads 16]

`start` compares `pytest` on an empty test with and without the plugin, in alternating pairs, and
prints the medians of both and the median of the ratios of the pairs: of the time by the clock, and
of processor time, which a busy machine disturbs less.

`load` sends charges to the loopback server from many threads with random faults (lost responses,
resets, 429, 503, 500, declines) and random retries of the client, then checks that the books equal
what the clients were told, that nothing was executed twice under one key, how memory grew with what
was made, and that requests which make nothing take none. Beside it, in the same run and with the
same client: a static `http.server`, and a static respx route where respx is installed. Ratios are
worth more than the numbers: they were measured on one machine at one time.
"""
# ruff: noqa: INP001 - a script beside the packages, not part of one

from __future__ import annotations

import argparse
import http.client
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from pytest_stripe_idem.harness import FakeStripe
from pytest_stripe_idem.options import Options
from pytest_stripe_idem.transports.loopback import Loopback

HEADERS = {
    "Authorization": "Bearer sk_test_bench",
    "Content-Type": "application/x-www-form-urlencoded",
}
FAULT_RATE = 0.15
RETRIES = 4
# Megabytes that a quarter more requests may take when they make nothing: threads, fragments.
MOST_GROWTH = 10


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=("start", "load"))
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--requests", type=int, default=20_000)
    parser.add_argument("--threads", type=int, default=16)
    given = parser.parse_args(argv)
    if given.what == "start":
        measure_start(given.pairs)
        return 0
    return 0 if measure_load(given.requests, given.threads) else 1


def measure_start(pairs: int) -> None:
    """Alternating pairs, so that a slow moment of the machine meets both."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "test_empty.py").write_text("def test_empty():\n    pass\n")
        plugin = ("-p", "pytest_stripe_idem.plugin")
        taken = [(_start(folder), _start(folder, *plugin)) for _ in range(pairs)]
    for place, what in enumerate(("wall", "CPU")):
        without = [pair[0][place] for pair in taken]
        with_it = [pair[1][place] for pair in taken]
        medians = [statistics.median(each) * 1000 for each in (without, with_it)]
        ratio = statistics.median(b / a for a, b in zip(without, with_it, strict=True))
        print(
            f"{what:5} without {medians[0]:6.1f} ms, with {medians[1]:6.1f} ms, ratio {ratio:.3f}"
        )


def _start(folder: str, *more: str) -> tuple[float, float]:
    """Seconds of one start: by the clock, and of processor time."""
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = [sys.executable, "-P", "-m", "pytest", "-q", "-p", "no:cacheprovider", *more, folder]
    begun, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    took, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return took, used


@dataclass(slots=True)
class Told:
    """What all clients together were told.

    Attributes:
        charges: Amount by id, of successes that were delivered.
        unknown: Keys whose outcome no client ever learned.
        sent: Requests that were sent, retries included.
    """

    charges: dict[str, int] = field(default_factory=dict)
    unknown: dict[str, int] = field(default_factory=dict)
    sent: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)


def measure_load(requests: int, threads: int) -> bool:
    """The load run; whether the books are right."""
    fake = FakeStripe(Options(), kept=10_000)
    server = Loopback(lambda: fake).start()
    told = Told()
    marks: list[int] = []
    quarter = threading.Barrier(threads, action=_memory_marks(marks))
    begun = time.perf_counter()
    _in_threads(
        threads,
        lambda number: _client(
            fake, server.port, number, requests // threads, told, random.Random(number), quarter
        ),
    )
    took = time.perf_counter() - begun
    right = _check(fake, told)
    print(f"sent     {told.sent} requests in {took:.1f} s: {told.sent / took:.0f}/s")
    growth = [f"{each / 1024:.0f}" for each in marks]
    print(f"memory   {' → '.join(growth)} MB after each quarter; {len(fake.exchanges)} remembered")
    bounded = _check_memory(server.port, requests // 4, threads)
    server.stop()
    _compare(requests // 4, threads)
    return right and bounded


def _check_memory(port: int, requests: int, threads: int) -> bool:
    """Requests that make no object (retries of one that is done) must need no memory of their own."""
    grown: list[int] = []
    mark = _memory_marks(grown)
    mark()
    _in_threads(threads, lambda number: _repeat(port, requests // threads))
    mark()
    megabytes = (grown[1] - grown[0]) / 1024
    print(f"memory   {megabytes:+.1f} MB by {requests} further requests that make nothing")
    return megabytes < MOST_GROWTH


def _repeat(port: int, requests: int) -> None:
    for _ in range(requests):
        _send(port, "again", b"amount=100&currency=usd&source=tok_visa")


def _memory_marks(marks: list[int]) -> Callable[[], None]:
    return lambda: marks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


def _client(
    fake: FakeStripe,
    port: int,
    number: int,
    wanted: int,
    told: Told,
    chance: random.Random,
    quarter: threading.Barrier,
) -> None:
    """One customer after another, each charged until the outcome is known or patience is over."""
    sent = 0
    for step in range(1, 5):
        while sent < wanted * step // 4:
            key, amount = f"{number}-{sent}", chance.randrange(100, 10_000)
            sent += _charge(fake, port, key, amount, told, chance)
        quarter.wait()
    with told.lock:
        told.sent += sent


def _charge(
    fake: FakeStripe, port: int, key: str, amount: int, told: Told, chance: random.Random
) -> int:
    form = f"amount={amount}&currency=usd&source=tok_visa&metadata[order]={key}".encode()
    for attempt in range(1, RETRIES + 1):
        if chance.random() < FAULT_RATE:
            _put_fault(fake, key, chance)
        outcome = _send(port, key, form)
        if outcome is None:
            continue
        status, body = outcome
        if status == 200:
            with told.lock:
                told.charges[_id_of(body)] = amount
            return attempt
        if status in {402, 500}:
            if status == 500:
                with told.lock:
                    told.unknown[key] = amount
            return attempt
    with told.lock:
        told.unknown[key] = amount
    return RETRIES


def _put_fault(fake: FakeStripe, key: str, chance: random.Random) -> None:
    name = chance.choice(
        ("lose_response", "reset_before", "rate_limit", "unavailable", "server_error", "decline")
    )
    # Only this client sends this key, and nobody else may put faults at the same time.
    with fake._engine.lock:
        getattr(fake.faults, name)(key=key)


_local = threading.local()


def _send(port: int, key: str, form: bytes) -> tuple[int, bytes] | None:
    """Status and body; None where the connection broke."""
    connection = getattr(_local, "connection", None)
    if connection is None:
        connection = _local.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request("POST", "/v1/charges", form, {**HEADERS, "Idempotency-Key": key})
        answer = connection.getresponse()
        return answer.status, answer.read()
    except (ConnectionError, http.client.HTTPException):
        connection.close()
        _local.connection = None
        return None


def _id_of(body: bytes) -> str:
    return body.partition(b'"id": "')[2].partition(b'"')[0].decode()


def _check(fake: FakeStripe, told: Told) -> bool:
    """The ledger against what clients were told; each key at most once."""
    charges = {each["id"]: each for each in fake.objects("charge") if each["captured"]}
    lost = [id for id, amount in told.charges.items() if charges[id]["amount"] != amount]
    untold = [each for id, each in charges.items() if id not in told.charges]
    strangers = [each for each in untold if each["metadata"]["order"] not in told.unknown]
    orders = [each["metadata"]["order"] for each in charges.values()]
    twice = len(orders) - len(set(orders))
    total = sum(each["amount"] for each in charges.values())
    right = not lost and not strangers and not twice and total == fake.balance()
    print(
        f"books    {len(charges)} charges, {len(told.charges)} told, {len(untold)} nobody heard of;"
        f" wrong {len(lost)}, unexplained {len(strangers)}, twice {twice}:"
        f" {'right' if right else 'WRONG'}"
    )
    return right


def _compare(requests: int, threads: int) -> None:
    """The same client against the fake without faults, a static http.server and respx."""
    fake = FakeStripe(Options(), kept=10_000)
    server = Loopback(lambda: fake).start()
    rates = {"the fake on the loopback": _rate(server.port, requests, threads)}
    server.stop()
    static = ThreadingHTTPServer(("127.0.0.1", 0), _Static)
    threading.Thread(target=static.serve_forever, kwargs={"poll_interval": 0.01}).start()
    rates["a static http.server"] = _rate(static.server_port, requests, threads)
    static.shutdown()
    static.server_close()
    respx = _respx_rate(requests // 4)
    if respx is not None:
        rates["a static respx route (httpx)"], rates["the fake in memory (httpx)"] = respx
    for name, rate in rates.items():
        print(f"{rate:8.0f}/s  {name}")
    loopback = rates["the fake on the loopback"] / rates["a static http.server"]
    print(f"ratio    loopback to http.server {loopback:.2f}")
    if respx is not None:
        print(f"ratio    in memory to respx {respx[1] / respx[0]:.2f}")


class _Static(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    body = b'{"id": "ch_1", "object": "charge", "amount": 100}' * 20

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", str(len(self.body)))
        self.end_headers()
        self.wfile.write(self.body)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: the terminal would be what is measured."""


def _rate(port: int, requests: int, threads: int) -> float:
    def client(number: int) -> None:
        for sent in range(requests // threads):
            _send(port, f"{number}-{sent}", b"amount=100&currency=usd&source=tok_visa")

    begun = time.perf_counter()
    _in_threads(threads, client)
    return requests / (time.perf_counter() - begun)


def _respx_rate(requests: int) -> tuple[float, float] | None:
    """Requests per second of one thread: a static respx route, then the fake in memory."""
    try:
        import httpx
        import respx
    except ImportError:
        return None
    from pytest_stripe_idem.transports.install import patches

    url, form = "https://api.stripe.com/v1/charges", b"amount=100&currency=usd&source=tok_visa"

    def send() -> float:
        begun = time.perf_counter()
        with httpx.Client() as client:
            for number in range(requests):
                headers = {**HEADERS, "Idempotency-Key": f"k{number}"}
                client.post(url, content=form, headers=headers)
        return requests / (time.perf_counter() - begun)

    with respx.mock(assert_all_called=False) as router:
        router.post(url).respond(json={"id": "ch_1", "object": "charge"})
        static = send()
    patches.install()
    with FakeStripe(Options()).answering():
        ours = send()
    patches.uninstall()
    return static, ours


def _in_threads(count: int, work: Callable[[int], None]) -> None:
    threads = [threading.Thread(target=work, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    raise SystemExit(main())
