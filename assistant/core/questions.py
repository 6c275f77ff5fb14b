"""What a question asks for: a fact, a comparison, a summary, a list per source, a procedure, or nothing at all."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final


class QuestionKind(StrEnum):
    """What a question asks for."""

    LOOKUP = "lookup"
    COMPARISON = "comparison"
    SUMMARY = "summary"
    PER_SOURCE = "per_source"
    PROCEDURE = "procedure"
    SMALL_TALK = "small_talk"


# Words of politeness and of having understood; a text made of nothing else asks nothing.
_PLEASANTRY: Final = (
    r"(?:hi|hello|hey|good (?:morning|afternoon|evening)|many thanks|thanks?(?: you)?(?: (?:so|very) much)?|thx|cheers|bye|goodbye"
    r"|see you|ok(?:ay)?|great|perfect|nice|cool|awesome|excellent|wonderful|got it|understood|i see|makes sense|all clear|no problem"
    r"|that(?:'s| is| was)? (?:all|it|great|perfect|clear|very helpful|helpful|helps|helped)(?: for now)?|how are you(?: doing)?"
    r"|who are you|what (?:are you|can you do))(?:[ \t]+(?:there|all|everyone|again|a lot|for (?:your|the) help))?"
    r"|你好|您好|嗨|早上好|下午好|晚上好|(?:非常|十分)?感谢(?:你|您)?(?:的帮助)?|谢谢(?:你|您|啦|了)?(?:的帮助)?|多谢|谢了|再见|拜拜|好(?:的|吧)?(?=[\s，,!！。.谢多明知收]|$)"
    r"|明白了?|知道了|了解了?|懂了|收到|清楚了|没问题了?|没有?(?:别的|其他)?(?:问题|事)了|原来如此|太好了|你是谁|你能做什么|你会什么"
)
_PAUSE: Final = r"[\s!！.。?？,，、~～;；-]"
_GREETING: Final = re.compile(
    rf"(?:{_PAUSE}*(?:(?:{_PLEASANTRY})(?:{_PAUSE}+|$|(?<=[\u4e00-\u9fff])))){{1,6}}", re.IGNORECASE
)
_KINDS: Final[tuple[tuple[QuestionKind, re.Pattern[str]], ...]] = (
    (
        QuestionKind.PER_SOURCE,
        re.compile(
            r"\b(?:each|every) (?:document|source|page|policy|file)\b|每(?:个|份|篇)(?:文档|文件|来源|政策)|分别(?:说|列)",
            re.IGNORECASE,
        ),
    ),
    (
        QuestionKind.COMPARISON,
        re.compile(
            r"\b(?:compare|comparison|differences?|differ|versus|vs\.?|changed? (?:since|between))\b|比较|对比|区别|不同|差异|有什么变化",
            re.IGNORECASE,
        ),
    ),
    (
        QuestionKind.SUMMARY,
        re.compile(
            r"\b(?:summari[sz]e|summary|overview|outline|main points|tell me (?:all|everything) about)\b|总结|概括|概述|综述|归纳|介绍一下",
            re.IGNORECASE,
        ),
    ),
    (
        QuestionKind.PROCEDURE,
        re.compile(
            r"\b(?:how (?:do|can|should|would) (?:i|we|you|one)|how to|steps?|procedure|process for)\b|怎么(?:办|做|申请|提交)?|如何|步骤|流程|怎样",
            re.IGNORECASE,
        ),
    ),
)


_PICTURE: Final = re.compile(
    r"\b(?:image|picture|photo|figure|diagram|chart|drawing|screenshot|map|logo|graph|floor ?plan|org(?:ani[sz]ation)? chart)s?\b"
    r"|图|照片|截图|示意|流程图|标志",
    re.IGNORECASE,
)


def asks_for_a_picture(question: str) -> bool:
    """Whether a question speaks of something to be seen."""
    return _PICTURE.search(question) is not None


def question_kind(question: str) -> QuestionKind:
    """Classify a question by its words, English and Chinese; a plain question is a lookup."""
    if _GREETING.fullmatch(question):
        return QuestionKind.SMALL_TALK
    return next((kind for kind, pattern in _KINDS if pattern.search(question)), QuestionKind.LOOKUP)
