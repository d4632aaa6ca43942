"""No program breaks the linter: a report comes out, the same twice, and nothing is written.

Under `make fuzz`, FUZZ_SECONDS says for how long other programs are tried; without it the same few
are tried each time.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from hypothesis import HealthCheck, given, seed, settings

from fuzz.programs import programs
from stripe_idem_lint import app
from stripe_idem_lint.core.config import load_settings

SECONDS = float(os.environ.get("FUZZ_SECONDS", "0"))

# One example takes long where a program is big; how long is no matter here.
CALM = settings(
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def check_twice(files: Mapping[str, bytes]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for path, data in files.items():
            file = Path(folder, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
        before = contents(folder)
        chosen = load_settings({}, [folder])
        assert app.check([folder], chosen) == app.check([folder], chosen)
        assert contents(folder) == before


def contents(folder: str) -> dict[str, bytes]:
    return {str(file): file.read_bytes() for file in Path(folder).rglob("*") if file.is_file()}


def test_no_program_breaks_the_linter() -> None:
    if not SECONDS:
        few = settings(CALM, max_examples=60, derandomize=True)
        few(given(programs())(check_twice))()
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        number = time.time_ns() % 2**32
        print(f"200 programs, seed {number}")
        some = settings(CALM, max_examples=200, print_blob=True)
        seed(number)(some(given(programs())(check_twice)))()
