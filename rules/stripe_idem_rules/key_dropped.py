"""SIL303: a wrapper takes a key and does not hand it on."""

from collections.abc import Iterator

from stripe_idem_lint.api import REPORTED, CallFact, FixIntent, Rule, Severity, Verdict, level


class KeyDropped(Rule):
    code = "SIL303"
    name = "key-dropped"
    summary = "A wrapper takes a key and does not hand it on to Stripe."
    rank = 290
    page = """
## What it finds

A function on the way to a Stripe call that takes an idempotency key as a parameter, while the call itself is made without one.

## Why it matters

Callers believe they are protected. The key ends in the wrapper, and the SDK draws a new one for every call.

## Example

```python
def charge(order, idempotency_key):
    return stripe.PaymentIntent.create(amount=order.cents, currency="usd", confirm=True)
```

## Use instead

```python
def charge(order, idempotency_key):
    return stripe.PaymentIntent.create(
        amount=order.cents, currency="usd", confirm=True, idempotency_key=idempotency_key
    )
```

## When it is wrong

When the parameter is meant for something else, a ledger for instance.

## Fix safety

Handing the key on is what the signature promises; a person confirms that all callers mean it.
"""

    def check(self, call: CallFact) -> Iterator[Verdict]:
        if call.dropped is None or call.keyed or call.effect not in REPORTED:
            return
        message = f"The key in `{call.dropped.note}` is taken and not handed on to Stripe"
        advice = f"pass `{call.dropped.note}` to the call"
        marks, fix = (call.dropped,), FixIntent("thread")
        for exposure in call.exposures:
            if exposure.origin.kind == "missing":
                yield Verdict(
                    level(call, exposure), message, exposure.origin, exposure, advice, marks, fix
                )
        yield Verdict(Severity.WARNING, message, None, None, advice, marks, fix)
