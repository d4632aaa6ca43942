"""What each resource's state machine allows and refuses, and where the money goes."""

from __future__ import annotations

from typing import Any

import pytest

from plugin.sending import Desk

USD = {"amount": 4900, "currency": "usd"}


@pytest.fixture
def desk() -> Desk:
    return Desk()


def intent(desk: Desk, **params: Any) -> Any:
    """A payment intent with a card that works."""
    return desk.post("/v1/payment_intents", {**USD, "payment_method": "pm_card_visa", **params})


class TestPaymentIntents:
    def test_without_a_method_it_waits_for_one(self, desk: Desk) -> None:
        made = desk.post("/v1/payment_intents", USD)
        assert made["status"] == "requires_payment_method"
        assert made["client_secret"].startswith(made["id"])
        assert desk.balance() == 0

    def test_confirm_takes_the_money_once(self, desk: Desk) -> None:
        made = intent(desk)
        assert made["status"] == "requires_confirmation"
        path = f"/v1/payment_intents/{made['id']}/confirm"
        done = desk.post(path)
        assert (done["status"], done["amount_received"]) == ("succeeded", 4900)
        assert desk.error(path)[1]["code"] == "payment_intent_unexpected_state"
        assert desk.balance() == 4900

    def test_the_charge_has_what_the_intent_has(self, desk: Desk) -> None:
        made = intent(desk, confirm=True, metadata={"order": 7}, customer="cus_7")
        charge = desk.get(f"/v1/charges/{made['latest_charge']}")
        assert charge["payment_intent"] == made["id"]
        assert (charge["metadata"], charge["customer"]) == ({"order": "7"}, "cus_7")

    def test_manual_capture_holds_first(self, desk: Desk) -> None:
        made = intent(desk, confirm=True, capture_method="manual")
        assert (made["status"], made["amount_capturable"]) == ("requires_capture", 4900)
        assert desk.balance() == 0
        path = f"/v1/payment_intents/{made['id']}/capture"
        done = desk.post(path, {"amount_to_capture": 3000})
        assert (done["status"], done["amount_received"]) == ("succeeded", 3000)
        assert desk.error(path)[1]["code"] == "payment_intent_unexpected_state"
        assert desk.balance() == 3000

    def test_several_captures_until_the_final_one(self, desk: Desk) -> None:
        made = intent(desk, confirm=True, capture_method="manual")
        path = f"/v1/payment_intents/{made['id']}/capture"
        first = desk.post(path, {"amount_to_capture": 1000, "final_capture": False})
        assert (first["status"], first["amount_capturable"]) == ("requires_capture", 3900)
        assert desk.error(path, {"amount_to_capture": 4000})[1]["code"] == "amount_too_large"
        assert desk.post(path)["amount_received"] == 4900
        assert desk.balance() == 4900

    def test_an_authorization_can_be_raised(self, desk: Desk) -> None:
        made = intent(desk, confirm=True, capture_method="manual")
        path = f"/v1/payment_intents/{made['id']}/increment_authorization"
        assert desk.post(path, {"amount": 6000})["amount_capturable"] == 6000
        assert desk.error(path, {"amount": 6000})[0] == 400
        desk.post(f"/v1/payment_intents/{made['id']}/capture")
        assert desk.balance() == 6000

    def test_cancel_is_final(self, desk: Desk) -> None:
        made = intent(desk)
        path = f"/v1/payment_intents/{made['id']}"
        assert desk.post(f"{path}/cancel")["status"] == "canceled"
        for action in ("cancel", "confirm", "capture"):
            assert desk.error(f"{path}/{action}")[0] == 400

    def test_a_decline_asks_for_another_method(self, desk: Desk) -> None:
        status, error = desk.error(
            "/v1/payment_intents",
            {**USD, "confirm": True, "payment_method": "pm_card_visa_chargeDeclined"},
        )
        assert (status, error["type"], error["code"]) == (402, "card_error", "card_declined")
        assert error["decline_code"] == "generic_decline"
        failed = error["payment_intent"]
        assert failed["status"] == "requires_payment_method"
        path = f"/v1/payment_intents/{failed['id']}/confirm"
        assert desk.post(path, {"payment_method": "pm_card_visa"})["status"] == "succeeded"
        assert desk.balance() == 4900

    def test_a_card_that_asks_waits_for_the_customer_or_declines_without_one(
        self, desk: Desk
    ) -> None:
        asked = intent(desk, payment_method="pm_card_authenticationRequired", confirm=True)
        assert asked["status"] == "requires_action"
        _, error = desk.error(
            "/v1/payment_intents",
            {
                **USD,
                "payment_method": "pm_card_authenticationRequired",
                "confirm": True,
                "off_session": True,
            },
        )
        assert error["code"] == "authentication_required"

    def test_confirm_needs_something_to_charge(self, desk: Desk) -> None:
        customer = desk.post("/v1/customers")
        _, error = desk.error(
            "/v1/payment_intents", {**USD, "confirm": True, "customer": customer["id"]}
        )
        assert error["code"] == "payment_intent_unexpected_state"

    def test_the_amount_is_fixed_once_it_is_paid(self, desk: Desk) -> None:
        made = intent(desk)
        path = f"/v1/payment_intents/{made['id']}"
        assert desk.post(path, {"amount": 100})["amount"] == 100
        desk.post(f"{path}/confirm")
        assert desk.error(path, {"amount": 200})[0] == 400

    def test_a_bank_debit_waits_for_its_deposits(self, desk: Desk) -> None:
        made = intent(
            desk,
            payment_method="",
            payment_method_data={"type": "us_bank_account", "us_bank_account": {"x": "y"}},
            confirm=True,
        )
        assert made["next_action"]["type"] == "verify_with_microdeposits"
        path = f"/v1/payment_intents/{made['id']}/verify_microdeposits"
        assert desk.post(path, {"amounts": [32, 45]})["status"] == "succeeded"
        assert desk.error(path)[0] == 400


class TestCharges:
    def test_a_charge_moves_money_each_time(self, desk: Desk) -> None:
        for _ in range(2):
            desk.post("/v1/charges", {**USD, "source": "tok_visa"})
        assert desk.balance() == 9800

    def test_a_second_capture_is_refused(self, desk: Desk) -> None:
        made = desk.post("/v1/charges", {**USD, "source": "tok_visa", "capture": False})
        assert desk.balance() == 0
        path = f"/v1/charges/{made['id']}/capture"
        desk.post(path, {"amount": 4000})
        assert desk.error(path)[1]["code"] == "charge_already_captured"
        assert desk.balance() == 4000

    @pytest.mark.parametrize(
        ("source", "code", "decline"),
        [
            ("tok_chargeDeclined", "card_declined", "generic_decline"),
            ("tok_chargeDeclinedInsufficientFunds", "card_declined", "insufficient_funds"),
            ("tok_visa_chargeDeclinedLostCard", "card_declined", "lost_card"),
            ("tok_chargeDeclinedExpiredCard", "expired_card", None),
            ("tok_chargeDeclinedIncorrectCvc", "incorrect_cvc", None),
            ("tok_chargeDeclinedProcessingError", "processing_error", None),
        ],
    )
    def test_the_documented_cards_decline_as_documented(
        self, desk: Desk, source: str, code: str, decline: str | None
    ) -> None:
        status, error = desk.error("/v1/charges", {**USD, "source": source})
        assert (status, error["code"], error.get("decline_code")) == (402, code, decline)
        assert desk.balance() == 0

    def test_a_decline_is_stored_under_its_key(self, desk: Desk) -> None:
        sent = {**USD, "source": "tok_chargeDeclined"}
        first = desk.send("POST", "/v1/charges", sent, key="k")
        again = desk.send("POST", "/v1/charges", sent, key="k")
        assert (again.status, again.body) == (402, first.body)
        assert len(list(desk.machine.world().all("charge"))) == 1

    def test_a_token_works_once(self, desk: Desk) -> None:
        token = desk.post("/v1/tokens", {"card": {"number": "4242424242424242"}})["id"]
        desk.post("/v1/charges", {**USD, "source": token})
        assert desk.error("/v1/charges", {**USD, "source": token})[1]["code"] == (
            "token_already_used"
        )

    def test_an_unknown_customer_is_made_or_refused_as_an_option_says(self, desk: Desk) -> None:
        assert desk.post("/v1/charges", {**USD, "customer": "cus_42"})["customer"] == "cus_42"
        strict = Desk(unknown_references="refuse")
        _, error = strict.error("/v1/charges", {**USD, "customer": "cus_42"})
        assert (error["code"], error["param"]) == ("resource_missing", "customer")

    def test_a_customer_without_a_card_cannot_be_charged(self, desk: Desk) -> None:
        customer = desk.post("/v1/customers")["id"]
        assert desk.error("/v1/charges", {**USD, "customer": customer})[0] == 400
        desk.post(f"/v1/customers/{customer}/sources", {"source": "tok_visa"})
        assert desk.post("/v1/charges", {**USD, "customer": customer})["paid"] is True

    def test_a_card_that_only_fails_when_charged_can_be_kept(self, desk: Desk) -> None:
        customer = desk.post("/v1/customers", {"source": "tok_chargeCustomerFail"})["id"]
        assert desk.error("/v1/charges", {**USD, "customer": customer})[0] == 402
        assert desk.error("/v1/customers", {"source": "tok_chargeDeclined"})[0] == 402


class TestCards:
    def test_the_cards_of_a_customer_are_shown_when_asked_for(self, desk: Desk) -> None:
        token = desk.post("/v1/tokens", {"card": {"number": "4012888888881881"}})["id"]
        customer = desk.post("/v1/customers", {"source": token})
        path = f"/v1/customers/{customer['id']}"
        assert not desk.get(path)["sources"]
        [card] = desk.get(path, {"expand": ["sources"]})["sources"]["data"]
        assert (card["id"], card["last4"]) == (customer["default_source"], "1881")
        desk.delete(f"{path}/sources/{card['id']}")
        assert desk.get(path, {"expand": ["sources"]})["sources"]["data"] == []

    def test_one_card_has_one_fingerprint(self, desk: Desk) -> None:
        made = [
            desk.post("/v1/payment_methods", {"type": "card", "card": {"number": number}})
            for number in ("4242424242424242", "5555555555554444", "4242424242424242")
        ]
        one, other, again = (each["card"]["fingerprint"] for each in made)
        assert one == again != other


class TestDisputes:
    @pytest.mark.parametrize("outcome", ["won", "lost"])
    def test_the_evidence_of_test_mode_decides(self, desk: Desk, outcome: str) -> None:
        charge = desk.post("/v1/charges", {**USD, "source": "tok_createDispute"})
        assert charge["disputed"]
        path = f"/v1/disputes/{charge['dispute']}"
        word = {"won": "winning_evidence", "lost": "losing_evidence"}[outcome]
        kept = desk.post(path, {"evidence": {"uncategorized_text": word}, "submit": False})
        assert kept["status"] == "needs_response"
        sent = desk.post(path, {"evidence": {"uncategorized_text": word}})
        assert sent["status"] == outcome
        [event] = desk.get("/v1/events", {"type": "charge.dispute.closed"})["data"]
        assert event["data"]["object"]["status"] == outcome
        assert desk.error(path, {"evidence": {"uncategorized_text": "more"}})[0] == 400

    def test_whoever_gives_up_has_lost(self, desk: Desk) -> None:
        charge = desk.post("/v1/charges", {**USD, "source": "tok_createDispute"})
        path = f"/v1/disputes/{charge['dispute']}/close"
        assert desk.post(path)["status"] == "lost"
        assert desk.error(path)[0] == 400


class TestRefunds:
    def test_parts_add_up_to_the_charge_and_no_more(self, desk: Desk) -> None:
        charge = desk.post("/v1/charges", {**USD, "source": "tok_visa"})["id"]
        desk.post("/v1/refunds", {"charge": charge, "amount": 1900})
        assert desk.error("/v1/refunds", {"charge": charge, "amount": 3001})[0] == 400
        desk.post("/v1/refunds", {"charge": charge})
        _, error = desk.error("/v1/refunds", {"charge": charge})
        assert error["code"] == "charge_already_refunded"
        kept = desk.get(f"/v1/charges/{charge}")
        assert (kept["amount_refunded"], kept["refunded"]) == (4900, True)
        assert desk.balance() == 0

    def test_an_intent_is_refunded_by_its_charge(self, desk: Desk) -> None:
        made = intent(desk, confirm=True)
        refund = desk.post("/v1/refunds", {"payment_intent": made["id"]})
        assert (refund["charge"], refund["amount"]) == (made["latest_charge"], 4900)

    def test_what_was_not_taken_cannot_be_given_back(self, desk: Desk) -> None:
        held = desk.post("/v1/charges", {**USD, "source": "tok_visa", "capture": False})
        assert desk.error("/v1/refunds", {"charge": held["id"]})[0] == 400
        assert desk.error("/v1/refunds", {"charge": "ch_none"})[1]["code"] == "resource_missing"

    def test_only_the_captured_part_can_be_given_back(self, desk: Desk) -> None:
        held = desk.post("/v1/charges", {**USD, "source": "tok_visa", "capture": False})["id"]
        desk.post(f"/v1/charges/{held}/capture", {"amount": 1000})
        assert desk.error("/v1/refunds", {"charge": held, "amount": 1001})[0] == 400
        assert desk.post("/v1/refunds", {"charge": held})["amount"] == 1000
        assert desk.balance() == 0

    @pytest.mark.parametrize(
        ("card", "first", "then", "balance"),
        [
            ("pm_card_refundFail", "succeeded", "failed", 4900),
            ("pm_card_pendingRefund", "pending", "succeeded", 3700),
        ],
    )
    def test_a_refund_may_end_otherwise_than_it_began(
        self, desk: Desk, card: str, first: str, then: str, balance: int
    ) -> None:
        """After its answer, without any request of the client's: the next one finds it so."""
        paid = {"amount": 4900, "currency": "usd", "payment_method": card, "confirm": True}
        intent = desk.post("/v1/payment_intents", paid)
        refund = desk.post("/v1/refunds", {"payment_intent": intent["id"], "amount": 1200})
        assert refund["status"] == first
        assert desk.balance() == 3700
        [newest, *_] = desk.get("/v1/events", {"type": "charge.refund.updated"})["data"]
        assert newest["data"]["object"]["status"] == then
        assert newest["request"] == {"id": None, "idempotency_key": None}
        assert desk.get(f"/v1/refunds/{refund['id']}")["status"] == then
        charge = desk.get(f"/v1/charges/{refund['charge']}")
        assert charge["amount_refunded"] == 4900 - balance
        assert desk.balance() == balance

    def test_the_old_addresses_still_refund(self, desk: Desk) -> None:
        charge = desk.post("/v1/charges", {**USD, "source": "tok_visa"})["id"]
        assert desk.post(f"/v1/charges/{charge}/refunds", {"amount": 900})["object"] == "refund"
        assert desk.post(f"/v1/charges/{charge}/refund")["object"] == "charge"
        assert desk.balance() == 0


class TestTransfersAndPayouts:
    def test_a_transfer_moves_from_one_balance_to_the_other(self, desk: Desk) -> None:
        desk.post("/v1/charges", {**USD, "source": "tok_visa"})
        desk.post("/v1/transfers", {"amount": 4000, "currency": "usd", "destination": "acct_9"})
        assert desk.balance() == 900
        assert desk.machine.world("acct_9").ledger.total("usd") == 4000

    def test_a_transfer_above_the_balance_is_an_option(self, desk: Desk) -> None:
        sent = {**USD, "destination": "acct_9"}
        desk.post("/v1/transfers", sent)
        strict = Desk(transfers_need_funds=True)
        assert strict.error("/v1/transfers", sent)[1]["code"] == "balance_insufficient"

    def test_transfers_of_a_charge_stay_below_it(self, desk: Desk) -> None:
        charge = desk.post("/v1/charges", {**USD, "source": "tok_visa"})["id"]
        sent = {"currency": "usd", "destination": "acct_9", "source_transaction": charge}
        desk.post("/v1/transfers", {**sent, "amount": 4000})
        assert desk.error("/v1/transfers", {**sent, "amount": 901})[0] == 400

    def test_a_reversal_takes_back_no_more_than_was_sent(self, desk: Desk) -> None:
        made = desk.post("/v1/transfers", {**USD, "destination": "acct_9"})["id"]
        path = f"/v1/transfers/{made}/reversals"
        desk.post(path, {"amount": 900})
        assert desk.error(path, {"amount": 4001})[0] == 400
        assert desk.post(path)["amount"] == 4000
        assert desk.error(path)[0] == 400
        assert desk.get(f"/v1/transfers/{made}")["reversed"] is True
        assert desk.balance() == 0
        assert desk.machine.world("acct_9").ledger.total("usd") == 0

    def test_a_payout_takes_what_is_available(self, desk: Desk) -> None:
        desk.post("/v1/topups", USD)
        made = desk.post("/v1/payouts", USD)
        assert desk.balance() == 0
        assert desk.error("/v1/payouts", USD)[1]["code"] == "balance_insufficient"
        assert desk.post(f"/v1/payouts/{made['id']}/cancel")["status"] == "canceled"
        assert desk.error(f"/v1/payouts/{made['id']}/cancel")[0] == 400
        assert desk.balance() == 4900

    def test_a_payout_is_reversed_once(self, desk: Desk) -> None:
        desk.post("/v1/topups", USD)
        path = f"/v1/payouts/{desk.post('/v1/payouts', USD)['id']}/reverse"
        assert desk.post(path)["amount"] == -4900
        assert desk.error(path)[0] == 400
        assert desk.balance() == 4900

    def test_funds_may_have_to_ripen(self) -> None:
        desk = Desk(funds_available_at_once=False)
        desk.post("/v1/charges", {**USD, "source": "tok_visa"})
        found = desk.get("/v1/balance")
        assert [found[name][0]["amount"] for name in ("available", "pending")] == [0, 4900]
        assert desk.error("/v1/payouts", USD)[1]["code"] == "balance_insufficient"
        desk.now += 2 * 86_400
        desk.post("/v1/payouts", USD)

    def test_the_balance_is_the_sum_of_its_transactions(self, desk: Desk) -> None:
        charge = desk.post("/v1/charges", {**USD, "source": "tok_visa"})
        desk.post("/v1/refunds", {"charge": charge["id"], "amount": 900})
        rows = desk.get("/v1/balance_transactions")["data"]
        assert [(row["type"], row["amount"]) for row in rows] == [
            ("refund", -900),
            ("charge", 4900),
        ]
        assert desk.get("/v1/balance")["available"][0]["amount"] == 4000
        path = f"/v1/balance_transactions/{charge['balance_transaction']}"
        assert desk.get(path)["source"] == charge["id"]


class TestInvoices:
    def draft(self, desk: Desk, customer: str = "cus_7") -> Any:
        desk.post("/v1/invoiceitems", {**USD, "customer": customer, "description": "Seat"})
        return desk.post(
            "/v1/invoices", {"customer": customer, "pending_invoice_items_behavior": "include"}
        )

    def test_waiting_items_come_onto_the_invoice_once(self, desk: Desk) -> None:
        assert (self.draft(desk)["status"], self.draft(desk)["total"]) == ("draft", 4900)
        again = desk.post(
            "/v1/invoices", {"customer": "cus_7", "pending_invoice_items_behavior": "include"}
        )
        assert again["total"] == 0

    def test_finalize_and_pay_happen_once(self, desk: Desk) -> None:
        path = f"/v1/invoices/{self.draft(desk)['id']}"
        assert desk.post(f"{path}/finalize")["status"] == "open"
        assert desk.error(f"{path}/finalize")[1]["code"] == "invoice_not_editable"
        paid = desk.post(f"{path}/pay")
        assert (paid["status"], paid["amount_paid"], paid["amount_remaining"]) == ("paid", 4900, 0)
        assert desk.error(f"{path}/pay")[0] == 400
        assert desk.balance() == 4900

    def test_a_declined_invoice_stays_open(self, desk: Desk) -> None:
        customer = desk.post("/v1/customers", {"source": "tok_chargeCustomerFail"})["id"]
        path = f"/v1/invoices/{self.draft(desk, customer)['id']}"
        assert desk.error(f"{path}/pay")[0] == 402
        assert desk.get(path)["status"] == "open"
        assert desk.post(f"{path}/pay", {"payment_method": "pm_card_visa"})["status"] == "paid"

    def test_void_and_uncollectible_are_for_open_ones(self, desk: Desk) -> None:
        path = f"/v1/invoices/{self.draft(desk)['id']}"
        assert desk.error(f"{path}/void")[0] == 400
        desk.post(f"{path}/finalize")
        assert desk.post(f"{path}/mark_uncollectible")["status"] == "uncollectible"
        assert desk.post(f"{path}/void")["status"] == "void"
        assert desk.error(f"{path}/pay")[0] == 400

    def test_lines_change_only_on_a_draft(self, desk: Desk) -> None:
        made = self.draft(desk)
        path = f"/v1/invoices/{made['id']}"
        line = made["lines"]["data"][0]["id"]
        desk.post(f"{path}/lines/{line}", {"amount": 1000})
        more = desk.post(f"{path}/add_lines", {"lines": [{"amount": 500, "description": "More"}]})
        assert more["total"] == 1500
        assert desk.post(f"{path}/remove_lines", {"lines": [{"id": line}]})["total"] == 500
        desk.post(f"{path}/finalize")
        assert desk.error(f"{path}/add_lines", {"lines": [{"amount": 1}]})[0] == 400

    def test_nothing_due_is_paid_at_once(self, desk: Desk) -> None:
        made = desk.post("/v1/invoices", {"customer": "cus_7"})
        assert desk.post(f"/v1/invoices/{made['id']}/finalize")["status"] == "paid"

    def test_only_a_draft_can_be_deleted(self, desk: Desk) -> None:
        path = f"/v1/invoices/{self.draft(desk)['id']}"
        assert desk.delete(path)["deleted"] is True
        path = f"/v1/invoices/{desk.post('/v1/invoices', {'customer': 'cus_7'})['id']}"
        desk.post(f"{path}/finalize")
        assert desk.send("DELETE", path).status == 400


class TestSubscriptions:
    def start(self, desk: Desk, **more: Any) -> Any:
        price = desk.post(
            "/v1/prices",
            {
                "currency": "usd",
                "unit_amount": 1500,
                "recurring": {"interval": "month"},
                "product_data": {"name": "Plan"},
            },
        )
        items = [{"price": price["id"], "quantity": 2}]
        return desk.post("/v1/subscriptions", {"customer": "cus_7", "items": items, **more})

    def test_the_first_invoice_is_paid_at_the_start(self, desk: Desk) -> None:
        made = self.start(desk)
        assert made["status"] == "active"
        invoice = desk.get(f"/v1/invoices/{made['latest_invoice']}")
        assert (invoice["total"], invoice["status"]) == (3000, "paid")
        assert desk.balance() == 3000

    def test_incomplete_waits_for_the_payment(self, desk: Desk) -> None:
        made = self.start(desk, payment_behavior="default_incomplete")
        assert (made["status"], desk.balance()) == ("incomplete", 0)

    def test_a_trial_costs_nothing_yet(self, desk: Desk) -> None:
        assert self.start(desk, trial_period_days=14)["status"] == "trialing"
        assert desk.balance() == 0

    def test_a_declined_start_leaves_an_incomplete_one_or_none(self, desk: Desk) -> None:
        customer = desk.post("/v1/customers", {"source": "tok_chargeCustomerFail"})["id"]
        items = [{"price": "price_7"}]
        sent = {"customer": customer, "items": items}
        assert desk.post("/v1/subscriptions", sent)["status"] == "incomplete"
        strict = {**sent, "payment_behavior": "error_if_incomplete"}
        assert desk.error("/v1/subscriptions", strict)[0] == 402
        assert len(list(desk.machine.world().all("subscription"))) == 1

    def test_canceled_is_final(self, desk: Desk) -> None:
        path = f"/v1/subscriptions/{self.start(desk)['id']}"
        assert desk.delete(path)["status"] == "canceled"
        assert desk.send("DELETE", path).status == 404
        assert desk.error(path, {"metadata": {"a": 1}})[0] == 400

    def test_a_change_billed_at_once_moves_money_each_time(self, desk: Desk) -> None:
        made = self.start(desk)
        item = made["items"]["data"][0]["id"]
        change = {"items": [{"id": item, "quantity": 3}], "proration_behavior": "always_invoice"}
        for _ in range(2):
            desk.post(f"/v1/subscriptions/{made['id']}", change)
        assert desk.balance() == 3000 + 2 * 4500

    def test_resume_is_for_a_paused_one(self, desk: Desk) -> None:
        path = f"/v1/subscriptions/{self.start(desk)['id']}"
        assert desk.error(f"{path}/resume")[0] == 400
        assert desk.post(f"{path}/pause")["status"] == "paused"
        assert desk.post(f"{path}/resume")["status"] == "active"


class TestCheckoutAndSetup:
    def test_a_session_adds_up_its_lines(self, desk: Desk) -> None:
        lines = [
            {
                "price_data": {
                    "currency": "eur",
                    "unit_amount": 700,
                    "product_data": {"name": "Book"},
                },
                "quantity": 3,
            }
        ]
        made = desk.post("/v1/checkout/sessions", {"mode": "payment", "line_items": lines})
        assert (made["amount_total"], made["currency"]) == (2100, "eur")
        rows = desk.get(f"/v1/checkout/sessions/{made['id']}/line_items")["data"]
        assert rows[0]["description"] == "Book"

    def test_a_session_expires_once(self, desk: Desk) -> None:
        made = desk.post("/v1/checkout/sessions", {"mode": "setup", "currency": "usd"})
        path = f"/v1/checkout/sessions/{made['id']}/expire"
        assert desk.post(path)["status"] == "expired"
        assert desk.error(path)[0] == 400

    def test_a_setup_keeps_the_method_with_the_customer(self, desk: Desk) -> None:
        made = desk.post(
            "/v1/setup_intents",
            {"customer": "cus_7", "payment_method": "pm_card_visa", "confirm": True},
        )
        assert made["status"] == "succeeded"
        kept = desk.get("/v1/customers/cus_7/payment_methods")["data"]
        assert made["payment_method"] in {each["id"] for each in kept}
        assert desk.error(f"/v1/setup_intents/{made['id']}/confirm")[0] == 400


class TestMetadataAndLists:
    def test_metadata_is_merged(self, desk: Desk) -> None:
        path = f"/v1/customers/{desk.post('/v1/customers', {'metadata': {'a': 1, 'b': 2}})['id']}"
        assert desk.post(path, {"metadata": {"b": "", "c": 3}})["metadata"] == {"a": "1", "c": "3"}
        assert desk.post(path, {"metadata": ""})["metadata"] == {}

    def test_lists_page_with_cursors_in_both_directions(self, desk: Desk) -> None:
        made = [desk.post("/v1/customers")["id"] for _ in range(5)][::-1]
        first = desk.get("/v1/customers", {"limit": 2})
        assert [row["id"] for row in first["data"]] == made[:2]
        assert first["has_more"] is True
        after = desk.get("/v1/customers", {"limit": 3, "starting_after": made[1]})
        assert ([row["id"] for row in after["data"]], after["has_more"]) == (made[2:], False)
        before = desk.get("/v1/customers", {"limit": 2, "ending_before": made[3]})
        assert [row["id"] for row in before["data"]] == made[1:3]

    def test_lists_filter_by_field_and_time(self, desk: Desk) -> None:
        desk.post("/v1/charges", {**USD, "customer": "cus_1"})
        desk.now += 100
        desk.post("/v1/charges", {**USD, "customer": "cus_2"})
        found = desk.get("/v1/charges", {"customer": "cus_1"})["data"]
        assert [row["customer"] for row in found] == ["cus_1"]
        found = desk.get("/v1/charges", {"created": {"gte": int(desk.now)}})["data"]
        assert [row["customer"] for row in found] == ["cus_2"]

    def test_search_reads_stripes_query_language(self, desk: Desk) -> None:
        for order in (1, 2):
            desk.post("/v1/payment_intents", {**USD, "metadata": {"order": order}})
        for query, count in (
            ('metadata["order"]:"2"', 1),
            ("amount>4000 AND currency:'usd'", 2),
            ('-metadata["order"]:"2"', 1),
            ('metadata["order"]:"1" OR metadata["order"]:"2"', 2),
        ):
            found = desk.get("/v1/payment_intents/search", {"query": query})
            assert len(found["data"]) == count, query

    def test_expand_puts_the_object_in_place_of_its_id(self, desk: Desk) -> None:
        made = intent(desk, confirm=True, expand=["latest_charge.balance_transaction", "customer"])
        assert made["latest_charge"]["balance_transaction"]["amount"] == 4900
        listed = desk.get("/v1/payment_intents", {"expand": ["data.latest_charge"]})
        assert listed["data"][0]["latest_charge"]["object"] == "charge"

    def test_a_deleted_object_is_gone(self, desk: Desk) -> None:
        path = f"/v1/products/{desk.post('/v1/products', {'name': 'A'})['id']}"
        assert desk.delete(path)["deleted"] is True
        assert desk.send("GET", path).status == 404

    def test_v2_lists_page_by_url(self, desk: Desk) -> None:
        for _ in range(3):
            desk.post("/v2/core/accounts")
        found = desk.get("/v2/core/accounts", {"limit": 2})
        assert len(found["data"]) == 2
        path, _, query = found["next_page_url"].partition("?")
        limit, number = (pair.partition("=")[2] for pair in query.split("&"))
        rest = desk.get(path, {"limit": limit, "page": number})
        assert (len(rest["data"]), rest["next_page_url"]) == (1, None)
