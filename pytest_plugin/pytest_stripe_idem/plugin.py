"""The pytest plugin: fixtures, marker, options, verdict. It is loaded at every start of pytest.

So it imports nothing beyond what pytest has imported itself; the fake comes with the first test
that asks for it. The verdict is given at the end of a test's call: the test itself fails, with a
timeline.
"""

from __future__ import annotations

import contextlib
import os
import socket
import sys
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from pytest_stripe_idem.transports import environment
from pytest_stripe_idem.transports.install import patches

if TYPE_CHECKING:
    from pytest_stripe_idem.harness import FakeStripe
    from pytest_stripe_idem.options import Options
    from pytest_stripe_idem.session import ServerView, Session

MARKER = "fake_stripe"
_FAKE = pytest.StashKey["FakeStripe"]()
_SESSION = pytest.StashKey["Session"]()
_RESERVED = pytest.StashKey[socket.socket | None]()

_MARKER_HELP = (
    "fake_stripe(identity=…, spend_cap=…, strict=…, judge=…, volatile=…, sdk_retries=…,"
    " assumptions=…): settings of the fake Stripe for this test, which gets the fixture."
)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("stripe-idem", "fake Stripe and idempotency keys")
    group.addoption(
        "--stripe-idem-report",
        action="append",
        default=[],
        metavar="FILE",
        help="write what was sent to the fake Stripe to FILE.json or FILE.html",
    )
    group.addoption(
        "--stripe-idem-strict",
        action="store_true",
        default=None,
        help="two keys fail a test even where the first success had been delivered",
    )
    parser.addini("stripe_idem_identity", "the project's own 'same payment': pkg.mod:name")
    parser.addini("stripe_idem_strict", "as --stripe-idem-strict", type="bool", default=False)
    parser.addini("stripe_idem_sdk_retries", "leave the SDK's retries on", "bool", default=False)
    parser.addini("stripe_idem_volatile", "parameters that name no purchase", "args", default=[])
    parser.addini("stripe_idem_assumptions", "name = value, one per line", "linelist", default=[])


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    from pytest_stripe_idem import hookspecs

    pluginmanager.add_hookspecs(hookspecs)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", _MARKER_HELP)
    config.pluginmanager.register(Reporter(config), "stripe-idem-reporter")
    patches.install()
    if environment.PORT in os.environ:
        from pytest_stripe_idem.transports import child

        config.add_cleanup(child.leave())
    _tell_children(config)


def _tell_children(config: pytest.Config) -> None:
    """From the start: one that no fake answers is refused, as this process is.

    The port is only reserved: nobody listens before a test has the fake. So a process that lives
    longer than a test (the fork server of `multiprocessing`) knows the right one too.
    """
    config.stash[_RESERVED] = None
    with contextlib.suppress(OSError):
        reserved = socket.socket()
        config.add_cleanup(reserved.close)
        reserved.bind(("127.0.0.1", 0))
        config.stash[_RESERVED] = reserved
        config.add_cleanup(environment.tell(**{environment.PORT: str(reserved.getsockname()[1])}))


def pytest_unconfigure(config: pytest.Config) -> None:
    session = config.stash.get(_SESSION, None)
    if session is not None:
        session.stop()
    patches.uninstall()


def pytest_itemcollected(item: pytest.Item) -> None:
    """The marker alone is enough to get the fixture."""
    names = getattr(item, "fixturenames", None)
    if names is not None and item.get_closest_marker(MARKER) and MARKER not in names:
        names.insert(0, MARKER)


@pytest.fixture
def fake_stripe(request: pytest.FixtureRequest) -> Iterator[FakeStripe]:
    """A fake Stripe that every client in this process and its children reaches.

    The test fails when one logical charge was sent under two keys.
    """
    options = _options(request.node)
    with _session(request.config).fake(options, request.node) as fake:
        request.node.stash[_FAKE] = fake
        yield fake


@pytest.fixture
def fake_stripe_server(request: pytest.FixtureRequest, fake_stripe: FakeStripe) -> ServerView:
    """The same fake behind `http://127.0.0.1:port`, for other programs and other languages."""
    return _session(request.config).server()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    with patches.kept_on_top():
        try:
            result = yield
        except BaseException:
            _judge(item, failed=True)
            raise
    _judge(item, failed=False)
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    fake = item.stash.get(_FAKE, None)
    if call.when == "call" and fake is not None:
        from pytest_stripe_idem.report.story import story_of

        # Plain data: under pytest-xdist it travels from a worker to the controller.
        story = story_of(fake, item.nodeid, report.outcome, item.config.rootpath)
        report.stripe_idem = story  # type: ignore[attr-defined]  # an attribute of our own
    return report


def _judge(item: pytest.Item, *, failed: bool) -> None:
    """Fails the test with its timeline; one that failed by itself gets it as a section."""
    fake = item.stash.get(_FAKE, None)
    complaints = fake.complaints() if fake is not None else []
    if not complaints:
        return
    text = "\n\n".join(complaints)
    if failed:
        item.add_report_section("call", "fake Stripe", text)
    else:
        pytest.fail(text, pytrace=False)


def _session(config: pytest.Config) -> Session:
    """What all tests of a run share; made with the first of them."""
    if _SESSION not in config.stash:
        from pytest_stripe_idem.session import Session

        config.stash[_SESSION] = Session(config, config.stash[_RESERVED])
    return config.stash[_SESSION]


def _options(item: pytest.Item) -> Options:
    """The settings of a test; a wrong one is an error of that test."""
    from pytest_stripe_idem.options import OptionError
    from pytest_stripe_idem.session import options_of

    try:
        return options_of(item)
    except OptionError as error:
        wrong = str(error)
    pytest.fail(wrong, pytrace=False)  # outside: the message alone is shown, and once


class Reporter:
    """Collects what the tests tell and shows it at the end of the run."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._stories: list[dict[str, Any]] = []
        self._refused: list[str] = []
        self._before = len(_refused_here())

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        story = getattr(report, "stripe_idem", None)
        if story is not None:
            self._stories.append(story)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        """A worker of pytest-xdist tells the controller what it refused."""
        output = getattr(self._config, "workeroutput", None)
        if output is not None:
            output["stripe_idem_refused"] = _refused_here()[self._before :]

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        self._refused += getattr(node, "workeroutput", {}).get("stripe_idem_refused", [])

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        refused = [*self._refused, *_refused_here()[self._before :]]
        paths = self._config.getoption("stripe_idem_report")
        if not (self._stories or refused or paths):
            return
        from pytest_stripe_idem.report import summary

        terminalreporter.section("fake Stripe", sep="-")
        for line in summary.lines(self._stories, refused):
            terminalreporter.write_line(line)
        for path in paths:
            summary.write(path, self._stories)
            terminalreporter.write_line(f"report written to {path}")


def _refused_here() -> list[str]:
    """Requests of this process that no fake answered."""
    switched = sys.modules.get("pytest_stripe_idem.transports.switch")
    return list(switched.switch.refused) if switched is not None else []
