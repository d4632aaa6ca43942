"""SIL201: A reading of the clock is part of the key."""

from stripe_idem_rules._unstable import UnstableKey


class ClockInKey(UnstableKey):
    code = "SIL201"
    name = "clock-in-key"
    summary = "A reading of the clock is part of the key."
    rank = 100
    kinds = frozenset({"clock"})
    sentence = "The key contains a reading of the clock, which differs on every run"
    page = """
## What it finds

A reading of the clock is part of the key.

## Why it matters

Two executions of one charge read the clock at different moments, so they send different keys.

## Example

```python
key = f"{order.id}-{time.time()}"
```

## Use instead

```python
key = f"charge-{order.id}"
```

## When it is wrong

When the reading was stored before the first call and is read back. The linter follows stores that it can see; say so at the place otherwise.

## Fix safety

Deriving the key needs a person who confirms what identifies the charge.
"""
