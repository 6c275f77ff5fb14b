"""The patterns of dates, clock times and periods, each with the sign without which it cannot match.

The signs are cheap to look for, and most sentences have none, so that few patterns run on most texts.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterable
from typing import Final

MONTHS: Final = (
    {name.lower(): number for number, name in enumerate(calendar.month_name) if number}
    | {name.lower(): number for number, name in enumerate(calendar.month_abbr) if number}
    | {"sept": 9}
)
WEEKDAYS: Final = (
    {name.lower(): number for number, name in enumerate(calendar.day_name)}
    | {name.lower(): number for number, name in enumerate(calendar.day_abbr)}
    | {"tues": 1, "thur": 3, "thurs": 3}
)
HAN_WEEKDAYS: Final = {char: number for number, char in enumerate("一二三四五六日")} | {"天": 6}
_DAY_WORDS: Final = frozenset(WEEKDAYS) | {f"{name}s" for name in WEEKDAYS}
_MONTH: Final = "|".join(name.capitalize() for name in sorted(MONTHS, key=len, reverse=True))
_DAYS: Final = "|".join(name.capitalize() for name in sorted(WEEKDAYS, key=len, reverse=True))
_YEAR: Final = r"(?:1[5-9]|20)\d\d"
_ALONE: Final = "(?<![A-Za-z0-9])"
_FISCAL: Final = r"(?:[Ff]iscal(?:\s+[Yy]ear)?|FY)"
_HAN_NUMBER: Final = "[〇零一二三四五六七八九十]"
_PATTERNS: Final = tuple(
    (sign, re.compile(pattern, re.VERBOSE))
    for sign, pattern in (
        (
            "digit",
            rf"(?<![\d.])(?P<y>{_YEAR})\s?[-/.]\s?(?P<m>0?[1-9]|1[0-2])\s?[-/.]\s?(?P<d>0?[1-9]|[12]\d|3[01])(?!\d)",
        ),
        ("han", rf"(?P<y>{_YEAR})年?(?:第?(?P<hq>[一二三四1-4])季度|(?P<hh>[上下])半年)"),
        (
            "han",
            rf"(?P<y>{_YEAR}|[〇零一二三四五六七八九]{{4}})\s?年\s?(?:(?P<m>1[0-2]|0?[1-9]|{_HAN_NUMBER}{{1,2}})\s?月份?(?:\s?(?P<d>[12]\d|3[01]|0?[1-9]|{_HAN_NUMBER}{{1,3}})\s?[日号])?)?(?P<fy>财年)?",
        ),
        (
            "han",
            rf"(?<![\d年])(?P<m>1[0-2]|0?[1-9]|{_HAN_NUMBER}{{1,2}})\s?月\s?(?P<d>[12]\d|3[01]|0?[1-9]|{_HAN_NUMBER}{{1,3}})\s?[日号]",
        ),
        (
            "month",
            rf"\b(?P<mon>{_MONTH})\b\.?,?\s+(?P<d>[12]\d|3[01]|0?[1-9])(?:st|nd|rd|th)?\b(?!:)(?:\s?,?\s+(?P<y>{_YEAR})\b)?",
        ),
        (
            "month",
            rf"(?<![\d.,])(?P<d>[12]\d|3[01]|0?[1-9])(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<mon>{_MONTH})\b\.?(?:\s?,?\s+(?P<y>{_YEAR})\b)?",
        ),
        ("month", rf"\b(?P<mon>{_MONTH})\b\.?,?\s+(?:of\s+)?(?P<y>{_YEAR})\b"),
        ("digit", r"(?<![\d/.])(?P<m>0?[1-9]|1[0-2])/(?P<d>[12]\d|3[01]|0?[1-9])/(?P<y>(?:19|20)\d\d)(?!\d)"),
        (
            "quarter",
            rf"(?:{_ALONE}(?P<q>[QH][1-4])\s?(?:of\s+|/|,)?\s?(?:(?P<fy>{_FISCAL}\s?)?['’]?(?P<y>(?:20)?\d\d)(?![A-Za-z0-9]))|(?<!FY\s)(?<!year\s){_ALONE}(?P<y2>{_YEAR})\s?[-/]?\s?(?P<q2>[QH][1-4])(?![A-Za-z0-9]))",
        ),
        (
            "quarter",
            rf"\b(?P<nth>[Ff]irst|[Ss]econd|[Tt]hird|[Ff]ourth)\s+(?:(?P<part>quarter|half)\s+of\s+(?P<fy>{_FISCAL}\s?)?['’]?(?P<y>(?:20)\d\d|(?<=FY)\d\d)(?![A-Za-z0-9])|(?P<part2>quarter)\b)",
        ),
        (
            "quarter",
            rf"(?:{_ALONE}{_FISCAL}\s?['’]?(?P<fy>(?:19|20)?\d\d)(?![A-Za-z0-9])|(?P<hfy>(?:20)?\d\d)\s?财年)(?:\s?[-,]?\s?(?:(?P<q>Q[1-4])(?![A-Za-z0-9])|第?(?P<hq>[一二三四1-4])季度))?",
        ),
        ("quarter", rf"{_ALONE}(?P<q>[QH][1-4])(?![A-Za-z0-9])|第?(?P<hq>[一二三四1-4])季度|(?P<hh>[上下])半年"),
        ("digit", r"(?<![\d-])(?P<y>(?:19|20)\d\d)-(?P<m>0[1-9]|1[0-2])(?![\d-])"),
        ("digit", r"\b(?:(?:the\s+)?year\s+)?(?P<y>\d{1,4})\s?(?P<bc>BCE?|B\.C\.)(?![A-Za-z])"),
        (
            "digit",
            rf"(?:(?<![\d$€£¥,.#/-])|(?<=\d\d\d\d[-–]))\b(?P<y>{_YEAR})\b(?!\s?(?:people|persons|inhabitants|residents|employees|users|[%％年元人名个件]|[,.]\d))",
        ),
        (
            "han",
            rf"(?P<hap>上午|早上|中午|下午|晚上|凌晨)\s?(?P<h>1[0-9]|2[0-4]|\d|{_HAN_NUMBER}{{1,2}})\s?(?:[点时](?:(?P<min>[0-5]\d|{_HAN_NUMBER}{{1,3}})分?|(?P<half>半))?|:(?P<cmin>[0-5]\d))",
        ),
        (
            "han",
            rf"(?<![\d.第{_HAN_NUMBER[1:]})(?P<h>1\d|2[0-4]|\d|{_HAN_NUMBER}{{1,3}})点(?:(?P<min>[0-5]\d|{_HAN_NUMBER}{{1,3}})分|(?P<half>半)|(?=整|[到至前后~—–-]|[之以][前后]|[开关上下]|[，。；]|$))",
        ),
        (
            "digit",
            r"(?<![A-Za-z\d.])(?P<h>1[0-2]|0?[1-9])(?:[:.](?P<min>[0-5]\d))?\s?(?P<ap>[ap]\.m\.|[AP]\.M\.|[ap]m\b|[AP]M\b)",
        ),
        ("digit", r"(?<![\d:.])(?P<h>[01]?\d|2[0-3]):(?P<min>[0-5]\d)(?!\d|:\d)"),
        ("word", r"\b(?P<noon>noon|midnight)\b|(?P<hnoon>正午)"),
        ("weekday", rf"\b(?P<rel>(?i:last|this|next)\s+(?:{_DAYS}))\b"),
        ("weekday", r"(?P<hrel>(?P<hdir>[上本这下])个?(?:周|星期|礼拜)(?P<hday>[一二三四五六日天]))"),
        ("weekday", rf"\b(?P<wd>{_DAYS})s?\b\.?|(?:周|星期|礼拜)(?P<hwd>[一二三四五六日天])"),
        (
            "month",
            rf"(?:\b(?i:in|by|of|until|till|since|from|to|through|and|before|after|each|every|during|late|early|mid|between)\s+)(?P<mon>{_MONTH})\b(?!\s+(?:be|not|have|also)\b)",
        ),
        ("han", rf"(?<![\d年])(?P<m>1[0-2]|[1-9]|{_HAN_NUMBER}{{1,2}})月份?(?![日\d])"),
        ("word", r"\b(?P<rel>today|yesterday|tomorrow|(?P<dir>last|this|next)\s+(?P<unit>week|month|quarter|year))\b"),
        (
            "han",
            r"(?P<hrel>今天|昨天|明天|今年|去年|明年|(?P<hdir>上|本|这|下)个?(?P<hunit>周|月|季度)(?![一二三四五六日天]))",
        ),
    )
)
_HAN: Final = re.compile("[年月日号点周期拜午上晚晨季今昨明去本这下半]")
_HAN_PERIODS: Final = ("财年", "季度", "半年")
_DIGIT: Final = re.compile(r"\d")
_LATIN: Final = re.compile("[a-z]+")
_WORDS: Final = frozenset(("noon", "midnight", "today", "yesterday", "tomorrow", "last", "this", "next"))
_PERIOD_WORDS: Final = frozenset(("q", "h", "fy", "fiscal", "quarter", "half"))


def possible_patterns(text: str) -> Iterable[re.Pattern[str]]:
    """The patterns that can match in a text, in the order in which they take precedence."""
    signs = _signs(text)
    return [pattern for sign, pattern in _PATTERNS if sign in signs] if signs else ()


def _signs(text: str) -> frozenset[str]:
    words = frozenset(_LATIN.findall(text.lower()))
    han = not text.isascii() and _HAN.search(text) is not None
    found = {
        "digit": _DIGIT.search(text) is not None,
        "han": han,
        "month": not words.isdisjoint(MONTHS),
        "weekday": not words.isdisjoint(_DAY_WORDS) or (han and any(char in text for char in "周期拜")),
        "quarter": not words.isdisjoint(_PERIOD_WORDS) or (han and any(part in text for part in _HAN_PERIODS)),
        "word": not words.isdisjoint(_WORDS) or "正午" in text,
    }
    return frozenset(sign for sign, present in found.items() if present)
