"""What the front of the pipeline gives: files, and what could not be read, as values."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file to read.

    Attributes:
        path: Relative to the working directory where it lies below it, with `/`.
        absolute: For opening it.
        explicit: It was named on the command line.
        modules: Dotted names it can be imported under, the surest first.
        package: The package that its relative imports start from; empty outside packages.
        root: The folder that holds its top package, or the file itself; empty for the working directory.
    """

    path: str
    absolute: str
    explicit: bool
    modules: tuple[str, ...]
    package: str
    root: str


@dataclass(frozen=True, slots=True)
class Problem:
    """A file that is not analysed, and why. Lines and columns count from 1; 1, 1 for the file as a whole."""

    path: str
    line: int
    column: int
    reason: str


@dataclass(frozen=True, slots=True)
class Discovered:
    """All files, sorted by path."""

    files: tuple[SourceFile, ...]
    problems: tuple[Problem, ...]
