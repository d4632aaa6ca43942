"""The few settings of the `stripe` package that a test wants otherwise."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

TEST_KEY = "sk_test_fake"


def prepare(module: ModuleType, *, keep_retries: bool = False) -> Callable[[], None]:
    """Sets a test key where there is none, and switches the SDK's own retries off.

    They repeat a request with the key it has, so that what the user's code does after a lost
    response never shows. What is returned puts everything back.
    """
    before = {
        name: getattr(module, name)
        for name in ("api_key", "max_network_retries")
        if hasattr(module, name)
    }
    if before.get("api_key") is None:
        module.api_key = TEST_KEY  # type: ignore[attr-defined]  # the package, whatever its version
    if not keep_retries:
        module.max_network_retries = 0  # type: ignore[attr-defined]  # see above

    def put_back() -> None:
        for name, value in before.items():
            if getattr(module, name) in (TEST_KEY, 0):
                setattr(module, name, value)

    return put_back
