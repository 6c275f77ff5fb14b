"""Text: spans, sentences, words, terms and language, for English, Chinese and mixtures of both.

Every offset is in Unicode code points of the string that was given.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import rjieba
import Stemmer

from assistant.core.stopwords import FUNCTION_CHARACTERS, STOPWORDS


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A half-open range of code points, 0 <= start <= end."""

    start: int
    end: int

    def __post_init__(self) -> None:
        if not 0 <= self.start <= self.end:
            raise ValueError(f"not a span: {self.start}..{self.end}")

    def __len__(self) -> int:
        return self.end - self.start

    def shift(self, by: int) -> Span:
        """The same range seen from an origin that lies `by` code points earlier."""
        return Span(self.start + by, self.end + by)

    def overlaps(self, other: Span) -> bool:
        """Whether the two ranges share at least one code point."""
        return self.start < other.end and other.start < self.end


CJK: Final = r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
_CJK_CHAR: Final = re.compile(f"[{CJK}]")
_LATIN_WORD: Final = re.compile(r"[A-Za-zÀ-ɏ]+")
_TOKEN: Final = re.compile(rf"[{CJK}]+|\d+(?:[.,:]\d+)*|[^\W\d_{CJK}]+(?:['’][^\W\d_{CJK}]+)?")
_PLAIN_TOKEN: Final = re.compile(r"[a-z]+(?:['’][a-z]+)?|[0-9]+(?:[.,:][0-9]+)*")
"""The same in lower-case text whose letters and digits are all ASCII, found in half the time."""
# Some of the code points for Chinese are not assigned yet, so they are no \w.
_NOT_PLAIN: Final = re.compile(rf"[^\W\x00-\x7f]|[{CJK}]")
_FIRST_CJK: Final = "\u3400"
_ABBREVIATIONS: Final = frozenset(
    "mr mrs ms dr prof sr jr st vs etc cf al inc ltd co corp dept est approx e.g i.e u.s u.k a.m p.m "
    "jan feb mar apr jun jul aug sep sept oct nov dec".split()
)
_BEFORE_NUMBERS: Final = frozenset("no nos fig figs vol pp sec art para ch p".split())
# A sentence ends at 。！？； or at .!? with closing quotes, or at the end of a line.
# The first character is looked for alone, which finds the next border four times as fast as alternatives would.
_BOUNDARY: Final = re.compile(
    r"[。！？；!?….\n](?:(?<=[^.\n])[。！？；!?…]*[\"'”’」』）)\]]*|(?<=\.)\.*[\"'”’)\]]*(?=\s|$)|(?<=\n)\n*)"
)
_LAST_WORD: Final = re.compile(r"([A-Za-z][A-Za-z.]*)$")
_LIST_NUMBER: Final = re.compile(r"\s*(?:\d{1,3}|[A-Za-z])")
_LONGEST_NUMBER: Final = 24
_ROW: Final = re.compile(r"\s*\|")


def language(text: str) -> str:
    """Tell the language of a text: "en", "zh" or "mixed".

    Chinese characters weigh as words; a text with under a tenth of one side counts as the other. Text in neither
    script counts as "en", the language of the fallback prompts.
    """
    cjk = len(_CJK_CHAR.findall(text)) / 1.7
    latin = len(_LATIN_WORD.findall(text))
    if cjk == 0:
        return "en"
    share = cjk / (cjk + latin)
    return "zh" if share > 0.5 and (latin == 0 or share > 0.7) else "en" if share < 0.1 else "mixed"


def prompt_language(text: str) -> str:
    """The language to be spoken with somebody who wrote this: "en" or "zh"; mixed text that holds Chinese is Chinese."""
    return "en" if language(text) == "en" else "zh"


def sentences(text: str) -> list[Span]:
    """Cut a text into sentences, list items, table rows and headings.

    The spans ascend, do not overlap, carry no white space at their ends and together hold every character that is
    not white space. A line end always ends a sentence, so a table row is never torn; a full stop inside a number, an
    abbreviation or a list number does not.
    """
    spans: list[Span] = []
    start, row = 0, _ROW.match(text) is not None
    for match in _BOUNDARY.finditer(text):
        if match.group()[0] != "\n" and (row or _is_inside(text, start, match)):
            continue
        _append_trimmed(spans, text, start, match.end())
        start = match.end()
        row = _ROW.match(text, start) is not None
    _append_trimmed(spans, text, start, len(text))
    return spans


def _is_inside(text: str, start: int, match: re.Match[str]) -> bool:
    """Whether the full stop belongs to a list number, an initial or an abbreviation. Looks back a bounded way."""
    stop = match.start()
    if match.group()[0] != ".":
        return False
    if stop - start <= _LONGEST_NUMBER and _LIST_NUMBER.fullmatch(text, start, stop):
        return True
    word = _LAST_WORD.search(text[max(start, stop - 12) : stop])
    if word is None:
        return False
    letters = word.group(1)
    if letters.lower() in _BEFORE_NUMBERS:
        return text[match.end() : match.end() + 2].strip().isdigit()
    return letters.lower() in _ABBREVIATIONS or (len(letters) == 1 and letters.isupper() and letters != "I")


def _append_trimmed(spans: list[Span], text: str, start: int, end: int) -> None:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if end > start:
        spans.append(Span(start, end))


def words(text: str) -> list[str]:
    """The words and numbers of a text in order, lower case, Chinese cut into words."""
    if text.isascii() or not _NOT_PLAIN.search(text):
        return _PLAIN_TOKEN.findall(text.lower())
    found: list[str] = []
    for token in _TOKEN.findall(text):
        if token >= _FIRST_CJK and _CJK_CHAR.match(token):
            found.extend(rjieba.cut(token))
        else:
            found.append(token.lower())
    return found


def terms(text: str) -> list[str]:
    """The content words of a text for matching: stemmed (Snowball English), without stop words, in order."""
    return [stem(word) for word in words(text) if word not in STOPWORDS]


def index_terms(text: str) -> list[str]:
    """The terms under which a text is indexed and searched, in order; the same function on both sides.

    English: stems without stop words. Chinese: every two neighbouring characters, except across function characters,
    and the words of the segmenter that these do not cover (one character, three and more, words that hold a function
    character), so that a wrong segmentation costs little. Full-width letters and digits count as plain ones.
    """
    found: list[str] = []
    for token in _TOKEN.findall(unicodedata.normalize("NFKC", text)):
        if token >= _FIRST_CJK and _CJK_CHAR.match(token):
            found.extend(_chinese_terms(token))
        elif (word := token.lower()) not in STOPWORDS:
            found.append(stem(word))
    return found


def _chinese_terms(run: str) -> list[str]:
    pairs = [run[i : i + 2] for i in range(len(run) - 1) if FUNCTION_CHARACTERS.isdisjoint(run[i : i + 2])]
    known = set(pairs)
    return [word for word in rjieba.cut(run) if word not in STOPWORDS and word not in known] + pairs


_STEMMER: Final = Stemmer.Stemmer("english", 0)


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """The Snowball (Porter 2) stem of an English word; other words and numbers stay as they are."""
    return str(_STEMMER.stemWord(word.replace("’", "'"))) if word.isascii() or "’" in word else word


_INVISIBLE: Final = re.compile(
    r"[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    r"\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
_TAGS: Final = (
    "a|abbr|article|aside|b|blockquote|body|br|button|center|code|dd|del|details|div|dl|dt|em|figcaption|figure|font|footer|form"
    "|h[1-6]|head|header|hr|html|i|iframe|img|input|ins|kbd|label|li|link|main|mark|meta|nav|object|ol|option|p|pre|s|section"
    "|select|small|span|strong|sub|summary|sup|svg|table|tbody|td|textarea|tfoot|th|thead|tr|tt|u|ul|video"
)
"""Tags of HTML; other words in angle brackets are placeholders of the text (<project>)."""
_UNSEEN: Final = (
    r"\shidden(?=[\s=/>])|\saria-hidden\s*=\s*[\"']?true"
    r"|\sstyle\s*=\s*[\"'][^\"'<>]*?(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0(?![.\d]*[1-9])"
    r"|opacity\s*:\s*0(?![.\d]*[1-9]))"
)
"""Attributes that keep an element from being seen."""
_MARKUP: Final = re.compile(
    r"<!--.*?(?:-->|\Z)|(?i:<(script|style|noscript|template)\b.*?(?:</\1\s*>|\Z))"
    r"|(?i:<(" + _TAGS + r")\b(?=(?:[^<>\"']|\"[^\"<>]*\"|'[^'<>]*'){0,300}?(?:" + _UNSEEN + r"))"
    r"[^<>]*>.{0,2000}?</\2\s*>)|</?(?:" + _TAGS + r")\b[^<>]*>"
    r"|\{%(?:(?!\{%).){0,500}?%\}|\{\{(?:(?!\{\{).){0,500}?\}\}|\{:[^{}\n]{0,500}\}",
    re.DOTALL,
)
_LINK: Final = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*(?:\([^()\s]*\))?[^()]*\)|!?\[([^\[\]]+)\]\[[^\[\]]*\]")

_DEFINITION: Final = re.compile(
    r"^ {0,3}\[(?!\^)[^\[\]\n]{1,80}\]:[ \t]*(?:<[^<>\n]*>|(?:#|https?:|mailto:|\.{0,2}/)[^\s<>]*)"
    r"(?:[ \t]+(?:\"[^\"\n]*\"|'[^'\n]*'|\([^()\n]*\)))?[ \t]*$",
    re.MULTILINE,
)
"""A definition of a link (CommonMark 4.7), which also serves as a comment: `[//]: # (not shown)`."""


def remove_invisible(text: str) -> str:
    """Drop control, zero-width, bidirectional and tag characters, which a reader does not see and a model does."""
    return _INVISIBLE.sub("", text)


_UNSTORABLE: Final = re.compile("[\\x00\ud800-\udfff]")


def without_unstorable(text: str) -> str:
    """The text without U+0000 and lone surrogates, which no database and no UTF-8 frame can hold."""
    return text if text.isascii() and "\x00" not in text else _UNSTORABLE.sub("", text)


def clean_for_display(text: str) -> str:
    """The text as a person would read it: no markup tags, template tags, link targets or invisible characters.

    Words are never changed, only furniture is taken out, and what a page or a Markdown reader would not show: comments,
    scripts, hidden elements, definitions of links.
    """
    text = remove_invisible(text)
    if "<" in text or "{" in text:
        text = _MARKUP.sub("", text)
    if "[" in text:
        text = _DEFINITION.sub("", text)
        text = _LINK.sub(lambda found: found.group(1) or found.group(2) or "", text)
    return text
