"""The endpoints of the API, their parameters, and the fields of each object.

Read from two generated files in `core/data`; `tools/generate_endpoints.py` writes them.

A line of `endpoints.txt` is `METHOD path object flags parameter:type…`:

    POST /v1/charges/{}/capture charge guarded,money=capture,post amount:i expand:a

- *object* is what answers: `charge`, `list/charge`, `search/charge`, or `-`;
- *flags*: `post` (one of the listed POST endpoints), `money=<class>`, `guarded` (the state of the
  object refuses a second execution), `test` (a test helper), `old` (only older API versions);
- *type*: `i` integer, `f` decimal, `b` boolean, `s` text, `a` array, `h` hash, `x` several;
  `!` after it: required; `~` before the name: only older API versions accept it.

A line of `objects.txt` is `object field:default…`: `n` null, `l` an empty list object, `a` an
empty array, `h` an empty hash, `i` 0, `b` false, `s` empty text, `=a|b` one of these words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Literal

Shape = Literal["one", "list", "search"]


@dataclass(frozen=True, slots=True)
class Param:
    """One top-level parameter: `kind` is a type letter (see the module)."""

    name: str
    kind: str
    required: bool
    older: bool


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One method and path.

    Attributes:
        path: With `{}` for each id: `/v1/charges/{}/capture`.
        made: The `object` that answers, without `list/`; empty where the API names none.
        money: Its class of money movement (`charge`, `refund`, …), or None.
        guarded: The object's state refuses or ignores a second execution.
        listed: One of the 330 POST endpoints of the present API.
        test_helper: Moves simulated things only; exists in test mode.
        older: Present in older API versions only.
    """

    method: str
    path: str
    made: str
    shape: Shape
    money: str | None
    guarded: bool
    listed: bool
    test_helper: bool
    older: bool
    spelled_params: str

    @property
    def api(self) -> Literal["v1", "v2"]:
        return "v2" if self.path.startswith("/v2/") else "v1"

    @property
    def params(self) -> Mapping[str, Param]:
        """The allow-list: name to parameter."""
        return _params(self.spelled_params)

    @property
    def collection(self) -> str:
        """`charges` for every path below `/v1/charges`."""
        return self.path.split("/")[2]


@dataclass(frozen=True, slots=True)
class Route:
    """An endpoint and the ids that stood in its place holders."""

    endpoint: Endpoint
    ids: tuple[str, ...]


def find(method: str, path: str) -> Route | None:
    """The endpoint a request goes to; a literal segment goes before a place holder."""
    node = _tree().get(method)
    return None if node is None else _walk(node, path.removeprefix("/").split("/"), ())


def endpoints() -> tuple[Endpoint, ...]:
    """All of them, sorted by path."""
    return _endpoints()


def fields(name: str) -> Mapping[str, str]:
    """Field to default letter, for an `object` name; empty for an unknown one."""
    return _objects().get(name, MappingProxyType({}))


class _Node:
    """One step of a path: what may follow, and the endpoint that ends here."""

    __slots__ = ("endpoint", "following")

    def __init__(self) -> None:
        self.following: dict[str, _Node] = {}
        self.endpoint: Endpoint | None = None


def _walk(node: _Node, segments: list[str], ids: tuple[str, ...]) -> Route | None:
    if not segments:
        return Route(node.endpoint, ids) if node.endpoint else None
    head, rest = segments[0], segments[1:]
    if head != "{}" and head in node.following:
        found = _walk(node.following[head], rest, ids)
        if found:
            return found
    if head and "{}" in node.following:
        return _walk(node.following["{}"], rest, (*ids, head))
    return None


@cache
def _tree() -> Mapping[str, _Node]:
    roots: dict[str, _Node] = {}
    for endpoint in _endpoints():
        node = roots.setdefault(endpoint.method, _Node())
        for segment in endpoint.path.strip("/").split("/"):
            node = node.following.setdefault(segment, _Node())
        node.endpoint = endpoint
    return roots


@cache
def _endpoints() -> tuple[Endpoint, ...]:
    return tuple(_endpoint(line) for line in _lines("endpoints.txt"))


def _endpoint(line: str) -> Endpoint:
    method, path, made, flags, *params = line.split(" ", 4)
    shape, _, name = made.rpartition("/")
    words = frozenset(flags.split(","))
    money = [word.removeprefix("money=") for word in words if word.startswith("money=")]
    return Endpoint(
        method=method,
        path=path,
        made="" if made == "-" else name,
        shape="list" if shape == "list" else "search" if shape == "search" else "one",
        money=money[0] if money else None,
        guarded="guarded" in words,
        listed="post" in words,
        test_helper="test" in words,
        older="old" in words,
        spelled_params=params[0] if params else "",
    )


@cache
def _params(spelled: str) -> Mapping[str, Param]:
    return MappingProxyType({each.name: each for each in map(_param, spelled.split())})


def _param(spelled: str) -> Param:
    name, _, kind = spelled.partition(":")
    return Param(name.lstrip("~"), kind.rstrip("!"), kind.endswith("!"), name.startswith("~"))


@cache
def _objects() -> Mapping[str, Mapping[str, str]]:
    found = {}
    for line in _lines("objects.txt"):
        name, *spelled = line.split(" ")
        pairs = (each.partition(":") for each in spelled)
        found[name] = MappingProxyType({field: default for field, _, default in pairs})
    return MappingProxyType(found)


def _lines(name: str) -> Iterator[str]:
    # Imported here: this module is loaded long before the files are wanted.
    from importlib.resources import files

    text = files(__package__).joinpath("data", name).read_text(encoding="utf-8")
    return (line for line in text.splitlines() if not line.startswith("#"))
