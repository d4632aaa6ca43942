"""SIL202: The number of the try is part of the key."""

from stripe_idem_rules._unstable import UnstableKey


class AttemptInKey(UnstableKey):
    code = "SIL202"
    name = "attempt-in-key"
    summary = "The number of the try is part of the key."
    rank = 100
    kinds = frozenset({"attempt"})
    sentence = "The key contains the number of the try, so every try has its own"
    page = """
## What it finds

The number of the try is part of the key.

## Why it matters

A counter of tries gives each try its own key: exactly the tries that should share one.

## Example

```python
for attempt in range(3):
    try:
        return charge(order, key=f"{order.id}-{attempt}")
    except stripe.APIConnectionError:
        continue
```

## Use instead

```python
key = f"charge-{order.id}"
for attempt in range(3):
    try:
        return charge(order, key=key)
    except stripe.APIConnectionError:
        continue
```

## When it is wrong

When the number moves only after a definite refusal (a declined card) and is stored: then it is no retry counter.

## Fix safety

Deriving the key needs a person who confirms what identifies the charge.
"""
