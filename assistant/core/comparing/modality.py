"""Modality and polarity: what a rule demands, allows or forbids, in English and Chinese."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
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


_MUST_NOT: Final = """
must not, mustn't, may not, may never, cannot, can not, can't, could not, couldn't, shall not, shan't, should not,
shouldn't, must never, can never, should never, not allowed, not allowed to, not be allowed to, not permitted,
not permitted to, not be permitted to, never allowed, no longer allowed, no longer permitted, prohibited, forbidden, banned,
not welcome
"""
_NEED_NOT: Final = """
need not, needn't, do not need to, does not need to, do not have to, does not have to, don't need to, doesn't need to,
don't have to, doesn't have to, no need to, not required, not required to, not be required to, not needed,
not necessary, not necessary to, not mandatory, no longer required, no longer need to, optional, voluntary
"""
_MUST: Final = """
must, shall, has to, have to, had to, need to, needs to, required, required to, obliged to, mandatory, compulsory
"""
_SHOULD: Final = "should, ought to, recommended"
_MAY: Final = "may, can, allowed, allowed to, permitted, permitted to"
_NOT: Final = """
not, no, never, without, neither, nor, none, no longer, don't, doesn't, didn't, isn't, aren't, wasn't, weren't, won't,
wouldn't, hasn't, haven't, hadn't
"""
_PHRASES: Final = (
    (Modality.MUST_NOT, _MUST_NOT),
    (Modality.NEED_NOT, _NEED_NOT),
    (Modality.MUST, _MUST),
    (Modality.SHOULD, _SHOULD),
    (Modality.MAY, _MAY),
    (Modality.NOT, _NOT),
)


def _index() -> dict[str, list[tuple[tuple[str, ...], Modality]]]:
    found: defaultdict[str, list[tuple[tuple[str, ...], Modality]]] = defaultdict(list)
    for modality, listed in _PHRASES:
        for phrase in listed.split(","):
            words = tuple(phrase.split())
            found[words[0]].append((words, modality))
    for phrases in found.values():
        phrases.sort(key=lambda item: -len(item[0]))
    return dict(found)


_BY_FIRST: Final = _index()
MODAL_STARTS: Final = frozenset(_BY_FIRST)

# 不 and 无 inside words that deny nothing (不同, 无论) and before bounds (不超过) are left out.
_HAN: Final = re.compile(
    r"""(?P<must_not>不得(?!不)|不可以|不可(?!避|或|靠|能)|不能(?!不)|不应该?|不准|不许|不予|无权|不允许|严禁|禁止|请?勿)
      | (?P<need_not>不必|无需|无须|毋须|不需要?|不用|不要求|非必须|自愿(?=参加|原则|$))
      | (?P<must>必须|强制(?=要求|参加|性|$)|务必|须|应当|应(?!用|该|对|急|届|答|付|聘|有|收)|需要|需(?!求))
      | (?P<should>应该|建议|最好)
      | (?P<may>可以|允许|准许|予以|有权|可(?!能|靠|见|是|惜|观|用性|行性|持续))
      | (?P<not>没有|没|未(?!来|必)|(?<!能)否(?!则)|无(?!论|线|障碍)
            |不(?!同|仅|但|论|断|久|管|过|超过|得超过|少于|低于|多于|高于|大于|小于|足|到|动产|便|好))
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
_OPPOSITE_STEMS: Final = """
includ/exclud enabl/disabl accept/reject increas/decreas approv/reject earliest/latest minimum/maximum alway/never
encourag/discourag remot/onsit remot/inoffic remot/inperson onlin/inperson virtual/inperson onlin/offlin onsit/offsit
temporari/perman oral/written verbal/written singl/return paid/unpaid public/privat manual/automat 包括/不包括 之前/之后 以前/以后 以上/以下 免费/收费
带薪/无薪 开放/关闭 公开/保密 内部/外部 远程/现场 远程/到岗 线上/线下
线上/现场 口头/书面 临时/永久 含税/免税 自愿/强制
上调/下调 增加/减少 提高/降低 上涨/下跌 上升/下降 rais/lower before/after above/below up/down
"""
_OPPOSITES: Final = frozenset(frozenset(pair.split("/")) for pair in _OPPOSITE_STEMS.split())
_HAN_TAIL: Final = 2
_NEGATIVE_PREFIX: Final = re.compile(r"(?:un|in|im|ir|non|dis)-?(\w{4,})")


def modal_at(words: Sequence[str], place: int) -> tuple[int, Modality] | None:
    """The longest modal expression that begins at a word: how many words it has and its force."""
    for phrase, modality in _BY_FIRST.get(words[place], ()):
        if tuple(words[place : place + len(phrase)]) == phrase:
            return len(phrase), modality
    return None


def han_modals(text: str) -> Iterable[tuple[int, int, Modality]]:
    """The modal expressions of a run of Chinese characters: start, end and force."""
    for match in _HAN.finditer(text):
        if match.lastgroup:
            yield match.start(), match.end(), Modality(match.lastgroup)


def exclusive(one: Modality, other: Modality) -> bool:
    """Whether a rule of one force excludes a rule of the other."""
    return frozenset((one, other)) in _EXCLUSIVE


def opposite(one: str, other: str) -> bool:
    """Whether two word stems are opposites: listed, or one is the other with un-, in-, non-, dis-, 不 or 无; in Chinese
    also before one noun (远程办公, 现场办公).
    """
    if frozenset((one, other)) in _OPPOSITES:
        return True
    if one > "\u3400" and other > "\u3400" and one[-_HAN_TAIL:] == other[-_HAN_TAIL:]:
        return one != other and opposite(one[:-_HAN_TAIL], other[:-_HAN_TAIL])
    return _negates(one, other) or _negates(other, one)


def _negates(long: str, short: str) -> bool:
    found = _NEGATIVE_PREFIX.fullmatch(long)
    return (found is not None and found.group(1) == short) or (
        long[:1] in tuple("不无未非") and long[1:] == short != ""
    )
