"""Finds the line of the user's own code that a request comes from."""

from __future__ import annotations

import os
import sys
import sysconfig
import threading
from functools import cache
from pathlib import Path
from types import FrameType

from pytest_stripe_idem.core.exchange import Place

_OURS = f"{Path(__file__).resolve().parent.parent}{os.sep}"
_STDLIB = tuple(
    {path + os.sep for name in ("stdlib", "platstdlib") if (path := sysconfig.get_path(name))}
)
_INSTALLED = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")
_CLIENTS = tuple(
    f"{os.sep}{name}{os.sep}"
    for name in (
        "stripe", "requests", "urllib3", "httpx", "httpx2", "httpcore", "aiohttp", "anyio", "respx",
        "responses", "tenacity", "backoff", "pluggy", "_pytest",
    )
)  # fmt: skip


def find() -> Place | None:
    """The innermost frame of the user's code; of an installed package where there is none."""
    fallback: Place | None = None
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        kind = _kind(frame.f_code.co_filename)
        if kind == "user":
            return _place(frame)
        if kind == "installed" and fallback is None:
            fallback = _place(frame)
        frame = frame.f_back
    return fallback


def worker() -> str:
    """Process and thread or asyncio task that runs now."""
    thread = threading.get_ident()
    asyncio = sys.modules.get("asyncio")
    try:
        task = asyncio.current_task() if asyncio else None
    except RuntimeError:
        task = None
    inside = f"task {id(task)}" if task is not None else f"thread {thread}"
    return f"process {os.getpid()} {inside}"


def _place(frame: FrameType) -> Place:
    code = frame.f_code
    return Place(code.co_filename, frame.f_lineno, code.co_qualname)


@cache
def _kind(file: str) -> str:
    if file.startswith(("<", _OURS)):
        return "ours"
    if any(part in file for part in _INSTALLED):
        return "client" if any(part in file for part in _CLIENTS) else "installed"
    return "stdlib" if file.startswith(_STDLIB) else "user"
