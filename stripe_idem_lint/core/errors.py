"""Errors that a person can act on: each says where and what to do."""

from __future__ import annotations


class LintError(Exception):
    """Base of all that ends a run with exit code 2."""


class ConfigError(LintError):
    """A wrong setting.

    Args:
        file: The file that holds it, or `command line`.
        key: The setting, dotted (`tool.stripe-idem-lint.select`).
        problem: What is wrong and what would be right.
    """

    def __init__(self, file: str, key: str, problem: str) -> None:
        super().__init__(f"{file}: {key}: {problem}" if key else f"{file}: {problem}")
        self.file, self.key, self.problem = file, key, problem


class ModelError(ConfigError):
    """A wrong entry of a model file; `key` is `table[number].key`."""


class RuleCrash(LintError):
    """A rule raised: the message names rule and file, the cause is chained."""
