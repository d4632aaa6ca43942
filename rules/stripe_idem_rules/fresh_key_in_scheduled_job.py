"""SIL105: A key is drawn in a scheduled job, or behind a lock that may run out."""

from stripe_idem_lint.api import FixIntent
from stripe_idem_rules._unstable import UnstableKey


class FreshKeyInScheduledJob(UnstableKey):
    code = "SIL105"
    name = "fresh-key-in-scheduled-job"
    summary = "A key is drawn in a scheduled job, or behind a lock that may run out."
    rank = 200
    kinds = frozenset({"fresh"})
    categories = frozenset({"schedule", "lock"})
    sentence = "The key is made anew on every run of a scheduled job"
    fix = FixIntent("derive")
    page = """
## What it finds

A key is drawn in a scheduled job, or behind a lock that may run out.

## Why it matters

A schedule fires again while the work of the last run is unfinished, on a second node, or after the lock has run out; what the last run charged without marking it is charged again under another key.

## Example

```python
@scheduler.scheduled_job("cron", hour=2)
def bill():
    for due in open_dues():
        stripe.Charge.create(
            amount=due.cents, currency="usd", customer=due.customer, idempotency_key=uuid4().hex
        )
```

## Use instead

```python
@scheduler.scheduled_job("cron", hour=2)
def bill():
    for due in open_dues():
        stripe.Charge.create(
            amount=due.cents,
            currency="usd",
            customer=due.customer,
            idempotency_key=f"due-{due.customer}-{due.period}",
        )
```

## When it is wrong

When the code is in truth never run again for the same charge. Say so at the place: `# stripe-idem: ignore[SIL105] reason`.

## Fix safety

Deriving the key needs a person who confirms what identifies the charge; keep the period in it.
"""
