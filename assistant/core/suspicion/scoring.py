"""Add up the cues of each sentence and its neighbour."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator
from dataclasses import dataclass
from typing import Final

from assistant.core.suspicion import chinese, english, languages
from assistant.core.suspicion.cues import ENOUGH, MEDIUM, Cue
from assistant.core.suspicion.sentences import Sentence, cut, is_foreign, terms

FOREIGN: Final = MEDIUM
"""Weight of sharing next to no terms with the passage. It only adds to a cue of at least medium weight."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A sentence as it was judged: its cues, with those of the sentence before it, and the sum of their weights."""

    sentence: str
    cues: tuple[str, ...]
    score: int


def findings(text: str) -> list[Finding]:
    """The sentences of a passage that count as instructions to the assistant, in order."""
    return [found for found in _scored(text) if found.score >= ENOUGH]


def instructs(text: str) -> bool:
    """Whether a passage holds at least one such sentence."""
    return any(found.score >= ENOUGH for found in _scored(text))


class _Passage:
    """What a sentence is compared with; counted when the first one asks."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._terms: Counter[str] | None = None
        self._size = 0
        self._questions = text.count("?") + text.count("？")

    def stands_out(self, sentence: Sentence, cues: Container[str]) -> bool:
        """Whether the sentence is foreign here. Headings and listed tasks and questions are at home anywhere."""
        if sentence.heading or ("knowledge" in cues and (sentence.item or self._questions > 1)):
            return False
        if self._terms is None:
            self._terms = terms(self._text.lower())
            self._size = sum(self._terms.values())
        return is_foreign(sentence, self._terms, self._size)


def _scored(text: str) -> Iterator[Finding]:
    """The sentences that have cues, each with the sum of its own and its predecessor's."""
    passage = _Passage(text)
    before: dict[str, int] = {}
    for sentence in cut(text):
        weights = _weights(sentence)
        if weights:
            if max(weights.values()) >= MEDIUM and passage.stands_out(sentence, weights):
                weights["foreign"] = FOREIGN
            together = {**before, **weights}
            yield Finding(sentence.text, tuple(sorted(together)), sum(together.values()))
        before = weights


def _weights(sentence: Sentence) -> dict[str, int]:
    found: dict[str, int] = {}
    for cues in _tables(sentence):
        for one in cues:
            if one.weight <= found.get(one.name, 0) or (one.needs and one.needs.isdisjoint(sentence.words)):
                continue
            if one.pattern.search(sentence.ordered if one.ordered else sentence.text):
                found[one.name] = one.weight
    return found


def _tables(sentence: Sentence) -> Iterator[tuple[Cue, ...]]:
    words = sentence.words
    if not english.NEEDS.isdisjoint(words):
        yield english.CUES
    if not languages.NEEDS.isdisjoint(words):
        yield languages.CUES
    if sentence.text.isascii():
        return
    if languages.EASTERN.search(sentence.text):
        yield languages.EASTERN_CUES
    if not chinese.NEEDS.isdisjoint(words):
        yield chinese.CUES
