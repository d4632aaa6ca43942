"""The JSON control API below `/_idem/` of the loopback server.

GET    /_idem/exchanges      every request and what became of it
GET    /_idem/charges        logical charges, each with its requests
GET    /_idem/divergences    what went wrong, with its text
GET    /_idem/faults         faults that have met no request yet
POST   /_idem/faults         {"fault": "lose_response", "nth": 2, …}
DELETE /_idem/faults
GET    /_idem/clock          {"now": seconds since 1970}
POST   /_idem/clock          {"hours": 25}
POST   /_idem/fund           {"amount": 1000, "currency": "usd"}
POST   /_idem/reset
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from pytest_stripe_idem.core.request import StripeRequest
from pytest_stripe_idem.harness import FakeStripe
from pytest_stripe_idem.report.story import charge_data, divergence_data, exchange_data
from pytest_stripe_idem.transports.loopback import CONTROL, read_json

FAULTS = (
    "decline",
    "kill",
    "lock_timeout",
    "lose_response",
    "rate_limit",
    "reset_before",
    "server_error",
    "slow",
    "unavailable",
)

Answer = tuple[int, Any]


def answer_control(fake: FakeStripe, request: StripeRequest) -> Answer:
    """Status and JSON for one request below `/_idem/`."""
    name = f"{request.method} {request.path.removeprefix(CONTROL).strip('/')}"
    route = _ROUTES.get(name)
    if route is None:
        return 404, {"error": f"no such control: {name}", "known": sorted(_ROUTES)}
    try:
        return 200, route(fake, read_json(request))
    except (TypeError, ValueError) as error:
        return 400, {"error": str(error)}


def _exchanges(fake: FakeStripe, given: dict[str, Any]) -> Any:
    return [exchange_data(each, Path.cwd()) for each in fake.exchanges]


def _charges(fake: FakeStripe, given: dict[str, Any]) -> Any:
    return [charge_data(each, Path.cwd()) for each in fake.charges]


def _divergences(fake: FakeStripe, given: dict[str, Any]) -> Any:
    return [divergence_data(each, Path.cwd()) for each in fake.divergences]


def _faults(fake: FakeStripe, given: dict[str, Any]) -> Any:
    return {"waiting": list(fake.faults.waiting)}


def _put_fault(fake: FakeStripe, given: dict[str, Any]) -> Any:
    name = given.pop("fault", None)
    if name not in FAULTS:
        raise ValueError(f"unknown fault {name!r}; known are {', '.join(FAULTS)}")
    getattr(fake.faults, str(name))(**given)
    return _faults(fake, {})


def _clear_faults(fake: FakeStripe, given: dict[str, Any]) -> Any:
    fake.faults.clear()
    return _faults(fake, {})


def _clock(fake: FakeStripe, given: dict[str, Any]) -> Any:
    return {"now": fake.clock.now()}


def _advance(fake: FakeStripe, given: dict[str, Any]) -> Any:
    fake.clock.advance(**given)
    return _clock(fake, {})


def _fund(fake: FakeStripe, given: dict[str, Any]) -> Any:
    fake.fund(int(given["amount"]), str(given.get("currency", "usd")))
    return {"balance": fake.balance(str(given.get("currency", "usd")))}


def _reset(fake: FakeStripe, given: dict[str, Any]) -> Any:
    fake.reset()
    return {"reset": True}


_ROUTES: dict[str, Callable[[FakeStripe, dict[str, Any]], Any]] = {
    "GET exchanges": _exchanges,
    "GET charges": _charges,
    "GET divergences": _divergences,
    "GET faults": _faults,
    "POST faults": _put_fault,
    "DELETE faults": _clear_faults,
    "GET clock": _clock,
    "POST clock": _advance,
    "POST fund": _fund,
    "POST reset": _reset,
}
