"""Evidence: the one object that prompt, stream, citations, audit and export are rendered from.

A `Passage` is a raw hit of a retriever. An `Evidence` is a passage that was admitted to a turn: identified, cleaned,
perhaps shortened, with its conflicts. All spans are in Unicode code points of the stored text of the document version.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from assistant.core.access import EVERYONE
from assistant.core.text import Span, clean_for_display


class Authority(StrEnum):
    """How much weight a document has when two of about the same date disagree."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"

    @property
    def rank(self) -> int:
        """2 for high, 1 for medium, 0 for low."""
        return {"high": 2, "medium": 1, "low": 0}[self.value]


@dataclass(frozen=True, slots=True)
class SourceVersion:
    """One version of one document, as it was when it was read in.

    `family` groups copies and editions of the same document (same path or title in dated folders); None when the
    document stands alone. `date` is the date the document speaks for, not the time it was read in.
    """

    document: str
    number: int
    sha256: str
    title: str
    uri: str
    collection: str
    date: date | None = None
    authority: Authority = Authority.MEDIUM
    language: str = "en"
    family: str | None = None
    access: frozenset[str] = frozenset({EVERYONE})


@dataclass(frozen=True, slots=True)
class Place:
    """Where something stands: a span of one version of one document."""

    document: str
    version: int
    span: Span


Region = tuple[float, float, float, float]
"""Left, top, right and bottom of a part of a page, as fractions of its width and height."""


@dataclass(frozen=True, slots=True)
class ImageRef:
    """An image of a document version: `id` is the sha256 of its bytes, `caption` the text that stands for it at `span`.

    `region` is where it stands on `page`, None when the format does not say.
    """

    id: str
    media_type: str
    caption: str
    span: Span
    page: int | None = None
    region: Region | None = None


@dataclass(frozen=True, slots=True)
class Passage:
    """A hit of a retriever: `text` is exactly the stored text of the version at `span`."""

    id: str
    text: str
    source: SourceVersion
    span: Span
    section: str = ""
    page: int | None = None
    score: float = 0.0
    images: tuple[ImageRef, ...] = ()


@dataclass(frozen=True, slots=True)
class Evidence:
    """A passage admitted to a turn.

    `exact` is the stored text at `span`; `kept` are the parts of it that are shown (ascending, disjoint, in document
    offsets, whole sentences or lines). `conflicts` are ids of the evidence this one disagrees with; `preferred` is
    True or False when a rule prefers one side, None when there is no conflict or it stays open. `flags` are reasons
    for suspicion (for example "instruction") that the plan and the auditor see.
    """

    id: str
    source: SourceVersion
    span: Span
    exact: str
    kept: tuple[Span, ...]
    section: str = ""
    page: int | None = None
    score: float = 0.0
    language: str = "en"
    conflicts: tuple[str, ...] = ()
    preferred: bool | None = None
    flags: tuple[str, ...] = ()
    images: tuple[ImageRef, ...] = ()

    @property
    def text(self) -> str:
        """The text that is shown to the model: the kept parts, cleaned of markup, one gap mark where text is left out."""
        parts = [clean_for_display(self.quote(span)) for span in self.kept]
        glue = [
            "" if before.end == after.start else _gap(part)
            for before, after, part in zip(self.kept, self.kept[1:], parts, strict=False)
        ]
        return "".join(part + gap for part, gap in zip(parts, [*glue, ""], strict=True)).strip()

    def quote(self, span: Span) -> str:
        """The stored text at `span` (document offsets); ValueError when it lies outside this evidence."""
        if not (self.span.start <= span.start <= span.end <= self.span.end):
            raise ValueError(f"span {span} lies outside evidence {self.id}")
        return self.exact[span.start - self.span.start : span.end - self.span.start]


def _gap(before: str) -> str:
    """The mark of a gap after this text; on a line of its own where a line has ended, so that headings stay headings."""
    return "[…]\n" if before.endswith("\n") else " […] "


def evidence_id(source: SourceVersion, span: Span) -> str:
    """An opaque id that is the same whenever the same text of the same version is admitted."""
    key = f"{source.document}\0{source.sha256}\0{span.start}\0{span.end}"
    return "e" + hashlib.sha256(key.encode()).hexdigest()[:10]


def admit(passage: Passage) -> Evidence:
    """Turn a passage into evidence that shows all of its text."""
    return Evidence(
        id=evidence_id(passage.source, passage.span),
        source=passage.source,
        span=passage.span,
        exact=passage.text,
        kept=(passage.span,),
        section=passage.section,
        page=passage.page,
        score=passage.score,
        language=passage.source.language,
        images=passage.images,
    )
