"""Every certain fact about Stripe's idempotency, over every transport.

One suite, many adapters: what a client sees must not depend on which client it is.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from plugin.clients import (
    CLIENTS,
    Client,
    Reply,
    all_words,
    loopback_client,
    stop_other_program,
    wanted,
)
from pytest_stripe_idem.harness import FakeStripe
from pytest_stripe_idem.options import Options
from pytest_stripe_idem.transports import children
from pytest_stripe_idem.transports.install import patches
from pytest_stripe_idem.transports.loopback import Loopback
from pytest_stripe_idem.transports.switch import switch

# The SDK's own calls into httpx.
pytestmark = [
    pytest.mark.filterwarnings("ignore:Use 'content=<...>'"),
    pytest.mark.filterwarnings("ignore:`verify=<str>`"),
]

CHARGE = {"amount": 4900, "currency": "usd", "source": "tok_visa"}
NAMES = [*(client.name for client in CLIENTS), "loopback"]


@pytest.fixture(scope="module")
def server() -> Iterator[Loopback]:
    patches.install()
    refused = len(switch.refused)
    running = Loopback(lambda: switch.handler).start()
    with children.reached(running.port):
        yield running
        stop_other_program()
    running.stop()
    # Refused on purpose here: nothing that the summary of this run should tell.
    del switch.refused[refused:]


class Wire:
    """One client in front of one fake."""

    def __init__(self, client: Client, fake: FakeStripe) -> None:
        self.client, self.fake = client, fake

    def send(
        self,
        method: str,
        path: str,
        params: Mapping[str, Any] | None = None,
        key: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        return self.client.send(wanted(method, path, params, key, headers))

    def charge(self, key: str | None = "k", **more: Any) -> Reply:
        return self.send("POST", "/v1/charges", {**CHARGE, **more}, key)

    def need_v2(self) -> None:
        """The SDK sends v2 requests from 11.0 on."""
        if not self.client.v2:
            pytest.skip("this version of the SDK knows no v2")

    @property
    def charges(self) -> int:
        return len(self.fake.objects("charge"))


@pytest.fixture(params=NAMES)
def wire(request: pytest.FixtureRequest, server: Loopback) -> Iterator[Wire]:
    known = {client.name: client for client in (*CLIENTS, loopback_client(server.port))}
    fake = FakeStripe(Options())
    with fake.answering():
        yield Wire(known[request.param], fake)


def test_the_first_execution_and_its_replay(wire: Wire) -> None:
    first, again = wire.charge(), wire.charge()
    assert (first.status, first.json()["object"]) == (200, "charge")
    assert first.headers["idempotency-key"] == "k"
    assert first.headers["original-request"] == first.headers["request-id"]
    assert first.headers["stripe-should-retry"] == "false"
    assert "idempotent-replayed" not in first.headers
    assert (again.status, again.body) == (first.status, first.body)
    assert again.headers["idempotent-replayed"] == "true"
    assert again.headers["original-request"] == first.headers["request-id"]
    assert again.headers["request-id"] != first.headers["request-id"]
    assert wire.charges == 1


def test_without_a_key_every_post_executes(wire: Wire) -> None:
    wire.charge(None)
    wire.charge(None)
    assert wire.charges == 2


def test_a_key_is_255_characters_at_most_and_one_at_least(wire: Wire) -> None:
    assert wire.charge("k" * 255).status == 200
    for key in ("k" * 256, ""):
        if key == "" and not wire.client.any_key:
            continue
        reply = wire.charge(key)
        assert (reply.status, reply.json()["error"]["type"]) == (400, "invalid_request_error")
    assert wire.charges == 1


def test_get_and_delete_ignore_the_key(wire: Wire) -> None:
    path = f"/v1/customers/{wire.send('POST', '/v1/customers', key='a').json()['id']}"
    assert [wire.send("GET", path, key="k").status for _ in range(2)] == [200, 200]
    assert [wire.send("DELETE", path, key="k").status for _ in range(2)] == [200, 404]


def test_other_parameters_under_one_key(wire: Wire) -> None:
    wire.charge()
    reply = wire.charge(amount=1)
    error = reply.json()["error"]
    assert (reply.status, error["type"], error.get("code")) == (400, "idempotency_error", None)


def test_another_endpoint_under_one_key(wire: Wire) -> None:
    wire.charge()
    reply = wire.send("POST", "/v1/customers", {}, "k")
    error = reply.json()["error"]
    assert (reply.status, error["type"], error.get("code")) == (400, "idempotency_error", None)
    assert "/v1/charges" in error["message"]
    assert "/v1/customers" in error["message"]


def test_the_ids_in_a_path_are_part_of_the_endpoint(wire: Wire) -> None:
    paths = [
        f"/v1/customers/{wire.send('POST', '/v1/customers', key=each).json()['id']}"
        for each in ("a", "b")
    ]
    assert wire.send("POST", paths[0], {"name": "A"}, "k").status == 200
    reply = wire.send("POST", paths[1], {"name": "A"}, "k")
    assert (reply.status, reply.json()["error"]["type"]) == (400, "idempotency_error")
    assert all(path in reply.json()["error"]["message"] for path in paths)


def test_every_post_takes_a_key(wire: Wire) -> None:
    """One of each kind of endpoint: made, changed, acted on, below another object."""
    charge = wire.charge("a").json()["id"]
    for number, (path, params) in enumerate(
        [
            ("/v1/customers", {"name": "A"}),
            (f"/v1/charges/{charge}", {"description": "d"}),
            ("/v1/refunds", {"charge": charge, "amount": 900}),
            ("/v1/payment_intents", {"amount": 100, "currency": "usd"}),
            ("/v1/coupons", {"duration": "once", "percent_off": 10}),
        ]
    ):
        first, again = (wire.send("POST", path, params, f"k{number}") for _ in range(2))
        assert (first.status, again.body) == (200, first.body), first.body
        assert again.headers["idempotent-replayed"] == "true"


def test_a_key_in_flight(wire: Wire) -> None:
    held = wire.fake.faults.hold()
    first: list[Reply] = []
    thread = threading.Thread(target=lambda: first.append(_beside(wire).charge()))
    thread.start()
    held.wait()
    reply = wire.charge()
    held.release()
    thread.join()
    error = reply.json()["error"]
    assert (reply.status, error["type"]) == (409, "invalid_request_error")
    assert error["code"] == "idempotency_key_in_use"
    assert "original-request" not in reply.headers
    assert wire.charge().body == first[0].body
    assert wire.charges == 1


def _beside(wire: Wire) -> Wire:
    """The same fake from another client, for adapters that are one at a time."""
    alone = wire.client.name in {"other program", "forked child"}
    return Wire(next(c for c in CLIENTS if c.name == "urllib"), wire.fake) if alone else wire


@pytest.mark.parametrize(
    ("fault", "more", "status", "type", "code"),
    [
        ("decline", {}, 402, "card_error", "card_declined"),
        ("server_error", {"after_effect": True}, 500, "api_error", None),
        ("server_error", {"after_effect": False}, 500, "api_error", None),
        ("lock_timeout", {}, 429, "invalid_request_error", "lock_timeout"),
    ],
)
def test_failures_of_an_execution_are_stored(
    wire: Wire, fault: str, more: dict[str, Any], status: int, type: str, code: str | None
) -> None:
    getattr(wire.fake.faults, fault)(**more)
    first, again = wire.charge(), wire.charge()
    error = first.json()["error"]
    assert (first.status, error["type"], error.get("code")) == (status, type, code)
    assert (again.status, again.body) == (first.status, first.body)
    assert again.headers["idempotent-replayed"] == "true"


def test_a_business_refusal_is_stored(wire: Wire) -> None:
    payout = {"amount": 1000, "currency": "usd"}
    first = wire.send("POST", "/v1/payouts", payout, "k")
    wire.fake.fund(5000)
    again = wire.send("POST", "/v1/payouts", payout, "k")
    assert first.json()["error"]["code"] == "balance_insufficient"
    assert again.body == first.body
    assert wire.send("POST", "/v1/payouts", payout, "other").status == 200


@pytest.mark.parametrize(
    ("fault", "more", "status"),
    [
        ("rate_limit", {}, 429),
        ("unavailable", {}, 503),
        ("unavailable", {"status": 502}, 502),
        ("unavailable", {"status": 504}, 504),
    ],
)
def test_the_edge_stores_nothing(wire: Wire, fault: str, more: dict[str, Any], status: int) -> None:
    getattr(wire.fake.faults, fault)(**more)
    first = wire.charge()
    assert first.status == status
    assert "original-request" not in first.headers
    reply = wire.charge()
    assert (reply.status, "idempotent-replayed" in reply.headers) == (200, False)


def test_a_missing_authorization_stores_nothing(wire: Wire) -> None:
    bad = {"Authorization": "Bearer nonsense"}
    assert wire.send("POST", "/v1/charges", CHARGE, "k", bad).status == 401
    assert wire.charge().status == 200


def test_a_wrong_parameter_stores_nothing(wire: Wire) -> None:
    for more in ({"options": {"idempotency_key": "x"}}, {"amount": "lots"}):
        reply = wire.charge(**more)
        error = reply.json()["error"]
        assert (reply.status, error["type"]) == (400, "invalid_request_error")
        assert error["param"] in {"options", "amount"}
    assert wire.charge().status == 200


def test_after_a_day_the_key_is_forgotten(wire: Wire) -> None:
    wire.charge()
    wire.fake.clock.advance(hours=23)
    assert wire.charge().headers["idempotent-replayed"] == "true"
    wire.fake.clock.advance(hours=2)
    assert "idempotent-replayed" not in wire.charge().headers
    assert wire.charges == 2


def test_the_account_has_the_keys_not_the_api_key(wire: Wire) -> None:
    first = wire.charge()
    other = {"Authorization": "Bearer sk_test_another"}
    again = wire.send("POST", "/v1/charges", CHARGE, "k", other)
    assert again.body == first.body
    assert again.headers["idempotent-replayed"] == "true"


def test_connected_accounts_have_keys_of_their_own(wire: Wire) -> None:
    wire.charge()
    other = wire.send("POST", "/v1/charges", CHARGE, "k", {"Stripe-Account": "acct_9"})
    assert "idempotent-replayed" not in other.headers


def test_events_name_the_request_and_a_replay_adds_none(wire: Wire) -> None:
    first = wire.charge()
    wire.charge()
    [event] = wire.fake.events("charge.succeeded")
    assert event["request"] == {"id": first.headers["request-id"], "idempotency_key": "k"}


def test_v2_replays_the_present_and_executes_failures_again(wire: Wire) -> None:
    wire.need_v2()
    path = "/v2/core/accounts"
    made = wire.send("POST", path, {"display_name": "A"}, "k").json()
    wire.send("POST", f"{path}/{made['id']}", {"display_name": "B"}, "other")
    reply = wire.send("POST", path, {"display_name": "A"}, "k")
    assert (reply.json()["id"], reply.json()["display_name"]) == (made["id"], "B")
    assert reply.headers["idempotent-replayed"] == "true"
    wire.fake.faults.server_error(endpoint=f"POST {path}", after_effect=False)
    assert wire.send("POST", path, {}, "k2").status == 500
    assert wire.send("POST", path, {}, "k2").status == 200


def test_a_v2_key_belongs_to_its_endpoint_and_lives_for_30_days(wire: Wire) -> None:
    wire.need_v2()
    first = wire.send("POST", "/v2/core/accounts", {"display_name": "A"}, "k")
    assert first.status == 200
    here = f"/v2/core/accounts/{first.json()['id']}"
    other = wire.send("POST", here, {"display_name": "A"}, "k")
    assert (other.status, "idempotent-replayed" in other.headers) == (200, False)
    wire.fake.clock.advance(hours=29 * 24)
    again = wire.send("POST", "/v2/core/accounts", {"display_name": "A"}, "k")
    assert again.json()["id"] == first.json()["id"]
    wire.fake.clock.advance(hours=2 * 24)
    late = wire.send("POST", "/v2/core/accounts", {"display_name": "A"}, "k")
    assert late.json()["id"] != first.json()["id"]


def test_a_v2_delete_is_keyed(wire: Wire) -> None:
    wire.need_v2()
    sent = {
        "enabled_events": ["v1.charge.succeeded"],
        "event_payload": "thin",
        "name": "n",
        "type": "webhook_endpoint",
    }
    made = wire.send("POST", "/v2/core/event_destinations", sent, "a").json()
    path = f"/v2/core/event_destinations/{made['id']}"
    first = wire.send("DELETE", path, key="k")
    again = wire.send("DELETE", path, key="k")
    assert (first.status, again.status) == (200, 200)
    assert again.headers["idempotent-replayed"] == "true"


@pytest.mark.parametrize("reset", [False, True])
def test_a_lost_response_was_executed(wire: Wire, reset: bool) -> None:
    wire.fake.faults.lose_response(reset=reset)
    with pytest.raises(wire.client.reset() if reset else wire.client.timeout()):
        wire.charge()
    assert wire.charges == 1
    assert wire.charge().headers["idempotent-replayed"] == "true"
    assert wire.charges == 1


def test_a_reset_before_execution_did_nothing(wire: Wire) -> None:
    wire.fake.faults.reset_before()
    with pytest.raises(wire.client.reset()):
        wire.charge()
    assert wire.charges == 0
    assert "idempotent-replayed" not in wire.charge().headers


def test_a_live_key_is_refused_at_the_first_request(wire: Wire) -> None:
    live = {"Authorization": "Bearer sk_live_123"}
    if wire.client.name == "loopback":
        reply = wire.send("POST", "/v1/charges", CHARGE, "k", live)
        assert reply.status == 401
        assert "live key" in reply.json()["error"]["message"]
    else:
        # Each client wraps it in its own way.
        with pytest.raises(Exception) as caught:  # noqa: PT011 - the words are looked at below
            wire.send("POST", "/v1/charges", CHARGE, "k", live)
        assert "live Stripe key" in all_words(caught.value)
    assert wire.charges == 0


def test_who_sent_it_is_known(wire: Wire) -> None:
    wire.charge()
    [exchange] = wire.fake.exchanges
    if wire.client.name == "loopback":
        assert exchange.place is None
        return
    assert exchange.place is not None
    assert exchange.place.file == __file__.replace("test_contract", "clients")
    assert exchange.call.automatic is False
