"""Events: read only."""

from __future__ import annotations

from pytest_stripe_idem.core import errors
from pytest_stripe_idem.core.call import Call
from pytest_stripe_idem.core.world import Json


def retrieve(call: Call) -> Json:
    for each in call.world.events():
        if each["id"] == call.ids[0]:
            return each
    raise errors.not_found("event", call.ids[0])


ROUTES = {"GET /v1/events/{}": retrieve}
