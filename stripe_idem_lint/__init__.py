"""Finds Stripe calls whose idempotency key does not survive a second execution of the same charge."""

__version__ = "0.1.0"
