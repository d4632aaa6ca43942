"""A program as plain data: no Stripe, no framework, no syntax tree."""
