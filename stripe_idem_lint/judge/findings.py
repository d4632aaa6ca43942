"""From judgements to findings: positions, evidence in the order a person reads it, words, fingerprints."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence

from stripe_idem_lint.core.finding import ContextRef, Finding, OriginRef, Step
from stripe_idem_lint.core.span import Place, Span
from stripe_idem_lint.judge.rule import Rule, Verdict
from stripe_idem_lint.judge.run import Judgement
from stripe_idem_lint.solve.facts import CallFact, Exposure

Locate = Callable[[Place], Span]


def places_of(judgements: Iterable[Judgement]) -> Iterator[Place]:
    """All places that the findings will show, so that positions can be computed file by file."""
    for judgement in judgements:
        yield judgement.call.place
        for _, verdict in ((judgement.rule, judgement.verdict), *judgement.others):
            yield from (mark.place for mark in verdict.marks)
            if verdict.origin is not None:
                yield verdict.origin.place
            if verdict.exposure is not None:
                exposure = verdict.exposure
                yield exposure.place
                yield from (m.place for m in (*exposure.path, *exposure.route, *exposure.guards))


def findings_of(judgements: Sequence[Judgement], locate: Locate) -> tuple[Finding, ...]:
    """One finding per judgement, sorted by place."""
    seen: dict[str, int] = {}
    found = []
    for judgement in judgements:
        base = _identity(judgement)
        number = seen[base] = seen.get(base, -1) + 1
        found.append(_finding(judgement, locate, f"{base}\0{number}"))
    return tuple(sorted(found, key=Finding.sort_key))


def _identity(judgement: Judgement) -> str:
    """What makes it the same fault after lines have moved: rule, function, sink and source, no position."""
    call, origin = judgement.call, judgement.verdict.origin
    parts = (
        judgement.rule.code,
        call.function,
        call.name,
        origin.kind if origin else "",
        origin.text if origin else "",
    )
    return "\0".join(parts)


def _finding(judgement: Judgement, locate: Locate, identity: str) -> Finding:
    call, rule, verdict = judgement.call, judgement.rule, judgement.verdict
    exposure = verdict.exposure
    origin = verdict.origin
    has_birth = origin is not None and origin.text != "no key"
    return Finding(
        rule.code,
        rule.name,
        verdict.severity,
        verdict.message,
        locate(call.place),
        OriginRef(origin.kind, locate(origin.place)) if origin is not None and has_birth else None,
        ContextRef(exposure.category, exposure.context, locate(exposure.place))
        if exposure is not None
        else None,
        tuple(_trace(call, verdict, locate)),
        verdict.help,
        tuple(_notes(judgement, locate)),
        hashlib.sha256(identity.encode()).hexdigest()[:16],
        call.effect,
    )


def _trace(call: CallFact, verdict: Verdict, locate: Locate) -> Iterator[Step]:
    """Birth, the key's way, what runs again, its way, what narrows the window."""
    origin, exposure = verdict.origin, verdict.exposure
    if origin is not None and origin.text != "no key":
        yield Step("born", locate(origin.place), origin.text)
    for mark in verdict.marks:
        yield Step(mark.role, locate(mark.place), mark.note)
    if exposure is None:
        return
    shown: set[Place] = {call.place}
    for mark in exposure.path:
        if mark.place not in shown:
            shown.add(mark.place)
            yield Step("passed", locate(mark.place), mark.note)
    yield Step("run again", locate(exposure.place), exposure.again)
    for mark in exposure.route:
        if mark.place not in shown:
            shown.add(mark.place)
            yield Step("through", locate(mark.place), mark.note)
    for mark in exposure.guards[:2]:
        yield Step(
            "guard", locate(mark.place), f"narrows the window, does not close it: {mark.note}"
        )


def _notes(judgement: Judgement, locate: Locate) -> Iterator[str]:
    """Other births and contexts of the same call, a line each."""
    said: set[str] = set()
    first = judgement.verdict.exposure
    for rule, verdict in judgement.others:
        exposure = verdict.exposure
        if exposure is None or _same(exposure, first):
            continue
        note = _note(rule, exposure, locate)
        if note not in said:
            said.add(note)
            yield note
        if len(said) == 5:
            return


def _same(one: Exposure, two: Exposure | None) -> bool:
    return two is not None and one.origin.place == two.origin.place and one.place == two.place


def _note(rule: Rule, exposure: Exposure, locate: Locate) -> str:
    born, context = locate(exposure.origin.place), locate(exposure.place)
    birth = f"{exposure.origin.text} ({born.path}:{born.line})"
    return f"also {rule.code}: {birth} under {exposure.context} ({context.path}:{context.line})"
