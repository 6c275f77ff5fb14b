"""Wording: whether words that were exchanged change what is said, or are another spelling or word for the same.

There is no parser here. Names are known by their capitals, and a phrase counts as a thing, which can be exchanged for
another thing, when it follows an article, a preposition or the like; a verb that was replaced does not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile
from typing import Final

from rapidfuzz import fuzz
from rapidfuzz.distance import OSA

from assistant.core.comparing.claims import Token, TokenKind
from assistant.core.comparing.synonyms import same_meaning

_SAME_SPELLING: Final = 80.0
_SAME_NAME: Final = 86.0
_SLIP: Final = 2
_LONG_WORD: Final = 6
_INSIDE: Final = 6
_NOUN_MARKER_WORDS: Final = """
a an the this that these those all each every any some both our your their its his her my of in at on by with for from
via through into as per no 的 在 由 向 从 用 以 通过 每 该 本 至 到 给 于 与 和 联系 咨询 找
"""
_NOUN_MARKERS: Final = frozenset(_NOUN_MARKER_WORDS.split())
_ONLY: Final = frozenset(("only", "exclusively", "solely", "只", "仅"))
_PREDICATE_WORDS: Final = "is are was were be been become became 是 为"
_PREDICATES: Final = frozenset(_PREDICATE_WORDS.split())
_ADJECTIVE: Final = re.compile(r"(?:al|ant|ent|ive|able|ible|ic|ous|ary|ful|less|ed|er|est)$")


def same_phrase(left: Sequence[Token], right: Sequence[Token], text: str, other_text: str) -> bool:
    """Whether both sides say the same: one contains the other, or they are spellings or synonyms of one phrase."""
    keys, other_keys = {token.key for token in left}, {token.key for token in right}
    if keys <= other_keys or other_keys <= keys or same_meaning([t.key for t in left], [t.key for t in right]):
        return True
    one, other = ("".join(t[s.start : s.end] for s in side).lower() for t, side in ((text, left), (other_text, right)))
    return _same_spelling(one, other, any(token.kind is TokenKind.NAME for token in (*left, *right)))


def _same_spelling(one: str, other: str, named: bool) -> bool:
    short, long = sorted((one, other), key=len)
    if len(short) >= _INSIDE and short in long and "#" not in one + other:
        return True  # an address and the name in it
    if any(char.isdigit() for char in one + other) or (one.startswith("#") and other.startswith("#")):
        return False
    if fuzz.ratio(one, other) >= (_SAME_NAME if named else _SAME_SPELLING):
        return True
    return not named and len(short) >= _LONG_WORD and OSA.distance(one, other, score_cutoff=_SLIP) <= _SLIP


def is_thing(run: Sequence[Token], before: Sequence[Token], text: str, *, named: bool, predicate: bool) -> bool:
    """Whether exchanged words stand for a thing.

    They follow "only", or an article, a preposition or a slash, perhaps with a name or an adjective between; with `predicate` also
    "is"; where names are exchanged (`named`) also a comma.
    """
    markers = _NOUN_MARKERS | _PREDICATES if predicate else _NOUN_MARKERS
    leading = takewhile(lambda token: token.kind is TokenKind.STOP, run)
    if run[0].key in markers or any(token.key in markers for token in leading):
        return True
    if any(token.key in _ONLY for token in before):
        return True
    if text[: run[0].start].rstrip().endswith(("/", ",", "，") if named else "/"):
        return True
    for token in reversed(before):
        if token.key in markers:
            return True
        if token.kind is TokenKind.WORD and not _ADJECTIVE.search(text[token.start : token.end].lower()):
            return False
        if token.kind in (TokenKind.STOP, TokenKind.MODAL):
            return False
    return False
