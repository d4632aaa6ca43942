"""SIL204: An id of the delivery, not of the charge, is part of the key."""

from stripe_idem_rules._unstable import UnstableKey


class DeliveryIdInKey(UnstableKey):
    code = "SIL204"
    name = "delivery-id-in-key"
    summary = "An id of the delivery, not of the charge, is part of the key."
    rank = 100
    kinds = frozenset({"delivery"})
    sentence = "The key contains an id of the delivery, which is another one when the request or message comes again"
    page = """
## What it finds

An id of the delivery, not of the charge, is part of the key.

## Why it matters

Request ids, session and CSRF tokens and ids that a library invents are new on each hop; ids of tasks and messages are new after a republish.

## Example

```python
key = request.headers["X-Request-ID"]
```

## Use instead

```python
key = f"pay-{order.id}"
```

## When it is wrong

When the id is given by the sender and is the same on every delivery. Ids of tasks and messages are only information until the program itself is seen to publish again.

## Fix safety

Deriving the key needs a person who confirms what identifies the charge.
"""
