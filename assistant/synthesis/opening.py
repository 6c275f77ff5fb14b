"""The opening of a reply: held back until it is certain that the reply answers at all."""

from __future__ import annotations

import re
from typing import Final

from assistant.core.outcome import is_refusal

_VERDICT: Final = re.compile(r"\s*[*_`\"']*(ir)?relevant\b[*_`\"'.:：。]*[ \t]*(?:\n|$)", re.IGNORECASE)
_LONGEST_VERDICT: Final = 40
_LONGEST_HELD: Final = 400
"""A reply that begins with more white space than this is not waited for."""


class Opening:
    """Passes on a reply except when it is a refusal, or says in its first line that the evidence is irrelevant.

    Feed the pieces in order, then close. `filtered` says that a first line RELEVANT or IRRELEVANT was asked for; a model
    that does not write one is taken to have answered.
    """

    def __init__(self, refusal: str, *, filtered: bool = False) -> None:
        self._refusal = refusal.strip()
        self._verdict_due = filtered
        self._held = ""
        self._passed = False
        self.irrelevant = False

    @property
    def answered(self) -> bool:
        """Whether anything was passed on."""
        return self._passed

    def feed(self, text: str) -> str:
        """Take the next piece and give back what is certain to be answer."""
        if self._passed:
            return text
        self._held += text
        if self.irrelevant or (self._verdict_due and not self._read_verdict(final=False)):
            return ""
        return "" if self._may_be_refusal() else self._pass()

    def close(self) -> str:
        """The end of the reply: what was held and is answer after all."""
        if self._passed:
            return ""
        if self._verdict_due:
            self._read_verdict(final=True)
        empty = not self._held.strip() or self.irrelevant or is_refusal(self._held, self._refusal)
        return "" if empty else self._pass()

    def _pass(self) -> str:
        self._passed = True
        text, self._held = self._held.lstrip(), ""
        return text

    def _read_verdict(self, *, final: bool) -> bool:
        """Take the first line off when it is complete; False while it may still come."""
        line_ended = "\n" in self._held.lstrip()
        if not (final or line_ended or len(self._held) > _LONGEST_VERDICT):
            return False
        self._verdict_due = False
        if found := _VERDICT.match(self._held):
            self.irrelevant = found[1] is not None
            self._held = self._held[found.end() :]
        return not self.irrelevant

    def _may_be_refusal(self) -> bool:
        said = self._held.strip().rstrip(".。")
        return len(self._held) <= _LONGEST_HELD and self._refusal.startswith(said)


def answer_of(text: str, refusal: str, *, filtered: bool = False) -> str:
    """The answer in a whole reply; empty when it refuses or says that the evidence is irrelevant."""
    opening = Opening(refusal, filtered=filtered)
    return (opening.feed(text) + opening.close()).strip()
