"""Answers one request at a time, in the order in which Stripe checks.

    begin(request, now)            finish(claim, now)
    1 route         404            8 execute, store whatever comes out
    2 authorization 401
    3 (faults at the edge are the harness's; nothing here has been touched yet)
    4 key length    400
    5 GET, v1 DELETE: the key is ignored
    6 look up: other path 400, other parameters 400, in flight 409, done → replay
    7 claim, then validate (400, and the claim is released)

Between `begin` and `finish` the key is in flight: whoever sends it then is answered 409. `step`
does both. Nothing here locks; whoever uses threads calls each half under one lock.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import Enum

from pytest_stripe_idem.core import errors, expand, form, resources, validation
from pytest_stripe_idem.core.assumptions import Assumptions
from pytest_stripe_idem.core.call import Call
from pytest_stripe_idem.core.catalog import Route
from pytest_stripe_idem.core.errors import ApiError, ValidationError
from pytest_stripe_idem.core.idempotency import Entry, KeyId, KeyStore
from pytest_stripe_idem.core.ids import Ids
from pytest_stripe_idem.core.request import StripeRequest
from pytest_stripe_idem.core.response import StripeResponse, encode
from pytest_stripe_idem.core.world import PLATFORM, Json, World

API_VERSION = "2026-10-28.basil"
MAX_KEY_LENGTH = 255
KEY_PREFIXES = ("sk_", "rk_", "ek_", "pk_")
# Authenticated by a session's own token.
EVENT_STREAM = "/v2/billing/meter_event_stream"
HOUR = 3600
DAY = 24 * HOUR

Headers = tuple[tuple[str, str], ...]


class Override(Enum):
    """What happens instead of a plain execution; whatever comes out is stored all the same."""

    ERROR_WITHOUT_EFFECT = "500, nothing done"
    ERROR_AFTER_EFFECT = "500, done all the same"
    LOCK_TIMEOUT = "429 lock_timeout"


@dataclass(frozen=True, slots=True)
class Decline:
    """The bank refuses: a 402 that is stored.

    Attributes:
        code: `card_declined`, `expired_card`, …
        decline_code: `insufficient_funds`, `generic_decline`, …; only beside `card_declined`.
    """

    code: str = "card_declined"
    decline_code: str | None = "generic_decline"


@dataclass(frozen=True, slots=True)
class Claim:
    """A request that passed every check and has not been executed.

    Attributes:
        key: The claimed key; None where there is none or it is ignored.
        call: All that its resource is given.
    """

    request: StripeRequest
    route: Route
    key: KeyId | None
    call: Call
    request_id: str


@dataclass(frozen=True, slots=True)
class Answer:
    """A response, and how it came about.

    Attributes:
        executed: The endpoint began to execute (validation, replays and refusals did not).
        replayed: Stored earlier and sent again.
        made: Id of the object that answered, if any.
        request_id: The `Request-Id` of the response.
        original: For a replay, the `Request-Id` of the first execution.
    """

    response: StripeResponse
    executed: bool = False
    replayed: bool = False
    made: str | None = None
    request_id: str = ""
    original: str | None = None


class Machine:
    """All accounts, all keys."""

    def __init__(self, assumptions: Assumptions | None = None) -> None:
        self.assumptions = assumptions or Assumptions()
        self.keys = KeyStore()
        self._ids = Ids()
        self._worlds: dict[tuple[str, bool], World] = {}

    def step(
        self, request: StripeRequest, now: float, override: Override | Decline | None = None
    ) -> StripeResponse:
        """Both halves at once."""
        begun = self.begin(request, now)
        if isinstance(begun, Claim):
            begun = self.finish(begun, now, override)
        return begun.response

    def world(self, account: str = PLATFORM, live: bool = False) -> World:
        """The objects and the money of one account."""
        mode = live and self.assumptions.modes_separate
        key = (account, mode)
        if key not in self._worlds:
            self._worlds[key] = World(account, mode, self._ids, API_VERSION)
        return self._worlds[key]

    def worlds(self) -> tuple[World, ...]:
        return tuple(self._worlds.values())

    def begin(self, request: StripeRequest, now: float) -> Answer | Claim:
        """Checks 1 to 7: an answer, or a claim to be finished."""
        request_id = self._ids.new("request")
        try:
            return self._begin(request, now, request_id)
        except ApiError as error:
            return Answer(self._error(error, request_id), request_id=request_id)

    def refuse(self, error: ApiError) -> Answer:
        """An answer from before the key store: rate limits, the edge."""
        request_id = self._ids.new("request")
        return Answer(self._error(error, request_id), request_id=request_id)

    def check_access(self, request: StripeRequest) -> Answer | None:
        """Checks 1 and 2 alone: what answers before a fault at the edge can."""
        try:
            self._authorized_route(request)
        except ApiError as error:
            return self.refuse(error)
        return None

    def abandon(self, claim: Claim) -> None:
        """Gives a claim back: its client is gone before anything was executed."""
        if claim.key is not None:
            self.keys.release(claim.key)

    def finish(
        self, claim: Claim, now: float, override: Override | Decline | None = None
    ) -> Answer:
        """Check 8: executes, stores and answers."""
        call, request_id = claim.call, claim.request_id
        call.now = int(now)
        made: str | None = None
        more: Headers = ()
        try:
            answer = self._execute(claim, override)
            made = str(answer["id"]) if "id" in answer else None
            status, body = 200, encode(self._expanded(claim, answer))
        except ValidationError as error:
            self.abandon(claim)
            return Answer(self._error(error, request_id), request_id=request_id)
        except ApiError as error:
            status, body, more = error.status, encode(error.body()), error.headers
        except BaseException:
            self.abandon(claim)
            raise
        return self._stored(claim, status, body, more, made)

    def _begin(self, request: StripeRequest, now: float, request_id: str) -> Answer | Claim:
        route = self._authorized_route(request)
        key = self._key_id(request)
        given = self._params(request)
        fingerprint = self._fingerprint(request, given)
        if key is not None:
            found = self.keys.look_up(key, now)
            if found is not None:
                replay = self._look_at(key, found, request, fingerprint, request_id)
                if replay is not None:
                    return replay
            expires = now + self._retention(request)
            self.keys.claim(
                key, Entry(request.method, request.path, fingerprint, expires, request_id), now
            )
        call = self._call(request, route, given, now, request_id)
        claim = Claim(request, route, key, call, request_id)
        try:
            older = self.assumptions.older_parameters
            validation.check(route.endpoint, given, older_parameters=older)
            call.params = validation.typed(route.endpoint, given)
        except ApiError:
            self.abandon(claim)
            raise
        return claim

    def _authorized_route(self, request: StripeRequest) -> Route:
        route = request.route()
        if route is None:
            raise ApiError(
                404,
                "invalid_request_error",
                f"Unrecognized request URL ({request.method}: {request.path}).",
            )
        secret = request.secret
        if secret is None:
            raise ApiError(
                401, "invalid_request_error", "No API key: send one with Bearer or Basic."
            )
        if not secret.startswith(KEY_PREFIXES) and route.endpoint.path != EVENT_STREAM:
            raise ApiError(
                401, "invalid_request_error", "The API key is not valid: it begins with sk_ or rk_."
            )
        return route

    def _key_id(self, request: StripeRequest) -> KeyId | None:
        key = request.idempotency_key
        keyed = request.method == "POST" or (request.api == "v2" and request.method == "DELETE")
        if key is None or not keyed:
            return None
        if not 1 <= len(key) <= MAX_KEY_LENGTH:
            raise ApiError(
                self.assumptions.key_length_status,
                "invalid_request_error",
                f"An idempotency key has 1 to {MAX_KEY_LENGTH} characters, this one {len(key)}.",
            )
        return KeyId(
            account=self._account(request, self.assumptions.connected_accounts_separate),
            live=request.live and self.assumptions.modes_separate,
            api=request.api,
            endpoint=f"{request.method} {request.path}" if request.api == "v2" else "",
            key=key,
        )

    def _account(self, request: StripeRequest, separate: bool = True) -> str:
        return (request.account_header or PLATFORM) if separate else PLATFORM

    def _params(self, request: StripeRequest) -> form.Params:
        try:
            return request.params()
        except ValueError as error:
            raise ApiError(
                400, "invalid_request_error", f"The request cannot be read: {error}"
            ) from error

    def _fingerprint(self, request: StripeRequest, given: form.Params) -> str:
        if not self.assumptions.parameters_compared_parsed:
            text = request.query.encode() + b"?" + request.body
            return hashlib.sha256(text).hexdigest()
        kept = dict(given)
        if not self.assumptions.expand_counts:
            kept.pop("expand", None)
        return hashlib.sha256(form.canonical(kept).encode()).hexdigest()

    def _retention(self, request: StripeRequest) -> float:
        if request.api == "v2":
            return self.assumptions.retention_v2_days * DAY
        return self.assumptions.retention_hours * HOUR

    def _look_at(
        self, key: KeyId, found: Entry, request: StripeRequest, fingerprint: str, request_id: str
    ) -> Answer | None:
        """Check 6 for a known key; None where the request shall execute again (v2 failures)."""
        in_flight = found.response is None
        if (found.method, found.path) != (request.method, request.path):
            if in_flight and not self.assumptions.other_path_refused_in_flight:
                raise errors.key_in_use()
            raise errors.idempotency(
                f"This idempotency key was first sent to {found.method} {found.path} and cannot be"
                f" sent to {request.method} {request.path}. Use another key for another request."
            )
        compares = request.api == "v1" or self.assumptions.v2_other_parameters_refused
        if compares and found.fingerprint != fingerprint:
            raise errors.idempotency(
                "This idempotency key was first sent with other parameters. A retry must repeat"
                " the first request unchanged; use another key for another request."
            )
        if found.response is None:
            raise errors.key_in_use()
        if request.api == "v2":
            return self._replay_v2(key, found, request, request_id)
        return self._replay(found, found.response.body, request_id)

    def _replay(self, found: Entry, body: bytes, request_id: str) -> Answer:
        stored = found.response
        assert stored is not None, "only a finished request is replayed"
        kept = tuple(pair for pair in stored.headers if pair[0] != "Request-Id")
        marks = (("Request-Id", request_id), ("Idempotent-Replayed", "true"))
        response = StripeResponse(stored.status, (*kept, *marks), body)
        return Answer(
            response,
            replayed=True,
            made=found.made,
            request_id=request_id,
            original=found.request,
        )

    def _replay_v2(
        self, key: KeyId, found: Entry, request: StripeRequest, request_id: str
    ) -> Answer | None:
        """A success answers with the object as it is now; a failure executes again."""
        assert found.response is not None, "only a finished request is replayed"
        if found.response.status >= 400:
            self.keys.release(key)
            return None
        world = self.world(self._account(request), request.live)
        present = world.find(found.made) if found.made else None
        body = encode(present) if present is not None else found.response.body
        return self._replay(found, body, request_id)

    def _call(
        self, request: StripeRequest, route: Route, given: form.Params, now: float, request_id: str
    ) -> Call:
        live = request.live
        return Call(
            endpoint=route.endpoint,
            path=request.path,
            ids=route.ids,
            params=given,
            world=self.world(self._account(request), live),
            now=int(now),
            request=request_id,
            key=request.idempotency_key,
            assumptions=self.assumptions,
            worlds=lambda account: self.world(account, live),
            makers=resources.makers(),
        )

    def _execute(self, claim: Claim, override: Override | Decline | None) -> Json:
        claim.call.world.catch_up(claim.call.now)
        match override:
            case Override.LOCK_TIMEOUT:
                raise errors.lock_timeout(self.assumptions.lock_timeout_should_retry)
            case Override.ERROR_WITHOUT_EFFECT:
                raise errors.server_error()
            case Decline():
                raise errors.declined(
                    "The card was declined.", override.code, override.decline_code
                )
        try:
            answer = resources.handler_of(claim.route.endpoint)(claim.call)
        except ApiError as error:
            unstored = error.code == "resource_missing" and error.status == 404
            if unstored and not self.assumptions.missing_object_stored:
                raise ValidationError(
                    error.status, error.type, error.message, code=error.code, param=error.param
                ) from error
            raise
        if override is Override.ERROR_AFTER_EFFECT:
            raise errors.server_error()
        return answer

    def _expanded(self, claim: Claim, answer: Json) -> Json:
        paths = claim.call.params.get("expand") or []
        if not paths:
            return answer
        world = claim.call.world
        transactions = {each["id"]: dict(each) for each in world.ledger.entries()}
        return expand.expanded(
            answer,
            paths if isinstance(paths, list) else [paths],
            lambda id: world.find(id) or transactions.get(id),
            lambda inside, name: resources.included(world, inside, name),
        )

    def _stored(
        self, claim: Claim, status: int, body: bytes, more: Headers, made: str | None
    ) -> Answer:
        request_id = claim.request_id
        key = claim.request.idempotency_key
        marks: Headers = ()
        if claim.key is not None and key is not None:
            marks = (("Idempotency-Key", key), ("Original-Request", request_id))
            if not any(name == "Stripe-Should-Retry" for name, _ in more):
                marks = (*marks, ("Stripe-Should-Retry", "false"))
        response = StripeResponse(status, self._headers(request_id, (*marks, *more)), body)
        if claim.key is not None:
            self.keys.complete(claim.key, response, made)
        executed = claim.request.method != "GET"
        return Answer(response, executed=executed, made=made, request_id=request_id)

    def _error(self, error: ApiError, request_id: str) -> StripeResponse:
        headers = self._headers(request_id, error.headers)
        return StripeResponse(error.status, headers, encode(error.body()))

    def _headers(self, request_id: str, more: Headers) -> Headers:
        base = (
            ("Content-Type", "application/json"),
            ("Request-Id", request_id),
            ("Stripe-Version", API_VERSION),
        )
        return (*base, *more)
