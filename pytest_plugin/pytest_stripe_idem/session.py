"""What the tests of one run share: the loopback server, and how a test's fake is set up."""

from __future__ import annotations

import importlib.util
import socket
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from pytest_stripe_idem.control import answer_control
from pytest_stripe_idem.core.exchange import Handler
from pytest_stripe_idem.core.money_call import MoneyCall
from pytest_stripe_idem.core.request import StripeRequest
from pytest_stripe_idem.harness import FakeStripe
from pytest_stripe_idem.options import Options, read_assumptions
from pytest_stripe_idem.transports import children, sdk
from pytest_stripe_idem.transports.loopback import Loopback
from pytest_stripe_idem.transports.switch import switch

MARKER = "fake_stripe"


class MissingExtra(RuntimeError):
    """The fixture is used where none of the clients it stands behind is installed."""

    def __init__(self) -> None:
        super().__init__(
            "the fixture fake_stripe needs an HTTP client to stand behind, and this environment has"
            ' none: install the extra with  pip install "stripe-idem-lint[pytest]"'
        )


@dataclass(frozen=True, slots=True)
class ServerView:
    """Where other programs find the fake of the running test.

    Attributes:
        url: `http://127.0.0.1:port`.
    """

    url: str
    host: str
    port: int

    def __str__(self) -> str:
        return self.url


class Session:
    """Lives from the first test with a fake to the end of the run.

    Args:
        reserved: A socket whose port the loopback server takes: children know it already.
    """

    def __init__(self, config: pytest.Config, reserved: socket.socket | None = None) -> None:
        self._config = config
        self._reserved = reserved
        self._server: Loopback | None = None

    @contextmanager
    def fake(self, options: Options, item: pytest.Item) -> Iterator[FakeStripe]:
        """The fake of one test, reached by every client while inside."""
        _need_a_client()
        hook = item.ihook.pytest_stripe_idem_identity

        def identity(call: MoneyCall) -> Any:
            return hook(call=call)

        fake = FakeStripe(options, hook=identity, root=self._config.rootpath)
        with ExitStack() as stack:
            stack.enter_context(fake.answering())
            stack.enter_context(_sdk_prepared(options))
            if self._started():
                stack.enter_context(
                    children.reached(self.server().port, sdk_retries=options.sdk_retries)
                )
            yield fake

    def server(self) -> ServerView:
        """The loopback server, started when it is first wanted."""
        if self._server is None:
            self._server = Loopback(_running_fake, _control, reserved=self._reserved).start()
        return ServerView(self._server.url, "127.0.0.1", self._server.port)

    def stop(self) -> None:
        if self._server is not None:
            self._server.stop()
            self._server = None

    def _started(self) -> bool:
        """Whether children can be reached: not where sockets are forbidden (pytest-socket)."""
        try:
            self.server()
        except RuntimeError:
            return False
        return True


def options_of(item: pytest.Item) -> Options:
    """Ini, then command line, then markers from the outermost to the one on the test.

    Raises:
        OptionError: A name or a value that is wrong.
    """
    config = item.config
    options = Options().changed(_from_ini(config), "pytest's configuration")
    if config.getoption("stripe_idem_strict"):
        options = options.changed({"strict": True}, "--stripe-idem-strict")
    for marker in reversed(list(item.iter_markers(MARKER))):
        where = f"@pytest.mark.fake_stripe at {item.nodeid}"
        if marker.args:
            options.changed({str(marker.args[0]): None}, where)
        options = options.changed(marker.kwargs, where)
    return options


def _from_ini(config: pytest.Config) -> Mapping[str, Any]:
    assumptions = config.getini("stripe_idem_assumptions")
    found: dict[str, Any] = {
        "strict": config.getini("stripe_idem_strict"),
        "sdk_retries": config.getini("stripe_idem_sdk_retries"),
        "volatile": config.getini("stripe_idem_volatile"),
        "assumptions": read_assumptions(assumptions, "stripe_idem_assumptions"),
    }
    identity = config.getini("stripe_idem_identity")
    return found | ({"identity": identity} if identity else {})


@contextmanager
def _sdk_prepared(options: Options) -> Iterator[None]:
    """The package `stripe` as a test wants it, where there is one."""
    if importlib.util.find_spec("stripe") is None:
        yield
        return
    import stripe

    put_back = sdk.prepare(stripe, keep_retries=options.sdk_retries)
    try:
        yield
    finally:
        put_back()


def _need_a_client() -> None:
    names = ("stripe", "requests", "httpx", "httpx2", "aiohttp", "urllib3")
    if not any(name in sys.modules or importlib.util.find_spec(name) for name in names):
        raise MissingExtra


def _running_fake() -> Handler | None:
    return switch.handler


def _control(request: StripeRequest) -> tuple[int, Any]:
    handler = switch.handler
    if not isinstance(handler, FakeStripe):
        return 503, {"error": "no test has the fake just now"}
    return answer_control(handler, request)
