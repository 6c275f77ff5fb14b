"""Chinese follow-ups: what a question lacks, and how it reads when the lack is filled."""

from __future__ import annotations

import re
from typing import Final

import rjieba

from assistant.core.stopwords import FUNCTION_CHARACTERS, STOPWORDS

_END: Final = "？?！!。. ，,~～"
_LEAD: Final = re.compile(
    r"^(?:(?:好的?|嗯+|哦+|噢|谢谢你?|多谢|明白了?|知道了|了解了?|收到|原来如此|那么?|然后|所以|另外|还有|对了|请问|我想问一下|我想知道)"
    r"[，,。.！!、\s]*)+"
)
_CORRECTION: Final = re.compile(
    r"^(?:(?:不是的?|不对|不|错了|抱歉|对不起|等等)[，,。！!\s]*)*"
    r"(?:我(?:的意思)?(?:想)?(?:是说的?|说的是|的意思是|问的是|想问的是|指的是|是指|是问|意思是)|应该是|而是)"
    r"[，,：:\s]*(?P<rest>.+)$",
    re.DOTALL,
)
# What is put right by naming what is not meant: 不是年假，是病假；说错了，是病假；不，我要2020年的；北京，不是上海.
_CONTRAST: Final = re.compile(
    r"^(?:不是|不是说|不是问|不要|并非)[^，,。；;]{1,16}[，,；;\s]*(?:而?是(?:说|问|指)?|要)(?P<but>[^，,。；;]{1,24})$"
    r"|^(?:不是的?|不对|不|错了|说错了|我说错了|搞错了|弄错了|问错了|抱歉|对不起)[，,。！!\s]+(?:我(?:要|想要|想问|想知道|想查)(?:的是)?|应?该?是|是)?"
    r"(?P<plain>[^，,。；;]{1,24})$"
    r"|^(?P<first>[^，,。；;]{2,16})(?:[，,；;\s]+不是|[，,；;\s]*而(?:不是|非))[^，,。；;]{1,16}$"
)
_NE: Final = re.compile(
    r"^(?:那么?|还有|以及|然后|或者)?[，,\s]*(?P<rest>[^，,。；;？?]{1,20}?)的?(?:呢|怎么样|如何|怎么说|又如何)$"
)
_AND: Final = re.compile(r"^(?:那么?|还有|以及|或者|换成|如果是|要是|假如是)[，,\s]*(?P<rest>[^，,。；;？?]{1,16})$")
_CONDITION: Final = re.compile(
    r"^(?:那么?|但是?|可是)?[，,\s]*(?P<rest>(?:如果|要是|假如|假设|万一)(?!是)[^，,。；;？?]{2,24}?)(?:的话)?呢$"
)
_ASKS: Final = re.compile(
    r"什么|怎么|怎样|如何|哪|谁|多少|多久|多长|多大|多高|几|吗|么$|是否|能否|可否|有没有|是不是|能不能|可不可以|要不要"
    r"|为何|为啥|请|帮|介绍|说明|列出|告诉"
)
_VERB: Final = re.compile(r"[是有要能可会需应得]|申请|报销|适用|享受|规定")
_ANAPHOR: Final = re.compile(
    r"(?<!其)它|(?<![其吉])他|她|这(?!个?(?:月|周|年|星期|季度|样的话))|那(?=个|些|里|边|种|位|部|首|家|次|项|份|条|是|会|本|座|名|张)"
    r"|该(?=[^不]{1,6}[的是有在由])|此(?!外|次)|其(?!他|它|余|实|中)|上述|前者|后者|同样"
)
_MORE: Final = re.compile(r"其他|其它|别的|另一|还有|更多|此外|再说|详细|具体|举例|例子|比如")
_MERE: Final = re.compile(
    r"(?:这(?:又)?是)?为(?:什么|何|啥)|凭什么|什么意思|真的吗|是吗|确定吗|具体呢|怎么说|举个?例子?"
)
_QUOTED: Final = re.compile(r"《([^《》]{1,40})》|“([^“”]{1,24})”|「([^「」]{1,24})」")
_ROLES: Final = re.compile(
    r"(?:男|女|正式|合同|试用期|新入职|新|老|外籍|兼职|全职|派遣|临时|外包|在职|离职|退休|普通|基层|非全日制)?(?:员工|职工|人员)"
    r"|合同工|实习生|临时工|派遣工|外包|兼职|全职|经理|主管|总监|高管|管理层|顾问|应届生|培训生|供应商|客户|访客|家属|配偶"
    r"|子女|学生|志愿者"
)
_NUMERAL: Final = r"[\d一二两三四五六七八九十百千万零〇]"
# Kinds of things that take each other's place: a fragment of one kind replaces the one of its kind in the last question.
_KINDS: Final = (
    re.compile(r"(?:19|20)\d\d(?:年度?)?|今年|去年|明年|前年|后年|本年度?"),
    re.compile(rf"{_NUMERAL}{{1,3}}月份?|上个?月|下个?月|本月|这个月"),
    re.compile(r"第[一二三四1-4]季度|[Qq][1-4]|上半年|下半年"),
    re.compile(r"(?:星期|周|礼拜)[一二三四五六日天末]"),
    re.compile(rf"{_NUMERAL}+(?:\.\d+)?(?:万|千|百)?(?:元|块钱?|美元|欧元)"),
    re.compile(rf"{_NUMERAL}+(?:\.\d+)?(?:天|周|个月|年|小时|人|名|个工作日|公里|级|%|％)"),
    _ROLES,
)
_PERIODS: Final = _KINDS[:3]
_YEAR: Final = re.compile(r"(?:19|20)\d\d(?=年)")
_YEAR_BESIDE: Final = re.compile(r"(?:(?P<earlier>前一年|上一年|之前一年)|后一年|下一年|之后一年|第二年)")
_CIRCUMSTANCE: Final = re.compile(
    r"(?:周末|工作日|(?:法定)?节假日|假期|春节|国庆|夜间|晚上|白天|早上|上午|下午|国外|国内|海外|境外|外地|异地|出差时|试用期(?:内|间)?|.{1,8}(?:期间|以后|以前|之后|之前|以内|以上|以下))"
)
"""What a question can be narrowed to by putting it first."""
_ABROAD: Final = re.compile(r"国外|国内|海外|境外|外地")
_LEADING: Final = re.compile(r"^(?:在|对于?|针对|关于|换成|如果是|要是|假如是)(?=.{2})")
_JOINED: Final = re.compile(r"[、和与及或跟，,]|以及")
_JOINT: Final = re.compile(
    r"^(?:那么?|另外|对了|所以|但是?|可是)[，,\s]*(?=.{2})(?![个些里边种位部首家次项份条是会本座名张天年月时儿样])"
)
"""What ties a question to the one before; 那 only where it does not point at something."""
_ONWARD: Final = re.compile(
    r"(?:请|麻烦)?(?:再|继续|接着|详细|具体|展开|进一步)?(?:说说|讲讲|说|讲|解释|说明|举|列出|介绍|重复|继续|接着说|展开)(?!.*[吗呢么]).*|好的?|是的?|对的?|不是|不用了?|可以"
)
_CUT: Final = re.compile(
    r"是否|能否|可以|需要|应该|必须|怎么|怎样|如何|什么|哪|谁|多少|多久|多长|几|为什么|有没有|是不是|能不能|包括"
    r"|[是有要会能在由吗呢？?！!\s]"
)
_CLAUSES: Final = re.compile(r"[，,。；;！!]")
_FOLLOWING: Final = re.compile(r"（接上一问：“(.*)”）$", re.DOTALL)
# Tags of the segmenter that carry a topic: nouns, verbal nouns, abbreviations, foreign words, idioms.
_TOPIC_TAGS: Final = ("n", "vn", "j", "eng", "an", "i", "l")
_NAME_TAGS: Final = frozenset({"nr", "ns", "nt", "nz", "nrt", "nrfg"})
_GENERIC_WORDS: Final = (
    "时候 时间 地方 情况 问题 东西 意思 地址 方法 办法 原因 内容 部分 方面 信息 公司 事情 人 人们 家伙 关系"
)
_GENERIC: Final = frozenset(_GENERIC_WORDS.split())


def depends(question: str) -> tuple[str, str]:
    """What a question lacks without its conversation: (rule, the part that says something new).

    Rules: correction, fragment, pronoun, ellipsis; ("complete", question) when it stands alone.
    """
    core = question.strip().strip(_END)
    if found := _CORRECTION.match(core):
        return "correction", found["rest"].strip(_END)
    if (found := _CONTRAST.match(core)) and not _ASKS.search(right := found["but"] or found["plain"] or found["first"]):
        return "correction", right.strip(_END).removesuffix("的")
    if found := _CONDITION.match(core):
        return "fragment", found["rest"]
    for pattern in (_NE, _AND):
        if (found := pattern.match(core)) and not _is_clause(found["rest"]):
            return "fragment", found["rest"]
    core = _LEAD.sub("", core).strip(_END) or core
    if len(core) <= 8 and not _is_clause(core):
        return "fragment", core
    if _QUOTED.search(core):
        return "complete", core
    if _refers_back(core):
        return "pronoun", core
    return ("ellipsis" if _is_elliptic(core) else "complete"), core


def _is_clause(text: str) -> bool:
    return _ASKS.search(text) is not None or _VERB.search(text) is not None


def _refers_back(core: str) -> bool:
    """Whether a pronoun has no noun before it in the same question."""
    found = _ANAPHOR.search(core)
    return found is not None and not _content(core[: found.start()])


def _is_elliptic(core: str) -> bool:
    """Whether something is missing without a word that points at it: the subject of a Chinese question is often left out."""
    content = _content(core)
    return len(content) <= 1 or (len(content) <= 3 and _MORE.search(core) is not None)


def _content(text: str) -> list[str]:
    return [
        word
        for word, tag in rjieba.tag(text)
        if tag.startswith(_TOPIC_TAGS) and word not in STOPWORDS and word not in _GENERIC
    ]


def names(text: str) -> list[str]:
    """Names of a text in order, each once: what stands in 《》 or quotation marks, else persons, places, organisations."""
    marked = [next(part for part in found if part) for found in _QUOTED.findall(text)]
    tagged = [word for word, tag in rjieba.tag(text) if tag in _NAME_TAGS and len(word) > 1]
    return list(dict.fromkeys(marked or tagged))


def fill(rule: str, rest: str, question: str, previous: str) -> tuple[str, bool]:
    """The question with its lack filled from the previous question, and whether that is certain.

    Where it is not certain, the question is kept, and its topic or the previous question is added to it.
    """
    if rule == "correction" and _ASKS.search(rest):
        return _sentence(rest), True
    if rule in {"correction", "fragment"}:
        if swapped := _swap(rest, _fuller(previous)):
            return swapped, True
    elif not _MERE.fullmatch(rest) and (topic := _topic(_fuller(previous), whole=not _content(rest))):
        return f"关于{topic}：{_sentence(_JOINT.sub('', question))}", False
    return f"{_sentence(question)}（接上一问：“{_shortened(previous)}”）", False


def _swap(rest: str, previous: str) -> str:
    """The previous question with the one part that the rest takes the place of; "" when that is not certain."""
    if rest.startswith(("如果", "要是", "假如", "假设", "万一")):
        return f"{rest}，{previous}"
    bare = _LEADING.sub("", rest)
    known = names(previous)
    if _ABROAD.fullmatch(bare) and len(known) == 1 and _tag(known[0]) == "ns":
        return previous.replace(known[0], bare)
    if (exchanged := _exchanged(bare, previous)) is not None:
        return exchanged
    if (old := _name_like(bare, previous)) or (old := _same_head(bare, previous)):
        return previous.replace(old, bare)
    if any(kind.fullmatch(bare) for kind in _PERIODS) or _CIRCUMSTANCE.fullmatch(rest):
        return f"{rest}，{previous}"
    if _ROLES.fullmatch(bare):
        return f"对于{bare}，{previous}"
    return f"在{bare}，{previous}" if all(_tag(part) == "ns" for part in _JOINED.split(bare)) else ""


def _exchanged(bare: str, previous: str) -> str | None:
    """The previous question with a part of the same kind exchanged; "" when several are, None when none is."""
    years = list(_YEAR.finditer(previous))
    if len(years) == 1 and (moved := _moved(bare, years[0], previous)):
        return moved
    for kind in _KINDS:
        parts = _JOINED.split(bare)
        if not all(kind.fullmatch(part) for part in parts) or not (old := list(kind.finditer(previous))):
            continue
        if len(old) != 1:
            return ""
        whole = f"{bare}年" if old[0].group().endswith("年") and bare[-1:].isdigit() else bare
        return previous[: old[0].start()] + whole + previous[old[0].end() :]
    return None


def _moved(bare: str, year: re.Match[str], previous: str) -> str:
    """The previous question with its year moved by one, or narrowed to a quarter or month; "" if it is not."""
    if beside := _YEAR_BESIDE.fullmatch(bare):
        moved = int(year.group()) + (-1 if beside["earlier"] else 1)
        return previous[: year.start()] + str(moved) + previous[year.end() :]
    if any(kind.fullmatch(bare) and not kind.search(previous) for kind in _PERIODS[1:]):
        return previous[: year.end() + 1] + bare + previous[year.end() + 1 :]
    return ""


def _name_like(bare: str, previous: str) -> str:
    """The one name of the previous question, when the rest is a name of its kind, or several."""
    known, parts = names(previous), _JOINED.split(bare)
    if len(known) != 1 or names(bare) != parts or previous.count(known[0]) != 1:
        return ""
    return known[0] if all(_tag(part) == _tag(known[0]) for part in parts) else ""


def _tag(word: str) -> str:
    tagged = rjieba.tag(word)
    return str(tagged[0][1]) if len(tagged) == 1 else ""


def _same_head(rest: str, previous: str) -> str:
    """The part of the previous question that ends alike and is as long: 病假, 年假; 差旅报销, 医疗报销; "" when unclear."""
    for head in (rest[-2:], rest[-1:]):
        start = previous.find(head) + len(head) - len(rest)
        part = previous[start : start + len(rest)] if start >= 0 else ""
        fits = (
            part
            and _is_whole(start, start + len(part), previous)
            and part != rest
            and previous.count(head) == 1
            and FUNCTION_CHARACTERS.isdisjoint(part)
        )
        if len(rest) > len(head) and fits and part.endswith(head) and not _is_clause(part):
            return part
    return ""


def _is_whole(start: int, stop: int, text: str) -> bool:
    """Whether a part of a text begins and ends where words do."""
    borders = {0}
    for word in rjieba.cut(text):
        borders.add(max(borders) + len(word))
    return {start, stop} <= borders


def _topic(previous: str, *, whole: bool) -> str:
    """What the previous question is about: its one name, or what its last clause says before it asks; "" when unclear.

    With `whole`, for a question that names no property itself, what is said of a place stays with it: 上海的住宿标准.
    """
    known = names(previous)
    if len(known) == 1 and not (whole and _tag(known[0]) == "ns" and f"{known[0]}的" in previous):
        return f"《{known[0]}》" if f"《{known[0]}》" in previous else known[0]
    clauses = [clause for clause in _CLAUSES.split(previous.strip(_END)) if clause.strip()]
    parts = [part for part in _CUT.split(_LEAD.sub("", clauses[-1].strip())) if part] if clauses else []
    first = parts[0] if parts else ""
    return first if 2 <= len(first) <= 16 and _content(first) and not _ANAPHOR.search(first) else ""


def _fuller(previous: str) -> str:
    """The question that a note （接上一问 …） quotes, for that is the complete one; else the question itself."""
    found = _FOLLOWING.search(previous)
    return found[1] if found else previous


def _shortened(previous: str, longest: int = 120) -> str:
    """The previous question on one line with its note opened, cut."""
    found = _FOLLOWING.search(previous)
    text = " ".join((previous[: found.start()] + found[1] if found else previous).split())
    return text if len(text) <= longest else text[:longest] + "…"


def _sentence(text: str) -> str:
    text = text.strip()
    return text if text[-1:] in "？?。！!" else text + ("。" if _ONWARD.fullmatch(text) else "？")
