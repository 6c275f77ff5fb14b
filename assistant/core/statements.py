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
_NOT_EN: Final = r"(?:do|does|did|is|are|was|were|has|have|can|could)(?:\snot|n['’]t)"
_TELL_EN: Final = (
    r"(?:answer|mention|contain|provide|specify|state|say|include|discuss|address|indicate|explain|cover|give|describe|offer"
    r"|reveal|detail|mentioned|specified|stated|provided|explained|addressed|discussed|covered|clear|enough|sufficient)"
)
_KNOWLEDGE_EN: Final = r"(?:information|details?|mention|answers?|indication|instructions?|evidence|data|explanation)"
_REFUSAL: Final = re.compile(
    rf"""
      {_SOURCE_EN}(?:\s\#?\d+)?(?:\s\w+){{0,2}}\s{_NOT_EN}(?:\s\w+){{0,2}}\s{_TELL_EN}\b
    | \b(?:none\sof|no)\s{_GIVEN_EN}{_SOURCE_EN}\s(?:\w+\s){{0,2}}(?:mentions?|provides?|contains?|answers?|says?|states?|gives?)\b
    | \b(?:it|they|which|this|that)\s{_NOT_EN}\s(?:\w+\s){{0,2}}(?:(?:mention|specify|state|explain|say|indicate|discuss|address)\b
        |(?:provide|give|contain|offer|include)\s(?:\w+\s){{0,2}}{_KNOWLEDGE_EN}\b)
    | \b(?:is|are|was|were)\snot\s(?:\w+\s){{0,2}}(?:mentioned|specified|stated)\b
    | \bno\s(?:\w+\s)?{_KNOWLEDGE_EN}\s(?:(?:is|was|are|were)\s)?(?:(?:available|provided|given|found)\s)?
        (?:of|about|on|regarding|in\s{_GIVEN_EN}{_SOURCE_EN})\b
    | (?:^\W*(?:\w+,\s)?|\b(?:i|we)\s(?:am|are|was|were)\s|\bit\s(?:is|was)\s)(?:currently\s)?
        (?:unable|not\sable|not\spossible|impossible|difficult)\sto\s(?:\w+\s)?(?:answer|determine|give|provide|find|say|tell|confirm)\b
    | \bunable\sto\sanswer\b
    | \b(?:i|we)\s(?:cannot|can\s?not|can['’]t|could\snot|couldn['’]t)\s(?:\w+\s)?(?:answer|determine|find|confirm|say|tell|provide|give)\b
    | \b(?:cannot|can\snot|could\snot)\sbe\s(?:\w+\s)?(?:answered|determined)\b
    | \b(?:i|we)\s(?:do\snot|don['’]t|did\snot|didn['’]t)\s(?:have|know|find|see)\s(?:\w+\s){{0,3}}(?:{_KNOWLEDGE_EN}|{_SOURCE_EN})\b
    | ^\W*i\s(?:do\snot|don['’]t)\sknow\b | \bnone\smentioned\b | ^\W*(?:i\s?(?:['’]m|am)\s(?:\w+\s)?)?sorry\b
    | \bnot\s(?:\w+\s){{0,2}}(?:mentioned|specified|stated|provided|explained|addressed|discussed|covered|answered|found|available)
        \s(?:in|by|from)\s{_GIVEN_EN}{_SOURCE_EN}\b
    | (?:(?:根据|基于|从)[^，。]{{0,12}}{_SOURCE_ZH}[^。]{{0,6}}|^\W*(?:因此|所以)?[，,]?(?:目前|暂时|我们?)+)无法
    | ^\W*无法(?:直接|准确|完全)?(?:判断|确定|得知|确认)\W*$
    | 无法(?:直接|准确|完全)?回答
    | {_SOURCE_ZH}(?:中|里|内)?(?:也|均|都|并|暂)*(?:没有|未|不)(?:有|能|足以|明确|直接|具体|包含|提供|提及|提到|说明|涉及|给出|回答|找到|记载|足)
    | (?:没有|未能?)(?:在{_SOURCE_ZH}中)?(?:找到|查到|检索到|提及|提到)(?:任何|相关|有关|与|关于|[^。]{{0,12}}{_SOURCE_ZH})
    | ^\W*(?:很|非常)?(?:抱歉|对不起) | ^\W*我?(?:不清楚|不知道)
    """,
    re.IGNORECASE | re.VERBOSE,
)
_COURTESY: Final = re.compile(
    r"""
      ^\W*(?:sure|certainly|of\scourse|absolutely|thanks?|thank\syou|you['’]re\swelcome|(?:that['’]s\sa\s)?(?:great|good)\squestion
        |good\s(?:morning|afternoon|evening)|welcome|okay|ok|yes|no|(?:hello|hi|hey|dear)(?:\s\w+){0,2})\W*$
    | \b(?:(?:hope|trust)\s(?:this|that|it)\s(?:\w+\s)?helps?|let\sme\sknow|feel\sfree\sto\s(?:ask|reach|contact|let)|(?:happy|glad)\sto\shelp
        |i\s(?:can|will|['’]ll)\shelp\syou|if\syou\shave\s(?:any\s)?(?:(?:other|further|more|additional)\s)?questions)\b
    | ^\W*(?:您好|你好|谢谢|感谢您?的?提问|好的|当然(?:可以)?|不客气|没问题|早上好|下午好|晚上好)\W*$
    | 希望(?:这|以上|对)[^。]*(?:帮助|帮到) | 如(?:果|有|您)[^。]*(?:疑问|问题)[^。]*(?:随时|欢迎|告诉我|问我|提问) | 随时(?:告诉我|提问|问我)
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
    if sentence.lstrip().startswith(("#", "```", "~~~")) or bare.endswith(("?", "？")) or not _WORD.search(bare):
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
