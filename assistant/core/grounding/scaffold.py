"""Scaffold: the wordings in which an answer talks about its sources, excuses itself or greets, English and Chinese."""

from __future__ import annotations

import re
from typing import Final

_SOURCE: Final = r"""(?:passages?|documents?|sources?|evidences?|excerpts?|contexts?|texts?|articles?|references?
    |materials?|information|snippets?|search\sresults?)"""
_GIVEN: Final = r"""(?:(?:the|this|these|those|that|any|all|both|of|given|provided|available|supplied|retrieved|above
    |following|cited|existing|limited|your)\s){0,4}"""
_ONE: Final = r"(?:\[\d+\]|\(\d+\)|\#?\d+)"
_ONES: Final = rf"(?:\s(?:(?:id|no\.?|number)\s)?{_ONE}(?:(?:,|\sand|\s&|,\sand)\s{_ONE})*)"
_SAY: Final = r"""(?:states?|stated|mentions?|mentioned|notes?|noted|says?|said|suggests?|suggested|explains?|explained
    |indicates?|indicated|describes?|described|reports?|reported|highlights?|highlighted|provides?|provided|discussed
    |outlined)"""
_LIEN: Final = r"""(?:(?:现有|已有|提供的?|给出的?|上述|以上|检索到的?|这些|该|所给的?|相关)*
    (?:文档|文件|资料|证据|信息|材料|段落|上下文|来源|内容|文章))"""

SOURCE_TALK: Final = re.compile(
    rf"""
      \b(?:based\s(?:up)?on|according\sto|as\sper|per|from|using|in|by)\s{_GIVEN}{_SOURCE}\b
          {_ONES}?(?:\s(?:provided|given|above|available))?
    | \b{_GIVEN}{_SOURCE}{_ONES}(?:\s(?:also\s)?{_SAY}(?:\sthat)?)?
    | \b(?:the|these|this)\s{_SOURCE}\s(?:also\s)?{_SAY}\sthat\b
    | \b(?:as\s)?{_SAY}\s(?:in|by)\s{_GIVEN}{_SOURCE}{_ONES}?
    | (?:根据|依据|基于|按照|从){_LIEN}(?:\s*\d+)?(?:来看|可知|可以看出|显示|中)?[，,]?
    | {_LIEN}\s*\d*(?:中|里)?(?:也|还)?(?:指出|提到|说明|显示|表明|写道|规定)[，,：]?
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""Words about the sources ("according to passage 2,") that claim nothing themselves."""

NAMES_SOURCE: Final = re.compile(
    r"passage|document|source|evidence|excerpt|context|text|article|reference|material|information|snippet|result"
    r"|文档|文件|资料|证据|信息|材料|段落|上下文|来源|内容|文章",
    re.IGNORECASE,
)
"""A quick look whether a sentence can talk about the sources at all."""

CONNECTIVE: Final = re.compile(
    r"""
      ^\W*(?:therefore|however|overall|additionally|furthermore|moreover|in\ssummary|in\sconclusion
        |to\ssummarize|in\sshort|in\saddition|for\sexample|for\sinstance|finally|also|thus|hence|so|similarly|lastly|firstly
        |secondly)\b,?
    | ^\W*(?:因此|所以|总之|综上所述|综上|另外|此外|同时|但是|不过|然而|例如|比如|首先|其次|最后)[，,]?
    | \bit\s(?:appears|seems|is\s(?:important|worth|clear))\s(?:to\snote\s)?that\b | \bwe\scan\ssee\sthat\b
    | \b(?:please\s)?note\sthat\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""Words that join a sentence to the one before or soften it."""

_NOT: Final = r"(?:(?:do|does|did|is|are|was|were|has|have|can|could)(?:\snot|n['’]t))"
_TELL: Final = r"""(?:answer|mention|contain|provide|specify|state|say|include|discuss|address|indicate|explain|cover
    |give|describe|offer|reveal|detail|mentioned|specified|stated|provided|explained|addressed|discussed|covered|clear|enough
    |sufficient)"""
_TOLD: Final = r"""(?:mentioned|specified|stated|provided|explained|addressed|discussed|covered|answered|found
    |available)"""
_KNOWLEDGE: Final = r"""(?:information|details?|mention|answers?|indication|instructions?|evidence|data|explanation)"""
_I_CANNOT: Final = r"""\b(?:i|we)\s(?:cannot|can\s?not|can['’]t|could\snot|couldn['’]t)\s"""
_WEI: Final = r"""(?:有|能|足以|明确|直接|具体|包含|提供|提及|提到|说明|涉及|给出|回答|找到|记载|足)"""

MAY_REFUSE: Final = re.compile(
    r"\bno[nt]?\b|\bnone\b|n['’]t\b|cannot|unable|impossible|difficult|sorry|无法|没有|未|不|抱歉|对不起", re.IGNORECASE
)
"""A quick look whether a sentence can be a refusal at all."""

REFUSAL: Final = re.compile(
    rf"""
      {_SOURCE}(?:\s\#?\d+)?(?:\s\w+){{0,2}}\s{_NOT}(?:\s\w+){{0,2}}\s{_TELL}\b
    | \b(?:none\sof|no)\s{_GIVEN}{_SOURCE}\s(?:\w+\s){{0,2}}
        (?:mentions?|provides?|contains?|answers?|says?|states?|gives?)\b
    | \b(?:it|they|which|this|that)\s{_NOT}\s(?:\w+\s){{0,2}}
        (?:(?:mention|specify|state|say)\b
        |(?:provide|give|contain|offer|include)\s(?:\w+\s){{0,2}}{_KNOWLEDGE}\b)
    | (?:^\W*(?:\w+,?\s)?|\bbut\s)(?:it|they|this|that)\s{_NOT}\s(?:\w+\s){{0,2}}(?:explain|indicate|discuss|address)\b
    | \b(?:is|are|was|were)\snot\s(?:\w+\s){{0,2}}(?:mentioned|specified|stated)\b
    | \bno\s(?:\w+\s)?{_KNOWLEDGE}\s(?:(?:is|was|are|were)\s)?(?:(?:available|provided|given|found)\s)?
        (?:of|about|on|regarding|in\s{_GIVEN}{_SOURCE})\b
    | (?:^\W*(?:\w+,\s)?|\b(?:i|we)\s(?:am|are|was|were)\s|\bit\s(?:is|was)\s)(?:currently\s)?
        (?:unable|not\sable|not\spossible|impossible|difficult)\sto\s(?:\w+\s)?
        (?:answer|determine|give|provide|find|say|tell|confirm)\b
    | \bunable\sto\sanswer\b | \b(?:cannot|can\snot|could\snot)\sbe\s(?:\w+\s)?(?:answered|determined)\b
    | {_I_CANNOT}(?:\w+\s)?(?:answer|determine|find|confirm|say|tell|provide|give)\b
    | \b(?:i|we)\s(?:do\snot|don['’]t|did\snot|didn['’]t)\s(?:have|know|find|see)\s(?:\w+\s){{0,3}}
        (?:{_KNOWLEDGE}|{_SOURCE})\b
    | ^\W*i\s(?:do\snot|don['’]t)\sknow\b | \bnone\smentioned\b | ^\W*(?:i\s?(?:['’]m|am)\s(?:\w+\s)?)?sorry\b
    | \bnot\s(?:\w+\s){{0,2}}{_TOLD}\s(?:in|by|from)\s{_GIVEN}{_SOURCE}\b
    | (?:(?:根据|基于|从)[^，。]{{0,12}}{_LIEN}[^。]{{0,6}}|^\W*(?:因此|所以)?[，,]?(?:目前|暂时|我们?)+)无法
    | ^\W*无法(?:直接|准确|完全)?(?:判断|确定|得知|确认)\W*$ | 无法(?:直接|准确|完全)?回答
    | {_LIEN}(?:中|里|内)?(?:也|均|都|并|暂)*(?:没有|未|不){_WEI}
    | (?:没有|未能?)(?:在{_LIEN}中)?(?:找到|查到|检索到|提及|提到)
        (?:任何|相关|有关|与|关于|[^。]{{0,12}}{_LIEN})
    | ^\W*(?:很|非常)?(?:抱歉|对不起) | ^\W*我?(?:不清楚|不知道)
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""The sources do not hold it, or the writer cannot say; each form is tied to sources or to "I", since a policy may
well say "no data is passed on"."""

COURTESY: Final = re.compile(
    r"""
      ^\W*(?:sure|certainly|of\scourse|absolutely|thanks?|thank\syou|you['’]re\swelcome|welcome|okay|ok|yes|no
        |(?:that['’]s\sa\s)?(?:great|good)\squestion|good\s(?:morning|afternoon|evening)
        |(?:hello|hi|hey|dear)(?:\s\w+){0,2})\W*$
    | \b(?:(?:hope|trust)\s(?:this|that|it)\s(?:\w+\s)?helps?|let\sme\sknow|(?:happy|glad)\sto\shelp
        |feel\sfree\sto\s(?:ask|reach|contact|let)|i\s(?:can|will|['’]ll)\shelp\syou
        |if\syou\shave\s(?:any\s)?(?:(?:other|further|more|additional)\s)?questions)\b
    | ^\W*(?:您好|你好|谢谢|感谢您?的?提问|好的|当然(?:可以)?|不客气|没问题|早上好|下午好|晚上好)\W*$
    | 希望(?:这|以上|对)[^。]*(?:帮助|帮到) | 随时(?:告诉我|提问|问我)
    | 如(?:果|有|您)[^。]*(?:疑问|问题)[^。]*(?:随时|欢迎|告诉我|问我|提问)
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""Greetings, thanks and offers of help."""

LEAD_IN: Final = re.compile(
    r"""
      \b(?:here(?:['’]s|\sis|\sare)|following|follows|below|these|this)\b
    | \b(?:is|are|was|were|be|includes?|including|steps?|ways?|reasons?|methods?|options?|factors?|points?|answer
        |summary)\W*$
    | 如下|以下|下列|(?:包括|有|是)\W*$
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""What a line that introduces a list says, read together with the colon at its end."""
