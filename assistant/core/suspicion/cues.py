"""What a cue is: a named, weighted sign that a sentence gives orders to an assistant."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from assistant.core.suspicion.sentences import PLACE

ENOUGH: Final = 6
"""From this sum of weights a sentence counts as an instruction to the assistant."""
DECISIVE: Final = 6
STRONG: Final = 4
MEDIUM: Final = 3
WEAK: Final = 2
ASKED: Final = "?"
"""Counts as a word of a sentence that holds a question mark."""


@dataclass(frozen=True, slots=True)
class Cue:
    """A sign: it holds when one of `needs` and one of `also` is among the words (an empty one asks nothing) and `pattern` is found.

    `needs` and `also` spare the pattern for most sentences; for Chinese it lists characters. `ordered` tells that the pattern
    wants the imperatives marked. Where several cues share a name, the heaviest counts.
    """

    name: str
    weight: int
    needs: frozenset[str]
    pattern: re.Pattern[str]
    ordered: bool
    also: frozenset[str] = frozenset()


def cue(name: str, weight: int, needs: str, *patterns: str, also: str = "") -> Cue:
    """A cue that holds when any of the patterns does; all of them or none may want imperatives marked."""
    ordered = PLACE in patterns[0]
    return Cue(name, weight, frozenset(needs.split()), re.compile("|".join(patterns)), ordered, frozenset(also.split()))


def any_of(words: str) -> str:
    """A pattern for any of the words, as whole words."""
    return r"\b(?:" + "|".join(words.split()) + r")\b"


def order(verbs: str) -> str:
    """A pattern for any of the verbs in the place of an imperative."""
    return PLACE + "(?:" + "|".join(verbs.split()) + r")\b"


def needs_of(cues: Sequence[Cue]) -> frozenset[str]:
    """All words that any of the cues needs."""
    return frozenset().union(*(one.needs for one in cues))
