"""Furniture that a parser let through: lines of a site that say nothing of their page, left out of what is shown.

Only whole lines go, through `Evidence.kept`; the exact text and every offset stay. Two kinds are told. A *navigation* line
is one by its wording (cookie banners, page numbers, breadcrumbs, "back to top", copyright lines). A *repeated* line
stands verbatim in pieces of three or more document families; the best piece shows it, the others need not. A line may
count as repeated only when nothing is lost and nothing around it depends on it: it is running text, no heading, list item,
table row or line that introduces something, and it names no number. A piece that would lose more than half of its
text is left alone: what repeats there is the content.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from assistant.core.evidence import Evidence
from assistant.core.text import CJK, Span

LEAST_FAMILIES: Final = 3
"""In how many document families a line must stand to count as repeated."""
_MOST_LOST: Final = 0.5
_LEAST_WORDS: Final = 4
_LEAST_HAN: Final = 8
_LONGEST_NAVIGATION: Final = 160
_LONGEST_BANNER: Final = 500
_LINE: Final = re.compile(r"[^\n]*\n?")
_BULLET: Final = re.compile(r"^[-*•·]\s+")
_NO_RUNNING_TEXT: Final = re.compile(
    r"#{1,6}\s|\||>|```|~~~|(?:[-*+•·▪◦]|\(?(?:\d{1,3}|[A-Za-z])[.)]|[（(]?[一二三四五六七八九十]{1,3}[）)、.])\s*\S|.*[:：]$"
)
_NUMBER: Final = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen|twenty|thirty"
    r"|forty|fifty|sixty|seventy|eighty|ninety|hundreds?|thousands?|million|half|dozen|once|twice|fortnight)\b"
    r"|[〇零一二两三四五六七八九十百千万亿半]个?(?:工作)?[天日周月年季时分秒次元倍岁名份页折成%％]",
    re.IGNORECASE,
)
_HAN: Final = re.compile(f"[{CJK}]")
_PAGE_MARKS: Final = (
    r"(?:skip|jump) (?:directly )?to (?:the )?(?:main )?(?:content|navigation|search|menu|footer)",
    r"[↑^]?\s*(?:back|return|go) to (?:the )?top(?: of (?:the |this )?page)?\s*[↑^]?",
    r"[«‹<←]?\s*(?:previous|prev)(?: (?:page|article|chapter|section|post))?\s*[|/·•]?\s*next(?: (?:page|article|chapter|section|post))?\s*[»›>→]?",
    r"(?:share|print|e-?mail|bookmark) this (?:page|article|post)(?: (?:on|via|to) [\w ,/]{1,60})?",
    r"(?:edit|improve) this page(?: on [\w.]{1,20})?|report (?:an issue|a problem) with this page",
    r"was this (?:page|article|information) (?:helpful|useful)\?(?:\s*(?:yes|no|[|/·👍👎]))*",
    r"(?:subscribe|sign up) (?:to|for) (?:our|the) newsletter",
    r"(?:page|p\.)\s?\d{1,4}(?:\s?(?:of|/)\s?\d{1,4})?|[-–—]\s?\d{1,4}\s?[-–—]",
    r"跳(?:至|到|转到|过)(?:主要|正文|主)?(?:内容|导航|菜单)|(?:返回|回到)(?:页面)?(?:顶部|首页|上一页|目录)",
    r"[«‹<←]?\s*上一[页篇章]\s*[|/·•]?\s*下一[页篇章]\s*[»›>→]?",
    r"(?:打印|收藏|分享|编辑)(?:本|此)(?:页|页面|文|站)|分享[到至]\s?[\w、，,/ ]{1,40}",
    r"(?:第\s?\d{1,4}\s?页)?\s?[,，/|]?\s?共\s?\d{1,4}\s?页(?:\s?[,，/|]?\s?第\s?\d{1,4}\s?页)?|第\s?\d{1,4}\s?页",
)
_LEGAL_MARKS: Final = (
    (
        r"(?:(?:copyright\s{0,2})?©|copyright\s\(c\)|\(c\)(?=\s?\d{4}))\s?(?:copyright\s)?[^.!?。！？]{0,80}(?:\.\s?)?"
        r"(?:all rights reserved\.?|版权所有|保留所有权利|保留一切权利)?[。.]?"
    ),
    r"copyright \d{4}[^.!?]{0,80}(?:\.\s?)?(?:all rights reserved)?\.?",
    r"[^.!?。！？]{0,60}(?:all rights reserved\.?|(?:版权所有|保留所有权利|保留一切权利)[。.]?)",
    r"版权所有(?![者人权])[^.!?。！？]{0,60}",
)
_COOKIE_MARKS: Final = (
    r"(?:accept|reject|allow|decline|manage)(?: all| only| necessary| essential| non-essential)* cookies(?: and continue)?",
    r"cookie (?:settings|preferences|consent)",
    r"(?:this (?:web)?site|we)(?: and our partners)? uses? cookies\b.{0,300}\b(?:agree|consent|accept)\b.{0,120}",
    r"(?:接受|同意|拒绝|允许|管理)(?:所有|全部|必要)?(?:的)?\s?cookies?(?:并继续)?|cookie\s?(?:设置|偏好|偏好设置)",
    r"(?:本|我们的?)(?:网站|站点|站)?(?:会)?使用\s?cookies?.{0,120}(?:同意|接受).{0,60}",
)
_CRUMBS: Final = (
    r"(?:home|homepage|start page|首页|主页)(?:\s?[>›»→]\s?[^>›»→|\d.!?。！？]{1,40}){1,8}",
    r"(?:home|homepage|start page|首页|主页)(?:\s/\s[^/|\d.!?。！？]{1,40}){2,8}",
    r"(?:you are here|您(?:现在)?的?(?:所在)?位置|当前位置)\s?[:：].{1,120}",
)
_NAVIGATION: Final = re.compile("|".join((*_PAGE_MARKS, *_LEGAL_MARKS, *_COOKIE_MARKS, *_CRUMBS)), re.IGNORECASE)


_SIGNS: Final = (
    "skip jump top prev next share print mail bookmark edit improve report helpful useful newsletter page p. - – — © (c) copyright "
    "reserved cookie home here 跳 返回 回到 上一 打印 收藏 分享 编辑 页 版权 权利 位置"
).split()
"""One of these stands in every navigation line; most lines are spared the patterns."""


@dataclass(frozen=True, slots=True)
class _Line:
    """A line that is not blank: its place with its line end, its words, whether it stands in code or is navigation.

    `width` is in columns, a Chinese character counts as two.
    """

    start: int
    end: int
    text: str
    width: int
    code: bool
    navigation: bool


def without_furniture(evidence: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """The pieces, best first, without navigation lines and without repeated lines that a better piece shows.

    What is left out of a piece is missing in its `kept`; no piece is left empty or with less than half of its text.
    """
    repeated = _repeated(evidence)
    seen: set[str] = set()
    cleaned: list[Evidence] = []
    for item in evidence:
        lines = _lines(item.exact)
        again = seen & repeated
        dropped = _droppable(lines, again) or _droppable(lines, ())
        seen.update(line.text for line in lines if line not in dropped)
        cleaned.append(_without(item, dropped) if dropped else item)
    return tuple(cleaned)


def _repeated(evidence: Sequence[Evidence]) -> frozenset[str]:
    """The lines that stand in enough document families and may be shown once."""
    families: defaultdict[str, set[str]] = defaultdict(set)
    for item in evidence:
        for line in _lines(item.exact):
            families[line.text].add(item.source.family or item.source.document)
    return frozenset(text for text, found in families.items() if len(found) >= LEAST_FAMILIES and _is_repeatable(text))


def _droppable(lines: Sequence[_Line], repeated: Collection[str]) -> list[_Line]:
    """The lines to leave out; none when more than half of the text would go."""
    dropped = [line for line in lines if line.navigation or (line.text in repeated and not line.code)]
    whole, lost = sum(line.width for line in lines), sum(line.width for line in dropped)
    return dropped if lost <= whole * _MOST_LOST else []


def _without(item: Evidence, dropped: Sequence[_Line]) -> Evidence:
    kept = [part for span in item.kept for part in _rest(item, span, dropped)]
    return replace(item, kept=tuple(kept)) if kept else item


def _rest(item: Evidence, span: Span, dropped: Sequence[_Line]) -> Iterator[Span]:
    """The parts of a span between the lines that are left out, without parts that are blank."""
    start = span.start
    for line in dropped:
        begin, end = item.span.start + line.start, item.span.start + line.end
        if end <= start or begin >= span.end:
            continue
        if begin > start and item.quote(Span(start, begin)).strip():
            yield Span(start, begin)
        start = min(end, span.end)
    if item.quote(Span(start, span.end)).strip():
        yield Span(start, span.end)


@lru_cache(maxsize=1024)
def _lines(text: str) -> tuple[_Line, ...]:
    found: list[_Line] = []
    fenced = False
    for match in _LINE.finditer(text):
        line = match.group().strip()
        fence = line.startswith(("```", "~~~"))
        code = fenced or fence or match.group().startswith(("    ", "\t"))
        fenced ^= fence
        if line:
            navigation = not code and _is_navigation(line)
            found.append(_Line(match.start(), match.end(), line, _width(line), code, navigation))
    return tuple(found)


def _width(line: str) -> int:
    return len(line) if line.isascii() else len(line) + len(_HAN.findall(line))


def _is_navigation(line: str) -> bool:
    if len(line) > (_LONGEST_BANNER if "ookie" in line else _LONGEST_NAVIGATION) or line[0] in "#|":
        return False
    low = line.lower()
    return any(sign in low for sign in _SIGNS) and _NAVIGATION.fullmatch(_BULLET.sub("", line)) is not None


def _is_repeatable(line: str) -> bool:
    """Whether a line is running text that names no number and is long enough to be meant."""
    if _NO_RUNNING_TEXT.match(line) or _NUMBER.search(line):
        return False
    return len(line.split()) >= _LEAST_WORDS or len(_HAN.findall(line)) >= _LEAST_HAN
