"""Denial: whether two sentences about the same thing contradict each other by a negation or an opposite word."""

from __future__ import annotations

import re
from typing import Final

from assistant.core.alignment import match_terms
from assistant.core.modality import opposite
from assistant.core.text import CJK

_DENIAL: Final = re.compile(
    rf"""\b(?:not|never|cannot|without|neither|nor|none|no|prohibited|forbidden|unable|n['’]t)\b|(?<=[a-z])n['’]t\b
       |不得|不能|不可以?|不会|不应|不需|不用|不必|无需|无须|禁止|严禁|没有|未(?!来|必)
       |不(?=[{CJK}])(?!同|仅|但|论|断|久|管|过|足|便|好|少|多|超|低|高)|没(?=[{CJK}])""",
    re.VERBOSE | re.IGNORECASE,
)
_BOUND: Final = re.compile(
    r"""\s*(?:only|just|merely|(?:be\s+)?(?:more|less|fewer|later|earlier|longer|greater|higher|lower)\s+than|(?:to\s+)?exceed\w*|least
        |limited\s+to|matter|doubt|later|longer)\b
       |(?:得|能|可|会|应)?(?:超过|少于|低于|多于|高于|晚于|早于|大于|小于|限于|只是?|仅)""",
    re.VERBOSE | re.IGNORECASE,
)
_CLAUSE_END: Final = re.compile(r"[,;:.!?，；：。！？]")
_DENYING: Final = frozenset({"prohibit", "forbidden", "unabl"})
_REACH: Final = 60


def denies(one: str, other: str) -> bool:
    """Whether one text denies what the other states; symmetric, meant for texts that share most of their words.

    A word that one side always negates and the other never does, or two opposite words ("increase", "decrease") of
    which each side has one. "No more than" and "not only" negate nothing.
    """
    mine, theirs = _negated(one), _negated(other)
    stated, told = frozenset(match_terms(one)), frozenset(match_terms(other))
    if mine & (told - theirs) or theirs & (stated - mine):
        return True
    return not (mine or theirs) and any(opposite(left, right) for left in stated - told for right in told - stated)


def _negated(text: str) -> frozenset[str]:
    """The words of a text that a negation falls on."""
    found = (match.end() for match in _DENIAL.finditer(text) if not _BOUND.match(text[match.end() : match.end() + 24]))
    return frozenset(term for term in (_target(text, at) for at in found) if term)


def _target(text: str, at: int) -> str | None:
    """The word a negation that ends at `at` falls on: the next content word of the clause, else the one before."""
    after = match_terms(_CLAUSE_END.split(text[at : at + _REACH], maxsplit=1)[0])
    if after:
        return after[0]
    before = match_terms(_CLAUSE_END.split(text[max(0, at - _REACH) : at])[-1])
    while before and before[-1] in _DENYING:
        before.pop()
    return before[-1] if before else None
