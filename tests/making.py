"""Values for tests, made short."""

from __future__ import annotations

import hashlib
from datetime import date

from assistant.core.evidence import Authority, Evidence, Passage, SourceVersion, admit
from assistant.core.history import PastTurn
from assistant.core.text import Span


def source(
    document: str = "doc",
    *,
    on: date | None = None,
    authority: Authority = Authority.MEDIUM,
    title: str = "",
    family: str | None = None,
    number: int = 1,
    text: str = "",
) -> SourceVersion:
    return SourceVersion(
        document=document,
        number=number,
        sha256=hashlib.sha256(f"{document}{number}{text}".encode()).hexdigest(),
        title=title or document,
        uri=f"{document}.md",
        collection="handbook",
        date=on,
        authority=authority,
        family=family,
    )


def passage(
    text: str,
    document: str = "doc",
    *,
    at: int = 0,
    score: float = 0.5,
    section: str = "",
    version: SourceVersion | None = None,
    on: date | None = None,
) -> Passage:
    version = version or source(document, on=on)
    return Passage(
        id=f"{document}:{at}",
        text=text,
        source=version,
        span=Span(at, at + len(text)),
        section=section,
        score=score,
    )


def evidence(text: str, document: str = "doc", **more: object) -> Evidence:
    return admit(passage(text, document, **more))  # type: ignore[arg-type]


def past(question: str, answer: str, turn: str = "t1") -> PastTurn:
    return PastTurn(turn=turn, question=question, standalone=question, answer=answer)
