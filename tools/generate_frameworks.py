#!/usr/bin/env python3
"""Writes docs/frameworks.md: every library that the models know, what is known of it, and how surely.

`python tools/generate_frameworks.py` writes it, `--check` exits 1 when the file on disk differs. The
text comes from the model files and from the records that `verify_models.py` leaves beside them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from importlib.resources import files
from pathlib import Path

from stripe_idem_lint.models.catalog import load_catalog
from stripe_idem_lint.models.schema import ContextModel, ModelFile

PAGE = Path(__file__).parent.parent / "docs" / "frameworks.md"
PACK = files("stripe_idem_rules")

TITLES = {
    "retry": "Retries inside one execution",
    "transaction": "Transactions that are retried",
    "task": "Task queues",
    "message": "Consumers of messages",
    "http": "HTTP and RPC handlers",
    "webhook": "Webhooks",
    "serverless": "Serverless functions",
    "tool": "Tools of language models",
    "workflow": "Workflows and durable execution",
    "schedule": "Schedulers",
    "recovery": "Startup and recovery hooks",
    "batch": "Batches and streams",
}
KINDS = {
    "stable": "stable",
    "delivery": "of one delivery",
    "attempt": "of one attempt",
    "clock": "clock",
    "window": "cut clock",
    "process": "of one process",
    "fresh": "fresh",
}

HEAD = """\
<!-- Made by tools/generate_frameworks.py from the models and their records; edit those instead. -->
# Frameworks

What runs code again, as the linter knows it. A library is described in a file of
`rules/stripe_idem_rules/models`; a team's own in the same words, see
[own helpers](guide/own-helpers.md). A name counts through imports, instances, subclasses and
re-exports, not by its spelling.

Every name, argument and default in these files was looked up in the library itself, in the version
shown, by `make verify-models`; the records stand in `models/verified`. What could not be had is listed
under the library with the reason.

A *full* context makes an unstable key of a money call an error; a *plain* one, such as a task that
acknowledges first, a warning, until an option raises it.
"""


def main() -> int:
    """Writes or checks; gives the exit code."""
    text = page()
    current = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    if current == text:
        return 0
    if "--check" in sys.argv[1:]:
        print(f"stale: {PAGE.relative_to(PAGE.parent.parent)}")
        return 1
    PAGE.write_text(text, encoding="utf-8")
    print(f"written: {PAGE.relative_to(PAGE.parent.parent)}")
    return 0


def page() -> str:
    """The whole page."""
    known = sorted(
        load_catalog([PACK]).files, key=lambda file: (file.library.name.lower(), file.path)
    )
    parts = [HEAD, *_overview(known), "## Library by library\n"]
    parts += [section for file in known if (section := _section(file))]
    return "\n".join(parts)


# --- the overview


def _overview(known: Iterable[ModelFile]) -> Iterator[str]:
    kept = list(known)
    yield "## By what runs again\n"
    yield "| | libraries |\n|---|---|"
    for category, title in TITLES.items():
        named = [file for file in kept if any(row.category == category for row in file.context)]
        yield f"| {title} | {', '.join(map(_link, named))} |"
    for title, table in (("Locks and leases", "lock"), ("Guards", "guard"), ("Memos", "memo")):
        yield f"| {title} | {', '.join(_link(file) for file in kept if getattr(file, table))} |"
    yield ""


def _link(file: ModelFile) -> str:
    return f"[{file.library.name}](#{_anchor(file)})"


def _anchor(file: ModelFile) -> str:
    """As GitHub makes it of a heading."""
    kept = (c for c in _heading(file).lower() if c.isalnum() or c in "-_ ")
    return "".join(kept).replace(" ", "-")


def _heading(file: ModelFile) -> str:
    kind, stem = file.path.removesuffix(".toml").split("/")[-2:]
    if kind == "frameworks":
        return file.library.name
    return f"{file.library.name}, {kind}" + (f" {stem}" if file.library.name == "python" else "")


# --- one library


def _section(file: ModelFile) -> str:
    lines = [f"### {_heading(file)}\n"]
    record = _record(file)
    versions = [f"{name} {version}" for name, version in record.get("distributions", {}).items()]
    lines.append(
        f"[Documentation]({file.library.docs}). "
        + (f"Verified: {', '.join(versions)}." if versions else _unversioned(file))
        + "\n"
    )
    lines += [f"{each}\n" for each in _remarks(file)]
    lines += [line for row in file.context for line in _context(row)]
    lines += _others(file)
    lines += _values(file)
    for fact, evidence in record.get("defaults", {}).items():
        lines.append(f"- By default: {fact} (`{evidence}`).")
    unverified = record.get("unverified", {}).items()
    lines += [f"- Not verified: `{name}`, {reason}." for name, reason in unverified]
    return "\n".join(lines) + "\n"


def _unversioned(file: ModelFile) -> str:
    if _record(file).get("unverified"):
        return "Not verified."
    return "Of the standard library." if file.library.imports else "Known by its looks alone."


def _remarks(file: ModelFile) -> Iterator[str]:
    """The comment that a model file opens with."""
    text = _text(file)
    opening = text[: text.index("[library]")]
    words = [line.removeprefix("#").strip() for line in opening.splitlines() if line.strip()]
    if words and "Generated by" not in words[0]:
        yield " ".join(words)


def _context(row: ContextModel) -> Iterator[str]:
    strength = "plain" if row.plain else "full"
    yield f"- **{row.category}**, {strength}: {_how(row)}. Runs again when {row.again}."
    options = [
        *(f"full with {_codes(row.raised_by)}" for _ in row.raised_by[:1]),
        *(f"only with {_codes(row.on_by)}" for _ in row.on_by[:1]),
        *(f"not with {_codes(row.off_by)}" for _ in row.off_by[:1]),
    ]
    if row.catches is not None:
        argument = (
            f"what `{row.catches.argument[0]}` names" if row.catches.argument else "exceptions"
        )
        options.append(f"counts if it catches {argument} that an executed call can raise")
    if row.journaled:
        options.append("its result is stored: stable for its caller")
    if options:
        yield f"  - {'; '.join(options)}"


def _how(row: ContextModel) -> str:
    if row.decorator:
        return f"decorator {_codes(row.decorator)}"
    if row.call:
        return f"function handed to {_codes(row.call)}"
    if row.loop:
        return f"body of `for … in` {_codes(row.loop)}"
    if row.enter:
        return f"body of `with` {_codes(row.enter)}"
    if row.inside:
        return f"loop or function around {_codes(row.inside)}"
    if row.attribute:
        return f"assigned to {_codes(row.attribute)}"
    if row.method_base:
        return f"{_codes(row.method_names)} of classes derived from {_codes(row.method_base)}"
    shape = row.function
    assert shape is not None
    looks = [
        f"name like {_codes(shape.names)}" if shape.names else "",
        f"parameters `({', '.join(shape.parameters)})`" if shape.parameters else "",
        f"first parameter `{shape.first_parameter}`" if shape.first_parameter else "",
        f"in {_codes(shape.files)}" if shape.files else "",
        "called by no code of the project" if shape.uncalled else "",
    ]
    return f"function known by its looks: {', '.join(filter(None, looks))}"


def _others(file: ModelFile) -> Iterator[str]:
    for lock in file.lock:
        limit = f"with {_codes(lock.limit)} it runs out" if lock.limit else "it runs out"
        limit = "it ends with its holder" if lock.endless else limit
        renewal = f"; renewed by {_codes(lock.renewed_by)}" if lock.renewed_by else ""
        yield f"- **lock**: {_codes(lock.call or (lock.sql,))}; {limit}{renewal}."
    for guard in file.guard:
        yield f"- **guard**, one level lower: {_codes((*guard.decorator, *guard.call))}; {guard.why}."
    for memo in file.memo:
        yield f"- **memo**, stable in one process: {_codes(memo.decorator)}."
    for transaction in file.transaction:
        yield f"- **transaction**, holds writes back: {_codes(transaction.call)}."
    for record in file.record:
        yield f"- **record**: classes with {_codes((*record.base, *record.decorator))}."
    for entry in file.entry:
        yield f"- **command**, a batch when it walks stored work: {_codes((*entry.decorator, *entry.method_base))}."


def _values(file: ModelFile) -> Iterator[str]:
    found: dict[str, list[str]] = {}
    for row in file.value:
        if row.kind != "derived":
            kind = KINDS[row.kind]
            if row.kind == "delivery":
                kind = "changes at each hop" if row.scope == "hop" else "kept until published again"
            found.setdefault(kind, []).extend((*row.call, *row.attribute, *row.item))
    for kind, named in found.items():
        yield f"- Values, {kind}: {_codes(named)}."
    derived = sum(len(row.call) for row in file.value if row.kind == "derived")
    if derived:
        yield f"- {derived} pure functions, as stable as what they are given."
    if file.sink:
        yield f"- {len(file.sink)} calls that write to the service."
    if file.http:
        calls = [name for row in file.http for name in (*row.call, *row.method_call)]
        yield f"- Requests sent by {_codes(calls)}."


def _codes(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _record(file: ModelFile) -> Mapping[str, Mapping[str, str]]:
    path = PACK / "models" / "verified"
    for part in file.path.partition("/models/")[2].removesuffix(".toml").split("/"):
        path = path / part if part in ("frameworks", "sinks", "values") else path / f"{part}.json"
    found: Mapping[str, Mapping[str, str]] = (
        json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    )
    return found


def _text(file: ModelFile) -> str:
    path = PACK
    for part in file.path.split("/")[1:]:
        path = path / part
    return path.read_text(encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
