"""What a client meets when it asks for something that a test must not do, or is killed.

They are raised in children too, so they can be pickled: `args` are those of the class.
"""

from __future__ import annotations


class StripeRefused(RuntimeError):
    """A request to Stripe outside a test that asked for the fake: nothing was sent."""

    def __init__(self, method: str, host: str, path: str) -> None:
        super().__init__(method, host, path)

    def __str__(self) -> str:
        method, host, path = self.args
        return (
            f"refused {method} https://{host}{path}: this test did not ask for the fake Stripe."
            " Add the fixture `fake_stripe` to the test (or `@pytest.mark.usefixtures"
            '("fake_stripe")`); nothing was sent over the network.'
        )


class LiveKeyRefused(RuntimeError):
    """A live key in a test: nothing was sent. Only the beginning of the key is kept."""

    def __init__(self, secret: str) -> None:
        super().__init__(secret[:8])

    def __str__(self) -> str:
        return (
            f"refused a request with a live Stripe key ({self.args[0]}…): a test must use a test"
            " key (sk_test_…). Nothing was sent over the network."
        )


class ProcessKilled(BaseException):
    """The calling process dies here. No `except Exception` survives it, as none would."""

    def __str__(self) -> str:
        return "the process was killed at this call to Stripe (an injected fault)"
