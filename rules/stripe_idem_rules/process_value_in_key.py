"""SIL203: A value that lives as long as one process is part of the key."""

from stripe_idem_rules._unstable import UnstableKey


class ProcessValueInKey(UnstableKey):
    code = "SIL203"
    name = "process-value-in-key"
    summary = "A value that lives as long as one process is part of the key."
    rank = 100
    kinds = frozenset({"process"})
    sentence = "The key contains a value of this process, which is another one in the next process"
    page = """
## What it finds

A value that lives as long as one process is part of the key.

## Why it matters

`hash()` of text is salted per process; values drawn at import, default arguments and in-memory caches are drawn again by the next worker.

## Example

```python
RUN_ID = uuid4().hex

@shared_task(acks_late=True)
def charge(order_id):
    key = f"{RUN_ID}-{order_id}"
```

## Use instead

```python
@shared_task(acks_late=True)
def charge(order_id):
    key = f"charge-{order_id}"
```

## When it is wrong

When the code is certain to run again in the same process only.

## Fix safety

Deriving the key needs a person who confirms what identifies the charge.
"""
