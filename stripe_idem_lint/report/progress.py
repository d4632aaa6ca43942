"""A progress bar on stderr, for runs that take longer than two seconds on a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

PATIENCE = 2.0
"""Seconds without a bar."""


@contextmanager
def bar() -> Iterator[Callable[[str, int, int], None] | None]:
    """Gives the function that stages report to; None where nobody looks."""
    if not sys.stderr.isatty():
        yield None
        return
    shown = _Bar()
    try:
        yield shown.step
    finally:
        shown.close()


class _Bar:
    """Made when a step comes after the patience is over; rich is imported only then."""

    def __init__(self) -> None:
        self._start = time.monotonic()
        self._progress: Progress | None = None
        self._task: TaskID | None = None

    def step(self, stage: str, done: int, total: int) -> None:
        if time.monotonic() - self._start < PATIENCE:
            return
        if self._progress is None:
            from rich.console import Console
            from rich.progress import Progress

            self._progress = Progress(console=Console(stderr=True), transient=True)
            self._progress.start()
            self._task = self._progress.add_task(stage, total=total)
        if self._task is not None:
            self._progress.update(self._task, description=stage, completed=done, total=total)

    def close(self) -> None:
        if self._progress is not None:
            self._progress.stop()
