"""SIL205: The id of a row or object made in the same run is part of the key."""

from stripe_idem_rules._unstable import UnstableKey


class FreshRowIdInKey(UnstableKey):
    code = "SIL205"
    name = "fresh-row-id-in-key"
    summary = "The id of a row or object made in the same run is part of the key."
    rank = 100
    kinds = frozenset({"fresh_row"})
    sentence = "The key contains the id of a row or object made in the same run"
    page = """
## What it finds

The id of a row or object made in the same run is part of the key.

## Why it matters

The next execution makes another row, or another Stripe object, with another id.

## Example

```python
payment = Payment.objects.create(order=order)
key = f"pay-{payment.id}"
```

## Use instead

```python
payment, _ = Payment.objects.get_or_create(order=order)
key = f"pay-{payment.id}"
```

## When it is wrong

When the row is claimed under a unique business key before the call, so that the next run finds it.

## Fix safety

Deriving the key needs a person who confirms what identifies the charge.
"""
