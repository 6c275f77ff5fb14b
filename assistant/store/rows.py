"""Core values as rows and back: evidence, conflicts, citations, plans and the assistant message."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from sqlalchemy import Row

from assistant.codec import adapter, encode, storable
from assistant.core.citations import Citation, CitationStatus, CitedSource, SentenceVerdict, Verdict
from assistant.core.conflicts import Claim, Conflict, ConflictKind, Resolution
from assistant.core.events import CitationsAdded, ConflictsFound, TurnPlanned, TurnProgress, UsageReported
from assistant.core.evidence import Authority, Evidence, ImageRef, SourceVersion
from assistant.core.text import Span
from assistant.core.turn import TurnMessage

AnyRow = Row[*tuple[Any, ...]]

_CLAIMS: Final = adapter(tuple[Claim, ...])
_IMAGES: Final = adapter(tuple[ImageRef, ...])
_SENTENCES: Final = adapter(tuple[SentenceVerdict, ...])
_CONFLICTS: Final = adapter(ConflictsFound)
_PLAN: Final = adapter(TurnPlanned)
_STEPS: Final = adapter(tuple[TurnProgress, ...])
_USAGE: Final = (
    "calls",
    "tokens_in",
    "tokens_out",
    "tokens_cached",
    "cost",
    "ms_first_token",
    "ms_answer",
    "ms_citations",
)


def evidence_row(turn: str, position: int, evidence: Evidence, *, n: int | None, stored: bool) -> dict[str, Any]:
    """A row of the evidence table; `stored` says that the version in the store has the same text at the span."""
    source = evidence.source
    return {
        "turn": turn,
        "position": position,
        "evidence_id": evidence.id,
        "n": n,
        "document": storable(source.document),
        "version": source.number,
        "sha256": source.sha256,
        "title": storable(source.title),
        "uri": storable(source.uri),
        "collection": storable(source.collection),
        "date": source.date,
        "authority": source.authority.value,
        "source_language": source.language,
        "family": source.family,
        "access": sorted(source.access),
        "span_start": evidence.span.start,
        "span_end": evidence.span.end,
        "exact": None if stored else storable(evidence.exact),
        "kept": [[span.start, span.end] for span in evidence.kept],
        "section": storable(evidence.section),
        "page": evidence.page,
        "score": evidence.score,
        "language": evidence.language,
        "conflicts": list(evidence.conflicts),
        "preferred": evidence.preferred,
        "flags": list(evidence.flags),
        "images": _IMAGES.dump_python(evidence.images, mode="json") if evidence.images else None,
    }


def evidence_of_row(row: AnyRow, exact: str) -> Evidence:
    """The evidence of a row, with the text of its span."""
    return Evidence(
        id=row.evidence_id,
        source=source_of_row(row),
        span=Span(row.span_start, row.span_end),
        exact=exact,
        kept=tuple(Span(start, end) for start, end in row.kept),
        section=row.section,
        page=row.page,
        score=row.score,
        language=row.language,
        conflicts=tuple(row.conflicts),
        preferred=row.preferred,
        flags=tuple(row.flags),
        images=images_of_row(row),
    )


def images_of_row(row: AnyRow) -> tuple[ImageRef, ...]:
    """The images of an evidence row."""
    return () if row.images is None else _IMAGES.validate_python(row.images)


def source_of_row(row: AnyRow) -> SourceVersion:
    """The source version of an evidence row, as it was when it was shown."""
    return SourceVersion(
        document=row.document,
        number=row.version,
        sha256=row.sha256,
        title=row.title,
        uri=row.uri,
        collection=row.collection,
        date=row.date,
        authority=Authority(row.authority),
        language=row.source_language,
        family=row.family,
        access=frozenset(row.access),
    )


def conflict_row(turn: str, position: int, conflict: Conflict) -> dict[str, Any]:
    """A row of the conflicts table."""
    return {
        "turn": turn,
        "position": position,
        "conflict_id": conflict.id,
        "kind": conflict.kind.value,
        "topic": storable(conflict.topic),
        "sides": _CLAIMS.dump_python(conflict.sides, mode="json"),
        "resolution": conflict.resolution.value,
        "preferred": conflict.preferred,
        "why": storable(conflict.why),
    }


def conflict_of_row(row: AnyRow) -> Conflict:
    """The conflict of a row."""
    first, second = _CLAIMS.validate_python(row.sides)
    return Conflict(
        id=row.conflict_id,
        kind=ConflictKind(row.kind),
        topic=row.topic,
        sides=(first, second),
        resolution=Resolution(row.resolution),
        preferred=row.preferred,
        why=row.why,
    )


def citation_row(turn: str, position: int, citation: Citation) -> dict[str, Any]:
    """A row of the citations table."""
    source = citation.source
    return {
        "turn": turn,
        "position": position,
        "n": citation.n,
        "answer_start": citation.start,
        "answer_end": citation.end,
        "verdict": citation.verdict.value,
        "score": citation.score,
        "evidence_id": citation.evidence,
        "document": source.document,
        "version": source.version,
        "sha256": source.sha256,
        "title": source.title,
        "uri": source.uri,
        "section": source.section,
        "source_start": source.start,
        "source_end": source.end,
        "exact": source.exact,
        "page": source.page,
        "date": source.date,
        "authority": source.authority.value,
        "image": source.image,
        "region": list(source.region) if source.region else None,
    }


def citation_of_row(row: AnyRow) -> Citation:
    """The citation of a row."""
    source = CitedSource(
        document=row.document,
        version=row.version,
        sha256=row.sha256,
        title=row.title,
        uri=row.uri,
        section=row.section,
        start=row.source_start,
        end=row.source_end,
        exact=row.exact,
        page=row.page,
        date=row.date,
        authority=Authority(row.authority),
        image=row.image,
        region=tuple(row.region) if row.region else None,
    )
    verdict = Verdict(row.verdict)
    return Citation(row.n, row.answer_start, row.answer_end, verdict, row.score, row.evidence_id, source)


PLAN_COLUMNS: Final = ("standalone", "mode", "reason", "reason_code", "language", "plan")


def plan_values(plan: TurnPlanned) -> dict[str, Any]:
    """The columns of a turn that hold its plan."""
    return {
        "standalone": plan.standalone,
        "mode": plan.mode,
        "reason": plan.reason,
        "reason_code": plan.reason_code,
        "language": plan.language,
        "plan": encode(plan),
    }


def message_values(message: TurnMessage) -> dict[str, Any]:
    """The columns of a turn that hold how it went; raises BadInput for text that cannot be stored."""
    values: dict[str, Any] = {
        "status": message.status,
        "stage": message.stage,
        "finish": message.finish,
        "model": message.model,
        "prompt": message.prompt,
        "parameters": [list(pair) for pair in message.parameters],
        "error": message.error,
        "audit_id": message.audit_id,
        "record_hash": message.record_hash,
        "from_cache": message.from_cache,
    }
    if message.steps:
        values["steps"] = [encode(step) for step in message.steps]
    if message.plan is not None:
        values |= plan_values(message.plan)
    if message.usage is not None:
        values |= {name: getattr(message.usage, name) for name in _USAGE}
    if message.conflicts is not None:
        values["conflicts_shown"] = encode(message.conflicts)
    return values | (_citation_values(message.citations) if message.citations is not None else {})


def _citation_values(found: CitationsAdded) -> dict[str, Any]:
    encode(found)  # refuses what cannot be stored
    return {
        "citation_status": found.status.value,
        "unsupported": _SENTENCES.dump_python(found.unsupported, mode="json"),
        "agreement": found.agreement,
    }


def message_of_row(row: AnyRow, citations: Iterable[AnyRow]) -> TurnMessage:
    """The assistant message of a row of turns joined with its message (text, sha256)."""
    return TurnMessage(
        question=row.question,
        text=row.text,
        status=row.status,
        stage=row.stage,
        finish=row.finish,
        sha256=row.sha256,
        model=row.model,
        prompt=row.prompt,
        parameters=tuple((name, value) for name, value in row.parameters or ()),
        error=row.error,
        plan=None if row.plan is None else _PLAN.validate_python(row.plan),
        steps=_STEPS.validate_python(row.steps or []),
        citations=_citations_of_row(row, citations),
        conflicts=None if row.conflicts_shown is None else _CONFLICTS.validate_python(row.conflicts_shown),
        usage=None if row.calls is None else UsageReported(**{name: getattr(row, name) for name in _USAGE}),
        audit_id=row.audit_id,
        record_hash=row.record_hash,
        attachments=tuple(row.attachments or ()),
        from_cache=row.from_cache,
    )


def _citations_of_row(row: AnyRow, citations: Iterable[AnyRow]) -> CitationsAdded | None:
    if row.citation_status is None:
        return None
    return CitationsAdded(
        status=CitationStatus(row.citation_status),
        items=tuple(map(citation_of_row, citations)),
        unsupported=_SENTENCES.validate_python(row.unsupported),
        agreement=row.agreement,
    )


def number_rows(conversation: str, numbers: Mapping[str, int]) -> Sequence[dict[str, Any]]:
    """Rows of citation_numbers."""
    return [{"conversation": conversation, "evidence_id": id_, "n": n} for id_, n in numbers.items()]
