"""The inventory of `audit`: every Stripe write, as a table, CSV or JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import asdict

from stripe_idem_lint.report.base import AuditRow

COLUMNS = ("place", "call", "effect", "key", "origins", "contexts", "verdict")


def as_json(rows: Sequence[AuditRow]) -> str:
    return (
        json.dumps(
            {"version": 1, "calls": [asdict(row) for row in rows]}, indent=1, ensure_ascii=False
        )
        + "\n"
    )


def as_csv(rows: Sequence[AuditRow]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(_cells(row) for row in rows)
    return out.getvalue()


def as_text(rows: Sequence[AuditRow]) -> str:
    """Columns aligned, long cells cut."""
    if not rows:
        return "no Stripe write found\n"
    table = [COLUMNS, *(_cells(row) for row in rows)]
    limits = (48, 40, 8, 8, 40, 40, 24)
    cut = [
        tuple(_cut(cell, limit) for cell, limit in zip(line, limits, strict=True)) for line in table
    ]
    widths = [max(len(line[n]) for line in cut) for n in range(len(COLUMNS))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in cut
    ]
    return "\n".join(lines) + "\n"


def _cells(row: AuditRow) -> tuple[str, ...]:
    place = f"{row.path}:{row.line}"
    return (
        place,
        row.call,
        row.effect,
        row.key,
        ", ".join(row.origins),
        ", ".join(row.contexts),
        row.verdict,
    )


def _cut(cell: str, limit: int) -> str:
    return cell if len(cell) <= limit else f"{cell[: limit - 1]}…"
