"""The texts of the benchmarks: passages of about 1,100 characters from the demo pages, a question, an answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from functools import cache
from pathlib import Path

import assistant
from assistant.core.evidence import Passage, SourceVersion
from assistant.core.text import Span, clean_for_display, sentences, terms
from assistant.interfaces import DocumentDraft
from assistant.knowledge.drafts import draft

DEMO = Path(assistant.__file__).parent / "demo"
EDITIONS = {"18f-handbook": date(2025, 2, 27), "18f-handbook-2021": date(2021, 12, 30)}
QUESTION = "How many hours of my working time must be billable to projects each week?"
CHARACTERS = 1_100


@cache
def pages() -> tuple[tuple[SourceVersion, DocumentDraft], ...]:
    """Every page of both editions of the handbook, as the product's parsers read it."""
    found = []
    for edition, day in EDITIONS.items():
        for path in sorted((DEMO / edition).rglob("*.md")):
            read, place = draft(path.read_bytes(), path.name), path.relative_to(DEMO / edition).as_posix()
            uri = f"{edition}/{place}"
            source = SourceVersion(uri, 1, read.sha256, read.title, uri, edition, date=day, family=place)
            found.append((source, read))
    return tuple(found)


def passages(characters: int = CHARACTERS, first: int = 0) -> list[Passage]:
    """Both editions cut at sentence ends into passages of about this length; the first begins at or behind `first`."""
    return [
        Passage(f"{source.document}@{span.start}", read.text[span.start : span.end], source, span, _section(read, span))
        for source, read in pages()
        for span in _cuts(read.text, characters, first)
    ]


def _cuts(text: str, characters: int, first: int) -> Iterator[Span]:
    start = end = next((span.start for span in sentences(text) if span.start >= first), len(text))
    for span in sentences(text):
        if span.end - start > characters * 1.05 and end - start > characters * 0.85:
            yield Span(start, end)
            start = span.start
        end = max(start, span.end)


def _section(read: DocumentDraft, span: Span) -> str:
    """The heading path that the product gives to the chunk in which a passage begins."""
    return next((one.section for one in read.chunks if one.span.start <= span.start < one.span.end), "")


def found(count: int, characters: int = CHARACTERS) -> list[Passage]:
    """The `count` passages that share most words with the question, as a search would give them, with scores.

    Beyond the pages' own passages come the same pages cut elsewhere, as documents of their own.
    """
    asked = set(terms(QUESTION))
    pool, shift = passages(characters), characters // 2
    while len(pool) < count:
        pool += [_renamed(passage, shift) for passage in passages(characters, shift)]
        shift += characters // 4
    scored = [
        replace(passage, score=len(asked & set(terms(f"{passage.section} {passage.text}"))) / len(asked))
        for passage in pool
    ]
    return sorted(scored, key=lambda passage: (-passage.score, passage.id))[:count]


def _renamed(passage: Passage, shift: int) -> Passage:
    source = replace(passage.source, document=f"{passage.source.document}+{shift}")
    return replace(passage, id=f"{passage.id}+{shift}", source=source)


def editions(count: int) -> list[Passage]:
    """`count` passages from pages that stand in both editions, both editions of a page, best pages first."""
    both = [{source.family for source, _ in pages() if source.collection == edition} for edition in EDITIONS]
    ranked = [p for p in found(len(passages())) if p.source.family in both[0] & both[1]]
    order = list(dict.fromkeys(p.source.family for p in ranked))
    return sorted(ranked, key=lambda p: (order.index(p.source.family), p.source.document, p.span))[:count]


def answer(held: Sequence[Passage], count: int = 40) -> str:
    """An answer of `count` sentences: three in four from the passages held, every fourth from other pages."""
    own = _sentences(held)
    ids = {passage.source.family for passage in held}
    strange = _sentences([passage for passage in passages() if passage.source.family not in ids])
    picked = [
        strange[at * len(strange) // count] if at % 4 == 3 else own[at * len(own) // count] for at in range(count)
    ]
    return " ".join(picked)


def _sentences(held: Sequence[Passage]) -> list[str]:
    texts = [passage.text[span.start : span.end] for passage in held for span in sentences(passage.text)]
    plain = [clean_for_display(text) for text in texts]
    return [text for text in plain if 60 <= len(text) <= 240 and text.endswith(".") and len(sentences(text)) == 1]
