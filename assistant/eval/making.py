"""Labelled texts as the core's own values."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import date

from assistant.core.evidence import Evidence, Passage, SourceVersion, admit
from assistant.core.text import Span, language
from assistant.eval.data import Item


def evidence_of(
    ident: str, text: str, *, title: str = "", on: date | None = None, family: str | None = None
) -> Evidence:
    """A labelled passage as the evidence of a document of its own."""
    version = SourceVersion(
        document=ident,
        number=1,
        sha256=hashlib.sha256(text.encode()).hexdigest(),
        title=title,
        uri=ident,
        collection="eval",
        date=on,
        language=language(text),
        family=family,
    )
    return admit(Passage(id=ident, text=text, source=version, span=Span(0, len(text)), score=1.0))


def passages_of(item: Item) -> list[Evidence]:
    """The passages of an item."""
    return [evidence_of(str(passage["id"]), passage["text"]) for passage in item["passages"]]


def pairs_of(history: Sequence[Item]) -> list[tuple[str, str]]:
    """A history of messages as (question, answer) pairs, oldest first; a message without its partner gets an empty one."""
    pairs: list[tuple[str, str]] = []
    for message in history:
        if message["role"] == "user":
            pairs.append((message["text"], ""))
        elif pairs and not pairs[-1][1]:
            pairs[-1] = (pairs[-1][0], message["text"])
        else:
            pairs.append(("", message["text"]))
    return pairs
