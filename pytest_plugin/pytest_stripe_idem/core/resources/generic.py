"""Every endpoint without a file of its own: create, retrieve, update, list, search, delete, act.

What an endpoint does is read off its path and the object that answers:

    POST /v1/coupons                       makes a coupon
    POST /v1/coupons/{}                    changes it
    POST /v1/products/{}/features          makes a product_feature that names its product
    POST /v1/quotes/{}/finalize            answers the quote itself: an action, moves its status

An action moves `status` to the word that belongs to it, where the object's class has that word; an
object that is already there refuses, as Stripe's state machines do. Rules beyond that belong into a
file per resource.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

from pytest_stripe_idem.core import catalog, errors
from pytest_stripe_idem.core.call import Call, Maker, merge_metadata, plain
from pytest_stripe_idem.core.catalog import Endpoint
from pytest_stripe_idem.core.world import Json, page

# Paths whose object exists once per account.
SINGLETONS = frozenset({"/v1/balance_settings", "/v1/tax/settings"})

# Last words of a path that make an object although an id stands before them, or none does.
_MAKING = frozenset({"create_preview", "create_from_calculation", "create_reversal"})

# The status an action asks for, in the order in which a class may know it.
STATUS_AFTER: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "accept": ("accepted",),
        "acknowledge": ("acknowledged",),
        "activate": ("active",),
        "approve": ("closed", "approved"),
        "archive": ("archived", "inactive"),
        "cancel": ("canceled", "cancelled"),
        "close": ("closed", "lost"),
        "confirm": ("confirmed", "processing", "succeeded"),
        "deactivate": ("inactive",),
        "decline": ("closed", "declined"),
        "disable": ("disabled",),
        "disconnect": ("disconnected",),
        "enable": ("enabled",),
        "expire": ("expired",),
        "fail": ("failed",),
        "finalize": ("open",),
        "mark_uncollectible": ("uncollectible",),
        "pause": ("paused",),
        "post": ("posted",),
        "reactivate": ("active",),
        "reject": ("rejected",),
        "release": ("released",),
        "resume": ("active",),
        "return": ("returned",),
        "reverse": ("reversed",),
        "submit": ("submitted",),
        "succeed": ("succeeded",),
        "unarchive": ("active",),
        "void": ("void", "voided"),
    }
)


def handle(call: Call) -> Json:
    """Executes any endpoint."""
    match call.endpoint.method, call.endpoint.shape:
        case "GET", "list":
            return list_(call)
        case "GET", "search":
            return search(call)
        case "GET", _:
            return retrieve(call)
        case "DELETE", _:
            return delete(call)
        case _:
            return _post(call)


def create(call: Call) -> Json:
    """A new object with what was given; a nested one names its parent."""
    kind = call.endpoint.made or _kind_of_source(call)
    values = {**_echo(call, kind), **_parent_field(call, kind)}
    if "metadata" in catalog.fields(kind) or "metadata" in call.params:
        values["metadata"] = call.metadata()
    made = call.world.add(kind, call.now, values)
    call.emit(f"{kind}.created", made)
    return made


def update(call: Call) -> Json:
    """The object named last in the path, changed."""
    place = len(call.ids) - 1
    kind = call.endpoint.made or _found_kind(call, place)
    found = call.owned(kind, place)
    change(call, found, kind)
    return found


def change(call: Call, found: Json, kind: str) -> None:
    """Puts the given parameters on an object and says so in an event."""
    found.update(_echo(call, kind))
    if "metadata" in call.params:
        merge_metadata(found, call.params["metadata"])
    call.emit(f"{kind}.updated", found)


def act(call: Call) -> Json:
    """An action on the object named last in the path."""
    kind = call.endpoint.made
    found = call.owned(kind, len(call.ids) - 1)
    action = call.endpoint.path.rpartition("/")[2]
    status = _status_after(kind, action)
    if status is not None:
        if found.get("status") == status:
            raise errors.unexpected_state(
                f"This {_words(kind)} has the status {status} already.", "resource_already_exists"
            )
        found["status"] = status
    found.update(_echo(call, kind))
    if "active" in found and action in {"archive", "deactivate"}:
        found["active"] = False
    call.emit(f"{kind}.updated", found)
    return found


def retrieve(call: Call) -> Json:
    """One object by its id, or the one there is."""
    endpoint = call.endpoint
    if not call.ids:
        return _singleton(call)
    if endpoint.path.endswith("{}"):
        place = len(call.ids) - 1
        return call.owned(endpoint.made or _found_kind(call, place), place)
    return _part(call)


def delete(call: Call) -> Json:
    """Removes the object; the answer keeps its id."""
    place = len(call.ids) - 1
    found = call.world.find(call.ids[place])
    if found is None:
        raise errors.not_found(call.endpoint.made or "object", call.ids[place])
    call.world.remove(found["id"])
    call.emit(f"{found['object']}.deleted", found)
    return {"id": found["id"], "object": found["object"], "deleted": True}


def list_(call: Call) -> Json:
    """A page of objects, newest first, filtered by what was given."""
    kinds = (call.endpoint.made,) if call.endpoint.made else ("card", "bank_account", "source")
    rows = (row for kind in kinds for row in call.world.all(kind) if _wanted(call, row))
    if call.endpoint.api == "v2":
        return _page_v2(call, rows)
    limit = int(call.params.get("limit", call.assumptions.default_page_size))
    if not 1 <= limit <= 100:
        raise errors.invalid("The limit is between 1 and 100.", param="limit")
    return page(
        rows, call.path, limit, call.params.get("starting_after"), call.params.get("ending_before")
    )


def search(call: Call) -> Json:
    """Stripe's query language: `field:"value"`, `metadata["k"]:"v"`, numbers, `AND`, `OR`, `-`."""
    query = str(call.params.get("query", ""))
    rows = [row for row in call.world.all(call.endpoint.made) if _matches_query(query, row)]
    limit = int(call.params.get("limit", call.assumptions.default_page_size))
    start = int(call.params.get("page") or 0)
    more = start + limit < len(rows)
    return {
        "object": "search_result",
        "data": rows[start : start + limit],
        "has_more": more,
        "next_page": str(start + limit) if more else None,
        "url": call.path,
    }


def makers() -> Mapping[str, Maker]:
    """Kinds that no endpoint creates (disputes, reviews, capabilities): made when first named."""
    return MappingProxyType({kind: _make_bare(kind) for kind in sorted(_uncreatable())})


def _make_bare(kind: str) -> Maker:
    def make(call: Call, id: str) -> Json:
        return call.world.add(kind, call.now, {}, id=id)

    return make


def _post(call: Call) -> Json:
    path, made = call.endpoint.path, call.endpoint.made
    last = path.rpartition("/")[2]
    if path in SINGLETONS:
        found = _singleton(call)
        change(call, found, made)
        return found
    if last == "{}":
        return update(call)
    if not call.ids:
        return _without_id(call, last)
    if not made and last != "sources" and last != "external_accounts":
        return {}
    return (
        act(call) if last not in _MAKING and _parent_kind(call.endpoint) == made else create(call)
    )


def _without_id(call: Call, last: str) -> Json:
    if last == "delete" and not call.ids:
        return _delete_where(call)
    return create(call) if call.endpoint.made else {}


def _delete_where(call: Call) -> Json:
    """`/v1/apps/secrets/delete`: the newest with that name."""
    kind = call.endpoint.made
    for each in call.world.all(kind):
        if each.get("name") == call.params.get("name"):
            call.world.remove(each["id"])
            return {**each, "deleted": True}
    raise errors.not_found(kind, str(call.params.get("name")), "name")


def _singleton(call: Call) -> Json:
    kind = call.endpoint.made
    found = call.world.singletons.get(kind)
    if found is None:
        found = call.world.singletons[kind] = {"object": kind, **call.world.blank(kind, call.now)}
    return found


def _part(call: Call) -> Json:
    """`/v1/customers/{}/cash_balance`: a part of an object, made when it is first read."""
    parent, kind = call.ids[-1], call.endpoint.made
    key = f"{kind} {parent}"
    found = call.world.singletons.get(key)
    if found is None:
        found = {"object": kind, **call.world.blank(kind, call.now), **_parent_field(call, kind)}
        call.world.singletons[key] = found
    return found


def _echo(call: Call, kind: str) -> Json:
    """The given parameters that the object's class has as fields."""
    known = catalog.fields(kind)
    return {
        name: None if value == "" else plain(value)
        for name, value in call.params.items()
        if name not in {"expand", "metadata"} and (name in known or not known)
    }


def _parent_field(call: Call, kind: str) -> Json:
    """`{"transfer": "tr_1"}` for what is made below `/v1/transfers/tr_1/`."""
    if not call.ids:
        return {}
    parent = _parent_kind(call.endpoint)
    if parent:
        call.owned(parent, len(call.ids) - 1)
    name = parent.rpartition(".")[2]
    return {name: call.ids[-1]} if name in catalog.fields(kind) else {}


@cache
def _parent_kind(endpoint: Endpoint) -> str:
    """The object that the last id of a path names."""
    above = endpoint.path[: endpoint.path.rindex("{}") + 2]
    for path in (above, above.replace("/test_helpers/", "/", 1)):
        for method in ("GET", "POST"):
            found = catalog.find(method, path)
            if found and found.endpoint.made:
                return found.endpoint.made
    return ""


@cache
def _uncreatable() -> frozenset[str]:
    """Kinds that are named in a path and that no POST endpoint makes."""
    posts = [each for each in catalog.endpoints() if each.method == "POST" and each.made]
    named = {kind for each in posts if "{}" in each.path and (kind := _parent_kind(each))}
    named |= {each.made for each in posts if each.path.endswith("{}")}
    made = {each.made for each in posts if "{}" not in each.path}
    made |= {
        each.made
        for each in posts
        if not each.path.endswith("{}") and "{}" in each.path and _parent_kind(each) != each.made
    }
    return frozenset(named - made)


def _found_kind(call: Call, place: int) -> str:
    found = call.world.find(call.ids[place])
    if found is None:
        raise errors.not_found("source", call.ids[place])
    return str(found["object"])


def _kind_of_source(call: Call) -> str:
    given = str(call.params.get("source") or call.params.get("external_account") or "")
    return "bank_account" if given.startswith(("btok", "ba_")) else "card"


def _status_after(kind: str, action: str) -> str | None:
    words = catalog.fields(kind).get("status", "").removeprefix("=").split("|")
    return next((word for word in STATUS_AFTER.get(action, ()) if word in words), None)


def _words(kind: str) -> str:
    return kind.rpartition(".")[2].replace("_", " ")


_PAGING = frozenset({"limit", "starting_after", "ending_before", "expand", "page"})


def _wanted(call: Call, row: Json) -> bool:
    parent = _parent_kind(call.endpoint).rpartition(".")[2] if call.ids else ""
    if parent and parent in row and row[parent] != call.ids[-1]:
        return False
    return all(
        _fits(row, name, value) for name, value in call.params.items() if name not in _PAGING
    )


def _fits(row: Json, name: str, wanted: Any) -> bool:
    if name not in row:
        return True
    has = row[name]
    if isinstance(wanted, dict):
        return all(_compares(has, sign, value) for sign, value in wanted.items())
    if isinstance(has, dict):
        return True
    if isinstance(wanted, list):
        return _text(has) in {_text(each) for each in wanted}
    return wanted in ("all", "") or _text(has) == _text(wanted)


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _compares(has: Any, sign: str, value: Any) -> bool:
    if has is None or not isinstance(has, int | float):
        return sign not in {"gt", "gte", "lt", "lte"}
    wanted = float(value)
    match sign:
        case "gt":
            return has > wanted
        case "gte":
            return has >= wanted
        case "lt":
            return has < wanted
        case "lte":
            return has <= wanted
        case _:
            return True


_TERM = re.compile(
    r"""(-?)([\w.]+)(?:\[["']([^"']+)["']\])?\s*(:|~|>=|<=|>|<|=)\s*("([^"]*)"|'([^']*)'|[^\s]+)"""
)


def _matches_query(query: str, row: Json) -> bool:
    if re.search(r"\sOR\s", query):
        return any(_matches_query(part, row) for part in re.split(r"\sOR\s", query))
    terms = list(_TERM.finditer(query))
    return all(_matches_term(term, row) for term in terms)


def _matches_term(term: re.Match[str], row: Json) -> bool:
    negated, name, inside, sign = term[1] == "-", term[2], term[3], term[4]
    wanted = next(each for each in (term[6], term[7], term[5]) if each is not None)
    has: Any = row
    for step in name.split("."):
        has = has.get(step) if isinstance(has, dict) else None
    if inside:
        has = has.get(inside) if isinstance(has, dict) else None
    return negated != _term_holds(has, sign, wanted)


def _term_holds(has: Any, sign: str, wanted: str) -> bool:
    if wanted == "null":
        return has is None
    match sign:
        case ":" | "=":
            return _text(has) == wanted
        case "~":
            return wanted.lower() in _text(has).lower()
        case ">" | ">=" | "<" | "<=":
            word = {">": "gt", ">=": "gte", "<": "lt", "<=": "lte"}[sign]
            return isinstance(has, int | float) and _compares(has, word, wanted)
        case _:
            return False


def _page_v2(call: Call, rows: Iterator[Json]) -> Json:
    found = list(rows)
    limit = int(call.params.get("limit", 20))
    start = int(call.params.get("page") or 0)
    more = start + limit < len(found)
    following = f"{call.path}?limit={limit}&page={start + limit}" if more else None
    return {
        "data": found[start : start + limit],
        "next_page_url": following,
        "previous_page_url": None,
    }
