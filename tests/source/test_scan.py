"""Words are found in bytes as whole identifiers."""

from __future__ import annotations

import pytest

from stripe_idem_lint.source.scan import mentions, mentions_service


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"pay(order)", True),
        (b"x.pay", True),
        (b"'pay'", True),
        (b"# pay", True),
        (b"repay = 1; pay", True),
        (b"pay", True),
        (b"", False),
        (b"repay", False),
        (b"pay_now", False),
        ("payé".encode(), False),
        (b"pay2", False),
        (b"PAY", False),
    ],
)
def test_a_word_is_a_whole_identifier(data: bytes, expected: bool) -> None:
    assert mentions(data, b"pay") is expected


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"import stripe", True),
        (b"StripeClient()", True),
        (b"STRIPE_KEY", True),
        (b"https://api.stripe.com", True),
        (b"djstripe", True),
        (b"striped", False),
        (b"Striped rows, strip(e)", False),
        (b"striped stripe", True),
        ("import stripe".encode("utf-16"), True),
        ("import strip".encode("utf-16"), False),
        (b"", False),
    ],
)
def test_a_file_that_may_concern_stripe(data: bytes, expected: bool) -> None:
    assert mentions_service(data) is expected
