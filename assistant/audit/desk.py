"""The desk of an auditor: finding, opening, verifying and exporting records. Every look and every export is on the record before it is given."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Protocol

from assistant.audit.checking import StoredLog, Verified, verify_log
from assistant.audit.checkpointing import Checkpointer, Tenants
from assistant.audit.export import ExportOrder, ExportReport, Trust, export
from assistant.audit.export_order import Found, in_order
from assistant.audit.export_rows import is_erased
from assistant.audit.signing import Signer
from assistant.audit.targets import Targets
from assistant.codec import storable
from assistant.core.access import Caller
from assistant.core.audit import AuditDraft, AuditKind, AuditRecord, stamp
from assistant.core.audit_filter import AuditFilter, facets_of
from assistant.core.evidence import Evidence
from assistant.core.past_sources import PastSource
from assistant.errors import BadInput, Busy

LONGEST_REASON: Final = 2000
_RETRY_MS: Final = 10_000


class DeskLog(StoredLog, Found, Tenants, Protocol):
    """What the desk needs of an audit log."""

    async def record(self, tenant: str, id_: str) -> AuditRecord:
        """The record with this id; NotFound when the tenant has none."""
        ...

    async def open_sealed(self, record: AuditRecord) -> Mapping[str, str] | None:
        """The personal text; None when it has none or cannot be opened any more, BadInput when it was tampered with."""
        ...

    async def append_one(self, draft: AuditDraft) -> AuditRecord:
        """Add a record."""
        ...


class KeptAnswers(Protocol):
    """What is kept of answers beside their records, whoever asked."""

    async def evidence(self, tenant: str, turn: str) -> list[Evidence]:
        """The evidence that a turn showed; empty when it is no longer kept."""
        ...

    async def sources(self, tenant: str, turn: str) -> list[tuple[int, PastSource]]:
        """Every cited place of a turn by its number, as it was and as it is today."""
        ...


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
    ) -> None:
        self._log = log
        self._kept = kept
        self._notary = notary
        self._pseudonym = pseudonym
        self._clock = clock
        self._verifying = asyncio.Lock()

    async def find(
        self, who: Caller, filters: AuditFilter, before: int | None = None, limit: int = 50
    ) -> list[dict[str, Any]]:
        """The records that fit, the latest first, each in short: nothing that was said or quoted.

        The next page begins behind the record number `before`; BadInput where there is none such.
        """
        return [in_short(record) for record in await self._log.search(who.tenant, filters, before, limit)]

    async def open(self, who: Caller, id_: str, reason: str) -> dict[str, Any]:
        """A record with its opened text, the evidence and the cited places as they were, and what became of them.

        Raises NotFound, and BadInput without a reason. The look is on the record before it is given.
        """
        check_reason(reason)
        record = await self._log.record(who.tenant, id_)
        await self.note(who, AuditKind.VIEW, reason, of=record)
        return {"record": plain(record), **await self._texts(record), **await self._rested_on(record)}

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
        return {**asdict(found.finding), **outside}

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
            return {"evidence": [], "sources": []}
        shown = await self._kept.evidence(record.tenant, record.turn)
        sources = await self._kept.sources(record.tenant, record.turn)
        compared = await asyncio.to_thread(lambda: [{"n": n, **source.as_json()} for n, source in sources])
        return {"evidence": [_shown(each) for each in shown], "sources": compared}


def check_reason(reason: str) -> None:
    """Raises BadInput when nobody says why, or at great length, or in what no database can hold."""
    if not storable(reason).strip():
        raise BadInput("say why: a reason is needed", reason="no_reason")
    if len(reason) > LONGEST_REASON:
        raise BadInput("the reason is too long", reason="too_long", limit=LONGEST_REASON)


def plain(record: AuditRecord) -> dict[str, Any]:
    """All fields of a record as plain JSON values."""
    return {**asdict(record), "kind": str(record.kind)}


def in_short(record: AuditRecord) -> dict[str, Any]:
    """What a list tells of a record: who, when, what, and what came of it."""
    named = ("seq", "id", "at", "actor", "subject", "conversation", "turn", "hash")
    return {
        **{name: getattr(record, name) for name in named},
        "kind": str(record.kind),
        **asdict(facets_of(record.body)),
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
