"""Each stage is tested by its text: a page shows a program, then what the stage makes of it.

A program is one or more ```` ```python path=… ```` blocks (default path `app.py`); the ```` ```text ```` block after them is what
`debug STAGE app.py` prints, where STAGE is the page's name. A failure therefore names the stage.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner

from stripe_idem_lint.cli import cli

_BLOCK = re.compile(r"^```(\w+)(?: path=(\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Example:
    """A program and the text of one stage."""

    stage: str
    title: str
    files: tuple[tuple[str, str], ...]
    expected: str


def _examples(page: Path) -> list[Example]:
    found = []
    for section in page.read_text(encoding="utf-8").split("\n## ")[1:]:
        title, _, body = section.partition("\n")
        blocks = _BLOCK.findall(body)
        files = tuple((path or "app.py", text) for kind, path, text in blocks if kind == "python")
        texts = [text for kind, _, text in blocks if kind == "text"]
        assert files, f"{page.name}: {title}: no program"
        assert len(texts) == 1, f"{page.name}: {title}: one text block, please"
        found.append(Example(page.stem, title, files, texts[0]))
    return found


EXAMPLES = [
    e for page in sorted((Path(__file__).parent / "stages").glob("*.md")) for e in _examples(page)
]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda e: f"{e.stage}: {e.title}")
def test_the_stage_gives_the_text_of_the_page(
    example: Example, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path, text in example.files:
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    target = example.files[-1][0]
    result = CliRunner().invoke(
        cli, ["debug", example.stage, target], standalone_mode=False, catch_exceptions=False
    )
    assert result.stdout == example.expected
