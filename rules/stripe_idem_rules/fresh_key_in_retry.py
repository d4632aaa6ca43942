"""SIL101: A key is drawn inside code that is tried again."""

from stripe_idem_lint.api import FixIntent
from stripe_idem_rules._unstable import UnstableKey


class FreshKeyInRetry(UnstableKey):
    code = "SIL101"
    name = "fresh-key-in-retry"
    summary = "A key is drawn inside code that is tried again."
    rank = 200
    kinds = frozenset({"fresh"})
    categories = frozenset({"retry", "transaction"})
    sentence = "The key is made anew on every try"
    fix = FixIntent("hoist")
    page = """
## What it finds

A key is drawn inside code that is tried again.

## Why it matters

A retry decorator, a hand-written loop, a retry helper or a transaction helper executes the code again after a failure. If the answer of the first try was lost, Stripe has made the charge already; the second try carries another key, so Stripe makes a second one.

## Example

```python
@retry(stop=stop_after_attempt(3))
def charge(order):
    stripe.PaymentIntent.create(
        amount=order.cents, currency="usd", confirm=True, idempotency_key=str(uuid4())
    )
```

## Use instead

```python
def charge(order):
    key = f"charge-{order.id}"
    return send(order, key)


@retry(stop=stop_after_attempt(3))
def send(order, key):
    stripe.PaymentIntent.create(
        amount=order.cents, currency="usd", confirm=True, idempotency_key=key
    )
```

## When it is wrong

When the code is in truth never run again for the same charge. Say so at the place: `# stripe-idem: ignore[SIL101] reason`.

## Fix safety

Moving the draw above the retry is safe when nothing between them depends on the try.
"""
