"""Add up the cues of each sentence and its neighbour.

Most passages hold a few words that some cue needs and no order, so what is cheap comes first: which of those words a
sentence holds, then whether their cues could add up, and the patterns last.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator
from dataclasses import dataclass
from typing import Final

from assistant.core.suspicion import chinese, english, languages
from assistant.core.suspicion.cues import ASKED, ENOUGH, MEDIUM, Cue
from assistant.core.suspicion.sentences import Sentence, is_foreign, sentences, terms, words_of

FOREIGN: Final = MEDIUM
"""Weight of sharing next to no terms with the passage. It only adds to a cue of at least medium weight."""

_CUES: Final = english.CUES + languages.CUES + chinese.CUES
_CHARACTERS: Final = chinese.NEEDS
_WORDS: Final = english.NEEDS | languages.NEEDS
_PLACES: Final = {
    word: tuple(place for place, one in enumerate(_CUES) if word in one.needs) for word in _WORDS | _CHARACTERS
}
"""The places in `_CUES` of the cues that need a word."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A sentence as it was judged: its cues, with those of the sentence before it, and the sum of their weights."""

    sentence: str
    cues: tuple[str, ...]
    score: int


def findings(text: str) -> list[Finding]:
    """The sentences of a passage that count as instructions to the assistant, in order."""
    return list(_found(text))


def instructs(text: str) -> bool:
    """Whether a passage holds at least one such sentence."""
    return any(True for _ in _found(text))


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


class _Judged:
    """A sentence with the cues whose words it holds, the most they could weigh, and what they do weigh once asked."""

    def __init__(self, sentence: Sentence) -> None:
        self.sentence = sentence
        self._possible = tuple(_possible(sentence.lowered))
        self.most = sum([one.weight for one in self._possible])
        self._weights: dict[str, int] | None = None

    def weights(self) -> dict[str, int]:
        """The heaviest cue of each name that is found."""
        if self._weights is None:
            self._weights = {}
            for one in self._possible:
                text = self.sentence.ordered if one.ordered else self.sentence.text
                if one.weight > self._weights.get(one.name, 0) and one.pattern.search(text):
                    self._weights[one.name] = one.weight
        return self._weights


def _possible(lowered: str) -> Iterator[Cue]:
    """The cues whose words a sentence holds, and all of the scripts without word borders when it is written in one."""
    words = words_of(lowered)
    needed = _WORDS & words
    if not lowered.isascii():
        needed |= _CHARACTERS.intersection(lowered)
    for place in {place for word in needed for place in _PLACES[word]} if needed else ():
        one = _CUES[place]
        if not one.also or not one.also.isdisjoint(words) or (ASKED in one.also and ASKED in lowered):
            yield one
    if not lowered.isascii() and languages.EASTERN.search(lowered):
        yield from languages.EASTERN_CUES


def _found(text: str) -> Iterator[Finding]:
    """The sentences whose cues, with those of the sentence before, weigh enough."""
    passage = _Passage(text)
    before: _Judged | None = None
    for sentence in sentences(text):
        judged = _Judged(sentence)
        if judged.most and (found := _judge(passage, judged, before)):
            yield found
        before = judged


def _judge(passage: _Passage, judged: _Judged, before: _Judged | None) -> Finding | None:
    least = ENOUGH - FOREIGN - (before.most if before else 0)
    if judged.most < least:
        return None
    weights = judged.weights()
    if not weights or sum(weights.values()) < least:
        return None
    if max(weights.values()) >= MEDIUM and passage.stands_out(judged.sentence, weights):
        weights["foreign"] = FOREIGN
    together = {**before.weights(), **weights} if before else weights
    score = sum(together.values())
    return Finding(judged.sentence.text, tuple(sorted(together)), score) if score >= ENOUGH else None
