"""An answer with its sources as numbered footnotes, in Markdown that holds nothing but words of strangers and links of ours."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from assistant.core.citations import Citation, Verdict
from assistant.core.escaping import Mark, inline, link, quoted
from assistant.core.events import ConflictShown, ConflictSide
from assistant.core.past_sources import ACCESS_REVOKED, DELETED, UPDATED
from assistant.core.turn import TurnMessage


@dataclass(frozen=True, slots=True)
class FootnoteWords:
    """What stands around the words of an answer, in one language."""

    sources: str
    version: str
    page: str
    unsupported: str
    contradicted: str
    conflicts: str
    preferred: str
    unresolved: str
    changes: dict[str, str]
    between: str
    """Between the parts of a footnote."""


_WORDS: Final = {
    "en": FootnoteWords(
        sources="Sources",
        version="version",
        page="page",
        unsupported="not supported by the sources",
        contradicted="contradicted by the sources",
        conflicts="The sources disagree",
        preferred="preferred",
        unresolved="No rule prefers one of them.",
        changes={
            UPDATED: "there is a newer version",
            DELETED: "the document was deleted since",
            ACCESS_REVOKED: "access was withdrawn since",
        },
        between=", ",
    ),
    "zh": FootnoteWords(
        sources="来源",
        version="版本",
        page="页",
        unsupported="来源不支持",
        contradicted="与来源矛盾",
        conflicts="来源之间有冲突",
        preferred="优先",
        unresolved="没有规则可以决定以哪一方为准。",
        changes={UPDATED: "已有新版本", DELETED: "文档此后已删除", ACCESS_REVOKED: "此后权限已撤回"},
        between="，",
    ),
}


def footnoted(message: TurnMessage, language: str) -> str:
    """One answer as a quotation in Markdown, with marks [n] behind the sentences that are cited and a footnote for each n.

    Sentences that the evidence does not carry are marked in words, and the conflicts of the evidence stand below. The numbers
    are those of the conversation. `language` ("en" or "zh", else "en") is that of the words around it. Nothing of the answer
    or of a document can become a link, an image, HTML or a part of the page; links go to the addresses of sources only, and
    show their host. Empty text gives an empty string.
    """
    words = _WORDS.get(language, _WORDS["en"])
    parts = [quoted(message.text, _marks(message, words)) if message.text else ""]
    parts += [_conflicts(message.conflicts.items, words) if message.conflicts else ""]
    parts += [_sources(message, words) if message.citations else ""]
    return "\n\n".join(filter(None, parts))


def _marks(message: TurnMessage, words: FootnoteWords) -> list[Mark]:
    if message.citations is None:
        return []
    numbers: defaultdict[int, dict[int, None]] = defaultdict(dict)
    for item in message.citations.items:
        numbers[item.end][item.n] = None
    marks = [Mark(at, "".join(map(_number, found))) for at, found in numbers.items()]
    said = {Verdict.UNSUPPORTED: words.unsupported, Verdict.CONTRADICTED: words.contradicted}
    judged = (item for item in message.citations.unsupported if item.verdict in said)
    return marks + [Mark(item.end, f"*({said[item.verdict]})*") for item in judged]


def _number(n: int) -> str:
    return f"\\[{n}\\]"


def _sources(message: TurnMessage, words: FootnoteWords) -> str:
    """The footnotes in the order of their numbers."""
    assert message.citations is not None  # noqa: S101 - the caller looked
    first: dict[int, Citation] = {}
    for item in message.citations.items:
        first.setdefault(item.n, item)
    changes = {change.n: change.change for change in message.changes}
    lines = [f"- {_footnote(first[n], changes.get(n), words)}" for n in sorted(first)]
    return "\n".join([f"**{words.sources}**", "", *lines]) if lines else ""


def _footnote(cited: Citation, change: str | None, words: FootnoteWords) -> str:
    """Title, section, page, version, date, address, and what became of it."""
    source = cited.source
    parts = [f"**{inline(source.title) or link(source.uri)}**", inline(source.section)]
    parts += [f"{words.page} {source.page}" if source.page is not None else ""]
    parts += [f"{words.version} {source.version}", _day(source.date), link(source.uri) if source.title.strip() else ""]
    parts += [f"*{words.changes[change]}*" if change in words.changes else ""]
    return f"{_number(cited.n)} {words.between.join(filter(None, parts))}"


def _day(day: date | None) -> str:
    return day.isoformat() if day else ""


def _conflicts(items: Sequence[ConflictShown], words: FootnoteWords) -> str:
    lines = [line for item in items for line in _conflict(item, words)]
    return "\n".join([f"**{words.conflicts}**", "", *lines]) if lines else ""


def _conflict(item: ConflictShown, words: FootnoteWords) -> Iterator[str]:
    """The topic, and below it each side in the words of its document."""
    open_ = not any(side.preferred for side in item.sides)
    yield f"- {inline(item.topic)}{': ' + words.unresolved if open_ else ''}"
    for side in item.sides:
        yield f"    - {_side(side, words)}"


def _side(side: ConflictSide, words: FootnoteWords) -> str:
    parts = [f"“{inline(side.claim)}”", inline(side.title), _day(side.date)]
    parts += [_number(side.n) if side.n is not None else "", f"*{words.preferred}*" if side.preferred else ""]
    return words.between.join(filter(None, parts))
