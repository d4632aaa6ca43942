"""The text form of facts: what `debug solve` prints and the stage tests compare.

call stripe.Charge.create  money  keyed  in charge
  origin fresh  uuid.uuid4
  context task  @shared_task(acks_late=True)
  exposed fresh  uuid.uuid4  to task  shared_task(acks_late=True)  guarded
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from stripe_idem_lint.solve.facts import CallFact, Exposure, Facts


def dump(facts: Facts, paths: Iterable[str] = ()) -> str:
    """All calls, or those of some files."""
    wanted = set(paths)
    lines: list[str] = []
    for call in facts.calls:
        if not wanted or call.place.path in wanted:
            lines.extend(_call(call))
    return "\n".join(lines) + "\n" if lines else "no Stripe call\n"


def _call(call: CallFact) -> Iterator[str]:
    keyed = "keyed" if call.keyed else "no key"
    where = f"  in {call.function}" if call.function else "  in module code"
    yield f"call {call.name}  {call.effect}  {keyed}{where}"
    if call.misplaced:
        yield f"  misplaced {call.misplaced}"
    if call.dropped is not None:
        yield f"  dropped {call.dropped.note}"
    for origin in call.origins:
        scope = f"  {origin.scope}" if origin.scope else ""
        yield f"  origin {origin.kind}{scope}  {origin.text}"
    for category, name, _ in call.contexts:
        yield f"  context {category}  {name}"
    yield from map(_exposure, call.exposures)


def _exposure(exposure: Exposure) -> str:
    flags = "".join(
        f"  {word}"
        for word, holds in (
            ("plain", exposure.plain),
            ("fixed", exposure.fixed),
            ("guarded", bool(exposure.guards)),
        )
        if holds
    )
    origin = exposure.origin
    return (
        f"  exposed {origin.kind}  {origin.text}  to {exposure.category}  {exposure.context}{flags}"
    )
