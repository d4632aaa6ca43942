"""Bodies and queries as Stripe reads them: nested forms, multipart uploads, JSON.

`a[b][0]=1&x[]=2` becomes `{"a": {"b": ["1"]}, "x": ["2"]}`. Values stay text: what a parameter
means is decided by `validation`. Nothing is checked here but the syntax.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from itertools import pairwise
from typing import Any
from urllib.parse import parse_qsl

Params = dict[str, Any]

_PARTS = re.compile(r"\[([^\]]*)\]")


def decode_form(text: str) -> Params:
    """A query or an urlencoded body; `x[]` counts as `x[0]`, `x[1]`, …"""
    return nest(parse_qsl(text, keep_blank_values=True))


def nest(pairs: Iterable[tuple[str, Any]]) -> Params:
    """Flat names with brackets to hashes and arrays."""
    tree: Params = {}
    for name, value in pairs:
        head = name.partition("[")[0]
        _put(tree, [head, *_PARTS.findall(name[len(head) :])], value)
    return {name: _with_arrays(value) for name, value in tree.items()}


def decode_json(body: bytes) -> Params:
    """A v2 body. Raises ValueError where it is no JSON object."""
    if not body:
        return {}
    found = json.loads(body)
    if not isinstance(found, dict):
        raise ValueError("the body is no JSON object")  # noqa: TRY004 - the text is at fault, not a caller
    return found


def decode_multipart(body: bytes, content_type: str) -> Params:
    """An upload: fields by name, a file as `{"filename": …, "size": …}`."""
    match = re.search(r'boundary="?([^";]+)"?', content_type)
    if not match:
        return {}
    pieces = body.split(b"--" + match[1].encode("latin-1"))
    return nest(pair for piece in pieces[1:-1] if (pair := _multipart_pair(piece)))


def canonical(params: Params) -> str:
    """One text for equal parameters in any order."""
    return json.dumps(params, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def flatten(params: Any, prefix: str = "") -> Iterable[tuple[str, Any]]:
    """`metadata[order]`, `7`: the names as a person writes them, in the order given."""
    if isinstance(params, dict):
        for name, value in params.items():
            yield from flatten(value, f"{prefix}[{name}]" if prefix else str(name))
    elif isinstance(params, list):
        for place, value in enumerate(params):
            yield from flatten(value, f"{prefix}[{place}]")
    else:
        yield prefix, params


def _put(tree: Params, path: list[str], value: Any) -> None:
    for step, following in pairwise(path):
        key = step if step != "" else str(_open_place(tree, following))
        inside = tree.get(key)
        if not isinstance(inside, dict):
            inside = tree[key] = {}
        tree = inside
    tree[path[-1] if path[-1] != "" else str(len(tree))] = value


def _open_place(tree: Params, following: str) -> int:
    """For `x[][name]`: the last element while it lacks that name, else the next one."""
    last = tree.get(str(len(tree) - 1))
    return len(tree) - 1 if isinstance(last, dict) and following not in last else len(tree)


def _with_arrays(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    inside = {name: _with_arrays(each) for name, each in value.items()}
    if inside and all(name.isdigit() for name in inside):
        return [inside[name] for name in sorted(inside, key=int)]
    return inside


def _multipart_pair(piece: bytes) -> tuple[str, Any] | None:
    head, _, content = piece.partition(b"\r\n\r\n")
    text = head.decode("utf-8", "replace")
    name = re.search(r'[; ]name="([^"]*)"', text)
    if not name:
        return None
    content = content.removesuffix(b"\r\n")
    filename = re.search(r'filename="([^"]*)"', text)
    if filename:
        return name[1], {"filename": filename[1], "size": len(content)}
    return name[1], content.decode("utf-8", "replace")
