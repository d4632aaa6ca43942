"""Errors as Stripe answers them: status, `type`, `code` and `param` are its own, the words ours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class ApiError(Exception):
    """An answer of 4xx or 5xx.

    Args:
        status: HTTP status.
        type: `invalid_request_error`, `card_error`, `api_error`, `idempotency_error`.
        message: What is wrong, for a person.
        code: Stripe's short code, where it has one.
        param: The parameter at fault.
        more: Other fields of the error object (`decline_code`, `charge`, `payment_intent`).
        headers: Additional headers.
    """

    def __init__(
        self,
        status: int,
        type: str,
        message: str,
        *,
        code: str | None = None,
        param: str | None = None,
        more: Mapping[str, Any] | None = None,
        headers: tuple[tuple[str, str], ...] = (),
    ) -> None:
        super().__init__(message)
        self.status, self.type, self.message = status, type, message
        self.code, self.param, self.more, self.headers = code, param, dict(more or {}), headers

    def body(self) -> dict[str, Any]:
        """The JSON object of the answer."""
        named = {"code": self.code, "param": self.param}
        given = {name: value for name, value in named.items() if value is not None}
        return {"error": {"message": self.message, "type": self.type, **given, **self.more}}


class ValidationError(ApiError):
    """Found before the endpoint began executing: never stored under a key."""


def invalid(
    message: str, *, param: str | None = None, code: str | None = None, **more: Any
) -> ApiError:
    """A 400 of an endpoint that had begun to execute: stored."""
    return ApiError(400, "invalid_request_error", message, param=param, code=code, more=more)


def missing(param: str, message: str = "") -> ValidationError:
    """A parameter that this request cannot do without: found before anything is done."""
    return ValidationError(
        400,
        "invalid_request_error",
        message or f"Missing required param: {param}.",
        param=param,
        code="parameter_missing",
    )


def not_found(kind: str, value: str, param: str = "id", status: int = 404) -> ApiError:
    """404 for an id in the path, 400 (`status=400`) for one among the parameters."""
    return ApiError(
        status,
        "invalid_request_error",
        f"No such {kind.replace('_', ' ').replace('.', ' ')}: '{value}'.",
        code="resource_missing",
        param=param,
    )


def unexpected_state(message: str, code: str, **more: Any) -> ApiError:
    """The state machine of the object refuses."""
    return ApiError(400, "invalid_request_error", message, code=code, more=more)


def declined(message: str, code: str, decline_code: str | None, **more: Any) -> ApiError:
    """402: the bank said no."""
    given = {"decline_code": decline_code} if decline_code else {}
    return ApiError(402, "card_error", message, code=code, more={**given, **more})


def idempotency(message: str) -> ApiError:
    """A key that was sent before with something else: no code."""
    return ApiError(400, "idempotency_error", message)


def key_in_use() -> ApiError:
    """The first request under this key has not ended."""
    return ApiError(
        409,
        "invalid_request_error",
        "A request with this idempotency key is still being processed. Wait, then send the same"
        " key again.",
        code="idempotency_key_in_use",
    )


def server_error() -> ApiError:
    return ApiError(500, "api_error", "Something went wrong on the server's side.")


def lock_timeout(should_retry: bool) -> ApiError:
    """Two requests wanted one object."""
    return ApiError(
        429,
        "invalid_request_error",
        "The object is locked by another request. Try again.",
        code="lock_timeout",
        headers=(("Stripe-Should-Retry", "true"),) if should_retry else (),
    )


def rate_limited() -> ApiError:
    return ApiError(
        429, "invalid_request_error", "Too many requests in a short time.", code="rate_limit"
    )


def edge(status: int) -> ApiError:
    """502, 503 or 504 from the edge: the API never saw the request."""
    return ApiError(status, "api_error", f"The service is unavailable ({status}).")
