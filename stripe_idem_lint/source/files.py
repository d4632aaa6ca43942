"""What the front of the pipeline gives: the files of a run, and what could not be read."""

from __future__ import annotations

from dataclasses import dataclass

from stripe_idem_lint.core.problem import Problem

__all__ = ["Discovered", "Problem", "SourceFile"]


@dataclass(frozen=True, slots=True, order=True)
class SourceFile:
    """A file to read.

    Attributes:
        path: Relative to the working directory, with `/`; absolute only on another drive.
        absolute: For opening it.
        explicit: It was named itself, not found in a folder.
        modules: The dotted names it can be imported under, the surest first.
        package: The package that its relative imports start from; empty outside packages.
        root: The folder that holds its top package, or the file itself, written like `path`; empty
            for the working directory.
    """

    path: str
    absolute: str
    explicit: bool
    modules: tuple[str, ...]
    package: str
    root: str


@dataclass(frozen=True, slots=True)
class Discovered:
    """All files and all that could not be read, both sorted by path."""

    files: tuple[SourceFile, ...]
    problems: tuple[Problem, ...]
