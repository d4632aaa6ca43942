"""What the rules about unstable keys share: one birth, one context, one sentence. No rule of its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from stripe_idem_lint.api import CallFact, Exposure, FixIntent, Rule, Verdict, level


class UnstableKey(Rule, abstract=True):
    """A rule that fires when a birth of one of `kinds` lies inside a context of one of `categories`.

    Class attributes:
        kinds: Kinds of origin.
        categories: Categories of context; empty: all.
        sentence: The message; `{born}` is how the value is made, `{context}` what runs again.
    """

    kinds: ClassVar[frozenset[str]] = frozenset()
    categories: ClassVar[frozenset[str]] = frozenset()
    sentence: ClassVar[str] = ""
    fix: ClassVar[FixIntent] = FixIntent("derive")

    def check(self, call: CallFact) -> Iterator[Verdict]:
        for exposure in call.exposures:
            if exposure.origin.kind not in self.kinds:
                continue
            if self.categories and exposure.category not in self.categories:
                continue
            yield Verdict(
                level(call, exposure),
                self.sentence.format(born=exposure.origin.text, context=exposure.context),
                exposure.origin,
                exposure,
                self.advice(exposure),
                fix=self.fix,
            )

    def advice(self, exposure: Exposure) -> str:
        return "derive the key from what identifies the charge (an order, an invoice, a period), or store it before the call"
