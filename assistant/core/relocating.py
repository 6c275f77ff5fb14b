"""Where a passage of an old version of a document stands in its current version."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz, process

from assistant.core.stopwords import FUNCTION_CHARACTERS, STOPWORDS
from assistant.core.text import CJK, Span, sentences, stem


@dataclass(frozen=True, slots=True)
class Relocated:
    """A place of the current text: `passage` stands for the old passage, `exact` (inside it) for what was cited of it.

    `similarity` is 0..1, 1 for text that is the same word for word. `exact` is empty (it begins and ends where the passage
    begins) when nothing like what was cited is left there.
    """

    passage: Span
    exact: Span
    similarity: float


LEAST_ALIKE: Final = 0.4
"""Below this similarity a region is another text and not the old one edited."""

_TELLING: Final = 12
"""A shorter text that stands elsewhere too ("Yes.", "tags:") does not tell where the cited one went."""
_LEAST_SENTENCE: Final = 40.0
"""A sentence of the region counts as one of the old ones from here, in percent of content words."""
_LEAST_GAIN: Final = 0.3
"""A sentence at the end of a region explains at least so much of the passage for each of its characters."""
_MOST_PAIRS: Final = 2_000_000
"""Sentences of the passage times sentences of the document; of longer documents the part around the old place is searched."""
_SPARE: Final = 2
"""Sentences that may have been put between those of a passage, beside half as many again as it has."""

_WORD: Final = re.compile(rf"[{CJK}]|\d+(?:[.,:/-]\d+)*|[^\W\d_{CJK}]+")
_FIRST_NAME: Final = 0xE000
"""Words of a passage are compared as single characters from here on; private ones, and far from surrogates."""
_STRANGE: Final = "\x01"
_NOTHING: Final = "\x02"


def relocate(passage: str, cited: Span, text: str, near: int) -> Relocated | None:
    """Find an old passage in the current `text` of its document; None when nothing there is like it.

    `cited` is the cited part, in offsets of `passage`; `near` is where the passage began in its old version, which decides
    between equal places. The same text is found anywhere; else the run of sentences is taken whose best matches with the
    sentences of the passage are the most alike (in their content words, weighed by length), and the cited part is found in it
    in the same way, or in the whole text when the passage as a whole is gone.
    """
    at = _nearest(text, passage, near)
    if at is not None:
        return Relocated(Span(at, at + len(passage)), cited.shift(at), 1.0)
    exact = passage[cited.start : cited.end]
    whole = _region(passage, text, near)
    if whole is None:
        return _alone(exact, text, near + cited.start)
    return _with_blanks(_within(exact, text, *whole), passage, text)


def _with_blanks(found: Relocated, passage: str, text: str) -> Relocated:
    """The same with the blanks around the region that stood around the passage too, which are no change to speak of."""
    start, end = found.passage.start, found.passage.end
    for char in reversed(passage[: len(passage) - len(passage.lstrip())]):
        start -= text[start - 1 : start] == char
    for char in passage[len(passage.rstrip()) :]:
        end += text[end : end + 1] == char
    return Relocated(Span(start, end), found.exact, found.similarity)


def _alone(exact: str, text: str, near: int) -> Relocated | None:
    """The cited part by itself, when the passage around it is gone."""
    at = _nearest(text, exact, near)
    if at is not None:
        return Relocated(Span(at, at + len(exact)), Span(at, at + len(exact)), 1.0)
    found = _region(exact, text, near)
    return None if found is None else Relocated(found[0], found[0], found[1])


def _within(exact: str, text: str, region: Span, alike: float) -> Relocated:
    """The cited part in the region of its passage; word for word elsewhere wins over an edited text here."""
    at = _nearest(text[region.start : region.end], exact, 0)
    if at is not None:
        return Relocated(region, Span(at, at + len(exact)).shift(region.start), alike)
    at = _nearest(text, exact, region.start) if len(exact) >= _TELLING else None
    if at is not None:
        return Relocated(Span(at, at + len(exact)), Span(at, at + len(exact)), 1.0)
    found = _region(exact, text[region.start : region.end], 0)
    return Relocated(region, Span(region.start, region.start) if found is None else found[0].shift(region.start), alike)


def _nearest(text: str, wanted: str, near: int) -> int | None:
    """The place of the same text that is nearest to `near`; None when there is none, and for text of blanks only."""
    if not wanted.strip():
        return None
    before = text.rfind(wanted, 0, near + len(wanted))
    after = text.find(wanted, near)
    places = [at for at in (before, after) if at >= 0]
    return min(places, key=lambda at: (abs(at - near), at), default=None)


def _region(passage: str, text: str, near: int) -> tuple[Span, float] | None:
    """The run of sentences that is most like the passage, and how much; the nearest of equals."""
    old = [passage[span.start : span.end] for span in sentences(passage)]
    units = _around(sentences(text), near, max(1, _MOST_PAIRS // max(1, len(old))))
    if not old or not units:
        return None
    scores = _likeness(old, [text[span.start : span.end] for span in units])
    weights = np.array([len(each) for each in old], dtype=np.float32)
    first, width = _best_run(scores, weights, [abs(span.start - near) for span in units])
    kept = _trimmed(scores[:, first : first + width], weights, units[first : first + width])
    alike = _worth(scores[:, first + kept.start : first + kept.end], weights) / float(weights.sum())
    if alike < LEAST_ALIKE:
        return None
    return Span(units[first + kept.start].start, units[first + kept.end - 1].end), min(1.0, round(alike, 3))


def _likeness(old: Sequence[str], new: Sequence[str]) -> NDArray[np.float32]:
    """How alike each old sentence is to each new one, 0..1: the normalized indel similarity of their content words."""
    names: dict[str, str] = {}
    ours = ["".join(names.setdefault(word, chr(_FIRST_NAME + len(names))) for word in _content(text)) for text in old]
    theirs = ["".join(names.get(word, _STRANGE) for word in _content(text)) for text in new]
    scores = process.cdist(
        [each or _NOTHING for each in ours], theirs, scorer=fuzz.ratio, score_cutoff=_LEAST_SENTENCE, dtype=np.float32
    )
    return np.asarray(scores / 100, dtype=np.float32)


def _content(text: str) -> list[str]:
    """The words of a sentence that carry its sense: English stemmed, Chinese by characters, numbers as they are."""
    words = (word.lower() for word in _WORD.findall(text))
    return [stem(word) for word in words if word not in STOPWORDS and word not in FUNCTION_CHARACTERS]


def _around(units: Sequence[Span], near: int, most: int) -> Sequence[Span]:
    """At most so many sentences, those around a place."""
    if len(units) <= most:
        return units
    here = sum(span.start < near for span in units)
    first = min(max(0, here - most // 2), len(units) - most)
    return units[first : first + most]


def _best_run(scores: NDArray[np.float32], weights: NDArray[np.float32], distance: Sequence[int]) -> tuple[int, int]:
    """First sentence and length of the run whose matches weigh most; of equals the one nearest to the old place."""
    count, width = scores.shape[1], min(scores.shape[1], len(weights) + len(weights) // 2 + _SPARE)
    worth = np.zeros(count - width + 1, dtype=np.float32)
    for row, weight in zip(scores, weights, strict=True):
        worth += weight * np.lib.stride_tricks.sliding_window_view(row, width).max(axis=1)
    best = np.flatnonzero(worth >= worth.max() - 1e-3)
    held = scores.max(axis=0) > 0
    return min((int(at) for at in best), key=lambda at: (_distance(held, distance, at, width), at)), width


def _trimmed(run: NDArray[np.float32], weights: NDArray[np.float32], units: Sequence[Span]) -> Span:
    """The sentences of a run without those at its ends that bring more text than they explain of the passage."""
    inner = [int(at) for at in np.flatnonzero(run.any(axis=0))]
    while len(inner) > 1:
        first, last = inner[0], inner[-1] + 1
        left, right = inner[1], inner[-2] + 1
        worth = _worth(run[:, first:last], weights)
        if worth - _worth(run[:, left:last], weights) < _LEAST_GAIN * (units[left].start - units[first].start):
            inner = inner[1:]
        elif worth - _worth(run[:, first:right], weights) < _LEAST_GAIN * (units[last - 1].end - units[right - 1].end):
            inner = inner[:-1]
        else:
            break
    return Span(inner[0], inner[-1] + 1) if inner else Span(0, 0)


def _worth(run: NDArray[np.float32], weights: NDArray[np.float32]) -> float:
    """How many characters of the passage a run explains."""
    return float((run.max(axis=1, initial=0) * weights).sum())


def _distance(held: NDArray[np.bool_], distance: Sequence[int], first: int, width: int) -> int:
    """How far the matching sentences of a run are from the old place."""
    return min((distance[at] for at in range(first, first + width) if held[at]), default=0)
