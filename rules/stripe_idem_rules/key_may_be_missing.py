"""SIL302: the key is None or empty on some path."""

from collections.abc import Iterator

from stripe_idem_lint.api import CallFact, FixIntent, Rule, Verdict, level


class KeyMayBeMissing(Rule):
    code = "SIL302"
    name = "key-may-be-missing"
    summary = "None or an empty text reaches the key on some path or from some caller."
    rank = 310
    page = """
## What it finds

A key that is given, but None or empty on some visible path: an optional header or field that is passed on, a wrapper's default that a caller leaves standing.

## Why it matters

The SDK takes None and the empty text for no key and draws one: the protection is gone, silently.

## Example

```python
@app.post("/pay")
def pay():
    key = request.headers.get("Idempotency-Key")
    stripe.PaymentIntent.create(amount=500, currency="usd", confirm=True, idempotency_key=key)
```

## Use instead

```python
@app.post("/pay")
def pay():
    key = request.headers.get("Idempotency-Key") or abort(400, "Idempotency-Key required")
    stripe.PaymentIntent.create(amount=500, currency="usd", confirm=True, idempotency_key=key)
```

## When it is wrong

When something outside the program makes sure that the value is there.

## Fix safety

Turning a missing key into an error changes behaviour: a person confirms it.
"""

    def check(self, call: CallFact) -> Iterator[Verdict]:
        if not call.keyed:
            return
        for exposure in call.exposures:
            if exposure.origin.kind == "missing":
                yield Verdict(
                    level(call, exposure),
                    "The key may be missing, and the SDK then draws a new one for every call",
                    exposure.origin,
                    exposure,
                    "refuse a request without a key, or derive one from what identifies the charge",
                    fix=FixIntent("guard"),
                )
