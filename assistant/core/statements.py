"""Statements: which sentences of an answer state something about the world, and which words of them do.

A greeting, a heading, a question, a lead-in ("Here is what I found:") or a refusal ("The documents do not answer
this.") states nothing that evidence could carry. Inside a statement, words about the sources themselves ("According
to passage 2, ...") are scaffold: they are blanked, never moved, so that offsets stay.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from assistant.core.figures import figures
from assistant.core.text import CJK, Span, terms

_SOURCE_EN: Final = (
    r"(?:passages?|documents?|sources?|evidences?|excerpts?|contexts?|texts?|articles?|references?|materials?"
    r"|information|snippets?|search\sresults?)"
)
_GIVEN_EN: Final = (
    r"(?:(?:the|this|these|those|that|any|all|both|of|given|provided|available|supplied|retrieved|above|following|cited"
    r"|existing|limited|your)\s){0,4}"
)
_SOURCE_ZH: Final = r"(?:现有|已有|提供的?|给出的?|上述|以上|检索到的?|这些|该|所给的?|相关)*(?:文档|文件|资料|证据|信息|材料|段落|上下文|来源|内容|文章)"
_SAY_EN: Final = (
    r"(?:states?|stated|mentions?|mentioned|notes?|noted|says?|said|suggests?|suggested|explains?|explained|indicates?"
    r"|indicated|describes?|described|reports?|reported|highlights?|highlighted|provides?|provided|discussed|outlined)"
)
_SCAFFOLD: Final = re.compile(
    rf"""
      \b(?:based\ (?:up)?on|according\ to|as\ per|per|from|using|in|by)\ {_GIVEN_EN}{_SOURCE_EN}\b
          (?:\ (?:\#?\d+|[A-Z]\b)(?:(?:,|\ and|\ &|,\ and)\ \d+)*)?(?:\ (?:provided|given|above|available))?
    | \b{_GIVEN_EN}{_SOURCE_EN}\ \#?\d+(?:(?:,|\ and|\ &|,\ and)\ \d+)*(?:\ (?:also\ )?{_SAY_EN}(?:\ that)?)?
    | \b(?:the|these|this)\ {_SOURCE_EN}\ (?:also\ )?{_SAY_EN}\ that\b
    | \b(?:as\ )?{_SAY_EN}\ (?:in|by)\ {_GIVEN_EN}{_SOURCE_EN}(?:\ \#?\d+)?
    | \bit\ (?:appears|seems|is\ (?:important|worth|worth\ noting|clear))\ (?:to\ note\ )?that\b | \bwe\ can\ see\ that\b
    | \b(?:please\ )?note\ that\b
    | ^\W*(?:therefore|however|overall|additionally|furthermore|moreover|in\ summary|in\ conclusion|to\ summarize|in\ short
        |in\ addition|for\ example|for\ instance|finally|also|thus|hence|so|similarly|lastly|firstly|secondly)\b,?
    | (?:根据|依据|基于|按照|从){_SOURCE_ZH}(?:\s*\d+)?(?:来看|可知|可以看出|显示|中)?[，,]?
    | {_SOURCE_ZH}\s*\d*(?:中|里)?(?:也|还)?(?:指出|提到|说明|显示|表明|写道|规定)[，,：]?
    | ^\W*(?:因此|所以|总之|综上所述|综上|另外|此外|同时|但是|不过|然而|例如|比如|首先|其次|最后)[，,]?
    """,
    re.IGNORECASE | re.VERBOSE,
)
_NOT_EN: Final = r"(?:do|does|did|is|are|was|were|has|have|can|could)(?:\ not|n['’]t)"
_TELL_EN: Final = (
    r"(?:answer|mention|contain|provide|specify|state|say|include|discuss|address|indicate|explain|cover|give|describe"
    r"|offer|reveal|detail|have|mentioned|specified|stated|provided|explained|addressed|discussed|included|covered"
    r"|available|clear|enough|sufficient)"
)
_REFUSAL: Final = re.compile(
    rf"""
      {_SOURCE_EN}(?:\s\#?\d+)?(?:\ \w+){{0,2}}\ {_NOT_EN}(?:\ \w+){{0,2}}\ {_TELL_EN}\b
    | \b(?:none\ of|no)\ {_GIVEN_EN}{_SOURCE_EN}\ (?:\w+\ ){{0,2}}(?:mentions?|provides?|contains?|answers?|says?|states?|gives?|is|are)\b
    | \b(?:it|they|which|this|that)\ {_NOT_EN}\ (?:\w+\ ){{0,2}}(?:mention|provide|specify|state|explain|discuss|address|answer|indicate)\b
    | \b(?:is|are|was|were)\ not\ (?:\w+\ ){{0,2}}(?:mentioned|specified|stated)\b
    | \bno\ (?:\w+\ )?(?:mention|information|details?|evidence|indication|reference|data)\ (?:is\ |was\ |are\ )?
        (?:of|about|on|regarding|available|provided|given|found|in|for)\b
    | \b(?:unable|not\ able|not\ possible|impossible|difficult)\ to\ (?:\w+\ )?(?:answer|determine|give|provide|find|say|tell|confirm)\b
    | \b(?:cannot|can\ ?not|can['’]t|could\ not|couldn['’]t)\ (?:be\ )?(?:\w+\ )?(?:answer|determine|find|confirm)(?:ed|d)?\b
    | \b(?:i|we)\ (?:do\ not|don['’]t|did\ not|didn['’]t)\ (?:have|know|find|see)\b
    | \bnot\ (?:\w+\ ){{0,2}}(?:mentioned|specified|stated|provided|explained|addressed|discussed|covered|answered|found|available)
        \ (?:in|by|from)\ {_GIVEN_EN}{_SOURCE_EN}\b
    | \bnone\ mentioned\b | \bi['’]?\ ?a?m\ sorry\b | ^\W*(?:sorry|unfortunately)\b[^.]*\b{_NOT_EN}\b
    | 无法(?:直接|准确|完全|从|给出|提供)*(?:{_SOURCE_ZH}中?)?(?:回答|判断|确定|得知|确认|得出|给出|提供)
    | {_SOURCE_ZH}(?:中|里|内)?(?:也|均|都|并|暂)*(?:没有|未|不)(?:有|能|足以|明确|直接|具体|包含|提供|提及|提到|说明|涉及|给出|回答|找到|记载|足)
    | (?:没有|未(?:能)?)(?:在{_SOURCE_ZH}中?)?(?:找到|查到|检索到|提及|提到|说明|涉及) | 抱歉|对不起|不清楚|不知道
    """,
    re.IGNORECASE | re.VERBOSE,
)
_COURTESY: Final = re.compile(
    r"""
      ^\W*(?:sure|certainly|of\ course|absolutely|hello|hi|hey|dear\ \w+|thanks?|thank\ you|you['’]re\ welcome|great\ question
        |good\ (?:morning|afternoon|evening)|welcome|okay|ok|yes|no)\b[^.]{0,60}[!,.]?\W*$
    | \b(?:hope\ (?:this|that|it)\ helps?|let\ me\ know|feel\ free\ to|happy\ to\ help|glad\ to\ help|can\ help\ you\ with
        |any\ (?:other|further|more)\ questions|if\ you\ have\ (?:any\ )?(?:other\ |further\ |more\ )?questions)\b
    | ^\W*(?:您好|你好|谢谢|感谢|好的|当然|不客气|没问题|早上好|下午好|晚上好)[^。]{0,20}$
    | 希望(?:这|以上|对)[^。]*(?:帮助|帮到)|如(?:果|有)[^。]*(?:疑问|问题|需要)[^。]*(?:请|欢迎|可以|随时)|随时(?:联系|告诉|提问|问我)
    """,
    re.IGNORECASE | re.VERBOSE,
)
_LEAD_IN: Final = re.compile(
    r"\b(?:here(?:['’]s|\sis|\sare)|following|follows|below|these|this)\b|\b(?:is|are|was|were|be|includes?|including|include|steps?|ways?|reasons?"
    r"|methods?|options?|factors?|points?|answer|summary)\W*$|如下|以下|下列|包括\W*$|有\W*$|是\W*$",
    re.IGNORECASE,
)
_LONGEST_LEAD_IN: Final = 14
_LONGEST_LABEL: Final = 5
_FURNITURE: Final = re.compile(
    r"^(?:\s*(?:[-*+•·–—‣◦>]|#{1,6}|\(?\d{1,3}[.)、．）]|（\d{1,3}）|[a-zA-Z][.)]|[一二三四五六七八九十]+、|\[[ xX]\])(?=\s|$|[^\w\s]|(?<=[、．）])))+\s*"
)
_EMPHASIS: Final = re.compile(r"[*_`~|]+")
_TABLE_RULE: Final = re.compile(r"^\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?\s*$")
_WORD: Final = re.compile(rf"[^\W\d_]|[{CJK}]")


def claim(sentence: str) -> str:
    """The sentence with list marks, emphasis and talk about the sources blanked; same length, same offsets."""
    text = _FURNITURE.sub(_blank, sentence, count=1)
    text = _EMPHASIS.sub(_blank, text)
    return _SCAFFOLD.sub(_blank, text)


def _blank(found: re.Match[str]) -> str:
    return " " * len(found.group())


def is_refusal(sentence: str) -> bool:
    """Whether the sentence says that the sources do not hold the answer, or not all of it."""
    return _REFUSAL.search(sentence) is not None


def statements(text: str, sentences: Sequence[Span]) -> list[Span]:
    """Those of the sentences of a text that state something evidence could carry, in order."""
    return [
        span
        for at, span in enumerate(sentences)
        if not _is_table_head(text, sentences, at) and states_something(text[span.start : span.end])
    ]


def _is_table_head(text: str, sentences: Sequence[Span], at: int) -> bool:
    """Whether the sentence is a table row right above a rule of dashes."""
    if at + 1 >= len(sentences) or "|" not in text[sentences[at].start : sentences[at].end]:
        return False
    after = sentences[at + 1]
    return _TABLE_RULE.match(text[after.start : after.end]) is not None


def states_something(sentence: str) -> bool:
    """Whether the sentence claims something; false for courtesy, headings, questions, lead-ins and refusals."""
    bare = _EMPHASIS.sub(" ", _FURNITURE.sub("", sentence, count=1)).strip()
    if sentence.lstrip().startswith("#") or bare.endswith(("?", "？")) or not _WORD.search(bare):
        return False
    if is_refusal(bare) or _COURTESY.search(bare):
        return False
    content = terms(claim(sentence))
    if bare.endswith((":", "：")):
        return len(content) > (_LONGEST_LEAD_IN if _LEAD_IN.search(bare) and not figures(bare) else _LONGEST_LABEL)
    return bool(content) and not _is_bold_heading(sentence, content)


def _is_bold_heading(sentence: str, content: Sequence[str]) -> bool:
    """Whether the whole line is bold and short, as headings in chat answers are."""
    line = sentence.strip()
    bold = len(line) > 4 and line.startswith(("**", "__")) and line.endswith(("**", "__"))
    return bold and len(content) <= 6 and not re.search(r"[.。!！]\W*$", line)
