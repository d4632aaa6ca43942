"""Ids in Stripe's shapes, counted: `pi_1`, `pi_2`, `ch_1`. The same run gives the same ids."""

from __future__ import annotations

from collections import Counter
from types import MappingProxyType

PREFIXES = MappingProxyType(
    {
        "account": "acct",
        "application_fee": "fee",
        "apps.secret": "appsecret",
        "balance_transaction": "txn",
        "bank_account": "ba",
        "billing.alert": "alrt",
        "billing.credit_grant": "credgr",
        "billing.meter": "mtr",
        "billing_portal.configuration": "bpc",
        "billing_portal.session": "bps",
        "card": "card",
        "charge": "ch",
        "checkout.session": "cs_test",
        "climate.order": "climorder",
        "confirmation_token": "ctoken",
        "coupon": "cpn",
        "credit_note": "cn",
        "credit_note_line_item": "cnli",
        "customer": "cus",
        "customer_balance_transaction": "cbtxn",
        "dispute": "du",
        "entitlements.feature": "feat",
        "ephemeral_key": "ephkey",
        "event": "evt",
        "fee_refund": "fr",
        "file": "file",
        "file_link": "link",
        "financial_connections.account": "fca",
        "financial_connections.session": "fcsess",
        "forwarding.request": "fwdreq",
        "identity.verification_session": "vs",
        "invoice": "in",
        "invoice_payment": "inpay",
        "invoice_rendering_template": "inrtem",
        "invoiceitem": "ii",
        "issuing.authorization": "iauth",
        "issuing.card": "ic",
        "issuing.cardholder": "ich",
        "issuing.dispute": "idp",
        "issuing.personalization_design": "ipd",
        "issuing.token": "intok",
        "issuing.transaction": "ipi",
        "item": "li",
        "line_item": "il",
        "mandate": "mandate",
        "payment_attempt_record": "par",
        "payment_intent": "pi",
        "payment_link": "plink",
        "payment_method": "pm",
        "payment_method_configuration": "pmc",
        "payment_method_domain": "pmd",
        "payment_record": "pr",
        "payout": "po",
        "person": "person",
        "plan": "plan",
        "price": "price",
        "product": "prod",
        "product_feature": "prodft",
        "promotion_code": "promo",
        "quote": "qt",
        "radar.value_list": "rsl",
        "radar.value_list_item": "rsli",
        "refund": "re",
        "reporting.report_run": "frr",
        "request": "req",
        "review": "prv",
        "setup_attempt": "setatt",
        "setup_intent": "seti",
        "shipping_rate": "shr",
        "source": "src",
        "subscription": "sub",
        "subscription_item": "si",
        "subscription_schedule": "sub_sched",
        "tax.calculation": "taxcalc",
        "tax.registration": "taxreg",
        "tax.transaction": "tax",
        "tax_id": "txi",
        "tax_rate": "txr",
        "terminal.configuration": "tmc",
        "terminal.location": "tml",
        "terminal.reader": "tmr",
        "test_helpers.test_clock": "clock",
        "token": "tok",
        "topup": "tu",
        "transfer": "tr",
        "transfer_reversal": "trr",
        "treasury.credit_reversal": "credrev",
        "treasury.debit_reversal": "debrev",
        "treasury.financial_account": "fa",
        "treasury.inbound_transfer": "ibt",
        "treasury.outbound_payment": "obp",
        "treasury.outbound_transfer": "obt",
        "treasury.received_credit": "rc",
        "treasury.received_debit": "rd",
        "treasury.transaction": "trxn",
        "usage_record": "mbur",
        "webhook_endpoint": "we",
    }
)


def prefix_of(kind: str) -> str:
    """The id prefix of an `object` name; the first letters of its last words where none is known."""
    known = PREFIXES.get(kind) or (
        PREFIXES.get(kind.rpartition(".")[2]) if kind.startswith("v2.") else None
    )
    if known:
        return known
    words = kind.rpartition(".")[2].split("_")
    return words[0][:6] if len(words) == 1 else "".join(word[:3] for word in words)


class Ids:
    """Counts per prefix."""

    def __init__(self) -> None:
        self._made: Counter[str] = Counter()

    def new(self, kind: str) -> str:
        prefix = prefix_of(kind)
        self._made[prefix] += 1
        return f"{prefix}_{self._made[prefix]}"
