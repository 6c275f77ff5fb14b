"""A person's own conversation as a Markdown document: questions, answers with footnotes, and what is withheld."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from assistant.core.escaping import inline, quoted
from assistant.core.footnotes import footnoted
from assistant.core.turn import TurnMessage


@dataclass(frozen=True, slots=True)
class ExportedSession:
    """A conversation to be exported: its turns in order, each with its id; of those in `withheld` only the question is shown."""

    title: str
    created_at: datetime
    exported_at: datetime
    turns: tuple[tuple[str, TurnMessage], ...]
    withheld: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class _Words:
    """The words of the document around those of the conversation, in one language."""

    untitled: str
    begun: str
    exported: str
    question: str
    answer: str
    files: str
    withheld: str
    empty: str
    ends: dict[str, str]
    """What is said of a turn with this status."""


_WORDS: Final = {
    "en": _Words(
        untitled="Conversation",
        begun="Begun",
        exported="exported",
        question="Question",
        answer="Answer",
        files="Files",
        withheld="The answer is withheld: a source of it may no longer be read.",
        empty="There is no answer.",
        ends={
            "running": "The answer is still being written.",
            "cancelled": "The answer was stopped before its end.",
            "failed": "The answer broke off because of an error.",
        },
    ),
    "zh": _Words(
        untitled="会话",
        begun="开始于",
        exported="导出于",
        question="问题",
        answer="回答",
        files="文件",
        withheld="此回答不予显示：其中一个来源已不再允许阅读。",
        empty="没有回答。",
        ends={
            "running": "回答仍在生成中。",
            "cancelled": "回答在结束前被停止。",
            "failed": "回答因错误而中断。",
        },
    ),
}


def as_markdown(session: ExportedSession, language: str) -> str:
    """The conversation as a Markdown document; `language` ("en" or "zh", else "en") is that of the words around it.

    What people, models and documents wrote stands in quotations and escaped: it cannot become a heading of the document, a
    link, an image or HTML. Answers end with footnotes (see `footnoted`).
    """
    words = _WORDS.get(language, _WORDS["en"])
    times = f"{words.begun} {_minute(session.created_at)}, {words.exported} {_minute(session.exported_at)}"
    parts = [f"# {inline(session.title) or words.untitled}", times]
    for number, (turn, message) in enumerate(session.turns, start=1):
        parts += [f"## {words.question} {number}", quoted(message.question)]
        parts += _answer(message, words, language, shown=turn not in session.withheld)
    return "\n\n".join(filter(None, parts)) + "\n"


def _answer(message: TurnMessage, words: _Words, language: str, *, shown: bool) -> Iterable[str]:
    """Nothing of a withheld answer is told, not even how it ended."""
    if not shown:
        return [f"### {words.answer}", f"*{words.withheld}*"]
    files = f"{words.files}: {', '.join(map(inline, message.attachments))}" if message.attachments else ""
    text = footnoted(message, language) or f"*{words.empty}*"
    ended = f"*{words.ends[message.status]}*" if message.status in words.ends else ""
    return [files, f"### {words.answer}", text, ended]


def _minute(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")
