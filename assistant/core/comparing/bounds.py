"""Bounds: the words around a number that make it a limit, in English and Chinese."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final

from assistant.core.text import CJK, Span


class Bound(StrEnum):
    """How the number limits what is meant."""

    EXACT = "exact"
    ABOUT = "about"
    AT_LEAST = "at_least"
    AT_MOST = "at_most"
    MORE_THAN = "more_than"
    LESS_THAN = "less_than"


LOWER: Final = frozenset((Bound.AT_LEAST, Bound.MORE_THAN))
UPPER: Final = frozenset((Bound.AT_MOST, Bound.LESS_THAN))
_LONGEST: Final = 24
_BEFORE: Final = r"""
      (?P<at_least>at\s+least|no(?:t)?\s+(?:less|fewer)\s+than|min(?:imum|\.)?(?:\s+of)?|>=|≥
            |至少|不少于|不低于|最少|最低|起码|不小于)
      | (?P<at_most>at\s+most|up\s+to|no(?:t)?\s+(?:more|greater|later|longer)\s+than|not\s+(?:to\s+)?exceed
            |within|max(?:imum|\.)?(?:\s+of)?|<=|≤|最多|至多|不(?:得|能|可)?超过|不多于|不高于|不大于|最高|最长|上限)
      | (?P<more_than>(?:more|greater|longer|larger|higher)\s+than|over|above|exceed(?:s|ed|ing)?|>
            |超过|多于|大于|高于|超出|逾)
      | (?P<less_than>(?:less|fewer|shorter|lower|smaller)\s+than|under|below|<|少于|低于|小于|不足|不到|未满)
      | (?P<about>about|approximately|approx\.?|around|roughly|nearly|almost|circa|ca?\.|~|大约|大概|约|近)
"""
_BEFORE_END: Final = re.compile(
    rf"(?:(?<![A-Za-z])|(?<=[{CJK}]))(?:{_BEFORE})\s*(?:an?\s+|the\s+|为|是|需要?|可以?|有)?$",
    re.VERBOSE | re.IGNORECASE,
)
_AFTER: Final = re.compile(
    r"""\s*(?:(?P<at_least>or\s+(?:more|longer|above|greater|over)\b|and\s+(?:above|over|up)\b|(?:及|或)?以上|起步?(?!来))
      | (?P<at_most>or\s+(?:less|fewer|below|under)\b|(?:及|或)?以[下内]|之内|封顶)
      | (?P<about>or\s+so\b|左右|上下))""",
    re.VERBOSE | re.IGNORECASE,
)


def bound_at(text: str, start: int, end: int) -> tuple[Bound, Span] | None:
    """The bound of the number at `start` to `end` and where its words stand; None where there is none."""
    before = _BEFORE_END.search(text, max(0, start - _LONGEST), start)
    if before is not None and before.lastgroup is not None:
        return Bound(before.lastgroup), Span(*before.span(before.lastgroup))
    after = _AFTER.match(text, end)
    if after is not None and after.lastgroup is not None:
        return Bound(after.lastgroup), Span(*after.span(after.lastgroup))
    return None
