"""Duplicates among found passages: near duplicates, and short passages that stand in longer ones.

Two texts are near duplicates when they share most of their word trigrams, name the same numbers, and no content word of
one is replaced by another in the other: "the form goes to payroll" and "the form goes to legal" share nearly everything,
and the difference is the point. Nothing is missed: the search for candidates is an exact set-similarity join with the
length filter and the prefix filter (PPJoin: Xiao et al. 2008, Efficient Similarity Joins for Near Duplicate Detection),
unlike MinHash. Trigrams are compared by their 64-bit hashes.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, islice
from math import ceil
from typing import Final

from rapidfuzz.distance import Indel
from rapidfuzz.fuzz import partial_ratio_alignment

from assistant.core.evidence import Passage
from assistant.core.stopwords import STOPWORDS
from assistant.core.text import CJK, clean_for_display, stem, words

CONTAINED: Final = 0.95
"""The share of a short text's trigrams that a longer one must hold to stand for it."""
_SHORTER: Final = 0.9
"""Texts of about the same length are left to the comparison of near duplicates."""
_LEAST_CONTAINED: Final = 6
_FIRST: Final = 64
_COMMON: Final = 8
_LONGEST_REMEMBERED: Final = 20_000
_NOTHING: Final = -1
"""Stands for the trigrams of a text without words, so that such texts find each other. No hash is -1."""
_ROUNDING: Final = 1e-9
_FORCE: Final = frozenset(
    "not no nor never none neither without cannot can't don't doesn't didn't isn't aren't wasn't weren't won't wouldn't "
    "shouldn't mustn't needn't hasn't haven't hadn't must shall should may can except unless only optional".split()
)
_HAN_FORCE: Final = frozenset("不没沒无無未非勿禁别別否除仅僅只须須必应應可准許许")
_HAN: Final = re.compile(f"[{CJK}]")


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What is compared of a text: its words, the hashes of its word trigrams (as a set, and ascending), its numbers.

    The words themselves stand in for the trigrams of a text of one or two words. `first` are the first of the trigrams
    in ascending order: how many of them another text holds bounds how many of all of them it can hold.
    """

    tokens: tuple[str, ...]
    shingles: frozenset[int]
    order: tuple[int, ...]
    first: frozenset[int]
    numbers: frozenset[str]


def fingerprint(text: str) -> Fingerprint:
    """What is compared of a text, cleaned of markup; remembered for texts of ordinary length."""
    return _remembered(text) if len(text) <= _LONGEST_REMEMBERED else _fingerprint(text)


def _fingerprint(text: str) -> Fingerprint:
    tokens = words(clean_for_display(text))
    runs: Iterable[object] = zip(tokens, tokens[1:], tokens[2:], strict=False) if len(tokens) > 2 else tokens
    shingles = frozenset(map(hash, runs))
    order = tuple(sorted(shingles))
    numbers = frozenset(word for word in tokens if word < ":" or (word > "\u0600" and word[0].isdecimal()))
    return Fingerprint(tuple(tokens), shingles, order, frozenset(order[:_FIRST]), numbers)


_remembered = lru_cache(maxsize=2048)(_fingerprint)  # the same passages come back turn after turn


def jaccard(one: Fingerprint, other: Fingerprint) -> float:
    """The share of common trigrams among all trigrams of both, 1 for two texts without words."""
    if not one.shingles and not other.shingles:
        return 1.0
    common = len(one.shingles & other.shingles)
    return common / (len(one.shingles) + len(other.shingles) - common)


def near_duplicates(one: Fingerprint, other: Fingerprint, near: float) -> bool:
    """Whether two texts say the same: equal numbers, trigrams shared to at least `near`, nothing replaced."""
    if one.numbers != other.numbers or not _may_reach(one, other, near) or jaccard(one, other) < near:
        return False
    return one.tokens == other.tokens or not _differs_in_substance(one.tokens, other.tokens)


def _may_reach(one: Fingerprint, other: Fingerprint, near: float) -> bool:
    """Whether two texts can share enough, by their sizes and by the first trigrams of one."""
    size, foreign = len(one.shingles), len(other.shingles)
    least = near * max(size, foreign) - _ROUNDING
    return min(size, foreign) >= least and size - len(one.first) + len(one.first & other.shingles) >= least


def contains(longer: Fingerprint, shorter: Fingerprint) -> bool:
    """Whether the longer text holds the shorter one: nearly all of its trigrams, all of its numbers and content words.

    Texts of fewer than six trigrams are not counted as contained: a heading stands in many pages by chance.
    """
    size, first = len(shorter.shingles), shorter.first
    if not _LEAST_CONTAINED <= size <= len(longer.shingles) * _SHORTER or not shorter.numbers <= longer.numbers:
        return False
    least = size * CONTAINED - _ROUNDING
    if size - len(first) + len(first & longer.shingles) < least or len(shorter.shingles & longer.shingles) < least:
        return False
    return not _loses_substance(shorter.tokens, longer.tokens)


def _differs_in_substance(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether content words stand against other content words, or a word of denial or permission against nothing."""
    return any(
        _forces(left) != _forces(right) or (_content(left) - _content(right) and _content(right) - _content(left))
        for left, right in _differences(one, other)
    )


def _loses_substance(shorter: Sequence[str], longer: Sequence[str]) -> bool:
    """Whether a content word of the shorter text is missing where the longer one holds it, or something is denied there."""
    place = partial_ratio_alignment(shorter, longer)
    if place is None:
        return True
    there = longer[place.dest_start : place.dest_end]
    return any(
        _forces(left) != _forces(right) or _content(left) - _content(right)
        for left, right in _differences(shorter, there)
    )


def _differences(one: Sequence[str], other: Sequence[str]) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
    """The runs of words in which two texts differ, in order, by their longest common subsequence."""
    at = there = 0
    for step in (step for step in Indel.opcodes(one, other) if step.tag == "equal"):
        if step.src_start > at or step.dest_start > there:
            yield one[at : step.src_start], other[there : step.dest_start]
        at, there = step.src_end, step.dest_end
    if at < len(one) or there < len(other):
        yield one[at:], other[there:]


def _content(tokens: Iterable[str]) -> frozenset[str]:
    return frozenset(stem(token) for token in tokens if token not in STOPWORDS)


def _forces(tokens: Iterable[str]) -> frozenset[str]:
    """The words that deny, demand, permit or restrict; of Chinese words the characters that do."""
    plain = [token.replace("’", "'") for token in tokens]
    han = (frozenset(token) & _HAN_FORCE for token in plain if _HAN.match(token))
    return frozenset(token for token in plain if token in _FORCE).union(*han)


_Holders = defaultdict[int, list[int]]
"""By trigram: the places of the passages that have it among their first ones."""


@dataclass(frozen=True, slots=True)
class _Kept:
    passage: Passage
    print: Fingerprint


def without_duplicates(
    ranked: Sequence[Passage], near: float, distrusted: Collection[str] = frozenset()
) -> list[Passage]:
    """Drop passages that say what another says; `ranked` is best first, and so is the result.

    Of near duplicates the better one stays, or the newer edition in its place and with its score. Of a short passage
    that a longer one contains the longer one stays, with the better score of both, unless the short one is newer or of
    higher authority. Passages whose id is `distrusted` never take the place of others.
    """
    trusted = sorted(ranked, key=lambda passage: passage.id in distrusted)
    kept = _without_contained(_without_near(trusted, near, distrusted), distrusted)
    return sorted(kept, key=lambda passage: (-passage.score, passage.id))


def _without_near(ranked: Sequence[Passage], near: float, distrusted: Collection[str]) -> list[_Kept]:
    prints = [fingerprint(passage.text) for passage in ranked]
    kept: list[_Kept] = []
    held: defaultdict[frozenset[str], _Holders] = defaultdict(lambda: defaultdict(list))
    for passage, own, prefix in zip(ranked, prints, _prefixes(prints, near), strict=True):
        holders = held[own.numbers]
        twin = next((at for at in _sharing(prefix, holders) if near_duplicates(kept[at].print, own, near)), None)
        if twin is None:
            twin = len(kept)
            kept.append(_Kept(passage, own))
        elif _newer(passage, kept[twin].passage) and passage.id not in distrusted:
            kept[twin] = _Kept(replace(passage, score=kept[twin].passage.score), own)
        else:
            continue
        for shingle in prefix:
            holders[shingle].append(twin)
    return kept


def _prefixes(prints: Sequence[Fingerprint], share: float) -> list[Sequence[int]]:
    """For each text the first trigrams in one order: two sets that have `share` of either in common share one of these.

    The order is ascending, but trigrams that stand first in many texts come last, since they tell little.
    """
    lengths = [len(own.order) - max(1, ceil(len(own.order) * share - _ROUNDING)) + 1 for own in prints]
    counts = Counter(chain.from_iterable(own.order[:length] for own, length in zip(prints, lengths, strict=True)))
    common = frozenset(shingle for shingle, count in counts.items() if count > _COMMON)
    return [_prefix(own.order, common, length) for own, length in zip(prints, lengths, strict=True)]


def _prefix(order: Sequence[int], common: frozenset[int], length: int) -> Sequence[int]:
    if not order:
        return (_NOTHING,)
    if common.isdisjoint(order[:length]):
        return order[:length]
    rare = list(islice((shingle for shingle in order if shingle not in common), length))
    return rare + list(islice((shingle for shingle in order if shingle in common), length - len(rare)))


def _sharing(shingles: Iterable[int], holders: _Holders) -> list[int]:
    return sorted({at for shingle in shingles if shingle in holders for at in holders[shingle]})


def _newer(one: Passage, other: Passage) -> bool:
    return one.source.date is not None and (other.source.date is None or one.source.date > other.source.date)


def _without_contained(kept: Sequence[_Kept], distrusted: Collection[str]) -> list[Passage]:
    holders: _Holders = defaultdict(list)
    for at, prefix in enumerate(_prefixes([item.print for item in kept], CONTAINED)):
        for shingle in prefix:
            holders[shingle].append(at)
    sought, sizes = frozenset(holders), [len(item.print.shingles) for item in kept]
    gone: set[int] = set()
    scores = [item.passage.score for item in kept]
    for at in sorted(range(len(kept)), key=lambda place: (-sizes[place], place)):
        if at in gone or kept[at].passage.id in distrusted:
            continue
        most = sizes[at] * _SHORTER
        inside = (other for other in _sharing(kept[at].print.shingles & sought, holders) if sizes[other] <= most)
        absorbed = [other for other in inside if other not in gone and _stands_for(kept[at], kept[other])]
        gone.update(absorbed)
        scores[at] = max([scores[at], *(scores[other] for other in absorbed)])
    return [_scored(item.passage, scores[at]) for at, item in enumerate(kept) if at not in gone]


def _scored(passage: Passage, score: float) -> Passage:
    return passage if passage.score == score else replace(passage, score=score)


def _stands_for(longer: _Kept, shorter: _Kept) -> bool:
    whole, part = longer.passage, shorter.passage
    if not contains(longer.print, shorter.print):
        return False
    return part.source.authority.rank <= whole.source.authority.rank and not _newer(part, whole)
