"""The sentences of a passage as they are judged, and which of them are foreign to the rest."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from assistant.core.text import CJK

LONGEST: Final = 400
OVERLAP: Final = 120
"""Sentences are judged in overlapping pieces of at most so many characters, so that no pattern meets a long text."""

PLACE: Final = "\x01"
"""Stands in `Sentence.ordered` before each word that is in the place of an imperative."""

_TAGS: Final = (
    "a|b|body|br|caption|cite|code|div|em|footer|h[1-6]|head|header|html|i|img|li|main|ol|p|pre|section|small|span|strong"
    "|table|tbody|td|th|thead|title|tr|u|ul"
)
_BREAK: Final = re.compile(
    rf"<!\s?--|--!?>|</?(?:{_TAGS})\b[^<>\n]{{0,200}}>|\n+|\s\|\s"
    r"|(?<=[.!?])[\"'”’)\]]*\s+(?![a-z])|(?<=[。！？；])(?![”’」』）)\"'])"
)
# The same borders in text without tags, comments and cells. The first character is looked for alone, which is much faster.
_PLAIN_BREAK: Final = re.compile(
    r"[.!?\n。！？；](?:(?<=\n)\n*|(?<=[.!?])[\"'”’)\]]*\s+(?![a-z])|(?<=[。！？；])(?![”’」』）)\"'])(?:\n+)?)"
)
_LEAD: Final = re.compile(r"[\W_]+(?=\w)")
WORD: Final = re.compile(rf"[^\W\d_{CJK}]+(?:['’][a-z]+)?|[{CJK}]")
_PLAIN_WORD: Final = re.compile(r"[a-z]+(?:'[a-z]+)?")
_CONTENT: Final = re.compile(rf"[^\W\d_{CJK}]{{4,}}|(?=([{CJK}]{{2}}))")
_ITEM: Final = re.compile(r"\s*(?:[-*•+·–]|\(?\d{1,3}[.)、]|\(?[a-z][.)])\s")
_HEADING: Final = re.compile(r"\s{0,3}#{1,6}\s")
_ORDERING: Final = re.compile(
    r"^|[,;:>\"“‘(\[{}*!/–—] ?| ['-]"
    r"|\b(?:and|then|please|also|you must|you should|just|simply|only|kindly|instead|next|first|can you|could you|would you"
    r"|will you|you will|you can|have to|always|now) "
)
_STEM: Final = 5
_FEW_TERMS: Final = 12
_SHARED: Final = 1 / 3
_GENERAL: Final = frozenset(
    "about after again also answer answers because been before could describe discuss does each every explain following"
    " from have include into just like mention message more most other output please provide replies reply response"
    " responses sentence should show some such tell than that their them then there these they this those user users using"
    " very what when where which while will with would write your".split()
)
"""Words of orders and of grammar, which say nothing about a topic."""
_GENERAL_CHINESE: Final = frozenset(
    "一个 我们 你们 他们 这个 那个 可以 如何 怎么 什么 为什 以下 下列 请在 回答 回复 答案 你的".split()
)


@dataclass(frozen=True)
class Sentence:
    """One sentence, lower case, with white space folded; a `heading` of Markdown, an `item` of a list."""

    text: str
    heading: bool
    item: bool

    @cached_property
    def words(self) -> frozenset[str]:
        """The words of alphabetic scripts in it, and its Chinese characters one by one."""
        return words_of(self.text)

    @cached_property
    def ordered(self) -> str:
        """The text with PLACE where an imperative may stand: at the beginning, after a mark, after "please"."""
        return _ORDERING.sub(lambda found: found.group() + PLACE, self.text)

    @cached_property
    def terms(self) -> Counter[str]:
        """What it is about."""
        return terms(self.text)


def terms(text: str) -> Counter[str]:
    """Count the content terms of a lower-case text: the first letters of longer words, pairs of Chinese characters."""
    found: Counter[str] = Counter()
    for match in _CONTENT.finditer(text):
        pair = match.group(1)
        if pair is None:
            word = match.group()
            if word not in _GENERAL:
                found[word[:_STEM]] += 1
        elif pair not in _GENERAL_CHINESE:
            found[pair] += 1
    return found


def words_of(lowered: str) -> frozenset[str]:
    """The words of a lower-case text as `Sentence.words` has them."""
    return frozenset((_PLAIN_WORD if lowered.isascii() else WORD).findall(lowered))


def cut(text: str) -> Iterator[str]:
    """The sentences, cells and comments of a passage in order, as they are written, in linear time."""
    plain = not any(mark in text for mark in ("<", "|", "-->", "--!>"))
    start = 0
    for match in (_PLAIN_BREAK if plain else _BREAK).finditer(text):
        stop = match.start() + (plain and match.group()[0] != "\n")
        if stop > start:
            yield text[start:stop]
        start = match.end()
    if start < len(text):
        yield text[start:]


def sentences_of(piece: str) -> Iterator[Sentence]:
    """What is judged of a piece: nothing when it is blank, overlapping parts when it is long."""
    if piece.isspace():
        return
    heading, item = _HEADING.match(piece) is not None, _ITEM.match(piece) is not None
    for start in range(0, max(1, len(piece) - OVERLAP), LONGEST - OVERLAP):
        part = _without_lead(piece[start : start + LONGEST])
        yield Sentence(" ".join(part.lower().split()), heading, item)


def _without_lead(piece: str) -> str:
    lead = _LEAD.match(piece)
    return piece[lead.end() :] if lead else piece


def is_foreign(sentence: Sentence, passage: Mapping[str, int], size: int) -> bool:
    """Whether a sentence shares at most a third of its terms with the rest of the passage.

    Given the terms of the whole passage and their number. One that has hardly any terms, or stands beside hardly any,
    is not judged.
    """
    own = sentence.terms
    if len(own) < 2 or size - sum(own.values()) < _FEW_TERMS:
        return False
    shared = sum(passage.get(term, 0) > count for term, count in own.items())
    return shared <= _SHARED * len(own)
