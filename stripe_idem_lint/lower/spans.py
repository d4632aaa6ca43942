"""From node numbers back to lines and columns, for the few files that a person is shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, PositionProvider

from stripe_idem_lint.core.span import Span
from stripe_idem_lint.lower.module import lower_module
from stripe_idem_lint.source.parse import parse
from stripe_idem_lint.source.text import lines_of


def spans_of(path: str, data: bytes, indexes: Iterable[int]) -> dict[int, Span]:
    """Spans of nodes of one file.

    Args:
        path: Goes into the spans.
        data: The file's bytes, as they were when it was lowered.
        indexes: Node numbers; those that do not exist are left out.
    """
    tree = parse(path, data)
    if not isinstance(tree, cst.Module):
        return {}
    wrapper = MetadataWrapper(tree, unsafe_skip_copy=True)
    seen: list[cst.CSTNode] = []
    lower_module(wrapper.module, path, seen)
    ranges = wrapper.resolve(PositionProvider)
    lines = lines_of(data)
    found = {}
    for index in indexes:
        if 0 <= index < len(seen):
            span = _range_of(seen[index], ranges)
            if span is not None:
                found[index] = _span(path, span, lines)
    return found


def _range_of(node: cst.CSTNode, ranges: Mapping[cst.CSTNode, object]) -> CodeRange | None:
    named = node.name if isinstance(node, cst.FunctionDef | cst.ClassDef) else node
    found = ranges.get(named)
    return found if isinstance(found, CodeRange) else None


def _span(path: str, where: CodeRange, lines: Sequence[str]) -> Span:
    first = where.start.line
    text = lines[first - 1] if 0 < first <= len(lines) else ""
    piece = text[where.start.column :]
    if where.end.line == first:
        piece = text[where.start.column : where.end.column]
    return Span(
        path, first, where.start.column + 1, where.end.line, where.end.column + 1, piece.strip()
    )
