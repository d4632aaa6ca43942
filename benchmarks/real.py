"""Lints released packages that talk to Stripe, as a user would, and shows what is found.

    python benchmarks/real.py [--only NAME] [--findings] [--json FILE]

Downloads the pinned releases with pip into a folder outside the repository, unpacks them, runs
`stripe-idem-lint check .` in each and prints one row per package. Every finding has been read by
hand; the verdicts stand in `docs/real-findings.md`, and a finding that is not there is listed and
fails the run, as does more than one false alarm in ten. None of the packages is installed,
imported or run.
"""
# ruff: noqa: INP001 - a script beside the packages, not part of one

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.markup import escape
from rich.table import Table

VERDICTS = Path(__file__).parent.parent / "docs" / "real-findings.md"

# At most this part of the findings may be false alarms.
TOLERATED = 0.1

# Name and version of each release. All of them call Stripe, through the SDK or over HTTP.
PINS: Mapping[str, str] = {
    "aa-stripe": "0.13.0",
    "agenticlypay": "0.8.0",
    "agentscore-commerce": "3.2.4",
    "async-stripe": "6.1.0",
    "augint-billing-lib": "3.10.3",
    "bonanza-labs-pay": "0.1.1",
    "company-pinax-stripe": "4.4.1",
    "dj-stripe": "2.11.0",
    "django-oscar-stripe-sca": "0.8.2",
    "django-payments": "4.1.0",
    "django-ship": "0.4.0",
    "django-stripe-billing": "0.1.4",
    "django-stripe-marketplace": "0.1.0",
    "django-stripe-plisio": "0.5.1",
    "djangoldp-stripe": "1.0.0",
    "djaodjin-saas": "1.3.1",
    "drf-stripe-subscription": "1.2.2",
    "effaced-stripe": "0.1.0",
    "fancy-stripe": "0.3.5",
    "flask-headless-payments": "0.2.31",
    "frasco": "4.2.1",
    "gringotts-api": "0.4.0",
    "iflow-mcp-atharvagupta2003-mcp-stripe": "0.1.5",
    "karni-payments": "0.4.0",
    "leadgen-pro": "3.1.3",
    "msaas-billing": "1.0.0",
    "node-wire-stripe": "1.1.0",
    "plutus-agent": "1.1.0",
    "pretix": "2026.8.0",
    "python-getpaid-stripe": "0.2.1",
    "rodrigo0000-fastapi-core-services": "1.0.2",
    "simple-module-billing": "0.0.13",
    "solvent-agent": "0.2.2",
    "spaps-server-quickstart": "0.9.1",
    "stapel-billing": "0.24.1",
    "stripe-agent-toolkit": "0.7.0",
    "stripe-agents-mcp": "0.1.1",
    "stripe-billing-mcp": "1.0.7",
    "swarmauri-billing-stripe": "0.11.0.dev2",
    "tai42-tools-stripe": "3.0.6",
    "tarxemo-django-stripe": "0.1.4",
    "tendenci": "16.30",
    "trytond-account-payment-stripe": "8.2.0",
    "ulfblk-billing": "0.1.0",
    "university-payments": "0.1.1",
}


class Place(NamedTuple):
    """What a verdict is about: one finding of one release."""

    package: str
    path: str
    line: int
    code: str

    def __str__(self) -> str:
        return f"{self.package} {self.path}:{self.line} {self.code}"


@dataclass(frozen=True, slots=True)
class Found:
    """One finding: where, how bad, and its message."""

    place: Place
    severity: str
    message: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one run gave.

    Attributes:
        stripe_files: Files in which the word `stripe` stands, in any case.
        seconds: Wall time of the whole command, start-up included.
        errors: Errors of the run itself; files that could not be analysed are not among them.
    """

    package: str
    version: str
    files: int
    lines: int
    stripe_files: int
    seconds: float
    findings: tuple[Found, ...]
    errors: tuple[str, ...]


def main(arguments: Sequence[str]) -> int:
    options = _options(arguments)
    names = options.only or list(PINS)
    # A file has no width; a table cut to eighty columns cannot be read.
    console = Console(width=None if sys.stdout.isatty() else 130)
    outcomes = []
    for name in names:
        with console.status(f"{name} {PINS[name]}"):
            outcomes.append(lint(name, PINS[name], fetch(name, PINS[name], options.cache)))
    findings = [each for outcome in outcomes for each in outcome.findings]
    console.print(_table(outcomes))
    if options.findings:
        for each in findings:
            console.out(f"{each.place} {each.severity}: {each.message}", highlight=False)
    if options.json:
        text = json.dumps([asdict(outcome) for outcome in outcomes], indent=2)
        options.json.write_text(text + "\n", encoding="utf-8")
    complaints = [*_failures(outcomes), *judge(findings, verdicts(VERDICTS), set(names))]
    for complaint in complaints:
        console.out(complaint, highlight=False)
    return 1 if complaints else 0


def fetch(name: str, version: str, cache: Path) -> Path:
    """The folder with the unpacked release; downloads what the cache does not have.

    Only wheels: to learn the metadata of a source distribution, pip runs the package's own code.
    The newest Python is named so that no release is refused for its age; nothing is installed.

    Raises:
        subprocess.CalledProcessError: pip could not get it.
        ValueError: The archive is not what a wheel may be.
    """
    unpacked = cache / f"{name}-{version}"
    if unpacked.is_dir():
        return unpacked
    downloads = cache / "downloads" / f"{name}-{version}"
    downloads.mkdir(parents=True, exist_ok=True)
    if not list(downloads.glob("*.whl")):
        pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "download"]
        wheels_only = ["--no-deps", "--only-binary=:all:", "--python-version", "3.14"]
        command = [*pip, *wheels_only, "--dest", str(downloads), f"{name}=={version}"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    (wheel,) = downloads.glob("*.whl")
    partial = cache / f"{name}-{version}.partial"
    unpack(wheel, partial)
    return partial.rename(unpacked)


def unpack(wheel: Path, folder: Path, *, limit: int = 200_000_000) -> None:
    """Unpacks an archive that nobody vouches for.

    Raises:
        ValueError: A member would leave the folder, or all would take more than `limit` bytes.
    """
    root = folder.resolve()
    with zipfile.ZipFile(wheel) as archive:
        members = archive.infolist()
        if sum(member.file_size for member in members) > limit:
            raise ValueError(f"{wheel.name} unpacks to more than {limit} bytes")
        for member in members:
            if not (root / member.filename).resolve().is_relative_to(root):
                raise ValueError(f"{wheel.name} has a member outside of itself: {member.filename}")
        archive.extractall(folder)


def lint(name: str, version: str, folder: Path) -> Outcome:
    """Runs the command in the folder, with the configuration of nobody but the package."""
    command = [sys.executable, "-P", "-m", "stripe_idem_lint", "check", "."]
    started = time.perf_counter()
    run = subprocess.run(
        [*command, "--output-format", "json"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    seconds = time.perf_counter() - started
    files = sorted(folder.rglob("*.py"))
    texts = [file.read_bytes() for file in files]
    findings, errors = _parsed(name, run)
    return Outcome(
        package=name,
        version=version,
        files=len(files),
        lines=sum(text.count(b"\n") for text in texts),
        stripe_files=sum(b"stripe" in text.lower() for text in texts),
        seconds=seconds,
        findings=findings,
        errors=errors,
    )


def _parsed(
    name: str, run: subprocess.CompletedProcess[str]
) -> tuple[tuple[Found, ...], tuple[str, ...]]:
    if run.returncode not in (0, 1):
        last = run.stderr.strip().splitlines()[-1:] or ["no message"]
        return (), (f"exit code {run.returncode}: {last[0]}",)
    report = json.loads(run.stdout)
    findings = tuple(
        Found(
            Place(name, each["path"], each["line"], each["code"]),
            each["severity"],
            each["message"],
        )
        for each in report["findings"]
        if each["severity"] != "info"
    )
    return findings, tuple(str(error) for error in report["errors"])


ROW = re.compile(
    r"^\| (?P<package>[\w.-]+) [\w.]+ \| `(?P<path>[^`:]+):(?P<line>\d+)` \| (?P<code>SIL\d{3}) "
    r"\| (?P<verdict>true|false) \|",
    re.MULTILINE,
)


def verdicts(page: Path) -> dict[Place, str]:
    """`true` or `false` for each finding that was read by hand."""
    if not page.exists():
        return {}
    return {
        Place(row["package"], row["path"], int(row["line"]), row["code"]): row["verdict"]
        for row in ROW.finditer(page.read_text(encoding="utf-8"))
    }


def judge(
    findings: Iterable[Found], known: Mapping[Place, str], packages: set[str]
) -> Iterator[str]:
    """What stands between the findings and the page of verdicts, a sentence each."""
    places = Counter(found.place for found in findings)
    for place in sorted(places):
        if place not in known:
            yield f"not judged: {place}"
    for place in sorted(known):
        if place.package in packages and place not in places:
            yield f"judged, but not found any more: {place}"
    false_alarms = sum(places[place] for place in places if known.get(place) == "false")
    if false_alarms > TOLERATED * places.total():
        yield f"{false_alarms} of {places.total()} findings are false alarms"


def _failures(outcomes: Iterable[Outcome]) -> Iterator[str]:
    for outcome in outcomes:
        for error in outcome.errors:
            yield f"{outcome.package}: {error}"


def _table(outcomes: Sequence[Outcome]) -> Table:
    table = Table(title="Released packages that talk to Stripe", show_footer=len(outcomes) > 1)
    table.add_column("package", "total", no_wrap=True)
    table.add_column("version", no_wrap=True)
    for title, value in (
        ("files", sum(each.files for each in outcomes)),
        ("lines", sum(each.lines for each in outcomes)),
        ("Stripe files", sum(each.stripe_files for each in outcomes)),
    ):
        table.add_column(title, f"{value:,}", justify="right")
    table.add_column("findings", str(sum(len(each.findings) for each in outcomes)))
    table.add_column("seconds", f"{sum(each.seconds for each in outcomes):.1f}", justify="right")
    table.add_column("errors", str(sum(len(each.errors) for each in outcomes)), justify="right")
    for each in outcomes:
        table.add_row(
            escape(each.package),
            each.version,
            f"{each.files:,}",
            f"{each.lines:,}",
            f"{each.stripe_files:,}",
            _by_code(each.findings) or "none",
            f"{each.seconds:.1f}",
            str(len(each.errors)),
        )
    return table


def _by_code(findings: Iterable[Found]) -> str:
    counts = Counter(found.place.code for found in findings)
    return "  ".join(
        code if count == 1 else f"{code} x{count}" for code, count in sorted(counts.items())
    )


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", action="append", choices=sorted(PINS), metavar="NAME")
    parser.add_argument("--findings", action="store_true", help="list every finding")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all of it as JSON")
    parser.add_argument(
        "--cache",
        type=Path,
        default=_default_cache(),
        help="where the releases are kept (default: %(default)s)",
    )
    return parser.parse_args(arguments)


def _default_cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "stripe-idem-lint" / "real"


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
