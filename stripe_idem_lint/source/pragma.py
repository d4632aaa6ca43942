"""Comments that silence findings: `# noqa: SIL101` and `# stripe-idem: ignore[SIL101] reason`. Only real comments count."""

from __future__ import annotations

import io
import re
import tokenize
from dataclasses import dataclass

_NOQA = re.compile(
    r"#\s*noqa(?!\w)(?::\s*(?P<codes>[A-Za-z]+[0-9]+(?:[,\s]+[A-Za-z]+[0-9]+)*))?", re.IGNORECASE
)
_OWN = re.compile(r"#\s*stripe-idem:\s*ignore(?:\[(?P<codes>[^\]]*)\])?(?P<reason>.*)")


@dataclass(frozen=True, slots=True)
class Pragma:
    """One comment.

    Attributes:
        line: Counted from 1.
        codes: Codes it names; empty for all.
        own: It is a `stripe-idem:` comment, of which unused ones are reported.
    """

    path: str
    line: int
    codes: tuple[str, ...]
    own: bool

    def silences(self, code: str) -> bool:
        return not self.codes or code in self.codes


def pragmas(path: str, data: bytes) -> tuple[Pragma, ...]:
    """The comments of a file; none where it cannot be read as Python."""
    if b"noqa" not in data.lower() and b"stripe-idem" not in data:
        return ()
    found: list[Pragma] = []
    try:
        for token in tokenize.tokenize(io.BytesIO(data).readline):
            if token.type == tokenize.COMMENT:
                pragma = _pragma(path, token.string, token.start[0])
                if pragma is not None:
                    found.append(pragma)
    except (tokenize.TokenError, SyntaxError, UnicodeDecodeError, ValueError):
        return tuple(found)
    return tuple(found)


def _pragma(path: str, comment: str, line: int) -> Pragma | None:
    own = _OWN.search(comment)
    if own is not None:
        codes = tuple(c.strip() for c in (own.group("codes") or "").split(",") if c.strip())
        return Pragma(path, line, codes, True)
    noqa = _NOQA.search(comment)
    if noqa is not None:
        codes = (
            tuple(re.split(r"[,\s]+", noqa.group("codes").upper())) if noqa.group("codes") else ()
        )
        return Pragma(path, line, codes, False)
    return None
