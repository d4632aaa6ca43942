"""The built-in rules and models."""
