"""Documents, evidence and finished turns for the tests of the store."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import date

from assistant.core.access import EVERYONE, Caller
from assistant.core.budget import BudgetPlan
from assistant.core.citations import Citation, CitationStatus, CitedSource, SentenceVerdict, Verdict
from assistant.core.conflicts import Claim, Conflict, ConflictKind, Resolution
from assistant.core.events import (
    CitationsAdded,
    ConflictsFound,
    ConflictShown,
    ConflictSide,
    EvidenceShown,
    TurnPlanned,
    UsageReported,
)
from assistant.core.evidence import Authority, Evidence, admit
from assistant.core.text import Span, index_terms, sentences
from assistant.core.turn import TurnMessage
from assistant.interfaces import ChunkDraft, DocumentDraft
from assistant.store import Store

ANN = Caller("acme", "ann")
BOB = Caller("acme", "bob", frozenset({EVERYONE, "hr"}))
EVE = Caller("rival", "eve", frozenset({EVERYONE, "hr"}))


def draft(
    text: str,
    uri: str = "leave.md",
    *,
    title: str = "Leave",
    access: Sequence[str] = (EVERYONE,),
    on: date | None = None,
) -> DocumentDraft:
    """A document with one chunk per sentence."""
    chunks = tuple(
        ChunkDraft(span, "Section", None, tuple(index_terms(f"{title} {text[span.start : span.end]}")))
        for span in sentences(text)
    )
    sha256 = hashlib.sha256(text.encode(errors="replace")).hexdigest()
    return DocumentDraft(uri, title, text, sha256, "text/markdown", "en", chunks, on, access=frozenset(access))


async def put(store: Store, document: DocumentDraft, *, tenant: str = "acme", collection: str = "handbook") -> int:
    return await store.documents.put(tenant, collection, document, fingerprint=document.sha256)


async def find(
    store: Store, question: str, caller: Caller = ANN, collections: Sequence[str] | None = None
) -> list[str]:
    """The texts that a search for the words of a question finds, best first."""
    within = None if collections is None else frozenset(collections)
    hits = await store.index.search_words(index_terms(question), caller, within, 10)
    passages = await store.index.passages([hit.chunk for hit in hits], caller)
    return [passages[hit.chunk].text for hit in hits]


async def found_evidence(store: Store, question: str, caller: Caller = ANN) -> list[Evidence]:
    hits = await store.index.search_words(index_terms(question), caller, None, 10)
    passages = await store.index.passages([hit.chunk for hit in hits], caller)
    return [admit(passages[hit.chunk]) for hit in hits]


def plan_of(evidence: Sequence[Evidence], standalone: str = "How many days?") -> TurnPlanned:
    shown = tuple(
        EvidenceShown(
            each.id,
            n,
            each.source.title,
            each.source.uri,
            each.section,
            each.source.date,
            each.source.authority,
            0.5,
            7,
        )
        for n, each in enumerate(evidence, start=1)
    )
    budget = BudgetPlan(window=8192, system=200, history=0, evidence=900, question=12, output=1024, margin=80)
    return TurnPlanned(standalone, "compact", "two sources", "lookup", budget, shown, "en", (standalone,))


def conflict_of(first: Evidence, second: Evidence) -> Conflict:
    sides = (claim_of(first), claim_of(second))
    return Conflict("c1", ConflictKind.NUMBER, "days of leave", sides, Resolution.NEWER, first.id, "20 / 25")


def claim_of(evidence: Evidence) -> Claim:
    start = evidence.span.start
    return Claim(evidence.id, Span(start, start + 4), evidence.exact[:4], evidence.source.date, Authority.HIGH)


def citation_of(evidence: Evidence, n: int, start: int = 0, end: int = 5) -> Citation:
    source = evidence.source
    place = CitedSource(
        document=source.document,
        version=source.number,
        sha256=source.sha256,
        title=source.title,
        uri=source.uri,
        section=evidence.section,
        start=evidence.span.start,
        end=evidence.span.end,
        exact=evidence.exact,
        date=source.date,
        authority=source.authority,
    )
    return Citation(n, start, end, Verdict.SUPPORTED, 0.875, evidence.id, place)


def answer_of(evidence: Sequence[Evidence], *, question: str = "How many days?", text: str = "20 days.") -> TurnMessage:
    """A completed turn that cites all of the evidence."""
    items = tuple(citation_of(each, n) for n, each in enumerate(evidence, start=1))
    unsupported = (SentenceVerdict(5, 7, Verdict.UNSUPPORTED, 0.125),)
    side = ConflictSide("e1", 1, "20 days", "Leave", date(2024, 1, 2), Authority.HIGH, preferred=True)
    shown = ConflictShown("days", "number", (side, side), "newer", "20 / 25", "preferred")
    return TurnMessage(
        question=question,
        text=text,
        status="completed",
        stage="done",
        finish="stop",
        sha256=hashlib.sha256(text.encode()).hexdigest(),
        model="extractive",
        prompt="p1",
        plan=plan_of(evidence),
        citations=CitationsAdded(CitationStatus.PARTIAL, items, unsupported, 4),
        conflicts=ConflictsFound((shown,)),
        usage=UsageReported(1, 100, 20, 0, 0.0125, 30, 900, 12),
    )
