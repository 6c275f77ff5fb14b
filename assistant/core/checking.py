"""Checking a draft before it is shown: which sentences must not stay, and the text without them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from assistant.core.citations import Verdict, align
from assistant.core.evidence import Evidence
from assistant.core.text import Span, sentences

_BLANK_LINES: Final = re.compile(r"\n{3,}")
_EMPTY_ITEM: Final = re.compile(r"^[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]*$\n?", re.MULTILINE)


def flagged_spans(
    text: str, evidence: Sequence[Evidence], rules: Sequence[Callable[[str], str | None]] = ()
) -> list[Span]:
    """The sentences of a draft that the evidence does not carry or contradicts, and those that a rule forbids."""
    carried_not = {
        Span(item.start, item.end)
        for item in align(text, evidence).sentences
        if item.verdict in (Verdict.UNSUPPORTED, Verdict.CONTRADICTED)
    }
    forbidden = {span for span in sentences(text) if any(rule(text[span.start : span.end]) for rule in rules)}
    return sorted(carried_not | forbidden)


def without(text: str, spans: Sequence[Span]) -> str:
    """The text without these spans, and without list marks and blank lines that would be left of them."""
    parts, start = [], 0
    for span in spans:
        parts.append(text[start : max(start, span.start)])
        start = max(start, span.end)
    kept = "".join([*parts, text[start:]]) if spans else text
    return _BLANK_LINES.sub("\n\n", _EMPTY_ITEM.sub("", kept)).strip()
