"""SIL301: a call that moves money has no key, inside something that runs again."""

from collections.abc import Iterator

from stripe_idem_lint.api import CallFact, FixIntent, Rule, Verdict, level


class MissingKey(Rule):
    code = "SIL301"
    name = "missing-key"
    summary = "A call that moves money or makes a payable object has no key, inside something that runs again."
    rank = 300
    page = """
## What it finds

A Stripe call without an idempotency key, inside a context that runs again. Calls that Stripe's own state guards are not meant (capture, cancel, confirm, pay, finalize, a full refund).

## Why it matters

Without a key the SDK draws one per call. It covers the SDK's own network retries and nothing above them: every execution of the code is a new charge. Raw HTTP requests carry no key at all.

## Example

```python
@shared_task(acks_late=True)
def charge(order_id, cents):
    stripe.PaymentIntent.create(amount=cents, currency="usd", confirm=True)
```

## Use instead

```python
@shared_task(acks_late=True)
def charge(order_id, cents):
    stripe.PaymentIntent.create(
        amount=cents, currency="usd", confirm=True, idempotency_key=f"charge-{order_id}"
    )
```

## When it is wrong

When the call can never be executed twice for one charge. In plain HTTP views it is a warning: only a second POST runs them again.

## Fix safety

Adding a derived key needs a person who confirms what identifies the charge.
"""

    def check(self, call: CallFact) -> Iterator[Verdict]:
        if call.keyed or call.dropped is not None or call.misplaced:
            return
        for exposure in call.exposures:
            if exposure.origin.kind == "missing":
                yield Verdict(
                    level(call, exposure),
                    "No idempotency key: the SDK draws a new one for every call",
                    exposure.origin,
                    exposure,
                    "pass a key derived from what identifies the charge (an order, an invoice, a period)",
                    fix=FixIntent("add"),
                )
