"""What a resource is given to execute one request."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pytest_stripe_idem.core import errors
from pytest_stripe_idem.core.assumptions import Assumptions
from pytest_stripe_idem.core.catalog import Endpoint
from pytest_stripe_idem.core.world import Json, World


@dataclass(slots=True)
class Call:
    """One request under execution.

    Attributes:
        ids: What stood in the place holders of the path.
        params: Checked and typed parameters.
        now: Seconds since 1970, whole.
        worlds: Gives the space of another account (where a transfer arrives).
        makers: Kinds that may be made when they are first named, with what makes one.
    """

    endpoint: Endpoint
    path: str
    ids: tuple[str, ...]
    params: Json
    world: World
    now: int
    request: str | None
    key: str | None
    assumptions: Assumptions
    worlds: Callable[[str], World]
    makers: Mapping[str, Maker]

    def emit(self, name: str, about: Json) -> None:
        """Records an event that names this request and its key."""
        self.world.emit(name, about, self.now, self.request, self.key)

    def of_itself(self, now: int) -> Call:
        """This call, for what happens later without any request."""
        return replace(self, now=now, request=None, key=None)

    def owned(self, kind: str, place: int = 0) -> Json:
        """The object that an id in the path names, or 404."""
        id = self.ids[place]
        found = self.world.find(id, kind)
        if found is None and self.endpoint.method == "POST":
            found = self.first_sight(kind, id)
        if found is None:
            raise errors.not_found(kind, id)
        return found

    def named(self, param: str, kind: str) -> Json | None:
        """The object that a parameter names; None when the parameter is absent or empty."""
        id = self.params.get(param)
        return self.lookup(str(id), kind, param) if id else None

    def lookup(self, id: str, kind: str, param: str) -> Json:
        """An object that must exist, or 400 naming the parameter."""
        found = self.world.find(id, kind) or self.first_sight(kind, id)
        if found is None:
            raise errors.not_found(kind, id, param, status=400)
        return found

    def first_sight(self, kind: str, id: str) -> Json | None:
        """An unknown id of a kind that may be made when it is first named (an assumption)."""
        if self.assumptions.unknown_references != "accept" or kind not in self.makers:
            return None
        return self.makers[kind](self, id)

    def amount(self, name: str = "amount", least: int = 1) -> int:
        """A required positive amount in the smallest unit; 400 before anything is done."""
        value = self.params.get(name)
        if value is None:
            raise errors.missing(name)
        if value < least:
            raise errors.ValidationError(
                400,
                "invalid_request_error",
                f"Amounts must be at least {least}.",
                param=name,
                code="amount_too_small" if value >= 0 else "parameter_invalid_integer",
            )
        return int(value)

    def currency(self) -> str:
        """A required three-letter currency in lower case; 400 before anything is done."""
        value = str(self.params.get("currency") or "")
        if not value:
            raise errors.missing("currency")
        if len(value) != 3 or not value.isalpha():
            raise errors.ValidationError(
                400, "invalid_request_error", f"Invalid currency: {value}.", param="currency"
            )
        return value.lower()

    def metadata(self) -> dict[str, str]:
        """The metadata of a new object."""
        given = self.params.get("metadata") or {}
        return {name: str(value) for name, value in given.items() if value != ""}

    def take(self, *names: str) -> dict[str, Any]:
        """Those parameters that were given, empty text as null."""
        return {
            name: None if self.params[name] == "" else self.params[name]
            for name in names
            if name in self.params
        }


Handler = Callable[[Call], Json]
Maker = Callable[[Call, str], Json]


def merge_metadata(target: Json, given: Any) -> None:
    """Stripe's merge: named keys change, an empty value removes one, `metadata=""` removes all."""
    if given is None:
        return
    if given == "" or given == []:
        target["metadata"] = {}
        return
    kept = dict(target.get("metadata") or {})
    for name, value in given.items():
        if value in ("", None):
            kept.pop(name, None)
        else:
            kept[name] = str(value)
    target["metadata"] = kept


def plain(value: Any) -> Any:
    """A hash as it is kept: of the text inside only booleans can be told apart."""
    match value:
        case dict():
            return {name: plain(each) for name, each in value.items()}
        case list():
            return [plain(each) for each in value]
        case "true" | "false" | "True" | "False":
            return value.lower() == "true"
        case _:
            return value
