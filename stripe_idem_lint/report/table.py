"""The inventory of `audit`: every Stripe write, as a table, CSV or JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import asdict

from stripe_idem_lint.report.base import AuditRow
from stripe_idem_lint.report.cells import cut, fill, visible, width

COLUMNS = ("place", "call", "effect", "key", "origins", "contexts", "verdict")
_LIMITS = (56, 40, 8, 8, 40, 40, 24)
"""Cells that a column takes at most in the text table; CSV and JSON are complete."""


def as_json(rows: Sequence[AuditRow]) -> str:
    """`{"version": 1, "calls": [...]}`, one object per row with its fields."""
    document = {"version": 1, "calls": [asdict(row) for row in rows]}
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def as_csv(rows: Sequence[AuditRow]) -> str:
    """One line per call under a line of headings; several origins or contexts in one field."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows([_no_formula(cell) for cell in _cells(row)] for row in rows)
    return out.getvalue()


def as_text(rows: Sequence[AuditRow]) -> str:
    """Columns aligned, long cells cut."""
    if not rows:
        return "no Stripe write found\n"
    table = [
        [cut(visible(cell), limit) for cell, limit in zip(line, _LIMITS, strict=True)]
        for line in (COLUMNS, *(_cells(row) for row in rows))
    ]
    widths = [max(width(cell) for cell in column) for column in zip(*table, strict=True)]
    lines = [
        "  ".join(fill(cell, cells) for cell, cells in zip(line, widths, strict=True)).rstrip()
        for line in table
    ]
    return "\n".join(lines) + "\n"


def _cells(row: AuditRow) -> tuple[str, ...]:
    return (
        f"{row.path}:{row.line}",
        row.call,
        row.effect,
        row.key,
        ", ".join(row.origins),
        ", ".join(row.contexts),
        row.verdict,
    )


def _no_formula(cell: str) -> str:
    """No formula to a spreadsheet (owasp.org/www-community/attacks/CSV_Injection)."""
    return f"'{cell}" if cell.startswith(("=", "+", "-", "@", "\t", "\r")) else cell
