"""SIL304: a key stands where Stripe does not read it, or is no text."""

from collections.abc import Iterator

from stripe_idem_lint.api import CallFact, FixIntent, Rule, Severity, Verdict


class KeyInTheWrongPlace(Rule):
    code = "SIL304"
    name = "key-in-the-wrong-place"
    summary = "A key stands where Stripe does not read it, or is no text."
    rank = 10
    page = """
## What it finds

`options=` on a resource method, `idempotency_key` among the parameters of a service call, or a key that is no `str`.

## Why it matters

Resource methods send `options` as body parameters and draw a random key. Services send a key among the parameters to Stripe, which refuses it. A UUID object or a number fails before any request is made.

## Example

```python
stripe.Charge.create(amount=500, currency="usd", options={"idempotency_key": f"order-{order.id}"})
```

## Use instead

```python
stripe.Charge.create(amount=500, currency="usd", idempotency_key=f"order-{order.id}")
```

## When it is wrong

When the method is an own one of the same name that reads the key there.

## Fix safety

Moving the key to where Stripe reads it is safe; turning an object into text is safe as well.
"""

    def check(self, call: CallFact) -> Iterator[Verdict]:
        if call.misplaced:
            yield Verdict(
                Severity.ERROR,
                f"Stripe does not get this key: {call.misplaced}",
                help="resource methods take `idempotency_key=` with a text, services `options={...}`",
                fix=FixIntent("move"),
            )
