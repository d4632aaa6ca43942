"""SIL106: A key is drawn in a workflow step or activity that is replayed or tried again."""

from stripe_idem_lint.api import FixIntent
from stripe_idem_rules._unstable import UnstableKey


class FreshKeyInWorkflow(UnstableKey):
    code = "SIL106"
    name = "fresh-key-in-workflow"
    summary = "A key is drawn in a workflow step or activity that is replayed or tried again."
    rank = 200
    kinds = frozenset({"fresh"})
    categories = frozenset({"workflow"})
    sentence = "The key is made anew when the workflow step runs again"
    fix = FixIntent("thread")
    page = """
## What it finds

A key is drawn in a workflow step or activity that is replayed or tried again.

## Why it matters

Workflow engines run a step again after a time-out or a lost worker. What is drawn in the step is drawn again.

## Example

```python
@activity.defn
async def charge(order_id: str, cents: int) -> str:
    intent = await stripe.PaymentIntent.create_async(
        amount=cents, currency="usd", confirm=True, idempotency_key=str(uuid4())
    )
    return intent.id
```

## Use instead

```python
@activity.defn
async def charge(order_id: str, cents: int, key: str) -> str:
    intent = await stripe.PaymentIntent.create_async(
        amount=cents, currency="usd", confirm=True, idempotency_key=key
    )
    return intent.id
```

## When it is wrong

When the code is in truth never run again for the same charge. Say so at the place: `# stripe-idem: ignore[SIL106] reason`.

## Fix safety

Handing the key in from the workflow changes the step's signature: a person confirms it.
"""
