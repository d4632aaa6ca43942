"""Drives a handler's generator: by sleeping in a thread, or by awaiting in a task."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from time import sleep

from pytest_stripe_idem.core.exchange import Handling, Pause
from pytest_stripe_idem.core.response import Outcome

# How often a waiting request looks whether it may go on, in seconds.
POLL = 0.001


def drive(handling: Handling, gone: Callable[[], bool] = lambda: False) -> Outcome:
    """Runs to the end, in this thread.

    Args:
        gone: Says whether the client has hung up; the request goes on without it.
    """
    try:
        pause = next(handling)
        while True:
            _sleep_through(pause)
            pause = handling.send("gone" if gone() else None)
    except StopIteration as end:
        outcome: Outcome = end.value
        return outcome


async def drive_async(handling: Handling) -> Outcome:
    """Runs to the end, giving way to other tasks at each pause.

    When the task is cancelled in between, the client is gone but the request goes on, as it would
    on a real server.
    """
    try:
        pause = next(handling)
        while True:
            try:
                await _await_through(pause)
            except BaseException:
                _go_on_without_client(handling, pause)
                raise
            pause = handling.send(None)
    except StopIteration as end:
        outcome: Outcome = end.value
        return outcome


def _sleep_through(pause: Pause) -> None:
    while pause.until is not None and not pause.until():
        sleep(POLL)


async def _await_through(pause: Pause) -> None:
    await _give_way(0)
    while pause.until is not None and not pause.until():
        await _give_way(POLL)


async def _give_way(seconds: float) -> None:
    import asyncio  # a program that gets here has imported it, or trio

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        # Only a program that runs under trio gets here, so trio is imported already.
        await sys.modules["trio"].sleep(seconds)
    else:
        await asyncio.sleep(seconds)


def _go_on_without_client(handling: Handling, pause: Pause) -> None:
    if pause.until is None or pause.until():
        _finish(handling, pause)
    else:
        threading.Thread(target=_finish, args=(handling, pause), daemon=True).start()


def _finish(handling: Handling, pause: Pause) -> None:
    _sleep_through(pause)
    try:
        pause = handling.send("gone")
        while True:
            _sleep_through(pause)
            pause = handling.send("gone")
    except StopIteration:
        return
