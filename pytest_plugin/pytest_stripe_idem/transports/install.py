"""Which modules are patched, and by which file."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from types import ModuleType

from pytest_stripe_idem.transports.patches import Patch, Patches, Plan, Wrap


def _later(file: str, name: str) -> Plan:
    """The plan of a file that is imported when it is needed."""

    def plan(module: ModuleType) -> Sequence[Patch]:
        made: Sequence[Patch] = getattr(importlib.import_module(f"{__package__}.{file}"), name)(
            module
        )
        return made

    return plan


def _wrap_generator(module: ModuleType) -> Callable[[], None]:
    from pytest_stripe_idem.transports.automatic import wrap_generator

    return wrap_generator(module)


_PLANS: dict[str, Plan] = {
    "urllib3.connectionpool": _later("urllib3_shim", "plan"),
    "httpx": _later("httpx_shim", "plan"),
    "httpx2": _later("httpx_shim", "plan"),
    "aiohttp.client": _later("aiohttp_shim", "plan_client"),
    "aiohttp.connector": _later("aiohttp_shim", "plan_connector"),
    "http.client": _later("http_client_shim", "plan"),
    "socket": _later("network_net", "plan"),
}
_WRAPS: dict[str, Wrap] = {
    "stripe._api_requestor": _wrap_generator,
    "stripe.api_requestor": _wrap_generator,
}

patches = Patches(_PLANS, _WRAPS)
