"""Statements: the sentences, list items and table rows of a text, read as claims that can be compared.

A statement knows its words in order with every quantity, date, name and modal expression as one token, and the
conditions it holds under: years, groups of people, places.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from functools import lru_cache
from itertools import pairwise
from typing import Final, NamedTuple

import rjieba

from assistant.core.comparing.dates import Moment, moments, periods
from assistant.core.comparing.modality import MODAL_STARTS, Modality, han_modals, modal_at
from assistant.core.comparing.places import HAN_PLACES
from assistant.core.comparing.quantities import Quantity, frequencies, quantities
from assistant.core.stopwords import STOPWORDS
from assistant.core.text import CJK, Span, sentences, stem


class TokenKind(StrEnum):
    """What a token of a statement is."""

    WORD = "word"
    STOP = "stop"
    NAME = "name"
    MODAL = "modal"
    QUANTITY = "quantity"
    MOMENT = "moment"


WORDS: Final = frozenset((TokenKind.WORD, TokenKind.NAME))


class Token(NamedTuple):
    """One unit of comparison; `key` is equal for equal meaning, `start` and `end` are offsets in the statement."""

    key: str
    kind: TokenKind
    start: int
    end: int
    quantity: Quantity | None = None
    moment: Moment | None = None
    modality: Modality | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """A statement read: its tokens in order, the years it names, the groups of people, and the first table cell.

    `text` has the length of what was read; markup and link targets are blanked, character references replaced.
    """

    text: str
    tokens: tuple[Token, ...]
    terms: frozenset[str]
    periods: frozenset[str]
    groups: frozenset[str]
    row: str

    def words(self, start: int, end: int) -> str:
        """The words between two offsets as a person would write them on one line."""
        return " ".join(self.text[start:end].replace(_PAD, "").split()).strip("*_`[](){}| ")


_LIST_MARK: Final = re.compile(r"[ \t]*(?:(?:[-*+•>·]|\d{1,3}[.)、]|#{1,6})[ \t]+)+")
_ROW: Final = re.compile(r"[ \t]*\|")
_RULE_ROW: Final = re.compile(r"[\s|:+=-]*")
_WRAPPED: Final = 55
_WRAPPED_HAN: Final = 28
_TERMINAL: Final = tuple(".!?:;。！？；：")


def statement_spans(text: str) -> list[Span]:
    """Cut a text into statements: sentences (also where lines are wrapped), list items, table rows and headings.

    The spans ascend and are disjoint; list marks and rule lines of tables are left out.
    """
    spans: list[Span] = []
    for start, end in _blocks(text):
        block = text[start:end]
        if _ROW.match(block):
            if _RULE_ROW.fullmatch(block) is None:
                spans.append(Span(start + len(block) - len(block.lstrip()), start + len(block.rstrip())))
            continue
        spans.extend(span.shift(start) for span in sentences(block.replace("\n", " ")))
    return spans


def _blocks(text: str) -> Iterable[tuple[int, int]]:
    """Paragraphs, list items with their continuation lines, single table rows and headings."""
    start = end = -1
    previous, at = "", 0
    for line in text.splitlines(keepends=True):
        here, at = at, at + len(line)
        stripped = line.strip()
        mark = _LIST_MARK.match(line)
        if stripped and start >= 0 and mark is None and _continues(previous, stripped):
            end, previous = here + len(line.rstrip()), stripped
            continue
        if start >= 0:
            yield start, end
        start, end = (here + (mark.end() if mark else 0), here + len(line.rstrip())) if stripped else (-1, -1)
        start = min(start, end)
        previous = "" if stripped.startswith(("|", "#")) else stripped
    if start >= 0:
        yield start, end


def _continues(previous: str, line: str) -> bool:
    """Whether a line goes on with the sentence of the line before: that one was full, or this one starts small."""
    if not previous or line[0] == "|":
        return False
    if previous.endswith(_TERMINAL):
        return len(previous) >= _WRAPPED
    return line[0].islower() or len(previous) >= (_WRAPPED_HAN if "\u4e00" <= line[0] <= "\u9fff" else _WRAPPED)


_FURNITURE: Final = re.compile(
    r"\]\((?:[^()\s]|\([^()\s]*\))*(?:\s[^()]*)?\)|https?://[^\s)>\]]+|\{%[^\n]{0,300}?%\}"
    r"|\{\{[^\n]{0,300}?\}\}|\{:[^{}\n]*\}|</?[a-zA-Z!][^<>]*>"
)
_NAME: Final = re.compile(
    r"[#@][A-Za-z0-9][\w-]*[\w]|(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64})+"
    r"|\b[A-Za-z][A-Za-z_]*-?\d[A-Za-z0-9]*(?:[-_.][A-Za-z0-9]+)*"
)
_CAPITALS: Final = re.compile(r"[A-Za-z]+[A-Z][A-Za-z]*")
_REFERENCE: Final = re.compile(r"&(?:#\d{1,6}|#[xX][0-9a-fA-F]{1,5}|[a-zA-Z]{2,8});")
# Fills the place of a character reference that is longer than its character (word joiner: no white space, no word).
_PAD: Final = "\u2060"
_COMPOUND: Final = r"\b(?:[Oo](?:n|ff)[\s-]site|[Ii]n[\s-]person|[Ii]n-office)\b"
_TOKEN: Final = re.compile(rf"{_COMPOUND}|[{CJK}]+|[^\W\d_{CJK}]+(?:['’]{_PAD}*[^\W\d_{CJK}]+)?|\d+")
_WORD_FORM: Final = str.maketrans({"’": "'", _PAD: None, " ": None, "-": None, "\n": None, "\t": None})
_SPACING: Final = frozenset(" \t\n\"'“‘(*_[")
_TERMS_OF_WORK: Final = """
part-time parttime full-time fulltime contractor contingent temporary intern trainee apprentice freelance probationary
exempt nonexempt hourly 实习生 合同工 试用期 试用 外包 兼职 全职 临时工 正式工
"""
_OTHER_GROUPS: Final = """
permanent manager director executive supervisor salaried union graduate veteran remote hybrid onsite domestic
international foreign overseas local us non-us uk eu federal state adult child children infant senior junior
正式 管理层 经理 主管 总监 高管 销售 海外 国内 境内 境外 国际 男 女
"""
# Words that limit a rule to some people even where the other side names nobody.
TERMS_OF_WORK: Final = frozenset(stem(word) for word in _TERMS_OF_WORK.split())
GROUPS: Final = TERMS_OF_WORK | frozenset(stem(word) for word in _OTHER_GROUPS.split())


_HAN_GROUPS: Final = frozenset(group for group in GROUPS if group > "z")
# Their stem is that of "hourly".
_TIME_WORDS: Final = frozenset(("hour", "hours"))
_FIRST_HALVES: Final = frozenset(group.partition("-")[0] for group in GROUPS if "-" in group)
_HYPHENATED: Final = re.compile("[a-z]+(?:-[a-z]+)*")


@lru_cache(maxsize=8192)
def read(text: str, reference: date | None = None) -> Reading:
    """Read one statement; `reference` is the date of its document, against which "last month" is understood."""
    plain = _plain(text)
    dated = moments(plain, reference)
    tokens = [Token(f"@{m.written or m.key}", TokenKind.MOMENT, m.span.start, m.span.end, moment=m) for m in dated]
    taken = [moment.span for moment in dated]
    tokens += _names(plain, taken)
    taken += [Span(token.start, token.end) for token in tokens[len(dated) :]]
    often = frequencies(plain, taken)
    counted = often + quantities(plain, taken + [quantity.span for quantity in often])
    tokens += [Token(f"={q.key}", TokenKind.QUANTITY, q.span.start, q.span.end, quantity=q) for q in counted]
    cues = [quantity.cue for quantity in counted if quantity.cue is not None]
    tokens += _words(plain, [*taken, *cues, *(quantity.span for quantity in counted)])
    tokens.sort(key=lambda token: (token.start, token.end))
    return Reading(
        text=plain,
        tokens=tuple(tokens),
        terms=frozenset(token.key for token in tokens if token.kind in (TokenKind.WORD, TokenKind.NAME)),
        periods=periods(dated),
        groups=_groups(plain),
        row=_first_cell(plain, tokens),
    )


def _plain(text: str) -> str:
    """The text with markup blanked and character references replaced, at the same offsets."""
    plain = _FURNITURE.sub(lambda found: " " * len(found.group()), text)
    if "&" not in plain:
        return plain
    return _REFERENCE.sub(lambda found: html.unescape(found.group())[:1].ljust(len(found.group()), _PAD), plain)


def _groups(text: str) -> frozenset[str]:
    """The groups of people that a text names, a hyphen or a space inside a word being the same."""
    words = [word for word in _HYPHENATED.findall(text.lower()) if word not in _TIME_WORDS]
    found = {stem(word) for word in words}
    found |= {stem("-".join(pair)) for pair in pairwise(words) if pair[0] in _FIRST_HALVES}
    if not text.isascii():
        found |= {group for group in _HAN_GROUPS if group in text}
    return frozenset(found & GROUPS)


def _names(text: str, taken: list[Span]) -> list[Token]:
    blocked = [(span.start, span.end) for span in taken]
    return [
        Token(found.group().lower(), TokenKind.NAME, found.start(), found.end())
        for found in _NAME.finditer(text)
        if not any(start < found.end() and found.start() < end for start, end in blocked)
    ]


def _words(text: str, found: list[Span]) -> Iterable[Token]:
    """Modal expressions, words and stop words of what is left when values, names and words of bounds are taken out."""
    plain = text
    for span in found:
        plain = plain[: span.start] + "\0" * len(span) + plain[span.end :]
    matches = list(_TOKEN.finditer(plain))
    words = [match.group().lower().translate(_WORD_FORM) for match in matches]
    place = 0
    while place < len(words):
        match = matches[place]
        if "\u3400" <= words[place][0] <= "\u9fff":
            yield from _han_tokens(match.group(), match.start())
        elif words[place] in MODAL_STARTS and (modal := modal_at(words, place)) is not None:
            length, modality = modal
            yield Token(
                f"!{modality}", TokenKind.MODAL, match.start(), matches[place + length - 1].end(), modality=modality
            )
            place += length - 1
        else:
            yield _word(text, match.group(), words[place], match.start())
        place += 1


def _word(text: str, written: str, word: str, start: int) -> Token:
    word = word.removesuffix("'s")
    end = start + len(written)
    if not word or (word in STOPWORDS and not _is_acronym(text, written)):
        return Token(word, TokenKind.STOP, start, end)
    capital = written[0].isupper() and (written[1:2].isupper() or not _opens(text, start))
    capital = capital or (not written[1:].islower() and _CAPITALS.fullmatch(written) is not None)
    return Token(stem(word), TokenKind.NAME if capital else TokenKind.WORD, start, end)


def _is_acronym(text: str, written: str) -> bool:
    """Whether a word is written in capitals where others are not: the IT desk, people in the US."""
    return len(written) > 1 and written.isupper() and not text.isupper()


def _han_tokens(written: str, start: int) -> Iterable[Token]:
    at = 0
    for first, last, modality in han_modals(written):
        yield from _han_words(written[at:first], start + at)
        yield Token(f"!{modality}", TokenKind.MODAL, start + first, start + last, modality=modality)
        at = last
    yield from _han_words(written[at:], start + at)


def _han_words(written: str, start: int) -> Iterable[Token]:
    for word in rjieba.cut(written) if written else ():
        kind = TokenKind.STOP if word in STOPWORDS else TokenKind.NAME if word in HAN_PLACES else TokenKind.WORD
        yield Token(word, kind, start, start + len(word))
        start += len(word)


def _opens(text: str, start: int) -> bool:
    """Whether any word would have a capital there: at the start of a statement, cell or quotation."""
    while start > 0 and text[start - 1] in _SPACING:
        start -= 1
    return start == 0 or text[start - 1] in "|.:!?"


def _first_cell(text: str, tokens: list[Token]) -> str:
    """The keys of the first cell of a table row, which names what the row is about; empty elsewhere."""
    if not text.startswith("|"):
        return ""
    stop = text.find("|", 1)
    keys = (token.key for token in tokens if token.end <= stop and token.kind is not TokenKind.STOP)
    return " ".join(keys)


_EVENT_WORDS: Final = """
born died death birth founded established built constructed completed opened closed launched released created started
ended formed incorporated introduced joined hired elected published invented discovered
成立 创立 创建 出生 去世 逝世 建成 建立 竣工 发布 上线 开业 创办
"""
_EVENTS: Final = frozenset(stem(word) for word in _EVENT_WORDS.split())


def is_event(reading: Reading) -> bool:
    """Whether a statement tells of something that happens once, so that its year is a value and not a condition."""
    return not _EVENTS.isdisjoint(reading.terms)


def other_groups(one: Reading, other: Reading) -> bool:
    """Whether each of two statements is limited to a group of people that the other does not name."""
    return bool(one.groups - other.groups and other.groups - one.groups)


def content(tokens: Iterable[Token]) -> list[Token]:
    """The tokens that carry content: all but stop words and modal expressions."""
    return [token for token in tokens if token.kind not in (TokenKind.STOP, TokenKind.MODAL)]
