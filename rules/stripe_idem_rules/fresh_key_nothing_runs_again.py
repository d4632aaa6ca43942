"""SIL100: a fresh key, and nothing in sight that runs the call again."""

from collections.abc import Iterator

from stripe_idem_lint.api import REPORTED, CallFact, Rule, Severity, Verdict


class FreshKeyNothingRunsAgain(Rule):
    code = "SIL100"
    name = "fresh-key-nothing-runs-again"
    summary = "A key is drawn for the call, and no code in sight runs it again."
    rank = 900
    default = False
    page = """
## What it finds

A key that is drawn for each call, where no context is known on any way up through the visible callers.

## Why it matters

Nothing in the program runs the call again, so this is no fault by itself. It becomes one as soon as somebody puts the function behind a retry, a queue or a view.

## Example

```python
def charge_once_by_hand(cents):
    stripe.PaymentIntent.create(amount=cents, currency="usd", idempotency_key=str(uuid4()))
```

## Use instead

```python
def charge_once_by_hand(order, cents):
    stripe.PaymentIntent.create(amount=cents, currency="usd", idempotency_key=f"order-{order.id}")
```

## When it is wrong

Always, in the sense that nothing is broken yet: shown on request only, and it never fails a run.

## Fix safety

No fix is offered.
"""

    def check(self, call: CallFact) -> Iterator[Verdict]:
        if call.contexts or call.effect not in REPORTED:
            return
        for origin in call.origins:
            if origin.kind in ("fresh", "clock"):
                yield Verdict(
                    Severity.INFO,
                    f"A key is drawn here ({origin.text}); nothing in sight runs this call again",
                    origin,
                    help="give the key an identity before somebody retries this function",
                )
                return
