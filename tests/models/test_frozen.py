"""The kept form of the model files gives the same files, or nothing."""

from __future__ import annotations

from pathlib import Path

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


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    models = tmp_path / "models"
    models.mkdir()
    text = '[library]\nname = "a"\nimports = "a"\n[[context]]\ncategory = "retry"\n'
    (models / "a.toml").write_text(f'{text}decorator = "a.b"\ncatches = {{argument = "on"}}\n')
    return tmp_path


def test_the_second_run_reads_what_the_first_one_kept(pack: Path) -> None:
    memory = Kept()
    first = load_catalog([pack], memory=memory)
    second = load_catalog([pack], memory=memory)
    assert first.files == second.files == load_catalog([pack]).files
    assert memory.written == 1


def test_a_damaged_memory_is_written_anew(pack: Path) -> None:
    memory = Kept()
    load_catalog([pack], memory=memory)
    (key,) = memory
    memory[key] = b"[{}]"
    assert load_catalog([pack], memory=memory).decorators("a.b") != ()
    assert memory.written == 2


def test_an_edited_file_is_read_anew(pack: Path) -> None:
    memory = Kept()
    load_catalog([pack], memory=memory)
    (pack / "models" / "a.toml").write_text('[library]\nname = "a"\nimports = "a"\n')
    assert load_catalog([pack], memory=memory).decorators("a.b") == ()


def test_another_text_or_label_has_another_name() -> None:
    texts = [("a.toml", "x"), ("b.toml", "y")]
    assert digest(texts) == digest(list(texts))
    assert digest(texts) != digest([("a.toml", "xy"), ("b.toml", "")])
    assert digest(texts) != digest([("c.toml", "x"), ("b.toml", "y")])
