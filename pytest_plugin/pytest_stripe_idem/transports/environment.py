"""What a run of pytest tells the Python programs it starts: a port, and a path to our `sitecustomize`.

It is used at every start of pytest and of its children, so it imports only what is there already.
"""

from __future__ import annotations

import os
from collections.abc import Callable

PORT = "STRIPE_IDEM_PORT"
RUN = "STRIPE_IDEM_RUN"
SDK_RETRIES = "STRIPE_IDEM_SDK_RETRIES"
SITE = os.path.join(os.path.dirname(__file__), "child_site")  # noqa: PTH118, PTH120 - see above


def tell(**values: str) -> Callable[[], None]:
    """Puts the values into the environment of children to come, and our folder on their path.

    What is returned puts back what was there.
    """
    before = {name: os.environ.get(name) for name in (*values, "PYTHONPATH")}
    path = before["PYTHONPATH"] or ""
    if SITE not in path.split(os.pathsep):
        values["PYTHONPATH"] = os.pathsep.join(filter(None, [SITE, path]))
    os.environ.update(values)

    def put_back() -> None:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value

    return put_back
