"""The desk of an auditor: finding, opening, verifying and exporting records. Every look and every export is on the record before it is given."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final, Protocol

from assistant.audit.checking import StoredLog, Verified, verify_log
from assistant.audit.checkpointing import Checkpointer, Tenants
from assistant.audit.export import ExportOrder, ExportReport, Trust, export
from assistant.audit.export_order import Found, in_order
from assistant.audit.export_rows import is_erased
from assistant.audit.retaining import Retainer, outcome_json
from assistant.audit.signing import Signer
from assistant.audit.targets import Targets
from assistant.codec import storable
from assistant.core.access import Caller
from assistant.core.adopted import AdoptedAnswer
from assistant.core.audit import AuditDraft, AuditKind, AuditRecord, stamp
from assistant.core.audit_figures import Aftermath, DayFigures
from assistant.core.audit_filter import AuditFilter, facets_of
from assistant.core.evidence import Evidence
from assistant.core.past_sources import PastSource
from assistant.core.turn import TurnMessage
from assistant.errors import BadInput, Busy, NotFound

LONGEST_REASON: Final = 2000
MOST_DAYS: Final = 400
"""The longest time that figures are counted over."""
_RETRY_MS: Final = 10_000


class DeskLog(StoredLog, Found, Tenants, Protocol):
    """What the desk needs of an audit log."""

    async def record(self, tenant: str, id_: str) -> AuditRecord:
        """The record with this id; NotFound when the tenant has none."""
        ...

    async def open_sealed(self, record: AuditRecord) -> Mapping[str, str] | None:
        """The personal text; None when it has none or cannot be opened any more, BadInput when it was tampered with."""
        ...

    async def aftermath(self, tenant: str, seqs: Collection[int]) -> dict[int, Aftermath]:
        """What came after each of these records."""
        ...

    async def figures(self, tenant: str, filters: AuditFilter) -> list[DayFigures]:
        """The figures of each day that has answers that fit."""
        ...

    async def append_one(self, draft: AuditDraft) -> AuditRecord:
        """Add a record."""
        ...


class KeptAnswers(Protocol):
    """What is kept of answers beside their records, whoever asked."""

    async def evidence(self, tenant: str, turn: str) -> list[Evidence]:
        """The evidence that a turn showed; empty when it is no longer kept."""
        ...

    async def plan(self, tenant: str, turn: str) -> Mapping[str, Any] | None:
        """The plan of a turn as its event had it; None when it is no longer kept."""
        ...

    async def sources(self, tenant: str, turn: str) -> list[tuple[int, PastSource]]:
        """Every cited place of a turn by its number, as it was and as it is today."""
        ...


class AnswersOfRecord(Protocol):
    """The answers that people gave instead of the model. Each change is on the record."""

    async def adopt(self, tenant: str, correction: str, *, by: str, reason: str) -> AdoptedAnswer:
        """Make a correction an answer of record."""
        ...

    async def revoke(self, tenant: str, id_: str, *, by: str, reason: str) -> AdoptedAnswer:
        """Give it no more."""
        ...

    async def list(self, tenant: str, *, revoked: bool = False) -> Sequence[AdoptedAnswer]:
        """Those in force, the latest first."""
        ...


class Replayed(Protocol):
    """An answer beside what a model says to the same prompts now."""

    @property
    def old(self) -> TurnMessage:
        """The answer that is kept."""
        ...

    @property
    def new(self) -> TurnMessage:
        """What the model says now."""
        ...

    def as_json(self) -> dict[str, Any]:
        """The difference; `text` holds that of the words."""
        ...


Replaying = Callable[[str, str | None], Awaitable[Replayed]]
"""Answers a kept turn again, through the named model of the endpoint or its own."""


@dataclass(frozen=True, slots=True)
class Notary:
    """What stands behind a log: who signs (None: nothing is signed here), the public keys that are trusted, the targets."""

    targets: Targets
    keys: Mapping[str, bytes]
    signer: Signer | None = None
    checkpointer: Checkpointer | None = None


class AuditDesk:
    """What auditors do, for the command line and REST alike. It checks no roles: that is for the door."""

    def __init__(
        self,
        log: DeskLog,
        kept: KeptAnswers,
        notary: Notary,
        *,
        pseudonym: Callable[[Caller], str],
        clock: Callable[[], datetime],
        retainer: Retainer | None = None,
        answers: AnswersOfRecord | None = None,
        replaying: Replaying | None = None,
    ) -> None:
        self._log = log
        self._kept = kept
        self._notary = notary
        self._pseudonym = pseudonym
        self._clock = clock
        self._retainer = retainer
        self._answers = answers
        self._replaying = replaying
        self._verifying = asyncio.Lock()

    async def find(
        self, who: Caller, filters: AuditFilter, before: int | None = None, limit: int = 50
    ) -> list[dict[str, Any]]:
        """The records that fit, the latest first, each in short: nothing that was said or quoted.

        The next page begins behind the record number `before`; BadInput where there is none such.
        """
        found = await self._log.search(who.tenant, filters, before, limit)
        since = await self._log.aftermath(who.tenant, [record.seq for record in found])
        return [in_short(record, since.get(record.seq)) for record in found]

    async def figures(self, who: Caller, filters: AuditFilter) -> dict[str, Any]:
        """What the answers that fit came to day by day (`DayFigures`); the last 30 days where no time is given.

        Raises BadInput with `reason` "range" for more than MOST_DAYS days.
        """
        until = filters.until or self._clock()
        since = filters.since or _days_before(until, 30)
        if until - since > timedelta(days=MOST_DAYS):
            raise BadInput("this is too long a time", reason="range", limit=MOST_DAYS)
        days = await self._log.figures(who.tenant, replace(filters, since=since, until=until))
        return {"since": stamp(since), "until": stamp(until), "days": [each.as_json() for each in days]}

    async def open(self, who: Caller, id_: str, reason: str) -> dict[str, Any]:
        """A record with its opened text, the evidence and the cited places as they were, and what became of them.

        Raises NotFound, and BadInput without a reason. The look is on the record before it is given.
        """
        check_reason(reason)
        record = await self._log.record(who.tenant, id_)
        await self.note(who, AuditKind.VIEW, reason, of=record)
        return {"record": plain(record), **await self._texts(record), **await self._rested_on(record)}

    async def replay(self, who: Caller, id_: str, reason: str, model: str | None = None) -> dict[str, Any]:
        """Answer again and compare; the difference is on the record before it is given, the new text sealed.

        Raises NotFound, BadInput without a reason, Busy while another one runs here, and what the model raises.
        """
        check_reason(reason)
        record = await self._log.record(who.tenant, id_)
        if record.kind is not AuditKind.TURN or record.turn is None or self._replaying is None:
            raise NotFound("this record is not of an answer")
        if self._verifying.locked():
            raise Busy("a verification or replay runs already", retry_after_ms=_RETRY_MS)
        async with self._verifying:
            done = await self._replaying(record.turn, model)
        told = done.as_json()
        text = told.pop("text")
        personal = {"answer": done.new.text} if done.new.text else None
        await self.note(who, AuditKind.REPLAY, reason, of=record, personal=personal, difference=told)
        return {**told, "text": text, "old": done.old.text, "new": done.new.text}

    async def verify(
        self,
        who: Caller,
        *,
        keys: Mapping[str, bytes] | None = None,
        on_progress: Callable[[int], None] | None = None,
    ) -> Verified:
        """Whether the log of the tenant is what was written; `keys` are trusted instead of the known ones.

        Raises Busy while another verification runs here: each reads the whole log.
        """
        if self._verifying.locked():
            raise Busy("a verification runs already", retry_after_ms=_RETRY_MS)
        trusted = self._notary.keys if keys is None else keys
        async with self._verifying:
            return await verify_log(who.tenant, self._log, self._notary.targets, trusted, on_progress)

    async def verified(self, who: Caller) -> dict[str, Any]:
        """As `verify`, as plain JSON values."""
        found = await self.verify(who)
        outside = {"targets": found.targets, "external": found.external, "damaged": found.damaged}
        return {**asdict(found.finding), "unsigned": found.finding.unsigned, **outside}

    async def export(self, who: Caller, filters: AuditFilter, target: Path, reason: str) -> ExportReport:
        """Write a package of the records that fit to `target`, a zip file when it is named so, else a folder.

        The export goes on the record, then a checkpoint covers everything, then the package is made. Raises what `export` raises.
        """
        check_reason(reason)
        given = filters_as_json(filters)
        await self.note(who, AuditKind.EXPORT, reason, filters=given)
        if self._notary.checkpointer is not None:
            await self._notary.checkpointer.make(who.tenant, self._log)
        order = ExportOrder(who.tenant, self._pseudonym(who), reason, self._clock(), given)
        trust = Trust(await self._log.checkpoints(who.tenant), self._notary.keys, self._log.hashes, self._notary.signer)

        async def evidence(turn: str) -> Sequence[Evidence]:
            return await self._kept.evidence(who.tenant, turn)

        records = in_order(self._log, who.tenant, filters)
        return await export(records, target, order, opened=self._log.open_sealed, evidence=evidence, trust=trust)

    async def would_go(self, who: Caller, reason: str) -> list[dict[str, Any]]:
        """What each retention policy would take now, and how much holds keep; nothing goes. The look is on the record."""
        await self.note(who, AuditKind.VIEW, reason, what="retention")
        if self._retainer is None:
            return []
        return [
            outcome_json(each)
            for each in await self._retainer.apply(who.tenant, by=self._pseudonym(who), reason=reason, dry_run=True)
        ]

    async def adopt(self, who: Caller, correction: str, reason: str) -> dict[str, Any]:
        """Make a correction, named by its audit record, the answer of record to its question. Raises what the store's `adopt` raises."""
        check_reason(reason)
        answers = self._known_answers()
        return adopted_json(await answers.adopt(who.tenant, correction, by=self._pseudonym(who), reason=reason))

    async def revoke(self, who: Caller, id_: str, reason: str) -> dict[str, Any]:
        """Give an answer of record no more; NotFound when there is none such in force."""
        check_reason(reason)
        answers = self._known_answers()
        return adopted_json(await answers.revoke(who.tenant, id_, by=self._pseudonym(who), reason=reason))

    async def adopted(self, who: Caller) -> list[dict[str, Any]]:
        """The answers of record in force, the latest first."""
        return [adopted_json(each) for each in await self._known_answers().list(who.tenant)]

    def _known_answers(self) -> AnswersOfRecord:
        if self._answers is None:
            raise NotFound("answers of record are not kept here")
        return self._answers

    async def note(
        self,
        who: Caller,
        kind: AuditKind,
        reason: str,
        *,
        of: AuditRecord | None = None,
        personal: Mapping[str, str] | None = None,
        **more: Any,
    ) -> AuditRecord:
        """Put on the record what an auditor does, with which record; `personal` is sealed with the key of its person.

        Raises BadInput without a reason.
        """
        check_reason(reason)
        body = {"reason": reason, **more} | ({"record": of.id, "seq": of.seq} if of else {})
        about = (of.subject, of.conversation, of.turn) if of else (None, None, None)
        draft = AuditDraft(who.tenant, kind, self._pseudonym(who), self._clock(), *about, body, personal)
        return await self._log.append_one(draft)

    async def _texts(self, record: AuditRecord) -> dict[str, Any]:
        """What was said, or that it is gone, or that somebody changed it: the rest is shown all the same."""
        try:
            texts = await self._log.open_sealed(record)
        except BadInput:
            return {"texts": None, "erased": False, "tampered": True}
        return {"texts": texts, "erased": is_erased(record, texts), "tampered": False}

    async def _rested_on(self, record: AuditRecord) -> dict[str, Any]:
        if record.kind is not AuditKind.TURN or record.turn is None:
            return {"evidence": [], "sources": [], "plan": None}
        shown = await self._kept.evidence(record.tenant, record.turn)
        sources = await self._kept.sources(record.tenant, record.turn)
        compared = await asyncio.to_thread(lambda: [{"n": n, **source.as_json()} for n, source in sources])
        plan = await self._kept.plan(record.tenant, record.turn)
        return {"evidence": [_shown(each) for each in shown], "sources": compared, "plan": plan}


def _days_before(at: datetime, days: int) -> datetime:
    try:
        return at - timedelta(days=days)
    except OverflowError:
        raise BadInput("this time is out of range", reason="time") from None


def check_reason(reason: str) -> None:
    """Raises BadInput when nobody says why, or at great length, or in what no database can hold."""
    if not storable(reason).strip():
        raise BadInput("say why: a reason is needed", reason="no_reason")
    if len(reason) > LONGEST_REASON:
        raise BadInput("the reason is too long", reason="too_long", limit=LONGEST_REASON)


def plain(record: AuditRecord) -> dict[str, Any]:
    """All fields of a record as plain JSON values."""
    return {**asdict(record), "kind": str(record.kind)}


def in_short(record: AuditRecord, since: Aftermath | None = None) -> dict[str, Any]:
    """What a list tells of a record: who, when, what, what came of it, and what came `since`."""
    named = ("seq", "id", "at", "actor", "subject", "conversation", "turn", "hash")
    since = since or Aftermath()
    facets = asdict(facets_of(record.body))
    return {
        **{name: getattr(record, name) for name in named},
        "kind": str(record.kind),
        **facets,
        "rating": since.rating or facets["rating"],
        "source_changed": since.source_changed,
    }


def adopted_json(answer: AdoptedAnswer) -> dict[str, Any]:
    """An answer of record as plain JSON values."""
    named = ("id", "question", "text", "turn", "correction", "by")
    revoked = None if answer.revoked_at is None else stamp(answer.revoked_at)
    sources = [list(each) for each in answer.sources]
    return {name: getattr(answer, name) for name in named} | {
        "at": stamp(answer.at),
        "revoked_at": revoked,
        "sources": sources,
    }


def filters_as_json(filters: AuditFilter) -> dict[str, Any]:
    """The parts of a filter that are given, as plain JSON values."""
    given = {field.name: getattr(filters, field.name) for field in fields(filters)}
    plain_ = {name: stamp(value) if isinstance(value, datetime) else value for name, value in given.items()}
    return {
        name: str(value) if isinstance(value, str) else value for name, value in plain_.items() if value is not None
    }


def _shown(evidence: Evidence) -> dict[str, Any]:
    source = evidence.source
    return {
        "id": evidence.id,
        "document": source.document,
        "version": source.number,
        "sha256": source.sha256,
        "title": source.title,
        "uri": source.uri,
        "collection": source.collection,
        "date": source.date.isoformat() if source.date else None,
        "section": evidence.section,
        "page": evidence.page,
        "start": evidence.span.start,
        "end": evidence.span.end,
        "exact": evidence.exact,
        "shown": evidence.text,
        "score": evidence.score,
        "flags": list(evidence.flags),
    }
