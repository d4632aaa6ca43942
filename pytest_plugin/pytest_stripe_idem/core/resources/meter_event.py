"""Meter events: an `identifier` counts once within a day, whatever key it is sent under."""

from __future__ import annotations

from pytest_stripe_idem.core import errors
from pytest_stripe_idem.core.call import Call
from pytest_stripe_idem.core.ledger import DAY
from pytest_stripe_idem.core.resources import generic
from pytest_stripe_idem.core.world import Json


def create(call: Call) -> Json:
    identifier = call.params.get("identifier") or call.world.new_id("identifier")
    counted = call.world.singletons.setdefault("meter identifiers", {})
    if identifier in counted and call.now - counted[identifier] < DAY:
        raise errors.invalid(
            f"An event with the identifier {identifier} was counted already.",
            param="identifier",
            code="duplicate_meter_event",
        )
    made = generic.create(call)
    made["identifier"] = identifier
    counted[identifier] = call.now
    return made


ROUTES = {
    "POST /v1/billing/meter_events": create,
    "POST /v2/billing/meter_events": create,
}
