"""Modality and polarity: what a rule demands, allows or forbids, in English and Chinese."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final


class Modality(StrEnum):
    """The force of a modal expression; `NOT` is a plain negation."""

    MUST = "must"
    SHOULD = "should"
    MAY = "may"
    NEED_NOT = "need_not"
    MUST_NOT = "must_not"
    NOT = "not"


MODAL: Final = re.compile(
    r"""(?P<must_not>\bcan['’]t\b|\b(?:must|may|can|could|shall|should)(?:\s+not\b|n['’]t\b|not\b)|\bmay\s+never\b|\bno\s+longer\s+(?:be\s+)?(?:allowed|permitted)\b
            |\bnot\s+(?:be\s+)?(?:allowed|permitted)(?:\s+to)?\b|\b(?:prohibited|forbidden)\b
            |不得(?!不)|不可以|不可(?!避|或|靠|能)|不能(?!不)|不应该?|不准|不许|不允许|严禁|禁止|请?勿(?!必))
      | (?P<need_not>\b(?:do|does|did)(?:\s+not|n['’]t)\s+(?:need|have)\s+to\b|\bneed(?:\s+not|n['’]t)\b|\bno\s+need\s+to\b
            |\bnot\s+(?:required|needed|necessary|mandatory)(?:\s+to)?\b|\boptional\b|不必|无需|无须|毋须|不需要?|不用|不要求|非必须)
      | (?P<must>\b(?:must|shall)\b|\b(?:has|have|had|need|needs)\s+to\b|\b(?:required|obliged)\s+to\b|\b(?:mandatory|compulsory|required)\b
            |必须|务必|须|应当|应(?!用|该|对|急|届|答|付|聘|有|收)|需要|需(?!求))
      | (?P<should>\b(?:should|ought\s+to)\b|\brecommended\b|应该|建议|最好)
      | (?P<may>\b(?:may|can)\b|\b(?:allowed|permitted)(?:\s+to)?\b|可以|允许|准许|有权|可(?!能|靠|见|是|惜|观|用性|行性|持续))
      | (?P<not>\bnot\b|n['’]t\b|\b(?:no|never|without|neither|nor|none|cannot)\b
            |没有|没|未(?!来|必)|不(?!同|仅|但|论|断|久|管|过|超过|少于|低于|多于|高于|大于|小于|足|到|动产|含|便|好)|无(?!论|线|障碍)|(?<!能)否(?!则))
    """,
    re.VERBOSE,
)

# Pairs that cannot both hold for one action under the same conditions.
_EXCLUSIVE: Final = frozenset(
    frozenset(pair)
    for pair in (
        (Modality.MUST, Modality.MUST_NOT),
        (Modality.MAY, Modality.MUST_NOT),
        (Modality.SHOULD, Modality.MUST_NOT),
        (Modality.MUST, Modality.NEED_NOT),
        (Modality.MUST, Modality.MAY),
        (Modality.MUST, Modality.NOT),
        (Modality.MAY, Modality.NOT),
    )
)
_OPPOSITES: Final = frozenset(
    frozenset(pair.split("/"))
    for pair in (
        "includ/exclud before/after above/below enabl/disabl accept/reject increas/decreas approv/reject open/close "
        "with/without start/end begin/end earliest/latest minimum/maximum always/never allow/forbid allow/prohibit "
        "permit/prohibit permit/forbid requir/option mandatori/option paid/unpaid taxabl/nontax free/charg "
        "inclus/exclus intern/extern public/privat manual/automat encourag/discourag "
        "包括/不包括 之前/之后 以前/以后 以上/以下 免费/收费 带薪/无薪 允许/禁止 开放/关闭 公开/保密 内部/外部"
    ).split()
)
_NEGATIVE_PREFIX: Final = re.compile(r"(?:un|in|im|ir|non|dis)-?(\w{4,})")


def exclusive(one: Modality, other: Modality) -> bool:
    """Whether a rule of one force excludes a rule of the other."""
    return frozenset((one, other)) in _EXCLUSIVE


def opposite(one: str, other: str) -> bool:
    """Whether two word stems are opposites: from a short list, or one is the other with un-, in-, non-, dis-, 不, 无."""
    if frozenset((one, other)) in _OPPOSITES:
        return True
    return _negates(one, other) or _negates(other, one)


def _negates(long: str, short: str) -> bool:
    found = _NEGATIVE_PREFIX.fullmatch(long)
    return (found is not None and found.group(1) == short) or (
        long[:1] in tuple("不无未非") and long[1:] == short != ""
    )
