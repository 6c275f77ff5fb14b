"""Add up the cues of each sentence and its neighbour.

Most passages hold a few words that some cue needs and no order, so what is cheap comes first: the words of the passage
at once, then the sentences that hold one of those words, then whether their cues could add up, and the patterns last.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Container, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from assistant.core.suspicion import chinese, english, languages
from assistant.core.suspicion.cues import ENOUGH, MEDIUM, Cue
from assistant.core.suspicion.sentences import LONGEST, Sentence, cut, is_foreign, sentences_of, terms, words_of

FOREIGN: Final = MEDIUM
"""Weight of sharing next to no terms with the passage. It only adds to a cue of at least medium weight."""

_TABLES: Final = english.CUES + languages.CUES + chinese.CUES


def _by_word() -> Mapping[str, tuple[int, ...]]:
    """The places in `_TABLES` of the cues that need a word."""
    return {
        word: tuple(place for place, one in enumerate(_TABLES) if word in one.needs)
        for word in english.NEEDS | languages.NEEDS | chinese.NEEDS
    }


_BY_WORD: Final = _by_word()
_NEEDS: Final = frozenset(_BY_WORD)


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
    """A sentence with the cues it may hold, the most that they could weigh, and what they do weigh once asked."""

    def __init__(self, sentence: Sentence, possible: Collection[Cue]) -> None:
        self.sentence = sentence
        self._possible = possible
        self.most = _most(possible)

    @cached_property
    def weights(self) -> dict[str, int]:
        """The heaviest cue of each name that is found."""
        found: dict[str, int] = {}
        for one in self._possible:
            text = self.sentence.ordered if one.ordered else self.sentence.text
            if one.weight > found.get(one.name, 0) and one.pattern.search(text):
                found[one.name] = one.weight
        return found


def _found(text: str) -> Iterator[Finding]:
    """The sentences whose cues, with those of the sentence before, weigh enough."""
    passage = _Passage(text)
    before: _Judged | None = None
    for sentence in _of_interest(text):
        judged = _Judged(sentence, _possible(sentence)) if sentence else None
        if judged and (found := _judge(passage, judged, before)):
            yield found
        before = judged


def _judge(passage: _Passage, judged: _Judged, before: _Judged | None) -> Finding | None:
    least = ENOUGH - FOREIGN - (before.most if before else 0)
    if judged.most < least or not judged.weights or sum(judged.weights.values()) < least:
        return None
    weights = judged.weights
    if max(weights.values()) >= MEDIUM and passage.stands_out(judged.sentence, weights):
        weights["foreign"] = FOREIGN
    together = {**before.weights, **weights} if before else weights
    score = sum(together.values())
    return Finding(judged.sentence.text, tuple(sorted(together)), score) if score >= ENOUGH else None


def _of_interest(text: str) -> Iterator[Sentence | None]:
    """The sentences of a passage in order, None for each piece that can hold no cue; nothing when none can.

    A sentence that is judged in parts may be torn inside a word, so it is always of interest.
    """
    pieces = list(cut(text))
    lowered = text.lower()
    triggers = _NEEDS & words_of(lowered)
    eastern = not text.isascii() and languages.EASTERN.search(text) is not None
    whole = eastern or any(len(piece) > LONGEST for piece in pieces)
    if not whole and _most([_TABLES[place] for place in _places(triggers)]) + FOREIGN < ENOUGH:
        return
    for piece in pieces:
        small = piece.lower()
        if whole or any(word in small for word in triggers):
            yield from sentences_of(piece)
        elif not piece.isspace():
            yield None


def _places(words: Collection[str]) -> set[int]:
    return {place for word in words for place in _BY_WORD[word]}


def _most(cues: Collection[Cue]) -> int:
    """The most that cues can weigh together: of each name the heaviest."""
    heaviest: dict[str, int] = {}
    for one in cues:
        if one.weight > heaviest.get(one.name, 0):
            heaviest[one.name] = one.weight
    return sum(heaviest.values())


def _possible(sentence: Sentence) -> list[Cue]:
    """The cues whose words a sentence holds, and all of the scripts without word borders when it is written in one."""
    found = [_TABLES[place] for place in _places(_NEEDS & sentence.words)]
    if not sentence.text.isascii() and languages.EASTERN.search(sentence.text):
        found += languages.EASTERN_CUES
    return found
