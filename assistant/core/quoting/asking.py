"""What a question asks for: its content words, the kind of thing an answer holds, and the form the answer takes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from assistant.core.questions import QuestionKind, question_kind
from assistant.core.stopwords import STOPWORDS
from assistant.core.text import CJK, stem, words

_ASKING_WORDS: Final = """
many much often long explain describe list step way mean definition tell know find need want give show happen must may
shall might someone anyone everyone people thing go get kind type example difference say current currently procedure
process summarize summarise summary overview outline main point
步骤 解释 说明 列出 哪里 时候 时间 办法 方法 应该 需要 可以 告诉 知道 想 想要 做 会 怎么办 介绍
情况 有关 方式 意思 进行 必须 应 要 用 去 总结 概述 概括 归纳 综述 摘要 主要 内容
"""
_LIGHT_WORDS: Final = """
today now time day week month year hour work use new make take name place part good best old please help currently
usually really exactly due deadline date policy rule guideline page document handbook
今天 现在 目前 时间 工作 使用 新 好 之前 之后 事项 类型 有 问题 东西 政策 规定 制度 公司 文档
"""
_MOMENT_WORDS: Final = "today tonight tomorrow yesterday now 今天 今晚 明天 昨天 现在 此刻"
_MOMENTS: Final = frozenset(stem(word) for word in _MOMENT_WORDS.split())
_ASKING: Final = frozenset(stem(word) for word in _ASKING_WORDS.split())
_LIGHT: Final = frozenset(stem(word) for word in _LIGHT_WORDS.split())
_UNIT: Final = re.compile(r"\bhow (?:many|much) (\w+)|(?:多少|几)(小时|分钟|星期|[个天年月周次人元块岁])")
_NUMBER_WORD: Final = r"(?:\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|half)\b)"
_NUMBER: Final = re.compile(
    _NUMBER_WORD + r"|\b(?:once|twice)\b|[一二两三四五六七八九十百千万][个天次年月周小人]",
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
            r"\bhow (?:many|much|long|often|old|far|big|large)\b|\bwhat (?:percent\w*|number|amount)"
            r"|多少|几[个天次年周人小]|多久|多长|多大",
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
    r"|^\s*(?:什么是|何谓)\s*([^?？。]{1,20}?)\s*[?？。]*\s*$"
    r"|^\s*([^?？。]{1,20}?)\s*(?:是什么(?:意思)?|指的?是什么)\s*[?？。]*\s*$",
    re.IGNORECASE,
)
_CHINESE: Final = re.compile(f"[{CJK}]{{2}}")
_NEGATION: Final = re.compile(r"\b(?:not|never|cannot|no|without)\b|n['’]t\b|不|没|无法|禁止|未", re.IGNORECASE)
_NON: Final = re.compile(r"\b(non)[- ](\w)", re.IGNORECASE)
# What the verb of a question makes likely in the sentence that answers it: duty, entitlement, permission, negation.
_CUES: Final = tuple(
    (re.compile(asked, re.IGNORECASE), re.compile(said, re.IGNORECASE))
    for asked, said in (
        (
            r"\b(?:must|required?|mandatory|minimum|at least|expected|(?:have|has|needs?) to)\b|必须|应当|需要|至少",
            (
                r"\b(?:must|required?|mandatory|minimum|at least|expect\w*|(?:ha[vs]e?|needs?) to)\b"
                r"|必须|应[当该]|需要|至少"
            ),
        ),
        (
            r"\b(?:get|have|receive|entitled|eligible|earn|accrue)\b|有多少|有几|享有|享受|能拿|可休",
            r"\b(?:entitle[ds]?|eligible|receives?|granted|given|earns?|accrues?)\b|享有|享受|可休|获得|有权",
        ),
        (
            r"^\s*(?:can|may|could|am i|are we|is it)\b|\b(?:allowed|permitted)\b|可以|能否|能不能|可不可以|允许",
            r"\b(?:may|can|cannot|allowed|permitted|prohibited|must not|not be)\b|可以|不得|不能|允许|禁止",
        ),
        (_NEGATION.pattern, _NEGATION.pattern),
    )
)
_INSTRUCTION: Final = re.compile(
    r"^(?:(?:first|then|next|finally|please|to [^,.]{3,60},)[\s,:]{0,3}){0,2}(?:you (?:can|must|should|need to) )?"
    r"(?:use|submit|send|click|go|open|fill|complete|contact|email|enter|select|ask|request|follow|log|sign|navigate|notify"
    r"|report|call|visit|check|post|reach|talk|make|create|add|choose|apply|file|set|read|write|include|run|install|download)\b"
    r"|^(?:请|先|首先|然后|接着|点击|打开|选择|填写|提交|联系|发送|使用|登录|访问|确保|创建|添加|阅读|查看)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question taken apart: `question` is its wording, `terms` are its content words, once each, in order.

    `pairs` are content words that stand side by side ("core hours"), `light` are terms that tell little ("today",
    units of measure). `wants` match the kind of thing asked. `listing` asks for several things or steps; `cues`
    match the wording that its verb makes likely. `subject` is what a definition is asked of, "" for other questions.
    """

    terms: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]
    light: frozenset[str]
    kind: QuestionKind
    wants: tuple[re.Pattern[str], ...]
    listing: bool
    cues: tuple[re.Pattern[str], ...]
    question: str
    subject: str

    @property
    def moments(self) -> frozenset[str]:
        """The terms that mean the moment of asking ("today"), of which a document written earlier knows nothing."""
        return _MOMENTS.intersection(self.terms)

    def answers(self, text: str) -> float:
        """The share of the wanted kinds of thing that a text holds; 0 when nothing special is wanted."""
        return sum(thing.search(text) is not None for thing in self.wants) / max(1, len(self.wants))

    def defines(self, text: str) -> bool:
        """Whether a text begins by saying what the subject is."""
        if not self.subject:
            return False
        head = r"^(?:(?:an?|the)\s+)?" + re.escape(self.subject)
        tail = r"(?:\s*[(（][^)）]*[)）])?\s*(?:\b(?:is|are|was|means|refers|stands|describes)\b|是|指|即|:|：|—| - )"
        return re.match(head + tail, text, re.IGNORECASE) is not None

    def instructs(self, text: str) -> bool:
        """Whether a text tells the reader what to do."""
        return _INSTRUCTION.search(text) is not None

    def cued(self, text: str) -> float:
        """The share of the question's cues that a text answers to: duty, entitlement, permission, negation."""
        return sum(cue.search(text) is not None for cue in self.cues) / max(1, len(self.cues))


def take_apart(question: str) -> Asked:
    """Take a question apart; words that only ask are left out of its terms where others remain."""
    found = tuple(dict.fromkeys(_joined(question)[0]))
    unit = _unit(question)
    about = tuple(term for term in found if term not in _ASKING and (term != unit or len(term) > 1))
    kind = question_kind(question)
    definition = _DEFINITION.match(question)
    return Asked(
        terms=about or found,
        pairs=_side_by_side(question, about),
        light=_LIGHT | {stem(unit)},
        kind=kind,
        wants=_wanted(question, unit),
        listing=kind is QuestionKind.PROCEDURE or _LISTING.search(question) is not None,
        cues=tuple(said for asked, said in _CUES if asked.search(question)),
        question=question.strip(" ?？!！.。"),
        subject=next((group for group in definition.groups() if group), "") if definition else "",
    )


def matching_terms(text: str) -> list[str]:
    """The content words of a text in order, neighbouring lone Chinese characters joined by twos; then these characters.

    A segmenter that does not know a word (年假) cuts it into characters; both sides of a match are treated alike.
    """
    joined, lone = _joined(text)
    return joined + lone


def _joined(text: str) -> tuple[list[str], list[str]]:
    """The content words with joined characters, and the lone characters that were joined."""
    found: list[str] = []
    lone: list[str] = []
    before = ""
    for word in words(join_non(text)):
        pair = before + word
        if word in STOPWORDS:
            before = ""
        elif len(pair) == 2 and before and _CHINESE.match(pair):
            if found and found[-1] == before:
                found.pop()
            found.append(pair)
            lone += [before, word]
            before = word
        else:
            found.append(stem(word))
            before = word
    return found, lone


def join_non(text: str) -> str:
    """The text with "non-billable" as one word, so that it does not match "billable"."""
    return _NON.sub(r"\1\2", text) if "on" in text else text


def _unit(question: str) -> str:
    """The unit that a number is asked in: "hours", 天; "" when none is."""
    found = _UNIT.search(question.lower())
    return (found.group(1) or found.group(2)) if found else ""


def _wanted(question: str, unit: str) -> tuple[re.Pattern[str], ...]:
    """What an answer holds: the kind of thing asked and, for "how many hours", a number of just these."""
    wanted = tuple(thing for pattern, thing in _WANTS if pattern.search(question))[:1]
    if not unit:
        return wanted
    english = rf"{_NUMBER_WORD}[\w.,%-]*[ -](?:\w+ )?{re.escape(unit.rstrip('s'))}"
    chinese = rf"[\d一二两三四五六七八九十百千半]\s*个?{re.escape(unit)}"
    return (*wanted, re.compile(english if unit.isascii() else chinese, re.IGNORECASE))


def _side_by_side(question: str, about: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Neighbouring content words without any other word between them."""
    stems = [stem(word) for word in words(join_non(question))]
    if _CHINESE.search(question):
        stems = _joined(question)[0]
    telling = set(about) - _LIGHT
    pairs = dict.fromkeys(pair for pair in pairwise(stems) if pair[0] in telling and pair[1] in telling)
    return tuple(pairs)
