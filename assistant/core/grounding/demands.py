"""Demands: what a question asks for beyond its topic, and what an answer of the asked kind looks like."""

from __future__ import annotations

import re
from typing import Final

from assistant.core.text import stem

_ASKING_ENGLISH: Final = """
many much often long explain describe list tell know mean meaning define find need want give show happen thing kind type
difference say exactly really think someone anyone
"""
_ASKING_CHINESE: Final = "解释 说明 列出 哪里 时候 时间 应该 需要 可以 告诉 知道 想 想要 介绍 情况 有关 意思 一下 记得 觉得 清楚 了解 听说 具体"
ASKING: Final = frozenset(map(stem, _ASKING_ENGLISH.split())) | frozenset(_ASKING_CHINESE.split())
"""Terms that only ask and say nothing about the topic."""

_REQUEST: Final = r"""
    (?:can|could|would|will|do|have)\syou\s(?:please\s|also\s)?
    (?:tell|give|explain|provide|show|help|describe|list|share|know|heard)\b
"""
_YES_OR_NO: Final = rf"""
    ^\W*(?:\w+[,.!]\s+)?(?:(?:but|and|so)\s)?(?!{_REQUEST})
        (?:is|are|was|were|do|does|did|can|could|will|would|has|have|should|may|isn|aren|doesn)\b
    | ^(?!.*(?:知道|记得|告诉|请问|介绍|说说)).*吗 | 是否|能否|可否|有没有|是不是
"""
_REASON: Final = r"\bwhy\b|为什么|为何"
_AMOUNT: Final = r"\bhow\s(?:many|much|long|often)\b|\bcosts?\b|\bprices?\b|多少|几[个天次年周人]|费用|价格|多久"
_BEYOND: Final = r"\b(?:other|else|besides|another|best|latest)\b|其他|其它|别的|最新|最好"
_UNNAMED: Final = r"""
    \b(?:this|these)\s(?!year|month|week|company|document|policy|page|conversation)[a-z]+\b
    | ^(?!.*(?-i:[a-z,]\s[A-Z][a-z])).*\b(?:he|she|her|him)\b | 这[个种部位]
"""
DEMANDS: Final = tuple(
    (re.compile(pattern, re.IGNORECASE | re.VERBOSE), cost)
    for pattern, cost in ((_YES_OR_NO, 0.25), (_REASON, 0.25), (_AMOUNT, 0.2), (_BEYOND, 0.15), (_UNNAMED, 0.2))
)
"""Forms of questions that need more than a text on their topic, each with what it takes off the chance of an answer."""

NAMES: Final = re.compile(r"(?<=[a-z,] )[A-Z][A-Za-z]+|\b\d[\d.,]*\d\b|(?<=《)[^》]+(?=》)")
"""Names and numbers of a question that an answer can hardly do without."""

_HOW_MANY: Final = r"""
    \bhow\s(?:many|much|long|often|old|far|big|large|tall|high|soon)\b|\bwhat\s(?:percent\w*|number|amount|cost|price)\b
    | 多少|几[个天次年周人小]|多久|多长|多大
"""
_A_NUMBER: Final = r"""
    \d|\b(?:two|three|four|five|six|seven|eight|nine|ten|half|once|twice)\b|[一二两三四五六七八九十百千万][个天次年月周小人]
"""
_WHEN: Final = r"\bwhen\b|\bwhat\s(?:time|date|day|year)\b|\bdeadline\b|什么时候|何时|几点|哪[天年]|日期"
_A_TIME: Final = r"""
    \b\d{4}\b|\d{1,2}:\d\d|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day
    | \b(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]*\b|\b(?:within|before|until|deadline|annually)\b
    | \d\s*[年月日号点时周天]|之前|之后
"""
_WHO: Final = r"\bwho(?:m|se)?\b|谁|哪位|何人"
_A_PERSON: Final = r"""
    (?-i:[A-Z][a-z]+\s[A-Z][a-z]+)|\b(?:manager|director|team|officer|department)\b|[者员]|部门|经理|主管
"""
_WHERE: Final = r"\bwhere\b|哪里|哪儿|何处|在哪"
_A_PLACE: Final = r"\b(?:in|at|on|from|via)\s+(?:the\s)?(?-i:[A-Z])|https?:|[在到于]"
WANTED: Final = tuple(
    (re.compile(asked, re.IGNORECASE | re.VERBOSE), re.compile(answer, re.IGNORECASE | re.VERBOSE))
    for asked, answer in ((_HOW_MANY, _A_NUMBER), (_WHEN, _A_TIME), (_WHO, _A_PERSON), (_WHERE, _A_PLACE))
)
"""Pairs: a form of question, and what a sentence that answers it usually holds."""
