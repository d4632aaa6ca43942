"""SIL103: A key is drawn in a handler that is entered again for the same request, message or task."""

from stripe_idem_lint.api import FixIntent
from stripe_idem_rules._unstable import UnstableKey


class FreshKeyInHandler(UnstableKey):
    code = "SIL103"
    name = "fresh-key-in-handler"
    summary = (
        "A key is drawn in a handler that is entered again for the same request, message or task."
    )
    rank = 200
    kinds = frozenset({"fresh"})
    categories = frozenset({"http", "webhook", "message", "task", "serverless", "tool"})
    sentence = "The key is made anew on every run of a handler"
    fix = FixIntent("derive")
    page = """
## What it finds

A key is drawn in a handler that is entered again for the same request, message or task.

## Why it matters

Clients post again when an answer is lost, brokers deliver again, queues retry, platforms invoke again. Each execution draws another key, so Stripe makes another charge.

## Example

```python
@app.post("/pay")
def pay(order_id: int):
    order = load(order_id)
    stripe.PaymentIntent.create(
        amount=order.cents, currency="usd", confirm=True, idempotency_key=str(uuid4())
    )
```

## Use instead

```python
@app.post("/pay")
def pay(order_id: int):
    order = load(order_id)
    stripe.PaymentIntent.create(
        amount=order.cents, currency="usd", confirm=True, idempotency_key=f"pay-{order.id}"
    )
```

## When it is wrong

When the code is in truth never run again for the same charge. Say so at the place: `# stripe-idem: ignore[SIL103] reason`.

## Fix safety

Deriving the key needs a person who confirms what identifies the charge.
"""
