"""respx as a way in, for suites that route with respx already.

    respx_mock.route(host__in=("api.stripe.com",)).mock(side_effect=fake_stripe.respx_side_effect)

respx awaits a side effect only for an asynchronous client; which one it is shows in the name of the
method that called.
"""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

from pytest_stripe_idem.transports import httpx_shim
from pytest_stripe_idem.transports.switch import switch

# Frames between respx's router and a side effect, in the versions tried (0.20 to 0.23), with room.
_DEPTH = 12


def side_effect(request: Any) -> Any:
    """Answers a request of httpx from the fake: a response, or a coroutine that gives one."""
    if _asynchronous():
        return _answer_async(request)
    import httpx

    outcome = switch.answer(
        httpx_shim.read_request(request), httpx_shim.caller(request, client="respx")
    )
    return httpx_shim.native(httpx, request, outcome)


async def _answer_async(request: Any) -> Any:
    import httpx

    outcome = await switch.answer_async(
        httpx_shim.read_request(request), httpx_shim.caller(request, client="respx")
    )
    return httpx_shim.native(httpx, request, outcome)


def _asynchronous() -> bool:
    frame: FrameType | None = sys._getframe(2)
    for _ in range(_DEPTH):
        if frame is None:
            return False
        # Routes have a method `resolve` of their own, in another file.
        if frame.f_code.co_filename.endswith("router.py") and "resolve" in frame.f_code.co_name:
            return frame.f_code.co_name == "aresolve"
        frame = frame.f_back
    return False
