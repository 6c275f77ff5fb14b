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


_GREETING: Final = re.compile(
    r"^\s*(?:(?:hi|hello|hey|good (?:morning|afternoon|evening)|thanks?(?: you)?(?: (?:so|very) much)?|thx|bye|goodbye|ok(?:ay)?"
    r"|great|perfect|nice|cool|how are you(?: doing)?|who are you|what (?:are you|can you do))(?:\s+(?:there|all|everyone|again|a lot))?"
    r"|你好|您好|嗨|早上好|下午好|晚上好|谢谢(?:你|您)?|多谢|再见|拜拜|好的|你是谁|你能做什么|你会什么)[\s!！.。?？,，~～]*$",
    re.IGNORECASE,
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
    if _GREETING.match(question):
        return QuestionKind.SMALL_TALK
    return next((kind for kind, pattern in _KINDS if pattern.search(question)), QuestionKind.LOOKUP)
