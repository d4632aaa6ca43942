"""The pipeline on one page: source, lower, link, solve, judge, findings. No options, no printing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path

from stripe_idem_lint.core.config import Settings, check_codes
from stripe_idem_lint.core.errors import ConfigError, LintError
from stripe_idem_lint.core.finding import Finding, Severity
from stripe_idem_lint.core.problem import NOT_ANALYSED, NOTICES, Problem
from stripe_idem_lint.core.span import Place, Span
from stripe_idem_lint.ir import nodes as ir
from stripe_idem_lint.judge.findings import findings_of, places_of
from stripe_idem_lint.judge.pack import packs
from stripe_idem_lint.judge.pack import rules as all_rules
from stripe_idem_lint.judge.pragmas import silence
from stripe_idem_lint.judge.rule import Rule
from stripe_idem_lint.judge.run import Judgement, judge
from stripe_idem_lint.link.program import Program, Unit
from stripe_idem_lint.models.catalog import Catalog, load_catalog
from stripe_idem_lint.report.base import AuditRow, Report, RuleInfo, notice_rules
from stripe_idem_lint.solve.facts import CallFact, Facts, solve
from stripe_idem_lint.source.discover import discover
from stripe_idem_lint.source.files import Discovered
from stripe_idem_lint.source.pragma import Pragma, pragmas
from stripe_idem_lint.source.scan import mentions_service
from stripe_idem_lint.source.text import lines_of

Progress = Callable[[str, int, int], None]
"""Called with the stage, how much of it is done, and how much there is."""


def check(paths: Sequence[str], settings: Settings, progress: Progress | None = None) -> Report:
    """Everything that is wrong in the files below `paths`.

    Raises:
        LintError: A wrong setting or model file, or a rule that crashed.
    """
    run = _Run(paths, settings, progress)
    judgements = judge(run.facts, run.rules)
    found = findings_of(judgements, run.locate_all(places_of(judgements)))
    active = frozenset(rule.code for rule in run.rules)
    findings = tuple(
        finding
        for finding in silence(found, run.pragmas, run.known_codes, active)
        if finding.code in active or settings.selects(finding.code)
    )
    return run.report(findings)


def rules(settings: Settings) -> tuple[RuleInfo, ...]:
    """All rules, whether they run by default or not, and the linter's own codes."""
    found = (RuleInfo(r.code, r.name, r.summary, r.default, r.page) for r in all_rules())
    return (*found, *notice_rules())


def explain(code: str) -> RuleInfo:
    """The page of a rule, by code or name.

    Raises:
        ConfigError: There is no such rule.
    """
    for rule in rules(Settings()):
        if code.upper() == rule.code or code.lower() == rule.name:
            return rule
    raise ConfigError(
        "command line", "CODE", f"no rule {code!r}; `stripe-idem-lint rules` lists them"
    )


def why(target: str, paths: Sequence[str], settings: Settings) -> str:
    """For the Stripe calls on a line: where each part of the key was born, what runs it again, and the verdict.

    Args:
        target: `PATH:LINE`.
        paths: The program that the line belongs to.

    Raises:
        ConfigError: The target is malformed, or no Stripe call stands there.
    """
    path, _, line = target.rpartition(":")
    if not path or not line.isdigit():
        raise ConfigError(
            "command line",
            "PATH:LINE",
            f"{target!r} is no path and line, as in billing/gateway.py:42",
        )
    run = _Run((*paths, path), settings, None)
    wanted = next(
        (f.path for f in run.discovered.files if Path(f.absolute) == Path(path).absolute()), path
    )
    calls = [c for c in run.facts.calls if c.place.path == wanted]
    locate = run.locate_all(p for c in calls for p in _call_places(c))
    chosen = [c for c in calls if locate(c.place).line <= int(line) <= locate(c.place).end_line]
    if not chosen:
        raise ConfigError("command line", "PATH:LINE", f"no Stripe call stands at {target}")
    verdicts = {j.call.place: j for j in judge(run.facts, run.rules)}
    return "\n".join(_why(call, verdicts.get(call.place), locate) for call in chosen)


def audit(paths: Sequence[str], settings: Settings) -> tuple[AuditRow, ...]:
    """Every Stripe write of the program, with its key, its contexts and the verdict."""
    run = _Run(paths, settings, None)
    verdicts = {(j.call.place, j.call.name): j for j in judge(run.facts, run.rules)}
    locate = run.locate_all(call.place for call in run.facts.calls)
    return tuple(
        _row(call, verdicts.get((call.place, call.name)), locate) for call in run.facts.calls
    )


def debug(stage: str, path: str, settings: Settings) -> str:
    """The text form of one stage's result for one file.

    Raises:
        LintError: The file cannot be analysed.
    """
    from stripe_idem_lint.ir.dump import dump as dump_lowered
    from stripe_idem_lint.link.dump import dump as dump_linked
    from stripe_idem_lint.solve.dump import dump as dump_solved

    run = _Run((".", path), settings, None)
    shown = next(
        (f.path for f in run.discovered.files if Path(f.absolute) == Path(path).absolute()), path
    )
    if shown not in run.program.paths:
        raise ConfigError("command line", "PATH", f"{path} is no Python file")
    module = run.program.module(shown)
    if module is None:
        raise LintError(f"{path}: {run.problems[-1].reason}")
    if stage == "lower":
        return dump_lowered(module)
    return dump_linked(run.program, shown) if stage == "link" else dump_solved(run.facts, (shown,))


@cache
def _shipped_catalog() -> Catalog:
    """The models of the installed packs, read once per process."""
    return load_catalog([pack.folder for pack in packs()])


@dataclass
class _Run:
    """One run: what the stages share. Everything is made when first asked for."""

    paths: Sequence[str]
    settings: Settings
    progress: Progress | None
    problems: list[Problem] = field(default_factory=list)
    _bytes: dict[str, bytes] = field(default_factory=dict)

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        check_codes(self.settings, self.known_codes)
        return tuple(rule for rule in all_rules() if self.settings.selects(rule.code, rule.default))

    @property
    def known_codes(self) -> frozenset[str]:
        return frozenset({*(rule.code for rule in all_rules()), *(n.code for n in NOTICES)})

    @cached_property
    def catalog(self) -> Catalog:
        own = tuple(self._own_model(name) for name in self.settings.models)
        return load_catalog([pack.folder for pack in packs()], own) if own else _shipped_catalog()

    def _own_model(self, name: str) -> tuple[str, str]:
        file = Path(self.settings.root) / name
        try:
            return name, file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(name, "", f"model file cannot be read: {error}") from error

    @cached_property
    def discovered(self) -> Discovered:
        found = discover(self.paths, self.settings)
        self.problems.extend(found.problems)
        return found

    @cached_property
    def _absolute(self) -> dict[str, str]:
        return {file.path: file.absolute for file in self.discovered.files}

    def read(self, path: str) -> bytes:
        """A file's bytes; empty, with a problem noted, where it cannot be read."""
        if path not in self._bytes:
            try:
                self._bytes[path] = Path(self._absolute[path]).read_bytes()
            except OSError as error:
                self.problems.append(Problem(path, 1, 1, f"cannot be read: {error.strerror}"))
                self._bytes[path] = b""
        return self._bytes[path]

    def _lower(self, path: str) -> ir.Module | None:
        from stripe_idem_lint.lower.module import lower_module
        from stripe_idem_lint.source.parse import parse

        tree = parse(path, self.read(path))
        if isinstance(tree, Problem):
            self.problems.append(tree)
            return None
        try:
            return lower_module(tree, path)
        except RecursionError:
            self.problems.append(Problem(path, 1, 1, "nested too deep"))
            return None

    @cached_property
    def program(self) -> Program:
        units = [Unit(f.path, f.modules, f.package, f.root) for f in self.discovered.files]
        return Program(units, self.read, self._lower, self.catalog.noreturns())

    @cached_property
    def candidates(self) -> tuple[str, ...]:
        """Files that may hold a Stripe call: those that name the service, its key, or one of its resources with a verb."""
        words = tuple(sorted(self.catalog.sink_words()))
        services, verbs = ("|".join(names).encode() for names in self.catalog.routes)
        route = re.compile(rb"\.(?:%s)\s*\.\s*(?:%s)\s*[,()]" % (services, verbs))
        return tuple(
            path
            for path in self.program.paths
            if mentions_service(data := self.read(path))
            or any(word in data for word in words)
            or route.search(data)
        )

    @cached_property
    def facts(self) -> Facts:
        tick = self.progress or (lambda stage, done, total: None)
        return solve(self.program, self.catalog, self.candidates, tick)

    @cached_property
    def pragmas(self) -> tuple[Pragma, ...]:
        return tuple(p for path in self.program.paths for p in pragmas(path, self.read(path)))

    def locate_all(self, places: Iterable[Place]) -> Callable[[Place], Span]:
        """Positions of places, computed once per file."""
        from stripe_idem_lint.lower.spans import spans_of

        by_path: dict[str, set[int]] = {}
        for place in places:
            by_path.setdefault(place.path, set()).add(place.index)
        spans = {
            path: spans_of(path, self.read(path), indexes)
            for path, indexes in sorted(by_path.items())
        }

        def locate(place: Place) -> Span:
            return spans.get(place.path, {}).get(place.index) or Span(place.path, 1, 1, 1, 1)

        return locate

    def report(self, findings: tuple[Finding, ...]) -> Report:
        counts = {str(s): sum(f.severity == s for f in findings) for s in Severity}
        summary = {
            "files": len(self.program.paths),
            "parsed": self.program.loaded,
            "calls": len(self.facts.calls),
            **counts,
        }
        shown = {span.path for f in findings for span in (f.span, *(step.span for step in f.trace))}
        sources = {path: lines_of(self.read(path)) for path in sorted(shown)}
        reported = self.problems if self.settings.selects(NOT_ANALYSED.code) else ()
        problems = sorted(set(reported))
        infos = tuple(RuleInfo(r.code, r.name, r.summary, r.default, r.page) for r in self.rules)
        return Report(findings, tuple(problems), self.facts.unknown, summary, infos, sources)


def _call_places(call: CallFact) -> Iterable[Place]:
    yield call.place
    yield from (origin.place for origin in call.origins)
    yield from (place for _, _, place in call.contexts)


def _why(call: CallFact, judgement: Judgement | None, locate: Callable[[Place], Span]) -> str:
    span = locate(call.place)
    lines = [f"{span.path}:{span.line}:{span.column}: {call.name}  ({_EFFECTS[call.effect]})"]
    if not call.keyed:
        lines.append("  key        none: the SDK draws one per call")
    for origin in call.origins:
        if origin.kind == "missing" and not origin.given:
            continue
        where = locate(origin.place)
        lines.append(f"  key part   {origin.kind:<10} {origin.text}  {where.path}:{where.line}")
    for category, name, place in call.contexts:
        where = locate(place)
        lines.append(f"  run again  {category:<10} {name}  {where.path}:{where.line}")
    if not call.contexts:
        lines.append(
            f"  run again  nothing in sight, on {call.ways} way{'s' if call.ways != 1 else ''} up through the callers"
        )
    lines.append(f"  verdict    {_verdict(call, judgement)}")
    return "\n".join(lines) + "\n"


def _verdict(call: CallFact, judgement: Judgement | None) -> str:
    if judgement is not None:
        return f"{judgement.verdict.severity} {judgement.rule.code} {judgement.verdict.message}"
    if not call.contexts:
        return "silent: nothing in sight runs this call again"
    if any(origin.kind == "unknown" for origin in call.origins):
        return "silent: a part of the key could not be told, and what could not be told is never reported"
    if call.effect not in ("money", "payable"):
        return "silent: Stripe's own state refuses a second execution, or nothing is charged"
    return "safe: no part of the key is born inside what runs again"


def _row(call: CallFact, judgement: Judgement | None, locate: Callable[[Place], Span]) -> AuditRow:
    span = locate(call.place)
    verdict = (
        f"{judgement.verdict.severity} {judgement.rule.code}"
        if judgement
        else _verdict(call, None).partition(":")[0]
    )
    origins = tuple(
        dict.fromkeys(f"{o.kind} {o.text}" for o in call.origins if o.given or o.kind != "missing")
    )
    contexts = tuple(dict.fromkeys(f"{category} {name}" for category, name, _ in call.contexts))
    return AuditRow(
        span.path,
        span.line,
        call.name,
        call.effect,
        "given" if call.keyed else "none",
        origins,
        contexts,
        verdict,
    )


_EFFECTS = {
    "money": "moves money",
    "payable": "makes something payable",
    "guarded": "guarded by Stripe's state",
    "other": "moves no money",
    "unknown": "effect not known",
}
