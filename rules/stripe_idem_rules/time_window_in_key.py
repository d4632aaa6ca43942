"""SIL206: A clock cut to a minute, an hour, a day or longer is part of the key."""

from stripe_idem_rules._unstable import UnstableKey


class TimeWindowInKey(UnstableKey):
    code = "SIL206"
    name = "time-window-in-key"
    summary = "A clock cut to a minute, an hour, a day or longer is part of the key."
    rank = 100
    default = False
    kinds = frozenset({"window"})
    sentence = (
        "The key contains a clock cut to a window, and the next run may fall into the next one"
    )
    page = """
## What it finds

A clock cut to a minute, an hour, a day or longer is part of the key.

## Why it matters

A retry after midnight, or at the end of the month, sends another key. Some teams accept that; this rule is off unless selected.

## Example

```python
key = f"fee-{member.id}-{date.today():%Y-%m}"
```

## Use instead

```python
key = f"fee-{member.id}-{period}"  # the period is an argument
```

## When it is wrong

When the window is meant as the identity of the charge and the caller cannot hand it in.

## Fix safety

Deriving the key needs a person who confirms what identifies the charge.
"""
