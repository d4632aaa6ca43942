"""The kept form of the model files gives the same files, or nothing."""

from __future__ import annotations

from importlib.resources import files

import pytest

from models.shipped import shipped
from stripe_idem_lint.models.catalog import load_catalog
from stripe_idem_lint.models.frozen import digest, freeze, thaw


class Kept(dict[str, bytes]):
    """A memory that counts."""

    written = 0

    def put(self, key: str, value: bytes) -> None:
        self[key] = value
        self.written += 1


def test_what_was_frozen_thaws_to_the_same_files() -> None:
    assert thaw(freeze(shipped().files)) == list(shipped().files)


@pytest.mark.parametrize(
    "damage", [b"", b"{}", b"[1]", b'[{"path": "a"}]', b'[{"path": "a", "other": 1}]', b"\xff"]
)
def test_damaged_bytes_are_a_miss(damage: bytes) -> None:
    assert thaw(damage) is None


def test_the_second_run_reads_what_the_first_one_kept() -> None:
    memory = Kept()
    pack = files("stripe_idem_rules")
    first = load_catalog([pack], memory=memory)
    second = load_catalog([pack], memory=memory)
    assert first.files == second.files == shipped().files
    assert memory.written == 1


def test_a_damaged_memory_is_written_anew() -> None:
    memory = Kept()
    pack = files("stripe_idem_rules")
    load_catalog([pack], memory=memory)
    (key,) = memory
    memory[key] = b"[{}]"
    assert load_catalog([pack], memory=memory).files == shipped().files
    assert memory.written == 2


def test_another_text_or_label_has_another_name() -> None:
    texts = [("a.toml", "x"), ("b.toml", "y")]
    assert digest(texts) == digest(list(texts))
    assert digest(texts) != digest([("a.toml", "xy"), ("b.toml", "")])
    assert digest(texts) != digest([("c.toml", "x"), ("b.toml", "y")])
