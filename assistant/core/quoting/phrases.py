"""The few sentences that an answer made of quotations says in its own words, English and Chinese."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Final

from assistant.core.conflicts import Claim, Conflict, Resolution
from assistant.core.evidence import Evidence

_REFUSAL: Final = {"en": "The documents do not answer this.", "zh": "根据现有信息无法回答。"}
REFUSALS: Final = frozenset(_REFUSAL.values())
"""Every sentence that says that the documents hold no answer."""

_OPEN: Final = {
    "en": "The documents disagree, and nothing decides between them:",
    "zh": "文档的说法不一致，无法判断以哪个为准：",
}
_THANKS: Final = re.compile(r"\bthank|\bthx\b|谢|多谢", re.IGNORECASE)
_FAREWELL: Final = re.compile(r"\b(?:good)?bye\b|再见|拜拜", re.IGNORECASE)
_GREETING: Final = re.compile(
    r"^\s*(?:hi|hello|hey|good (?:morning|afternoon|evening))\b|你好|您好|嗨|[早晚下][上午]好", re.IGNORECASE
)
_WHO: Final = re.compile(r"\bwho are you|\bwhat (?:are you|can you)|你是谁|你能|你会", re.IGNORECASE)
_SMALL_TALK: Final = {
    "en": {
        "thanks": "You're welcome. Ask me whenever you want to look something up in the documents.",
        "farewell": "Goodbye. I'm here when you want to look something up.",
        "greeting": "Hello! Ask me a question, and I will look for the answer in the documents and quote it.",
        "who": "I look up answers in your organisation's documents and quote the passages they rest on. "
        "I do not write freely: no language model is connected.",
        "other": "I can look up answers in the documents and quote them. Ask me a question about them.",
    },
    "zh": {
        "thanks": "不客气。需要查文档时随时问我。",
        "farewell": "再见。需要查文档时再来找我。",
        "greeting": "你好！请提出问题，我会在文档中查找答案，并指出出处。",
        "who": "我在贵单位的文档中查找答案，并引用原文和出处。目前没有接入语言模型，所以我不会自由写作。",
        "other": "我可以在文档中查找答案并引用原文。请就文档内容提问。",
    },
}


def refusal(language: str) -> str:
    """The sentence that says that the documents hold no answer."""
    return _REFUSAL["zh" if language == "zh" else "en"]


def small_talk(text: str, language: str) -> str:
    """A short, honest reply to a greeting, thanks, a farewell, a question about the assistant, or anything else."""
    kinds = (("thanks", _THANKS), ("farewell", _FAREWELL), ("who", _WHO), ("greeting", _GREETING))
    kind = next((name for name, pattern in kinds if pattern.search(text)), "other")
    return _SMALL_TALK["zh" if language == "zh" else "en"][kind]


def conflict_lines(
    conflicts: Sequence[Conflict], said: Mapping[Claim, str], evidence: Sequence[Evidence], language: str
) -> list[str]:
    """A paragraph group for each pair of pages that disagree: both sides, the preferred one first, with their dates.

    `said` gives the sentence to quote for each claim. The line over each side ends with a colon and holds few words, so
    that nobody takes it for a claim of its own.
    """
    pairs: dict[tuple[str, str, Resolution], list[tuple[Claim, Claim]]] = {}
    for conflict in conflicts:
        first, second = conflict.sides
        if conflict.preferred == second.evidence:
            first, second = second, first
        resolution = conflict.resolution if conflict.preferred else Resolution.UNRESOLVED
        pairs.setdefault((first.evidence, second.evidence, resolution), []).append((first, second))
    dates = {item.id: item.source.date for item in evidence}
    chinese = language == "zh"
    return [_pair(resolution, claims, said, dates, chinese) for (_, _, resolution), claims in pairs.items()]


def _pair(
    resolution: Resolution,
    claims: Sequence[tuple[Claim, Claim]],
    said: Mapping[Claim, str],
    dates: Mapping[str, date | None],
    chinese: bool,
) -> str:
    parts = [_OPEN["zh" if chinese else "en"]] if resolution is Resolution.UNRESOLVED else []
    for side, leads in ((0, True), (1, False)):
        told = sorted({pair[side] for pair in claims}, key=lambda claim: claim.span)
        head = _introduction(told[0], dates[told[0].evidence], resolution, chinese, leads)
        parts.append("\n".join([head, *dict.fromkeys(said[claim] for claim in told)]))
    return "\n\n".join(parts)


def _introduction(claim: Claim, dated: date | None, resolution: Resolution, chinese: bool, leads: bool) -> str:
    day = claim.date or dated
    if chinese:
        return f"{_chinese_side(resolution, leads)}{f'（{day}）' if day else ''}："
    return f"{_english_side(resolution, leads)}{f' ({day})' if day else ''}:"


def _english_side(resolution: Resolution, leads: bool) -> str:
    match resolution:
        case Resolution.NEWER:
            return "The newer page" if leads else "An older page"
        case Resolution.AUTHORITY:
            return "The page with more authority" if leads else "A page with less authority"
        case Resolution.UNRESOLVED:
            return "One page" if leads else "Another page"


def _chinese_side(resolution: Resolution, leads: bool) -> str:
    match resolution:
        case Resolution.NEWER:
            return "较新的文档" if leads else "较旧的文档"
        case Resolution.AUTHORITY:
            return "权威性较高的文档" if leads else "权威性较低的文档"
        case Resolution.UNRESOLVED:
            return "一份文档" if leads else "另一份文档"
