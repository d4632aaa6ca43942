"""Parameters before anything executes: unknown, missing, ill-typed.

What is refused here is never stored under a key. Only the top level has an allow-list; what is
wrong inside a hash is the business of the resource.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pytest_stripe_idem.core.catalog import Endpoint, Param
from pytest_stripe_idem.core.errors import ValidationError

_INTEGER = re.compile(r"-?\d+\Z")
_DECIMAL = re.compile(r"-?\d+(\.\d+)?\Z")

MAX_METADATA_KEYS = 50
MAX_METADATA_KEY = 40
MAX_METADATA_VALUE = 500


def check(endpoint: Endpoint, given: Mapping[str, Any], *, older_parameters: bool) -> None:
    """Raises the `ValidationError` Stripe would answer with, or returns."""
    allowed = endpoint.params
    for name in given:
        param = allowed.get(name)
        if param is None and name == "page" and endpoint.shape == "list":
            continue  # the cursor inside a v2 `next_page_url`
        if param is None or (param.older and not older_parameters):
            raise _refused(
                f"Received unknown parameter: {name}{_hint(name)}", name, "parameter_unknown"
            )
    # Who sends a parameter of an older version need not know what the newest one requires.
    newest = not any(allowed[name].older for name in given if name in allowed)
    for param in allowed.values():
        if param.required and newest and given.get(param.name) in (None, ""):
            raise _refused(
                f"Missing required param: {param.name}.", param.name, "parameter_missing"
            )
        if param.name in given:
            _check_kind(param, given[param.name])
    if isinstance(given.get("metadata"), dict):
        _check_metadata(given["metadata"])


def _hint(name: str) -> str:
    """Why a test meets this: a key that was put where it does nothing."""
    if name in {"options", "idempotency_key"}:
        return (
            ". The key travels in a header: `idempotency_key=` on a resource method,"
            ' `options={"idempotency_key": …}` as the second argument of a service method.'
        )
    return ""


def _refused(message: str, param: str, code: str) -> ValidationError:
    return ValidationError(400, "invalid_request_error", message, code=code, param=param)


def _check_kind(param: Param, value: Any) -> None:
    match param.kind:
        case "i" if not _matches(_INTEGER, value):
            raise _refused(f"Invalid integer: {value}", param.name, "parameter_invalid_integer")
        case "f" if not _matches(_DECIMAL, value):
            raise _refused(f"Invalid decimal: {value}", param.name, "parameter_invalid_decimal")
        case "b" if str(value).lower() not in ("true", "false"):
            raise _refused(f"Invalid boolean: {value}", param.name, "parameter_invalid_boolean")
        case "s" if isinstance(value, dict | list):
            raise _refused(f"Invalid string: {param.name}", param.name, "parameter_invalid_string")
        case "a" if not (isinstance(value, list) or value == ""):
            raise _refused(f"Invalid array: {param.name}", param.name, "parameter_invalid_array")
        case "h" if not (isinstance(value, dict) or value in ("", [])):
            raise _refused(f"Invalid object: {param.name}", param.name, "parameter_invalid_object")


def _matches(pattern: re.Pattern[str], value: Any) -> bool:
    if isinstance(value, bool | dict | list):
        return False
    return bool(pattern.match(str(value)))


def _check_metadata(given: Mapping[str, Any]) -> None:
    if len(given) > MAX_METADATA_KEYS:
        raise _refused("Metadata can have up to 50 keys.", "metadata", "parameter_invalid")
    for name, value in given.items():
        if len(name) > MAX_METADATA_KEY:
            raise _refused(
                f"Metadata keys can be up to {MAX_METADATA_KEY} characters long.",
                f"metadata[{name}]",
                "parameter_invalid",
            )
        if isinstance(value, dict | list):
            raise _refused(
                "Metadata values must be text.", f"metadata[{name}]", "parameter_invalid_string"
            )
        if len(str(value)) > MAX_METADATA_VALUE:
            raise _refused(
                f"Metadata values can be up to {MAX_METADATA_VALUE} characters long.",
                f"metadata[{name}]",
                "parameter_invalid",
            )


def typed(endpoint: Endpoint, given: Mapping[str, Any]) -> dict[str, Any]:
    """Top-level values in their own type: `"4900"` to 4900 where an integer is wanted."""
    allowed = endpoint.params
    return {
        name: _typed(allowed[name].kind, value) if name in allowed else value
        for name, value in given.items()
    }


def _typed(kind: str, value: Any) -> Any:
    match kind:
        case "i":
            return int(value)
        case "f":
            return float(value)
        case "b":
            return str(value).lower() == "true"
        case "a":
            return [] if value == "" else value
        case "x" if str(value).lower() in ("true", "false"):
            return str(value).lower() == "true"
        case _:
            return value
