"""Denial: whether two sentences that say nearly the same contradict each other by a negation."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice
from typing import Final

from assistant.core.grounding.reading import match_terms
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
_CLAUSE: Final = re.compile(
    r"[^,;:.!?，；：。！？、\n]+?(?=[,;:.!?，；：。！？、\n]|\b(?:but|whereas|while|unless|although|though)\b|但|而|除非|$)",
    re.IGNORECASE,
)
_DENYING: Final = frozenset({"prohibit", "forbidden", "unabl"})
_REACH: Final = 60
_SAME_CLAUSE: Final = 0.6
_LEAST_SHARED: Final = 2
_MOST_CLAUSES: Final = 40


def denies(one: str, other: str) -> bool:
    """Whether one text denies what the other states; symmetric.

    Compared are clauses that say nearly the same, word for word both ways: one negates a word that the other does not.
    "No more than" and "not only" negate nothing.
    """
    if not (_DENIAL.search(one) or _DENIAL.search(other)):
        return False
    mine, theirs = _clauses(one), _clauses(other)
    return any(
        _opposed(left, right)
        and not any(_agree(left, each) for each in theirs)
        and not any(_agree(right, each) for each in mine)
        for left in mine
        for right in theirs
        if left.negated or right.negated
    )


@dataclass(frozen=True, slots=True)
class _Clause:
    terms: frozenset[str]
    negated: frozenset[str]


def _clauses(text: str) -> list[_Clause]:
    found = (match.group() for match in islice(_CLAUSE.finditer(text), _MOST_CLAUSES))
    return [
        _Clause(terms, _negated(clause)) for clause in found if (terms := frozenset(match_terms(clause)) - _DENYING)
    ]


def _opposed(left: _Clause, right: _Clause) -> bool:
    return _alike(left, right) and bool(left.terms & right.terms & (left.negated ^ right.negated))


def _agree(left: _Clause, right: _Clause) -> bool:
    return _alike(left, right) and not left.terms & right.terms & (left.negated ^ right.negated)


def _alike(left: _Clause, right: _Clause) -> bool:
    """Whether two clauses share most of their words, seen from both sides."""
    shared = len(left.terms & right.terms)
    return shared >= _LEAST_SHARED and shared >= _SAME_CLAUSE * max(len(left.terms), len(right.terms))


def negations(text: str) -> list[re.Match[str]]:
    """The words of a text that negate something, in order; those of a bound ("no more than") do not."""
    return [match for match in _DENIAL.finditer(text) if not _BOUND.match(text[match.end() : match.end() + 24])]


def _negated(clause: str) -> frozenset[str]:
    """The words of a clause that a negation falls on: the next content word, else the last one before."""
    found = negations(clause)
    return frozenset(term for term in (_target(clause, match.start(), match.end()) for match in found) if term)


def _target(clause: str, start: int, end: int) -> str | None:
    after = match_terms(clause[end : end + _REACH])
    before = match_terms(clause[max(0, start - _REACH) : start])
    return after[0] if after else before[-1] if before else None
