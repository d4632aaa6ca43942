#!/usr/bin/env python3
"""Installs the libraries that the models describe and looks up in them what the models say.

    python tools/verify_models.py [--cache FOLDER] [--only GROUP ...]

`verify_models.toml` says what is installed in which company, which defaults the models rely on, and
which names cannot be had and why. Each group gets an environment (kept under the cache folder, a
temporary one unless given) in which `tests/models/resolving.py` answers. What came out is written to
`models/verified/`, one file for each model file, so that a change of one library is one file's diff.

Exits 1 when a model says something that no release has, and when a stated exception is none. With
`--only`, groups that are not named are taken from the cache as they are, and never made.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from models.claims import Claim, Keyword, aliases, claims, keywords, leads, package
from models.shipped import shipped
from stripe_idem_lint.models.schema import ModelFile

MODELS = ROOT / "rules" / "stripe_idem_rules" / "models"
PROBE = ROOT / "tests" / "models" / "resolving.py"
WANTED = {
    "callable": {
        "function",
        "method",
        "class",
        "exception",
        "object",
        "family",
        "dynamic attribute",
    },
    # A class may be made by a function (`typing.NamedTuple`) or stand behind an annotation.
    "class": {"class", "exception", "family", "function", "object"},
    "exception": {"exception"},
    "override": {"function", "method", "attribute", "object", "property"},
}
LOOKED_THROUGH = {"behind an instance", "attribute", "dynamic attribute", "property"}
"""Kinds that hide what they are: an instance would tell."""


@dataclass(frozen=True, slots=True)
class Group:
    """Libraries that are installed together.

    Attributes:
        name: For people, and for the folder.
        python: Version of the interpreter, as `3.12`.
        install: Requirements.
        apart: Requirements put in afterwards, without what they depend on.
        older: The releases or twins are there for names that the current ones lack.
        setup: Python code that runs before names are looked up.
    """

    name: str
    python: str
    install: tuple[str, ...]
    apart: tuple[str, ...] = ()
    older: bool = False
    setup: str = ""


@dataclass(frozen=True, slots=True)
class Fact:
    """A default that a model relies on: an expression and the `repr` of what it must give."""

    model: str
    fact: str
    code: str
    gives: str


@dataclass(frozen=True, slots=True)
class Plan:
    """`verify_models.toml`, typed."""

    groups: tuple[Group, ...]
    facts: tuple[Fact, ...]
    absent: Mapping[str, str]
    refused: Mapping[str, str]
    leads: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Answers:
    """What one group said."""

    group: Group
    data: Mapping[str, Any]

    def kind(self, name: str) -> str:
        """The kind of a name; empty when there is nothing or its library is not in this group."""
        kind: str = self.data["names"].get(name, ("", ""))[0]
        return kind

    def versions(self, root: str) -> Mapping[str, str]:
        """The distributions that bring a package."""
        versions: Mapping[str, str] = self.data["distributions"].get(root, {})
        return versions


@dataclass(slots=True)
class Record:
    """What is known of one model file, and what is wrong with it."""

    distributions: dict[str, str] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    unverified: dict[str, str] = field(default_factory=dict)
    keywords: dict[str, str] = field(default_factory=dict)
    defaults: dict[str, str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def text(self) -> str:
        """The file: one line for each fact, sorted."""
        tables = {
            key: dict(sorted(getattr(self, key).items()))
            for key in ("distributions", "names", "unverified", "keywords", "defaults")
        }
        kept = {key: table for key, table in tables.items() if table or key == "names"}
        return json.dumps(kept, indent=1, ensure_ascii=False) + "\n"


def read_plan(path: Path) -> Plan:
    """The plan in a file.

    Raises:
        TypeError: A table has a key that is not known, or lacks one.
    """
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    return Plan(
        tuple(_group(**table) for table in data["group"]),
        tuple(Fact(**table) for table in data.get("fact", ())),
        data.get("absent", {}),
        data.get("refused", {}),
        data.get("leads", {}),
    )


def _group(install: list[str], apart: Sequence[str] = (), **rest: Any) -> Group:
    return Group(install=tuple(install), apart=tuple(apart), **rest)


def main() -> int:
    """Installs, asks, writes; gives the exit code."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--cache", type=Path, help="folder that keeps the environments")
    options.add_argument("--only", nargs="*", help="make these groups only")
    options.add_argument("--jobs", type=int, default=2, help="groups at a time (2)")
    given = options.parse_args()
    plan = read_plan(Path(__file__).with_suffix(".toml"))
    with tempfile.TemporaryDirectory() as scratch:
        cache = given.cache or Path(scratch)
        with ThreadPoolExecutor(given.jobs) as pool:
            answers = [
                each
                for each in pool.map(
                    lambda group: _ask(group, cache, plan, given.only), plan.groups
                )
                if each is not None
            ]
    taken, own = _taken(answers), _own_types(answers)
    records = {_stem(file): _record(file, own, answers, taken, plan) for file in shipped().files}
    _write(records)
    problems = [f"{stem}: {each}" for stem, record in records.items() for each in record.problems]
    print("\n".join([*problems, _summary(records)]))
    return 1 if problems else 0


def _stem(file: ModelFile) -> str:
    """`frameworks/celery`."""
    return file.path.partition("/models/")[2].removesuffix(".toml")


def _summary(records: Mapping[str, Record]) -> str:
    def count(table: str) -> int:
        return sum(len(getattr(record, table)) for record in records.values())

    return (
        f"{len(records)} model files: {count('names')} names found, {count('unverified')} not to be "
        f"had, {count('keywords')} keywords, {count('defaults')} defaults, {count('problems')} problems"
    )


# --- environments


def _ask(group: Group, cache: Path, plan: Plan, only: Sequence[str] | None) -> Answers | None:
    folder = cache / group.name.replace(" ", "-")
    python = folder / "bin" / "python"
    if not (folder / ".complete").exists():
        if only is not None and group.name not in only:
            return None
        _install(group, folder, python)
    questions = json.dumps({**_questions(plan), "setup": group.setup})
    asked = hashlib.sha256(questions.encode() + PROBE.read_bytes()).hexdigest()[:16]
    kept = folder / f".answers-{asked}.json"
    if not kept.exists():
        print(f"asking: {group.name}", flush=True)
        done = subprocess.run(
            [str(python), str(PROBE)],
            check=False,
            input=questions,
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONWARNINGS": "ignore"},
        )
        if done.returncode:
            sys.exit(f"{group.name}: {done.stderr.strip()[-2000:]}")
        kept.write_text(done.stdout, encoding="utf-8")
    return Answers(group, json.loads(kept.read_text(encoding="utf-8")))


def _install(group: Group, folder: Path, python: Path) -> None:
    print(f"installing: {group.name}", flush=True)
    shutil.rmtree(folder, ignore_errors=True)
    uv = shutil.which("uv")
    if uv:
        _run(
            group,
            [uv, "venv", "--quiet", "--no-python-downloads", "--python", group.python, folder],
        )
        install: list[str | Path] = [uv, "pip", "install", "--quiet", "--python", python]
    else:
        interpreter = shutil.which(f"python{group.python}") or sys.exit(
            f"{group.name} wants Python {group.python}"
        )
        _run(group, [interpreter, "-m", "venv", folder])
        install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    if group.install:
        _run(group, [*install, *group.install])
    for requirement in group.apart:
        _run(group, [*install, "--no-deps", requirement])
    (folder / ".complete").touch()


def _run(group: Group, command: Sequence[str | Path]) -> None:
    done = subprocess.run(
        [str(part) for part in command], check=False, capture_output=True, text=True
    )
    if done.returncode:
        sys.exit(f"{group.name}: {done.stderr.strip()[-3000:]}")


def _questions(plan: Plan) -> dict[str, Any]:
    """All that is asked; a group answers what it has the library for."""
    found: dict[str, str] = {}
    pairs: list[tuple[str, str]] = []
    same: list[tuple[str, str]] = []
    for file in shipped().files:
        found |= {claim.name: package(claim.name, file) for claim in claims(file)}
        same += aliases(file)
        for keyword in keywords(file):
            pairs += [(name, keyword.key) for name in keyword.callables]
    return {
        "names": found,
        "leads": {**leads(), **plan.leads},
        "keywords": sorted(set(pairs)),
        "same": sorted(set(same)),
        "defaults": {fact.code: fact.code for fact in plan.facts},
        "packages": sorted({root for root in found.values()} | _roots()),
    }


def _roots() -> set[str]:
    return {root for file in shipped().files for root in file.library.imports}


# --- records


def _record(
    file: ModelFile,
    own: frozenset[str],
    answers: Sequence[Answers],
    taken: Mapping[tuple[str, str], str],
    plan: Plan,
) -> Record:
    record = Record()
    roots = {*file.library.imports, *(package(claim.name, file) for claim in claims(file))}
    for root in sorted(roots):
        record.distributions |= _current(root, answers)
    for claim in claims(file):
        _record_name(record, claim, file, own, answers, plan)
    for keyword in keywords(file):
        _record_keyword(record, keyword, taken, plan)
    for name, other in aliases(file):
        _record_alias(record, name, other, answers)
    for fact in plan.facts:
        if fact.model == _stem(file):
            _record_fact(record, fact, answers)
    return record


def _record_name(
    record: Record,
    claim: Claim,
    file: ModelFile,
    own: frozenset[str],
    answers: Sequence[Answers],
    plan: Plan,
) -> None:
    if claim.name in own:
        record.names[claim.name] = "type of the models' own"
        return
    if any(claim.name.startswith(f"{each}.") for each in own):
        record.names[claim.name] = "of a type of the models' own"
        return
    found = _best(claim, package(claim.name, file), answers)
    if found is None:
        if claim.role == "override":
            record.names[claim.name] = "called by its name"
        elif claim.name in plan.absent:
            record.unverified[claim.name] = plan.absent[claim.name]
        else:
            record.problems.append(f"{claim.name} is nowhere: {_why(claim.name, answers)}")
        return
    kind, where = found.kind, found.where
    if claim.name in plan.absent:
        record.problems.append(f"{claim.name} is there after all ({kind}{where})")
    if not found.fits:
        record.problems.append(f"{claim.name} should be {claim.role} and is {kind}{where}")
    record.names[claim.name] = f"{kind}{where}"


@dataclass(frozen=True, slots=True)
class Found:
    """A name in one group: its kind, where it is (empty for the current release), whether it fits."""

    kind: str
    where: str
    fits: bool


def _best(claim: Claim, root: str, answers: Sequence[Answers]) -> Found | None:
    """What fits goes before what does not, current releases before older ones and twins."""
    current, newest = _current(root, answers), _newest(answers)
    candidates = [each for each in answers if each.kind(claim.name)]
    if not candidates:
        return None
    best = min(
        candidates,
        key=lambda each: (
            not _fits(claim, each),
            each.group.older,
            each.versions(root) != current,
            not current and each.data["python"] != newest,
        ),
    )
    where = _elsewhere(best.versions(root), current)
    if not best.versions(root) and best.data["python"] != newest:
        where = f" in Python {best.data['python']}"
    return Found(best.kind(claim.name), where, _fits(claim, best))


def _elsewhere(versions: Mapping[str, str], current: Mapping[str, str]) -> str:
    """Which releases they are, if not the current ones."""
    if set(versions.items()) <= set(current.items()):
        return ""
    return "".join(f" in {dist} {version}" for dist, version in sorted(versions.items()))


def _fits(claim: Claim, answers: Answers) -> bool:
    kind = answers.kind(claim.name)
    if claim.role == "callable" and not answers.data["callable"].get(claim.name, True):
        return False
    return kind in WANTED.get(claim.role, {kind}) | LOOKED_THROUGH


def _why(name: str, answers: Sequence[Answers]) -> str:
    said = {each.data["names"][name][1] for each in answers if name in each.data["names"]}
    return "; ".join(sorted(said - {""})) or "its library is not installed in any group"


def _current(root: str, answers: Sequence[Answers]) -> dict[str, str]:
    """The newest version of each distribution that brings a package, older groups left out."""
    found: dict[str, str] = {}
    for each in answers:
        if not each.group.older:
            for dist, version in each.versions(root).items():
                found[dist] = max(found.get(dist, ""), version, key=_ordered)
    return found


def _newest(answers: Sequence[Answers]) -> str:
    return max((str(each.data["python"]) for each in answers), key=_ordered)


def _ordered(version: str) -> tuple[int, ...]:
    parts = ("".join(filter(str.isdigit, part)) for part in version.split("."))
    return tuple(int(part) for part in parts if part)


def _own_types(answers: Sequence[Answers]) -> frozenset[str]:
    """Types that the rows of any file name and that no library has under that name."""
    types = {c.name for each in shipped().files for c in claims(each) if c.role == "type"}
    return frozenset(name for name in types if not any(a.kind(name) for a in answers))


def _record_keyword(
    record: Record, keyword: Keyword, taken: Mapping[tuple[str, str], str], plan: Plan
) -> None:
    asked = [name for name in keyword.callables if (name, keyword.key) in taken]
    fitting = [name for name in asked if taken[name, keyword.key] != "no"]
    for name in fitting:
        record.keywords[f"{name}({keyword.key})"] = taken[name, keyword.key]
    label = f"{keyword.callables[0]}({keyword.key})"
    if asked and not fitting:
        if label in plan.refused:
            record.unverified[label] = plan.refused[label]
        else:
            record.problems.append(f"{label} takes no such argument")
    elif label in plan.refused:
        record.problems.append(f"{label} is taken after all")


def _taken(answers: Sequence[Answers]) -> dict[tuple[str, str], str]:
    """How each callable takes each keyword: in the current release, else in the most welcoming one, which is named."""
    order = ("no", "unknown", "through **", "named")
    found: dict[tuple[str, str], tuple[str, str]] = {}
    for each in sorted(answers, key=lambda each: each.group.older):
        for name, key, answer in each.data["keywords"]:
            known, _ = found.get((name, key), ("no", ""))
            if each.group.older and known != "no":
                continue
            if (name, key) not in found or order.index(answer) > order.index(known):
                root = _package_of(name, each)
                found[name, key] = answer, _elsewhere(each.versions(root), _current(root, answers))
    return {
        pair: answer if answer == "no" else answer + where
        for pair, (answer, where) in found.items()
    }


def _package_of(name: str, answers: Answers) -> str:
    """The longest package, of those that were asked for, that the name stands in."""
    packages = (root for root in answers.data["distributions"] if f"{name}.".startswith(f"{root}."))
    return max(packages, key=len, default=name.partition(".")[0])


def _record_alias(record: Record, name: str, other: str, answers: Sequence[Answers]) -> None:
    """How the two are one; a twin (`asyncio` beside threads) is only read as the same."""
    said = {
        answer
        for each in answers
        for one, two, answer in each.data["same"]
        if (one, two) == (name, other) and answer != "absent"
    }
    if said:
        record.names[f"{name} = {other}"] = min(said - {"other"}, default="a twin")


def _record_fact(record: Record, fact: Fact, answers: Sequence[Answers]) -> None:
    said = [
        each.data["defaults"][fact.code]
        for each in sorted(answers, key=lambda each: each.group.older)
        if not each.data["defaults"][fact.code].startswith("! LookupError")
    ]
    if fact.gives in said:
        record.defaults[fact.fact] = f"{fact.code} = {fact.gives}"
    else:
        record.problems.append(f"{fact.fact}: {fact.code} gives {sorted(set(said)) or 'nothing'}")


def _write(records: Mapping[str, Record]) -> None:
    folder = MODELS / "verified"
    for path in _stale(folder, records):
        path.unlink()
    for stem, record in records.items():
        path = folder / f"{stem}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(record.text(), encoding="utf-8")


def _stale(folder: Path, records: Mapping[str, Record]) -> Iterator[Path]:
    for path in sorted(folder.rglob("*.json")):
        if path.relative_to(folder).with_suffix("").as_posix() not in records:
            yield path


if __name__ == "__main__":
    sys.exit(main())
