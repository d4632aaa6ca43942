"""What a test can set: ini options, then the command line, then the marker; the last one wins.

A wrong name or value is an error at the test that uses it, never silence.
"""

from __future__ import annotations

import importlib
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from pytest_stripe_idem.core.assumptions import Assumptions
from pytest_stripe_idem.record.identity import Identify


class OptionError(ValueError):
    """An option that does not exist, or a value it cannot have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The settings of one test.

    Attributes:
        identity: The project's own "same payment": a callable, or `pkg.mod:name` of one.
        spend_cap: Most that the test may charge, in the smallest unit of its currency.
        strict: What may be a second purchase (the first success was delivered) fails the test too.
        judge: False: the test looks at `fake_stripe.divergences` itself and does not fail by them.
        volatile: Further parameters that do not tell two purchases apart.
        sdk_retries: Leave `stripe.max_network_retries` as it is; otherwise 0 during the test,
            because the SDK's own retries hide what the code does.
        assumptions: What nobody documents (docs/plugin/assumptions.md).
    """

    identity: Identify | None = None
    spend_cap: float | None = None
    strict: bool = False
    judge: bool = True
    volatile: tuple[str, ...] = ()
    sdk_retries: bool = False
    assumptions: Assumptions = field(default_factory=Assumptions)

    def changed(self, given: Mapping[str, Any], where: str) -> Options:
        """A copy with some set otherwise.

        Raises:
            OptionError: It says `where` the wrong one stands.
        """
        known = {each.name for each in fields(self)}
        values: dict[str, Any] = {}
        for name, value in given.items():
            if name not in known:
                raise OptionError(
                    f"{where}: unknown option {name!r}; known are {', '.join(sorted(known))}"
                )
            try:
                values[name] = self._read(name, value)
            except (ValueError, TypeError, ImportError, AttributeError) as error:
                raise OptionError(f"{where}: {name}: {error}") from error
        return replace(self, **values)

    def _read(self, name: str, value: Any) -> Any:
        match name:
            case "identity":
                return value if value is None else _callable(value)
            case "spend_cap":
                return None if value is None else _number(value)
            case "volatile":
                return tuple(_texts(value))
            case "assumptions":
                return self.assumptions.changed(dict(value))
            case _:
                return _switch(value)


def _callable(value: Any) -> Callable[..., Any]:
    if isinstance(value, str):
        module, colon, name = value.partition(":")
        if not colon:
            raise ValueError(f"{value!r} is not pkg.mod:name")
        value = getattr(importlib.import_module(module), name)
    if not callable(value):
        raise TypeError(f"{value!r} cannot be called")
    found: Callable[..., Any] = value
    return found


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
        raise ValueError(f"{value!r} is no amount in the smallest unit of a currency")
    return float(value)


def _texts(value: Any) -> Iterable[str]:
    if isinstance(value, str) or not all(isinstance(each, str) for each in value):
        raise ValueError(f"{value!r} is no list of parameter names")
    return list(value)


def _switch(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"{value!r} is neither True nor False")
    return value


def read_assumptions(lines: Iterable[str], where: str) -> dict[str, Any]:
    """`expand_counts = false` as it stands in an ini file: TOML, one per line."""
    found: dict[str, Any] = {}
    for line in lines:
        try:
            found |= tomllib.loads(line)
        except tomllib.TOMLDecodeError as error:
            raise OptionError(f"{where}: {line!r} is not `name = value`: {error}") from error
    return found
