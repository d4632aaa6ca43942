"""What the models say is recorded as verified, and true of the libraries that are installed here.

`tools/verify_models.py` installs every library, looks up names, arguments and defaults, and writes
the records beside the models. Here they are compared with the models, and the names of libraries that
are at hand are looked up once more, in the same way.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.metadata import version
from importlib.resources import files

import pytest
from packaging.version import Version

from models.claims import aliases, claims, keywords, leads, package
from models.resolving import KINDS, Answer, accepts, installed, resolve
from models.shipped import shipped
from stripe_idem_lint.models.schema import ModelFile

RECORDS = files("stripe_idem_rules") / "models" / "verified"

# Packages that came with a release which wants a newer Python than the oldest one that we run on.
SINCE = {"django.tasks": Version("6.0")}

Record = Mapping[str, Mapping[str, str]]


def _stem(file: ModelFile) -> str:
    return file.path.partition("/models/")[2].removesuffix(".toml")


@cache
def _record(stem: str) -> Record:
    path = RECORDS / f"{stem}.json"
    found: Record = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return found


each_file = pytest.mark.parametrize("file", shipped().files, ids=_stem)


@each_file
def test_a_model_has_a_record_of_all_that_it_names(file: ModelFile) -> None:
    """`make verify-models` writes what is missing here."""
    record = _record(_stem(file))
    assert record, "no record"
    known = {*record["names"], *record.get("unverified", {})}
    pairs = {f"{name} = {other}" for name, other in aliases(file)}
    named = {claim.name for claim in claims(file)}
    assert sorted(named - known) == []
    assert sorted(name for name in record["names"] if name not in named | pairs) == []


@each_file
def test_every_argument_that_a_model_counts_on_is_recorded(file: ModelFile) -> None:
    """Only where the record has one of the row's callables as something that can be looked into."""
    record = _record(_stem(file))
    recorded = {*record.get("keywords", {}), *record.get("unverified", {})}
    missing = [
        each
        for each in keywords(file)
        if any(_signed(record["names"].get(name, "")) for name in each.callables)
        and not any(f"{name}({each.key})" in recorded for name in each.callables)
    ]
    assert missing == []


def _signed(kind: str) -> bool:
    return kind.partition(" in ")[0] in ("function", "method", "class", "exception")


def test_every_record_belongs_to_a_model() -> None:
    stems = {
        f"{folder.name}/{file.name.removesuffix('.json')}"
        for folder in RECORDS.iterdir()
        for file in folder.iterdir()
    }
    assert stems == {_stem(file) for file in shipped().files}


def test_what_could_not_be_verified_has_a_reason() -> None:
    for file in shipped().files:
        for name, reason in _record(_stem(file)).get("unverified", {}).items():
            assert len(reason) > 10, (file.path, name)


@each_file
def test_names_exist_in_the_library_that_is_installed_here(file: ModelFile) -> None:
    record = _record(_stem(file))["names"]
    here = [claim for claim in claims(file) if installed(package(claim.name, file))]
    # What only another release, twin or platform has is marked with its place in the record.
    current = [
        claim
        for claim in here
        if record.get(claim.name, "behind") in KINDS and not _newer_than_here(claim.name)
    ]
    if not current:
        pytest.skip("library not installed")
    assert [name for name in dict.fromkeys(c.name for c in current) if not _exists(name)] == []


@each_file
def test_arguments_are_taken_by_the_library_that_is_installed_here(file: ModelFile) -> None:
    kept = _record(_stem(file)).get("keywords", {})
    # What only another release takes is marked with it.
    recorded = {label for label, how in kept.items() if " in " not in how}
    refused = [
        f"{name}({key})"
        for name, key in (label.removesuffix(")").split("(") for label in recorded)
        if installed(package(name, file)) and _takes(resolve(name, leads()), key) == "no"
    ]
    # A callable may have got or lost an argument between two releases: one of the row's is enough.
    alive = [
        each
        for each in keywords(file)
        if {f"{name}({each.key})" for name in each.callables} & {*recorded} <= {*refused}
        and {f"{name}({each.key})" for name in each.callables} & {*refused}
    ]
    assert alive == []


def _newer_than_here(name: str) -> bool:
    return any(
        name.startswith(f"{package}.") and Version(version(package.partition(".")[0])) < since
        for package, since in SINCE.items()
    )


def _takes(answer: Answer, key: str) -> str:
    return accepts(answer, key) if answer.found is not None else "unknown"


def _exists(name: str) -> bool:
    answer = resolve(name, leads())
    # A module that wants an optional library or settings is there all the same.
    return bool(answer.kind) or " needs " in answer.problem or "cannot be" in answer.problem
