"""SIL104: A key is drawn in code that takes up unfinished work."""

from stripe_idem_lint.api import FixIntent
from stripe_idem_rules._unstable import UnstableKey


class FreshKeyInRecoveryHook(UnstableKey):
    code = "SIL104"
    name = "fresh-key-in-recovery-hook"
    summary = "A key is drawn in code that takes up unfinished work."
    rank = 200
    kinds = frozenset({"fresh"})
    categories = frozenset({"recovery"})
    sentence = "The key is made anew when unfinished work is taken up"
    fix = FixIntent("derive")
    page = """
## What it finds

A key is drawn in code that takes up unfinished work.

## Why it matters

Recovery finds work whose outcome is unknown: the charge may have been made. Sent under a new key it is made again.

## Example

```python
def recover_pending():
    for attempt in Attempt.objects.filter(status="PENDING"):
        stripe.Charge.create(
            amount=attempt.cents, currency="usd", customer=attempt.customer, idempotency_key=str(uuid4())
        )
```

## Use instead

```python
def recover_pending():
    for attempt in Attempt.objects.filter(status="PENDING"):
        stripe.Charge.create(
            amount=attempt.cents,
            currency="usd",
            customer=attempt.customer,
            idempotency_key=attempt.idempotency_key,
        )
```

## When it is wrong

When the code is in truth never run again for the same charge. Say so at the place: `# stripe-idem: ignore[SIL104] reason`.

## Fix safety

The stored key of the first attempt must be sent; where none was stored a person decides.
"""
