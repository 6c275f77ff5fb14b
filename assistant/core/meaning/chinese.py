"""The form of a Chinese question: whether it asks yes or no, and its characters with what changes nothing evened out.

Characters keep their order: in Chinese it is most of the grammar.
"""

from __future__ import annotations

import re
from typing import Final

import rjieba

from assistant.core.text import CJK

Form = tuple[str, tuple[str, ...], tuple[str, ...]]

_POLITE: Final = re.compile(
    r"^(?:[\s,，。!！、:：]*(?:请问一下|请问|你好|您好|麻烦问一下|麻烦|打扰一下|想请问一下|想请问|想问一下|想问问|想问|我想知道|我想了解|想知道"
    r"|想咨询一下|咨询一下|(?:你|您)?(?:能|可以|能不能|可不可以)?(?:请)?告诉我|请告诉我|(?:你|您)?知道(?=.*(?:吗|什么|多少|几|谁|哪|怎|如何|何时|为什么)))"
    r"[\s,，。!！、:：]*)+"
)
_PARTICLE: Final = re.compile(r"(?:呢|啊|呀|哦|吧|哈|(?<![什怎那这多])么|谢谢|多谢|[\s?？。.!！,，])+$")
_INDIRECT: Final = re.compile(r"^[\s,，]*(?:请问|请)?(?:你|您)?(?:能|可以|能不能|可不可以|知道)(?:请)?(?:告诉我)?")
_OPEN: Final = re.compile(r"什么|多少|几|谁|哪|怎|如何|何时|多久|多长|为什么")
_ASKS: Final = re.compile(r"(?<!什)(?:吗|嘛)$")
_SILENT: Final = re.compile(r"[\s,，。.!！?？;；:：、\"'“”‘’()（）《》「」【】]+")

_YES_OR_NO: Final = re.compile(
    r"能不能够|能不能|可不可以|可以不可以|能否|可否|是否可以|是否能够|是否能|是不是可以|是不是能|会不会|是否会|需不需要|要不要|是否需要|是否要|用不用"
    r"|有没有|是否有|是不是|是否"
)
_ASKED: Final = {
    **dict.fromkeys(
        "能不能够 能不能 可不可以 可以不可以 能否 可否 是否可以 是否能够 是否能 是不是可以 是不是能".split(), "可以"
    ),
    **dict.fromkeys("会不会 是否会".split(), "会"),
    **dict.fromkeys("需不需要 要不要 是否需要 是否要 用不用".split(), "需要"),
    **dict.fromkeys("有没有 是否有".split(), "有"),
}
_SAME: Final = tuple(
    (re.compile(pattern), form)
    for pattern, form in (
        (r"什么时候|什么时间|啥时候|何时|几时", "何时"),
        (r"什么地方|哪里|哪儿|何处", "哪里"),
        (r"为什么|为何|为啥|什么原因|因为什么", "为何"),
        (r"怎么样才能|怎样才能|怎么才能|如何才能|怎么样|怎样|怎么|如何", "如何"),
        (r"什么人|哪位|哪个人", "谁"),
        (r"啥", "什么"),
        (r"多长时间|多久", "多久"),
        (r"(?:多少|几)(?=个?(?:天|小时|周|星期|个月|月|年|元|块|人|次|级|分钟))", "几"),
        (r"年休假", "年假"),
        (r"职工|雇员", "员工"),
        (r"我们公司|咱们公司|本公司|公司里", "公司"),
        (r"我们|咱们", "我"),
        (r"电话号码|联系电话", "电话"),
        (r"电子邮箱|电子邮件地址|邮箱地址", "邮箱"),
        (r"手提电脑|笔记本电脑", "笔记本电脑"),
        (r"截止日期|截止时间|最后期限", "截止日期"),
        (r"居家办公|在家办公|在家工作", "居家办公"),
        (r"购买", "买"),
        (r"提交", "交"),
        (r"递交|上交", "交"),
        (r"星期|礼拜", "周"),
        (r"钟头", "小时"),
        (r"人民币|块钱", "元"),
        (r"开始(?=上班|工作)", ""),
    )
)
_WORDS: Final = {
    "能": "可以",
    "能够": "可以",
    "可": "可以",
    "的": "",
    "了": "",
    "一下": "",
    "要": "需要",
    "得": "需要",
    "之": "",
}
"""Words of the segmenter that are evened out only where they stand alone."""
_HAS: Final = re.compile(r"(?:享有|享受|拥有)")
_COUNTED: Final = re.compile(
    r"(?:有|是|为)?几(个?(?:天|小时|周|个月|月|年|元|人|次))(?=$)|(?:有|是|为)几(个?(?:天|小时|周|个月|月|年|元|人|次))"
)
_COPULA: Final = re.compile(r"(?:是|在)?(何时|哪里|谁|什么|多久)$")
_DIGITS: Final = {char: number for number, char in enumerate("零一二三四五六七八九")} | {"两": 2, "〇": 0}
_NUMERAL: Final = re.compile(
    r"[零〇一二两三四五六七八九]?十[一二三四五六七八九]?(?=个|天|小时|周|月|年|元|人|次|级|分|岁|号|日|万|倍|成|%)"
    r"|[零〇一二两三四五六七八九]+(?=个|天|小时|周|月|年|元|人|次|级|分|岁|号|日|十|百|千|万|倍|成|%)"
)
_RUN: Final = re.compile(rf"[{CJK}]+|[^{CJK}]+")


def chinese_form(question: str) -> Form:
    """The form of a question that holds Chinese (NFKC); equal forms ask the same."""
    text = _PARTICLE.sub("", _POLITE.sub("", question.strip()))
    if _INDIRECT.search(question) and _OPEN.search(text):
        text = _ASKS.sub("", text)  # (can you tell me) how it is done
    yes_or_no = _ASKS.search(text) is not None or _YES_OR_NO.search(text) is not None
    text = _YES_OR_NO.sub(lambda found: _ASKED.get(found.group(), "是"), _ASKS.sub("", text))
    text = _SILENT.sub(" ", text).strip().lower()
    for pattern, form in _SAME:
        text = pattern.sub(form, text)
    text = "".join(_evened(run) for run in _RUN.findall(_NUMERAL.sub(_digits, text)))
    return ("whether" if yes_or_no else ""), _asked(text), (_rest(text),)


def _digits(found: re.Match[str]) -> str:
    """A Chinese numeral below a hundred, or a row of digits (a year), in Arabic digits."""
    numeral = found.group()
    tens, ten, ones = numeral.partition("十")
    if ten:
        return str(10 * _DIGITS.get(tens, 1) + _DIGITS.get(ones, 0))
    return "".join(str(_DIGITS[char]) for char in numeral)


def _evened(run: str) -> str:
    if not re.match(f"[{CJK}]", run):
        return run if run.strip() else ""
    return "".join(_WORDS.get(word, word) for word in rjieba.cut(_HAS.sub("有", run)))


def _asked(text: str) -> tuple[str, ...]:
    """The unit of a quantity that is asked for at the end or behind "has": it may stand before or behind its noun."""
    found = _COUNTED.search(text)
    return (next(filter(None, found.groups())).removeprefix("个"),) if found else ()


def _rest(text: str) -> str:
    text = _COUNTED.sub("", text, count=1)
    return _COPULA.sub(r"\1", text)
