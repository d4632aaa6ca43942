"""Look-up of model rows: by dotted name, and by the access path that leads to an item.

A row is found under its exact name first, nearest class first, then by its patterns. Rows come in
layers: what a team's own files say about a name hides what the packs say about it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from fnmatch import fnmatchcase
from functools import cache, cached_property
from typing import Generic, TypeVar

T = TypeVar("T")

Rows = Iterable[tuple[Iterable[str], T]]
"""Pairs of the names that a row is about, and the row."""


class NameIndex(Generic[T]):
    """Rows by dotted name.

    Args:
        layers: The rows, most important layer first.
        canonical: Gives the name under which rows are kept.
        readings: Gives the names to try for one, nearest first.
    """

    def __init__(
        self,
        layers: Iterable[Rows[T]],
        canonical: Callable[[str], str],
        readings: Callable[[str], Sequence[str]],
    ) -> None:
        self._rows = list(layers)
        self._canonical = canonical
        self._readings = readings
        self._found: dict[str, tuple[T, ...]] = {}

    @cached_property
    def _layers(self) -> list[_Layer[T]]:
        """Sorted when the first question comes: a run asks few of the many indexes."""
        return [_Layer(rows, self._canonical) for rows in self._rows]

    def find(self, name: str) -> tuple[T, ...]:
        """All rows about the name in the first layer that has any, in the order of the files."""
        found = self._found.get(name)
        if found is None:
            found = self._found[name] = self._search(self._readings(name))
        return found

    def first(self, name: str) -> T | None:
        found = self.find(name)
        return found[0] if found else None

    def _search(self, names: Sequence[str]) -> tuple[T, ...]:
        return next((rows for layer in self._layers if (rows := layer.find(names))), ())


class _Layer(Generic[T]):
    def __init__(self, rows: Rows[T], canonical: Callable[[str], str]) -> None:
        self._exact: dict[str, tuple[T, ...]] = {}
        self._patterns: dict[str, list[tuple[re.Pattern[str], T]]] = {}
        for names, row in rows:
            for name in dict.fromkeys(map(canonical, names)):
                self._add(name, row)

    def find(self, names: Sequence[str]) -> tuple[T, ...]:
        for name in names:
            if name in self._exact:
                return self._exact[name]
        for name in names:
            found = tuple(row for pattern, row in self._near(name) if pattern.fullmatch(name))
            if found:
                return tuple(dict.fromkeys(found))
        return ()

    def _add(self, name: str, row: T) -> None:
        if "*" in name:
            tail = name.rpartition(".")[2]
            key = "*" if "*" in tail else tail
            self._patterns.setdefault(key, []).append((compiled(name), row))
        else:
            self._exact[name] = (*self._exact.get(name, ()), row)

    def _near(self, name: str) -> Iterable[tuple[re.Pattern[str], T]]:
        """The patterns that can match: with the same last part, or with a star in it."""
        yield from self._patterns.get(name.rpartition(".")[2], ())
        yield from self._patterns.get("*", ())


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """A dotted pattern: `*` inside one part, a leading `*.` for one part or more."""
    receiver = r"(?:[^.]+\.)+" if pattern.startswith("*.") else ""
    rest = pattern.removeprefix("*.")
    return re.compile(receiver + re.escape(rest).replace(r"\*", "[^.]*"))


class ItemIndex(Generic[T]):
    """Rows by access path: `headers[X-Id]` matches the end of `(".request", ".headers", "[X-Id]")`.

    A path is a sequence of `.attribute` and `[key]`; letter case does not count.
    """

    def __init__(self, layers: Iterable[Rows[T]]) -> None:
        self._patterns = [
            (steps(text), row) for layer in layers for texts, row in layer for text in texts
        ]

    def find(self, path: Sequence[str]) -> T | None:
        lowered = tuple(step.lower() for step in path)
        return next((row for steps_, row in self._patterns if _ends(lowered, steps_)), None)


_STEP = re.compile(r"\[[^\]]*\]|\.?[^.\[\]]+")


def steps(text: str) -> tuple[str, ...]:
    """`headers[X-Id]` as `(".headers", "[x-id]")`."""
    found = (step.lower() for step in _STEP.findall(text))
    return tuple(step if step[0] in ".[" else f".{step}" for step in found)


def _ends(path: tuple[str, ...], pattern: tuple[str, ...]) -> bool:
    tail = path[len(path) - len(pattern) :]
    return len(tail) == len(pattern) and all(map(_step_matches, tail, pattern))


def _step_matches(step: str, pattern: str) -> bool:
    # Square brackets would be a set of characters to fnmatch, so only the inside is compared.
    return step[0] == pattern[0] and fnmatchcase(step.strip(".[]"), pattern.strip(".[]"))


class PathIndex(Generic[T]):
    """Rows by the path of an HTTP request, `{}` standing for a part that the code fills in.

    `/v1/charges/{}/capture` matches a literal id and an unknown one. A pattern with more literal
    parts goes first, so that `/v1/invoices/create_preview` is not taken for the update of one.
    """

    def __init__(self, rows: Iterable[tuple[str, T]]) -> None:
        self._rows: dict[int, list[tuple[tuple[str, ...], T]]] = {}
        for path, row in rows:
            parts = _segments(path)
            self._rows.setdefault(len(parts), []).append((parts, row))
        for same in self._rows.values():
            same.sort(key=lambda entry: entry[0].count("{}"))

    def find(self, path: str) -> T | None:
        parts = _segments(path)
        rows = self._rows.get(len(parts), ())
        return next((row for pattern, row in rows if _fits(parts, pattern)), None)


def _segments(path: str) -> tuple[str, ...]:
    return tuple(path.partition("?")[0].strip("/").split("/"))


def _fits(parts: tuple[str, ...], pattern: tuple[str, ...]) -> bool:
    return all(wanted in (part, "{}") for part, wanted in zip(parts, pattern, strict=True))
