"""Events: read only; and the one that a destination is asked to send."""

from __future__ import annotations

from pytest_stripe_idem.core import errors
from pytest_stripe_idem.core.call import Call
from pytest_stripe_idem.core.world import Json


def retrieve(call: Call) -> Json:
    for each in call.world.events():
        if each["id"] == call.ids[0]:
            return each
    raise errors.not_found("event", call.ids[0])


def ping(call: Call) -> Json:
    """A v2 event that says its destination can be reached."""
    destination = call.owned("v2.core.event_destination")
    return call.world.add(
        "v2.core.event",
        call.now,
        {
            "type": "v2.core.event_destination.ping",
            "related_object": {
                "id": destination["id"],
                "type": "v2.core.event_destination",
                "url": f"/v2/core/event_destinations/{destination['id']}",
            },
        },
    )


ROUTES = {
    "GET /v1/events/{}": retrieve,
    "POST /v2/core/event_destinations/{}/ping": ping,
}
