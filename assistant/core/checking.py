"""Checking a draft before it is shown: which sentences must not stay, and the text without them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from assistant.core.citations import Verdict, align
from assistant.core.evidence import Evidence
from assistant.core.text import Span, sentences

_BLANK_LINES: Final = re.compile(r"\n{3,}")
_EMPTY_ITEM: Final = re.compile(r"^[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]*$\n?", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Checked:
    """The sentences of a draft that must not stay as they are, by why: `doubted` ones a model may know better about."""

    doubted: tuple[Span, ...]
    refused: tuple[Span, ...]

    def flagged(self) -> list[Span]:
        """All of them, in order."""
        return sorted({*self.doubted, *self.refused})


def check_draft(text: str, evidence: Sequence[Evidence], rules: Sequence[Callable[[str], str | None]] = ()) -> Checked:
    """Check a draft: what the evidence does not carry is doubted; what it contradicts or a rule forbids is refused."""
    found = align(text, evidence).sentences
    doubted = tuple(Span(item.start, item.end) for item in found if item.verdict is Verdict.UNSUPPORTED)
    against = {Span(item.start, item.end) for item in found if item.verdict is Verdict.CONTRADICTED}
    forbidden = {span for span in sentences(text) if any(rule(text[span.start : span.end]) for rule in rules)}
    return Checked(doubted, tuple(sorted(against | forbidden)))


def without(text: str, spans: Sequence[Span]) -> str:
    """The text without these spans, and without list marks and blank lines that would be left of them."""
    parts, start = [], 0
    for span in spans:
        parts.append(text[start : max(start, span.start)])
        start = max(start, span.end)
    kept = "".join([*parts, text[start:]]) if spans else text
    return _BLANK_LINES.sub("\n\n", _EMPTY_ITEM.sub("", kept)).strip()
