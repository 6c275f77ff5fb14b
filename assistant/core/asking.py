"""What a question asks for: its content words, the kind of thing an answer holds, and the form the answer takes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from assistant.core.modes import QuestionKind, question_kind
from assistant.core.text import stem, terms, words

_ASKING: Final = frozenset(
    stem(word)
    for word in "many much often long explain describ list step way mean definition tell know find need want give show happen must may shall"
    " might someone anyone everyone people thing go get kind type example difference say current currently procedure process".split()
) | frozenset(
    "步骤 解释 说明 列出 哪里 时候 时间 办法 方法 应该 需要 可以 告诉 知道 想 想要 做 会 怎么办 介绍 情况 有关 方式 意思 进行 必须 应 要 用 去".split()
)
_LIGHT: Final = frozenset(
    stem(word)
    for word in "today now time day week month year hour work use new make take name place part good best old please help"
    " currently usually really exactly".split()
) | frozenset("今天 现在 目前 时间 工作 使用 新 好".split())
_UNIT: Final = re.compile(r"\bhow (?:many|much) (\w+)")
_NUMBER: Final = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|half|once|twice)\b|[一二两三四五六七八九十百千万][个天次年月周小人]",
    re.IGNORECASE,
)
_TIME: Final = re.compile(
    r"\d{4}|\d{1,2}:\d\d|\d\s*(?:a\.?m|p\.?m)\b|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day|\b(?:jan|feb|mar|apr|may|june?"
    r"|july?|aug|sept?|oct|nov|dec)[a-z]*\b|\b(?:deadline|due|annually|before|until|within|by the end)\b"
    r"|\d\s*[年月日号点时周天]|之前|之后|以后|期间",
    re.IGNORECASE,
)
_WHO: Final = re.compile(
    r"\b(?:supervisor|manager|director|lead|team|staff|officer|employee|admin\w*|office|group|committee|board|owner"
    r"|maintainer|contact|@\w+|mr|ms|dr)s?\b|[A-Z][a-z]+ [A-Z][a-z]+|[者员]|部门|经理|团队|主管|公司|[的个]人",
)
_WHERE: Final = re.compile(
    r"\b(?:at|in|on|from|via|here|form|page|site|room|channel|portal)\b|https?:|#\w|[在到里处网]"
)
_WANTS: Final = (
    (
        re.compile(
            r"\bhow (?:many|much|long|often|old|far|big|large)\b|\bwhat (?:percent\w*|number|amount)|多少|几[个天次年周人小]|多久|多长|多大",
            re.IGNORECASE,
        ),
        _NUMBER,
    ),
    (
        re.compile(
            r"\bwhen\b|\bwhat (?:time|date|day|year)|\bdeadline|\bhours\b|什么时候|何时|几点|哪[天年]|日期|多会儿",
            re.IGNORECASE,
        ),
        _TIME,
    ),
    (re.compile(r"\bwho(?:m|se)?\b|谁|哪位|何人", re.IGNORECASE), _WHO),
    (re.compile(r"\bwhere\b|哪里|哪儿|何处|在哪", re.IGNORECASE), _WHERE),
)
_LISTING: Final = re.compile(
    r"\b(?:what|which) (?:\w+ ){0,2}(?:kinds?|types?|steps?|things?|items?|documents|activities|options|ways|benefits"
    r"|requirements|reasons|rules|conditions|tools|responsibilities)\b"
    r"|\b(?:what|which) (?:\w+ )?\w+s (?:are|do|does|can|should|must|count|qualify)\b|\blist\b|\bexamples? of\b"
    r"|哪些|列出|哪几|步骤|流程|有什么|清单|注意事项",
    re.IGNORECASE,
)
_DEFINITION: Final = re.compile(
    r"^\s*(?:what(?:'s|’s| is| are)|define|who(?:'s|’s| is| are))\s+(?:(?:an?|the)\s+)?([^?？.]{2,40}?)\s*[?？.]*\s*$"
    r"|^\s*(?:什么是|何谓)\s*([^?？。]{1,20}?)\s*[?？。]*\s*$|^\s*([^?？。]{1,20}?)\s*(?:是什么(?:意思)?|指的?是什么)\s*[?？。]*\s*$",
    re.IGNORECASE,
)
_NEGATION: Final = re.compile(r"\b(?:not|never|cannot|no|without)\b|n['’]t\b|不|没|无法|禁止|未", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question taken apart. `terms` are its content words, once each, in order; `wants` matches the kind of thing asked.

    `pairs` are content words that stand side by side ("core hours"); `light` are terms that tell little ("today", units).
    `subject` is what a definition is asked of ("" for other questions); `listing` asks for several things or steps.
    """

    terms: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]
    light: frozenset[str]
    kind: QuestionKind
    wants: re.Pattern[str] | None
    listing: bool
    negative: bool
    subject: str

    def defines(self, text: str) -> bool:
        """Whether a text begins by saying what the subject is."""
        if not self.subject:
            return False
        head = r"^(?:(?:an?|the)\s+)?" + re.escape(self.subject)
        tail = r"(?:\s*[(（][^)）]*[)）])?\s*(?:\b(?:is|are|was|means|refers|stands|describes)\b|是|指|即|:|：|—| - )"
        return re.match(head + tail, text, re.IGNORECASE) is not None

    def denies(self, text: str) -> bool:
        """Whether a text holds a negation."""
        return _NEGATION.search(text) is not None


def take_apart(question: str) -> Asked:
    """Take a question apart; words that only ask are left out of its terms where others remain."""
    found = tuple(dict.fromkeys(terms(question)))
    about = tuple(term for term in found if term not in _ASKING)
    kind = question_kind(question)
    unit = _UNIT.search(question.lower())
    definition = _DEFINITION.match(question)
    return Asked(
        terms=about or found,
        pairs=_side_by_side(question, about),
        light=_LIGHT | (frozenset({stem(unit.group(1))}) if unit else frozenset()),
        kind=kind,
        wants=next((thing for pattern, thing in _WANTS if pattern.search(question)), None),
        listing=kind is QuestionKind.PROCEDURE or _LISTING.search(question) is not None,
        negative=_NEGATION.search(question) is not None,
        subject=next((group for group in definition.groups() if group), "") if definition else "",
    )


def _side_by_side(question: str, about: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Neighbouring content words without any other word between them."""
    stems = [stem(word) for word in words(question)]
    pairs = dict.fromkeys(pair for pair in pairwise(stems) if pair[0] in about and pair[1] in about)
    return tuple(pairs)
