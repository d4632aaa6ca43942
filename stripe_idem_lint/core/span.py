"""Where something is: a cheap place while analysing, a full span once a person must see it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A node of a file, named by its order in the file.

    Attributes:
        path: The file, as discovery named it (relative to the working directory, with `/`).
        index: The node's number in the order in which lowering visits the file, from 0.
    """

    path: str
    index: int


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A stretch of source for people. Lines and columns count from 1, the end is exclusive.

    Attributes:
        path: As in `Place`.
        text: The source of the first line of the span, stripped, for messages.
    """

    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    text: str = ""
