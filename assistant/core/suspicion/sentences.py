"""The sentences of a passage as they are judged, and which of them are foreign to the rest."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Set
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
_MARKUP: Final = ("<", "|", "-->", "--!>")
_PLAIN_BREAK: Final = re.compile(
    r"[.!?\n。！？；](?:(?<=\n)\n*|(?<=[.!?])(?:\n+|[\"'”’)\]]*\s+(?![a-z]))|(?<=[。！？；])(?![”’」』）)\"'])\n*)"
)
_LEAD: Final = re.compile(r"[\W_]+(?=\w)")
WORD: Final = re.compile(rf"[^\W\d_{CJK}]+(?:['’][a-z]+)?")
_TO_BLANKS: Final = bytes(code if chr(code).isalpha() or chr(code) == "'" else 32 for code in range(128)) + bytes(128)
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


class Sentence:
    """One sentence of a passage, or a part of a long one, with what judging it needs, each worked out when it is asked for."""

    def __init__(self, written: str, piece: str) -> None:
        self.lowered = written.lower()
        self._piece = piece

    @cached_property
    def text(self) -> str:
        """The sentence in lower case without marks before it, its white space folded."""
        lead = _LEAD.match(self.lowered)
        return " ".join((self.lowered[lead.end() :] if lead else self.lowered).split())

    @property
    def heading(self) -> bool:
        """Whether it is a heading of Markdown."""
        return _HEADING.match(self._piece) is not None

    @property
    def item(self) -> bool:
        """Whether it is an item of a list."""
        return _ITEM.match(self._piece) is not None

    @cached_property
    def ordered(self) -> str:
        """The text with PLACE where an imperative may stand: at the beginning, after a mark, after "please"."""
        return _ORDERING.sub(lambda found: found.group() + PLACE, self.text)

    @cached_property
    def terms(self) -> Counter[str]:
        """What it is about."""
        return terms(self.text)


def words_of(lowered: str) -> Set[str]:
    """The words of alphabetic scripts in a lower-case text."""
    if not lowered.isascii():
        return frozenset(WORD.findall(lowered))
    found = set(lowered.encode().translate(_TO_BLANKS).decode().split())
    if "'" in lowered:
        joined = {word for word in found if "'" in word}
        found = (found - joined).union(*map(WORD.findall, joined))
    return found


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


def sentences(text: str) -> Iterator[Sentence]:
    """The sentences, cells and comments of a passage in order, in linear time; of a long one overlapping parts."""
    for piece in _pieces(text):
        if len(piece) <= LONGEST:
            if not piece.isspace():
                yield Sentence(piece, piece)
        elif not piece.isspace():
            for start in range(0, len(piece) - OVERLAP, LONGEST - OVERLAP):
                yield Sentence(piece[start : start + LONGEST], piece)


def _pieces(text: str) -> Iterator[str]:
    plain = not any(mark in text for mark in _MARKUP)
    start = 0
    for match in (_PLAIN_BREAK if plain else _BREAK).finditer(text):
        stop = match.start() + (plain and match.group()[0] != "\n")
        if stop > start:
            yield text[start:stop]
        start = match.end()
    if start < len(text):
        yield text[start:]


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
