"""SIL102: A key is drawn in a batch that can be started again."""

from stripe_idem_lint.api import FixIntent
from stripe_idem_rules._unstable import UnstableKey


class FreshKeyInBatchWriter(UnstableKey):
    code = "SIL102"
    name = "fresh-key-in-batch-writer"
    summary = "A key is drawn in a batch that can be started again."
    rank = 200
    kinds = frozenset({"fresh"})
    categories = frozenset({"batch"})
    sentence = "The key is made anew on every run of the batch"
    fix = FixIntent("derive")
    page = """
## What it finds

A key is drawn in a batch that can be started again.

## Why it matters

A batch that stops half-way is started again and meets the items it has charged already but not marked. With a key drawn per run Stripe sees a new charge.

## Example

```python
for due in Due.objects.filter(paid=False):
    stripe.Charge.create(
        amount=due.cents, currency="usd", customer=due.customer, idempotency_key=str(uuid4())
    )
    due.paid = True
    due.save()
```

## Use instead

```python
for due in Due.objects.filter(paid=False):
    stripe.Charge.create(
        amount=due.cents, currency="usd", customer=due.customer, idempotency_key=f"due-{due.pk}"
    )
    due.paid = True
    due.save()
```

## When it is wrong

When the code is in truth never run again for the same charge. Say so at the place: `# stripe-idem: ignore[SIL102] reason`.

## Fix safety

Deriving the key from the item changes which charges Stripe takes for one: a person confirms that the item identifies the charge.
"""
