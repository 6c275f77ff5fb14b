"""The audit over REST, for the roles auditor and exporter. For everybody else there is nothing here."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from pathlib import Path as FilePath
from tempfile import TemporaryDirectory
from typing import Annotated, Any, BinaryIO, Final

from fastapi import APIRouter, Depends, Header, Path, Query, Request
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

from assistant.core.access import Caller
from assistant.core.audit import AuditKind
from assistant.core.audit_filter import AuditFilter
from assistant.core.citations import Verdict
from assistant.errors import BadInput
from assistant.transport.auth import ADMIN, AUDITOR, EXPORTER
from assistant.transport.doors import Auditing
from assistant.transport.http import Who, with_role
from assistant.transport.receiving import header_text

router = APIRouter(prefix="/api/audit")

_PIECE: Final = 64 * 1024
_HIGHEST: Final = 2**53


def _audit(request: Request) -> Auditing:
    audit: Auditing = request.app.state.doors.audit
    return audit


def _auditor(who: Who) -> Caller:
    return with_role(who, AUDITOR)


def _exporter(who: Who) -> Caller:
    return with_role(who, EXPORTER)


def _adopter(who: Who) -> Caller:
    """Who decides what is answered to others is an auditor, who sees what was said, and an administrator."""
    return with_role(with_role(who, AUDITOR), ADMIN)


def _reason(x_audit_reason: Annotated[str, Header(max_length=8000)] = "") -> str:
    return header_text(x_audit_reason)


def _filters(
    kind: AuditKind | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    person: Annotated[str | None, Query(max_length=200)] = None,
    actor: Annotated[str | None, Query(max_length=200)] = None,
    session: Annotated[str | None, Query(max_length=200)] = None,
    turn: Annotated[str | None, Query(max_length=200)] = None,
    document: Annotated[str | None, Query(max_length=2000)] = None,
    model: Annotated[str | None, Query(max_length=200)] = None,
    mode: Annotated[str | None, Query(max_length=200)] = None,
    status: Annotated[str | None, Query(max_length=200)] = None,
    verdict: Verdict | None = None,
    conflict: bool | None = None,
    changed: bool | None = None,
    feedback: Annotated[str | None, Query(max_length=200)] = None,
) -> AuditFilter:
    """Times without a zone are UTC."""
    return AuditFilter(
        kind=kind,
        since=_utc(since),
        until=_utc(until),
        person=person,
        actor=actor,
        session=session,
        turn=turn,
        document=document,
        model=model,
        mode=mode,
        status=status,
        verdict=verdict,
        conflict=conflict,
        source_changed=changed,
        feedback=feedback,
    )


def _utc(at: datetime | None) -> datetime | None:
    if at is None:
        return None
    try:
        return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except OverflowError:
        raise BadInput("this time is out of range", reason="time") from None


# The roles come first in each list of parameters: who has none learns nothing of what a request should look like.
Audit = Annotated[Auditing, Depends(_audit)]
Auditor = Annotated[Caller, Depends(_auditor)]
Exporter = Annotated[Caller, Depends(_exporter)]
Adopter = Annotated[Caller, Depends(_adopter)]
Filters = Annotated[AuditFilter, Depends(_filters)]
Reason = Annotated[str, Depends(_reason)]


@router.get("/records")
async def records(
    who: Auditor,
    audit: Audit,
    filters: Filters,
    before: Annotated[int | None, Query(ge=1, le=_HIGHEST)] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> dict[str, Any]:
    """The records that fit in short, the latest first; `next` is the `before` of the following page, null at the end."""
    found = await audit.find(who, filters, before, limit)
    return {"records": found, "next": found[-1]["seq"] if len(found) == limit else None}


@router.get("/records/{record}")
async def record(
    who: Auditor, audit: Audit, reason: Reason, record: Annotated[str, Path(min_length=1, max_length=64)]
) -> dict[str, Any]:
    """A record with its text, evidence and sources. The header X-Audit-Reason says why; the look is itself on the record."""
    return await audit.open(who, record, reason)


class Again(BaseModel):
    """Which model answers again: another one of the same endpoint, or that of the settings."""

    model_config = ConfigDict(extra="forbid")

    model: str | None = Field(None, min_length=1, max_length=200)


@router.post("/records/{record}/replay")
async def replay(
    who: Auditor,
    audit: Audit,
    reason: Reason,
    record: Annotated[str, Path(min_length=1, max_length=64)],
    wanted: Again,
) -> dict[str, Any]:
    """The same evidence and prompts to the same or another model: answer, citations, verdicts and cost compared.

    X-Audit-Reason says why; the difference is on the record, the new text sealed.
    """
    return await audit.replay(who, record, reason, wanted.model)


@router.get("/figures")
async def figures(who: Auditor, audit: Audit, filters: Filters) -> dict[str, Any]:
    """What the answers that fit came to, day by day (UTC); at most 400 days, the last 30 where no time is given."""
    return await audit.figures(who, filters)


@router.get("/verify")
async def verify(who: Auditor, audit: Audit) -> dict[str, Any]:
    """Whether the log is what was written; else `seq` is the first record that does not fit and `reason` why."""
    return await audit.verified(who)


@router.get("/retention")
async def retention(who: Auditor, audit: Audit, reason: Reason) -> dict[str, Any]:
    """What the retention policies would take now; nothing goes. X-Audit-Reason says why; the look is itself on the record."""
    return {"policies": await audit.would_go(who, reason)}


class Adoption(BaseModel):
    """A correction that is to be the answer to its question: the id of its audit record."""

    model_config = ConfigDict(extra="forbid")

    correction: str = Field(min_length=1, max_length=64)


@router.get("/answers")
async def answers(who: Auditor, audit: Audit) -> dict[str, Any]:
    """The answers of record in force, the latest first."""
    return {"answers": await audit.adopted(who)}


@router.post("/answers", status_code=201)
async def adopt(who: Adopter, audit: Audit, reason: Reason, wanted: Adoption) -> dict[str, Any]:
    """Make a correction the answer of record to its question, for all who may read its sources. X-Audit-Reason says why."""
    return await audit.adopt(who, wanted.correction, reason)


@router.delete("/answers/{answer}")
async def revoke(
    who: Adopter, audit: Audit, reason: Reason, answer: Annotated[str, Path(min_length=1, max_length=64)]
) -> dict[str, Any]:
    """Give an answer of record no more. X-Audit-Reason says why."""
    return await audit.revoke(who, answer, reason)


@router.get("/export")
async def export(who: Exporter, audit: Audit, reason: Reason, filters: Filters) -> StreamingResponse:
    """A zip file with the records that fit and all that is needed to verify them. X-Audit-Reason says why."""
    folder = await asyncio.to_thread(TemporaryDirectory, prefix="audit-export-")
    try:
        package = FilePath(folder.name) / "audit.zip"
        await audit.export(who, filters, package, reason)
        file = await asyncio.to_thread(package.open, "rb")
    except BaseException:
        await asyncio.to_thread(folder.cleanup)
        raise
    headers = {"Content-Disposition": 'attachment; filename="audit.zip"'}
    return StreamingResponse(_pieces(file, folder), media_type="application/zip", headers=headers)


async def _pieces(file: BinaryIO, folder: TemporaryDirectory[str]) -> AsyncGenerator[bytes, None]:
    """The content of a file, which is gone with its folder at the end, also when nobody reads on."""
    try:
        while piece := await asyncio.to_thread(file.read, _PIECE):
            yield piece
    finally:
        file.close()
        await asyncio.to_thread(folder.cleanup)
