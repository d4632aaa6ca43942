"""A fake Stripe for tests: keeps the promises about idempotency keys and fails the test when one charge gets two."""
