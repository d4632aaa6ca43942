"""The order of checks, the key store and what a replay is: one certain fact per test.

The same facts are checked over every transport in `test_contract.py`; here the assumptions have
their say too, because only here they are cheap to change.
"""

from __future__ import annotations

import base64

import pytest

from plugin.sending import NOON, SECRET, Desk, request
from pytest_stripe_idem.core.machine import Claim, Decline, Override
from pytest_stripe_idem.core.request import StripeRequest

CHARGE = {"amount": 4900, "currency": "usd", "source": "tok_visa"}


@pytest.fixture
def desk() -> Desk:
    return Desk()


class TestOrderOfChecks:
    def test_an_unknown_route_goes_before_a_missing_key(self, desk: Desk) -> None:
        answer = desk.machine.step(StripeRequest("POST", "/v1/nothing"), NOON)
        assert (answer.status, answer.json()["error"]["type"]) == (404, "invalid_request_error")

    def test_another_host_is_no_route(self, desk: Desk) -> None:
        sent = StripeRequest("POST", "/v1/charges", host="example.com")
        assert desk.machine.step(sent, NOON).status == 404

    @pytest.mark.parametrize("header", [None, "", "Bearer ", "Bearer nonsense", "Basic ???"])
    def test_a_missing_or_bad_authorization_is_401_and_not_stored(
        self, desk: Desk, header: str | None
    ) -> None:
        headers = {"idempotency-key": "k"} | ({} if header is None else {"authorization": header})
        sent = StripeRequest("POST", "/v1/charges", headers=headers, body=b"amount=1")
        assert desk.machine.step(sent, NOON).status == 401
        assert len(desk.machine.keys) == 0

    def test_basic_authorization_carries_the_key_as_user_name(self, desk: Desk) -> None:
        spelled = base64.b64encode(f"{SECRET}:".encode()).decode()
        sent = StripeRequest("GET", "/v1/balance", headers={"authorization": f"Basic {spelled}"})
        assert desk.machine.step(sent, NOON).status == 200

    @pytest.mark.parametrize("length", [0, 256])
    def test_a_key_out_of_range_is_refused_before_the_parameters_are_looked_at(
        self, desk: Desk, length: int
    ) -> None:
        status, error = desk.error("/v1/charges", {"unknown": 1}, key="k" * length)
        assert (status, error["type"]) == (400, "invalid_request_error")
        assert "param" not in error

    @pytest.mark.parametrize("length", [1, 255])
    def test_a_key_in_range_is_taken(self, desk: Desk, length: int) -> None:
        desk.post("/v1/charges", CHARGE, key="k" * length)

    def test_a_key_on_get_and_on_a_v1_delete_is_ignored(self, desk: Desk) -> None:
        customer = desk.post("/v1/customers")
        for _ in range(2):
            assert desk.send("GET", "/v1/customers", key="k").status == 200
        path = f"/v1/customers/{customer['id']}"
        assert desk.send("DELETE", path, key="k").status == 200
        assert desk.send("DELETE", path, key="k").status == 404
        assert len(desk.machine.keys) == 0


class TestReplay:
    def test_the_first_execution_says_so(self, desk: Desk) -> None:
        first = desk.send("POST", "/v1/charges", CHARGE, key="k")
        assert first.header("Idempotency-Key") == "k"
        assert first.header("Original-Request") == first.header("Request-Id")
        assert first.header("Stripe-Should-Retry") == "false"
        assert first.header("Idempotent-Replayed") is None

    def test_a_replay_is_the_first_answer_byte_for_byte(self, desk: Desk) -> None:
        first = desk.send("POST", "/v1/charges", CHARGE, key="k")
        again = desk.send("POST", "/v1/charges", CHARGE, key="k")
        assert (again.status, again.body) == (first.status, first.body)
        assert again.header("Idempotent-Replayed") == "true"
        assert again.header("Original-Request") == first.header("Request-Id")
        assert again.header("Request-Id") != first.header("Request-Id")
        assert len(list(desk.machine.world().all("charge"))) == 1

    def test_a_replay_shows_the_past_even_when_the_object_has_changed(self, desk: Desk) -> None:
        first = desk.send("POST", "/v1/customers", {"name": "A"}, key="k")
        desk.post(f"/v1/customers/{first.json()['id']}", {"name": "B"})
        assert desk.send("POST", "/v1/customers", {"name": "A"}, key="k").body == first.body

    def test_a_replay_emits_no_event(self, desk: Desk) -> None:
        desk.send("POST", "/v1/charges", CHARGE, key="k")
        before = len(desk.machine.world().events())
        desk.send("POST", "/v1/charges", CHARGE, key="k")
        assert len(desk.machine.world().events()) == before

    def test_events_name_the_request_and_its_key(self, desk: Desk) -> None:
        first = desk.send("POST", "/v1/charges", CHARGE, key="k")
        [event] = [e for e in desk.machine.world().events() if e["type"] == "charge.succeeded"]
        assert event["request"] == {"id": first.header("Request-Id"), "idempotency_key": "k"}

    @pytest.mark.parametrize(
        ("override", "status"),
        [
            (Decline(), 402),
            (Override.ERROR_AFTER_EFFECT, 500),
            (Override.ERROR_WITHOUT_EFFECT, 500),
            (Override.LOCK_TIMEOUT, 429),
        ],
    )
    def test_a_failure_of_the_execution_is_stored(
        self, desk: Desk, override: Override | Decline, status: int
    ) -> None:
        first = desk.send("POST", "/v1/charges", CHARGE, key="k", override=override)
        again = desk.send("POST", "/v1/charges", CHARGE, key="k")
        assert first.status == status
        assert (again.status, again.body) == (first.status, first.body)
        assert again.header("Idempotent-Replayed") == "true"

    def test_an_error_after_the_effect_leaves_the_effect(self, desk: Desk) -> None:
        desk.send("POST", "/v1/charges", CHARGE, override=Override.ERROR_AFTER_EFFECT)
        assert desk.balance() == 4900
        desk.send("POST", "/v1/charges", CHARGE, override=Override.ERROR_WITHOUT_EFFECT)
        assert desk.balance() == 4900

    def test_a_business_400_is_stored_and_traps_the_key(self, desk: Desk) -> None:
        payout = {"amount": 1000, "currency": "usd"}
        assert desk.error("/v1/payouts", payout, key="k")[1]["code"] == "balance_insufficient"
        desk.post("/v1/topups", {"amount": 5000, "currency": "usd"})
        assert desk.error("/v1/payouts", payout, key="k")[1]["code"] == "balance_insufficient"
        assert desk.post("/v1/payouts", payout, key="k2")["status"] == "pending"

    def test_a_lock_timeout_says_that_a_retry_may_help(self, desk: Desk) -> None:
        answer = desk.send("POST", "/v1/charges", CHARGE, key="k", override=Override.LOCK_TIMEOUT)
        error = answer.json()["error"]
        assert (error["type"], error["code"]) == ("invalid_request_error", "lock_timeout")
        assert answer.header("Stripe-Should-Retry") == "true"

    def test_a_rate_limit_is_not_stored(self, desk: Desk) -> None:
        from pytest_stripe_idem.core.errors import rate_limited

        assert desk.machine.refuse(rate_limited()).response.status == 429
        assert len(desk.machine.keys) == 0


class TestValidation:
    @pytest.mark.parametrize(
        ("params", "param", "code"),
        [
            ({**CHARGE, "idempotency_key": "k"}, "idempotency_key", "parameter_unknown"),
            ({**CHARGE, "options": {"idempotency_key": "k"}}, "options", "parameter_unknown"),
            ({"amount": "lots", "currency": "usd"}, "amount", "parameter_invalid_integer"),
            ({"amount": 49.0, "currency": "usd"}, "amount", "parameter_invalid_integer"),
            ({**CHARGE, "capture": "maybe"}, "capture", "parameter_invalid_boolean"),
            ({**CHARGE, "metadata": "x"}, "metadata", "parameter_invalid_object"),
            ({**CHARGE, "expand": "x"}, "expand", "parameter_invalid_array"),
            ({"currency": "usd", "source": "tok_visa"}, "amount", "parameter_missing"),
        ],
    )
    def test_a_wrong_parameter_is_named_and_frees_the_key(
        self, desk: Desk, params: dict[str, object], param: str, code: str
    ) -> None:
        answer = desk.send("POST", "/v1/charges", params, key="k")
        error = answer.json()["error"]
        assert (answer.status, error["param"], error["code"]) == (400, param, code)
        assert answer.header("Original-Request") is None
        assert desk.post("/v1/charges", CHARGE, key="k")["amount"] == 4900

    def test_a_required_parameter_is_missed(self, desk: Desk) -> None:
        _, error = desk.error("/v1/payment_intents", {"amount": 1})
        assert (error["param"], error["code"]) == ("currency", "parameter_missing")

    def test_metadata_has_the_documented_limits(self, desk: Desk) -> None:
        for given in ({f"k{n}": 1 for n in range(51)}, {"k" * 41: 1}, {"k": "v" * 501}):
            assert desk.error("/v1/customers", {"metadata": given})[0] == 400
        desk.post("/v1/customers", {"metadata": {"k" * 40: "v" * 500}})

    def test_what_only_older_versions_know_is_an_option(self) -> None:
        params = {"amount": 1, "currency": "usd", "payment_method_types": ["card"]}
        assert Desk().send("POST", "/v1/payment_intents", params).status == 200
        assert (
            Desk(older_parameters=False).send("POST", "/v1/payment_intents", params).status == 400
        )

    def test_an_older_request_need_not_have_what_the_newest_version_requires(
        self, desk: Desk
    ) -> None:
        assert desk.error("/v1/promotion_codes", {"code": "A"})[1]["param"] == "promotion"
        desk.post("/v1/promotion_codes", {"code": "A", "coupon": "cpn_7"})

    def test_a_body_that_cannot_be_read_is_a_400(self, desk: Desk) -> None:
        headers = {"authorization": f"Bearer {SECRET}", "idempotency-key": "k"}
        for path, body in (("/v2/core/accounts", b"[1]"), ("/v1/charges", b"\xff\xfe=1")):
            sent = StripeRequest("POST", path, headers=headers, body=body)
            assert desk.machine.step(sent, NOON).status == 400
        assert len(desk.machine.keys) == 0


class TestSameKey:
    def test_other_parameters_are_refused(self, desk: Desk) -> None:
        desk.post("/v1/charges", CHARGE, key="k")
        status, error = desk.error("/v1/charges", {**CHARGE, "amount": 1}, key="k")
        assert (status, error["type"], error.get("code")) == (400, "idempotency_error", None)

    def test_the_refusal_leaves_the_stored_answer(self, desk: Desk) -> None:
        first = desk.send("POST", "/v1/charges", CHARGE, key="k")
        desk.error("/v1/charges", {**CHARGE, "amount": 1}, key="k")
        assert desk.send("POST", "/v1/charges", CHARGE, key="k").body == first.body

    def test_another_endpoint_is_refused_and_both_are_named(self, desk: Desk) -> None:
        desk.post("/v1/charges", CHARGE, key="k")
        status, error = desk.error("/v1/customers", {}, key="k")
        assert (status, error["type"], error.get("code")) == (400, "idempotency_error", None)
        assert "/v1/charges" in error["message"]
        assert "/v1/customers" in error["message"]

    def test_the_ids_in_a_path_are_part_of_the_endpoint(self, desk: Desk) -> None:
        one, two = (desk.post("/v1/customers")["id"] for _ in range(2))
        desk.post(f"/v1/customers/{one}", {"name": "A"}, key="k")
        _, error = desk.error(f"/v1/customers/{two}", {"name": "A"}, key="k")
        assert error["type"] == "idempotency_error"

    def test_in_flight_is_a_409_that_is_no_idempotency_error(self, desk: Desk) -> None:
        claim = desk.machine.begin(request("POST", "/v1/charges", CHARGE, key="k"), NOON)
        assert isinstance(claim, Claim)
        answer = desk.send("POST", "/v1/charges", CHARGE, key="k")
        error = answer.json()["error"]
        assert (answer.status, error["type"]) == (409, "invalid_request_error")
        assert error["code"] == "idempotency_key_in_use"
        assert answer.header("Original-Request") is None
        done = desk.machine.finish(claim, NOON).response
        assert desk.send("POST", "/v1/charges", CHARGE, key="k").body == done.body

    def test_a_claim_does_not_age_while_it_is_in_flight(self, desk: Desk) -> None:
        desk.machine.begin(request("POST", "/v1/charges", CHARGE, key="k"), NOON)
        desk.now += 48 * 3600
        assert desk.send("POST", "/v1/charges", CHARGE, key="k").status == 409

    def test_another_path_in_flight_is_an_assumption(self) -> None:
        for option, status in ((True, 400), (False, 409)):
            desk = Desk(other_path_refused_in_flight=option)
            desk.machine.begin(request("POST", "/v1/charges", CHARGE, key="k"), NOON)
            assert desk.send("POST", "/v1/customers", {}, key="k").status == status


class TestExpiryAndSpaces:
    def test_after_a_day_the_key_executes_again(self, desk: Desk) -> None:
        first = desk.post("/v1/charges", CHARGE, key="k")
        desk.now += 24 * 3600 - 1
        assert desk.post("/v1/charges", CHARGE, key="k")["id"] == first["id"]
        desk.now += 1
        assert desk.post("/v1/charges", CHARGE, key="k")["id"] != first["id"]

    def test_the_api_key_is_no_part_of_the_space(self, desk: Desk) -> None:
        first = desk.send("POST", "/v1/charges", CHARGE, key="k")
        again = desk.send("POST", "/v1/charges", CHARGE, key="k", authorization="Bearer rk_test_9")
        assert again.body == first.body

    def test_connected_accounts_are_spaces_of_their_own(self, desk: Desk) -> None:
        first = desk.post("/v1/charges", CHARGE, key="k")
        other = desk.post("/v1/charges", CHARGE, key="k", stripe_account="acct_9")
        assert other["id"] != first["id"]
        shared = Desk(connected_accounts_separate=False)
        first = shared.post("/v1/charges", CHARGE, key="k")
        assert shared.post("/v1/charges", CHARGE, key="k", stripe_account="acct_9") == first

    def test_live_and_test_mode_are_spaces_of_their_own(self, desk: Desk) -> None:
        first = desk.post("/v1/charges", CHARGE, key="k")
        live = desk.post("/v1/charges", CHARGE, key="k", authorization="Bearer sk_live_1")
        assert (first["livemode"], live["livemode"]) == (False, True)
        assert first["id"] != live["id"]

    def test_expired_keys_are_dropped_from_memory(self, desk: Desk) -> None:
        for number in range(50):
            desk.post("/v1/customers", key=f"k{number}")
        desk.now += 25 * 3600
        desk.post("/v1/customers", key="last")
        assert len(desk.machine.keys) == 1


class TestParametersCompared:
    def test_order_and_array_spelling_do_not_count(self, desk: Desk) -> None:
        headers = {"authorization": f"Bearer {SECRET}", "idempotency-key": "k"}
        bodies = (
            b"amount=1&currency=usd&source=tok_visa&expand[]=customer",
            b"expand[0]=customer&source=tok_visa&currency=usd&amount=1",
        )
        sent = [StripeRequest("POST", "/v1/charges", headers=headers, body=b) for b in bodies]
        first, again = (desk.machine.step(each, NOON) for each in sent)
        assert first.body == again.body
        raw = Desk(parameters_compared_parsed=False)
        assert [raw.machine.step(each, NOON).status for each in sent] == [200, 400]

    def test_expand_counts_as_an_option_says(self) -> None:
        for option, status in ((True, 400), (False, 200)):
            desk = Desk(expand_counts=option)
            desk.post("/v1/charges", CHARGE, key="k")
            more = {**CHARGE, "expand": ["customer"]}
            assert desk.send("POST", "/v1/charges", more, key="k").status == status


class TestV2:
    path = "/v2/core/accounts"

    def test_a_replay_of_a_success_shows_the_present_state(self, desk: Desk) -> None:
        first = desk.post(self.path, {"display_name": "A"}, key="k")
        desk.post(f"{self.path}/{first['id']}", {"display_name": "B"})
        answer = desk.send("POST", self.path, {"display_name": "A"}, key="k")
        assert (answer.json()["id"], answer.json()["display_name"]) == (first["id"], "B")
        assert answer.header("Idempotent-Replayed") == "true"
        assert len(list(desk.machine.world().all("v2.core.account"))) == 1

    def test_a_replay_of_a_failure_executes_again(self, desk: Desk) -> None:
        error = Override.ERROR_WITHOUT_EFFECT
        assert desk.send("POST", self.path, {}, key="k", override=error).status == 500
        assert desk.send("POST", self.path, {}, key="k").status == 200

    def test_the_endpoint_is_part_of_the_identity(self, desk: Desk) -> None:
        desk.post(self.path, {}, key="k")
        event = {"event_name": "e", "payload": {"value": "1"}}
        assert desk.send("POST", "/v2/billing/meter_events", event, key="k").status == 200

    def test_other_parameters_are_refused_as_an_option_says(self) -> None:
        for option, status in ((True, 400), (False, 200)):
            desk = Desk(v2_other_parameters_refused=option)
            desk.post(self.path, {"display_name": "A"}, key="k")
            answer = desk.send("POST", self.path, {"display_name": "B"}, key="k")
            assert answer.status == status

    def test_keys_live_for_thirty_days(self, desk: Desk) -> None:
        first = desk.post(self.path, {}, key="k")
        desk.now += 29 * 86_400
        assert desk.post(self.path, {}, key="k")["id"] == first["id"]
        desk.now += 1 * 86_400
        assert desk.post(self.path, {}, key="k")["id"] != first["id"]

    def test_a_v1_and_a_v2_key_do_not_meet(self, desk: Desk) -> None:
        desk.post(self.path, {}, key="k")
        desk.post("/v1/charges", CHARGE, key="k")

    def test_a_missing_object_may_be_forgotten_as_an_option_says(self) -> None:
        for option, replayed in ((True, "true"), (False, None)):
            desk = Desk(missing_object_stored=option)
            path = "/v1/charges/ch_none/capture"
            assert desk.error(path, {}, key="k")[1]["code"] == "resource_missing"
            again = desk.send("POST", path, {}, key="k")
            assert (again.status, again.header("Idempotent-Replayed")) == (404, replayed)
