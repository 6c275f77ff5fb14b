"""Statements: which sentences of an answer state something about the world, and which words of them do.

A greeting, a heading, a question, a lead-in ("Here is what I found:") or a refusal ("The documents do not answer
this.") states nothing that evidence could carry. Inside a statement, words about the sources themselves ("According
to passage 2, ...") are scaffold: they are blanked, never moved, so that offsets stay.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from assistant.core.comparing.dates import Moment
from assistant.core.comparing.units import Dimension
from assistant.core.grounding.figures import figures
from assistant.core.grounding.scaffold import (
    CONNECTIVE,
    COURTESY,
    LEAD_IN,
    MAY_REFUSE,
    NAMES_SOURCE,
    REFUSAL,
    SOURCE_TALK,
)
from assistant.core.text import Span, terms

_LIST_MARK: Final = (
    r"[-*+•·–—‣◦>]|\#{1,6}|\(?\d{1,3}[.)、．）]|（\d{1,3}）|[a-zA-Z][.)]|[一二三四五六七八九十]+、|\[[ xX]\]"
)
_FURNITURE: Final = re.compile(rf"^(?:\s*(?:{_LIST_MARK})(?=\s|$|[^\w\s]|(?<=[、．）])))+\s*")
_EMPHASIS: Final = re.compile(r"[*_`~|]+")
_TABLE_RULE: Final = re.compile(r"^\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?\s*$")
_WORD: Final = re.compile(r"[^\W_]")
_FULL_STOP: Final = re.compile(r"[.。!！]\W*$")
_LONGEST_LEAD_IN: Final = 14
_LONGEST_LABEL: Final = 5
_LONGEST_HEADING: Final = 6
_LONGEST_READ: Final = 4000


def claim(sentence: str) -> str:
    """The sentence with list marks, emphasis and talk about the sources blanked; same length, same offsets."""
    text = _FURNITURE.sub(_blank, sentence, count=1)
    text = CONNECTIVE.sub(_blank, _EMPHASIS.sub(_blank, text))
    return SOURCE_TALK.sub(_blank, text) if NAMES_SOURCE.search(text) else text


def _blank(found: re.Match[str]) -> str:
    return " " * len(found.group())


def is_refusal(sentence: str) -> bool:
    """Whether the sentence says that the sources do not hold the answer, or not all of it."""
    read = sentence[:_LONGEST_READ]
    return MAY_REFUSE.search(read) is not None and REFUSAL.search(read) is not None


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence that states something: where it stands, and its words that claim (offsets as in the sentence).

    `head` is the head of the table that a row stands in: it may name what the row gives figures of.
    """

    span: Span
    claim: str
    head: str = ""


def statements(text: str, sentences: Sequence[Span], *, titles: Collection[str] = ()) -> list[Statement]:
    """Those of the sentences of a text that state something evidence could carry, in order.

    A bold line of nothing but titles of sources is a heading.
    """
    found: list[Statement] = []
    known = {_folded(title) for title in titles}
    headings = [span for span in _bold_lines(text) if _names_only(text[span.start : span.end], known)] if known else []
    head = ""
    for at, span in enumerate(sentences):
        if any(span.overlaps(heading) for heading in headings):
            continue
        line = text[span.start : span.end]
        if _is_table_head(text, sentences, at):
            head = line[:_LONGEST_READ]
            continue
        head = head if "|" in line else ""
        said = None if _is_underlined(text, sentences, at) else _claimed(line)
        if said is not None:
            found.append(Statement(span, said, head))
    return found


_BOLD_LINE: Final = re.compile(r"^\*\*[^*\n]+\*\*$", re.MULTILINE)
_MARKS: Final = re.compile(r"[\W_]+")


def _bold_lines(text: str) -> list[Span]:
    return [Span(*found.span()) for found in _BOLD_LINE.finditer(text)]


def _names_only(line: str, titles: Collection[str]) -> bool:
    return all(_folded(part) in titles for part in line.split(" · "))


def _folded(title: str) -> str:
    return _MARKS.sub(" ", title).strip().lower()


def _is_table_head(text: str, sentences: Sequence[Span], at: int) -> bool:
    """Whether the sentence is a table row right above a rule of dashes."""
    if at + 1 >= len(sentences) or "|" not in text[sentences[at].start : sentences[at].end]:
        return False
    after = sentences[at + 1]
    return _TABLE_RULE.match(text[after.start : after.end]) is not None


_UNDERLINE: Final = re.compile(r"={2,}|-{3,}")
_LINE_END: Final = re.compile(r"[ \t]*\r?\n[ \t]*")


def _is_underlined(text: str, sentences: Sequence[Span], at: int) -> bool:
    """Whether the sentence is a short line right above a line of signs, as headings are (CommonMark 4.3)."""
    if at + 1 >= len(sentences):
        return False
    here, after = sentences[at], sentences[at + 1]
    if not _UNDERLINE.fullmatch(text, after.start, after.end) or not _LINE_END.fullmatch(text, here.end, after.start):
        return False
    line = text[here.start : here.end]
    return len(terms(line[:_LONGEST_READ])) <= _LONGEST_HEADING and not _FULL_STOP.search(line)


def states_something(sentence: str) -> bool:
    """Whether the sentence claims something; false for courtesy, headings, questions, lead-ins and refusals."""
    return _claimed(sentence) is not None


def _claimed(sentence: str) -> str | None:
    """What the sentence claims, None when it states nothing."""
    bare = _EMPHASIS.sub(" ", _FURNITURE.sub("", sentence, count=1)).strip()
    if sentence.lstrip().startswith(("#", "```", "~~~")) or bare.endswith(("?", "？")) or not _WORD.search(bare):
        return None
    if is_refusal(bare) or COURTESY.search(bare[:_LONGEST_READ]):
        return None
    said = claim(sentence)
    content = terms(said)
    if bare.endswith((":", "：")):
        if _gives_value(bare):
            return said
        label = terms(_DATED.sub("", said))
        return said if len(label) > (_LONGEST_LEAD_IN if LEAD_IN.search(bare) else _LONGEST_LABEL) else None
    return said if content and not _is_bold_heading(sentence, content) else None


_DATED: Final = re.compile(r"[(（]\s*\d{4}-\d{2}-\d{2}\s*[)）]")


def _gives_value(line: str) -> bool:
    """Whether a line gives an amount or a date, more than how many things follow.

    A date in brackets only tells which document is meant ("The newer page (2025-02-27):").
    """
    line = _DATED.sub("", line)
    return any(isinstance(each, Moment) or each.dimension is not Dimension.COUNT for each in figures(line).stated())


def _is_bold_heading(sentence: str, content: Sequence[str]) -> bool:
    """Whether the whole line is bold and short, as headings in chat answers are."""
    line = sentence.strip()
    bold = len(line) > len("****") and line.startswith(("**", "__")) and line.endswith(("**", "__"))
    return bold and len(content) <= _LONGEST_HEADING and not _FULL_STOP.search(line)
