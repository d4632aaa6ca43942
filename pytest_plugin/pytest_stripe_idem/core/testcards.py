"""Stripe's documented test cards: by number, payment method (`pm_card_…`) and token (`tok_…`).

Source: https://docs.stripe.com/testing. An unknown payment method or token pays like a Visa that
works, so that tests can use names of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

Answer = Literal["pays", "declines", "asks"]
Refund = Literal["succeeded", "fails later", "waits"]


@dataclass(frozen=True, slots=True)
class TestCard:
    """A card and what the bank says when it is charged.

    Attributes:
        answer: `asks` wants the customer to authenticate first.
        code: Error code of a decline; `decline_code` says more for `card_declined`.
        attaches: Whether it can be attached to a customer at all.
        disputed: A charge is disputed as soon as it is made.
        refund: What becomes of a refund: `fails later` has succeeded at first, `waits` is pending
            at first.
    """

    __test__ = False  # the name begins as pytest's own classes do

    number: str
    brand: str = "visa"
    answer: Answer = "pays"
    code: str = ""
    decline_code: str | None = None
    attaches: bool = True
    disputed: bool = False
    refund: Refund = "succeeded"

    @property
    def last4(self) -> str:
        return self.number[-4:]


def _no(
    number: str, code: str, decline_code: str | None = None, attaches: bool = False
) -> TestCard:
    return TestCard(
        number, answer="declines", code=code, decline_code=decline_code, attaches=attaches
    )


# Code of the decline where nobody can authenticate (a plain charge, an off-session payment).
ASKS = "authentication_required"

VISA = TestCard("4242424242424242")

# Names as in `pm_card_<name>` and `tok_<name>`, in lower case without a leading `visa_`.
BY_NAME = MappingProxyType(
    {
        "visa": VISA,
        "us": VISA,
        "bypasspending": TestCard("4000000000000077"),
        "visa_debit": TestCard("4000056655665556"),
        "mastercard": TestCard("5555555555554444", "mastercard"),
        "mastercard_debit": TestCard("5200828282828210", "mastercard"),
        "mastercard_prepaid": TestCard("5105105105105100", "mastercard"),
        "amex": TestCard("378282246310005", "amex"),
        "discover": TestCard("6011111111111117", "discover"),
        "diners": TestCard("3056930009020004", "diners"),
        "jcb": TestCard("3566002020360505", "jcb"),
        "unionpay": TestCard("6200000000000005", "unionpay"),
        "chargedeclined": _no("4000000000000002", "card_declined", "generic_decline"),
        "chargedeclinedinsufficientfunds": _no(
            "4000000000009995", "card_declined", "insufficient_funds"
        ),
        "chargedeclinedlostcard": _no("4000000000009987", "card_declined", "lost_card"),
        "chargedeclinedstolencard": _no("4000000000009979", "card_declined", "stolen_card"),
        "chargedeclinedfraudulent": _no("4100000000000019", "card_declined", "fraudulent"),
        "chargedeclinedvelocitylimitexceeded": _no(
            "4000000000006975", "card_declined", "card_velocity_exceeded"
        ),
        "chargedeclinedexpiredcard": _no("4000000000000069", "expired_card"),
        "chargedeclinedincorrectcvc": _no("4000000000000127", "incorrect_cvc"),
        "chargedeclinedprocessingerror": _no("4000000000000119", "processing_error"),
        "chargecustomerfail": _no(
            "4000000000000341", "card_declined", "generic_decline", attaches=True
        ),
        "radarblock": _no("4100000000000019", "card_declined", "fraudulent"),
        "authenticationrequired": TestCard("4000002500003155", answer="asks", code=ASKS),
        "authenticationrequiredonsetup": TestCard("4000002500003155", answer="asks", code=ASKS),
        "threedsecure2required": TestCard("4000000000003220", answer="asks", code=ASKS),
        "threedsecurerequired": TestCard("4000000000003063", answer="asks", code=ASKS),
        "refundfail": TestCard("4000000000005126", refund="fails later"),
        "pendingrefund": TestCard("4000000000007726", refund="waits"),
        "createdispute": TestCard("4000000000000259", disputed=True),
    }
)

BY_NUMBER = MappingProxyType({card.number: card for card in reversed(list(BY_NAME.values()))})


def named(reference: str) -> TestCard:
    """The card behind `pm_card_…`, `tok_…` or a number; a working one for anything else."""
    if reference in BY_NUMBER:
        return BY_NUMBER[reference]
    if reference.isdigit() and 12 <= len(reference) <= 19:
        return TestCard(reference)
    name = reference.removeprefix("pm_card_").removeprefix("tok_").lower()
    return BY_NAME.get(name) or BY_NAME.get(name.removeprefix("visa_"), VISA)


def known(reference: str) -> bool:
    """Whether it is one of the documented names or numbers."""
    name = reference.removeprefix("pm_card_").removeprefix("tok_").lower()
    return reference in BY_NUMBER or name in BY_NAME or name.removeprefix("visa_") in BY_NAME


MESSAGES = MappingProxyType(
    {
        "card_declined": "The card was declined.",
        "expired_card": "The card has expired.",
        "incorrect_cvc": "The card's security code is incorrect.",
        "processing_error": "An error occurred while the card was processed.",
        "authentication_required": "The bank wants the customer to authenticate this payment.",
    }
)
