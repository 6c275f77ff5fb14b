"""Retention: what is older than a policy goes, unless a hold covers it; what went is on the record."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, and_, delete, exists, or_, select, tuple_, update
from sqlalchemy.ext.asyncio import AsyncConnection

from assistant.codec import storable
from assistant.core.access import Caller
from assistant.core.audit import AuditDraft, AuditKind, stamp
from assistant.core.keeping import HoldScope, KeptText, PruneReport, RetentionReport
from assistant.store.audit import SqlAuditLog, lock_chain
from assistant.store.engine import Database
from assistant.store.holds import check_reason, held_conversations, holds_in_force, not_held
from assistant.store.library_files import remove_files
from assistant.store.rows import AnyRow
from assistant.store.scrubbing import remove, scrub, zero_what_goes
from assistant.store.starting import running
from assistant.store.tables import (
    answers_of_record,
    answers_of_record_documents,
    audit_documents,
    audit_records,
    chunks,
    citations,
    conversations,
    document_versions,
    documents,
    evidence,
    images,
    person_keys,
    retention_runs,
    turns,
)
from assistant.store.upsert import insert_or_ignore

BATCH: Final = 200
"""Conversations, records or versions that go in one transaction, with one audit record."""


@dataclass(frozen=True, slots=True)
class _Policy:
    """What is old, and who says so why."""

    tenant: str
    before: datetime
    by: str
    reason: str
    collection: str | None

    @classmethod
    def of(cls, tenant: str, before: datetime, by: str, reason: str, collection: str | None) -> _Policy:
        """What may be asked for. Raises BadInput without a reason, and for names that cannot be stored."""
        check_reason(by, reason)
        return cls(storable(tenant), before, by, reason, None if collection is None else storable(collection))

    def old_conversations(self, after: str) -> Select[str, str]:
        """A batch of conversations that were left before then, in the order of ids."""
        query = select(conversations.c.id, conversations.c.user_id).where(
            conversations.c.tenant == self.tenant,
            conversations.c.updated_at < self.before,
            conversations.c.id > after,
        )
        if self.collection is not None:
            shown = select(evidence.c.turn).where(evidence.c.collection == self.collection)
            of_it = exists().where(turns.c.conversation == conversations.c.id, turns.c.id.in_(shown))
            query = query.where(of_it)
        return query.order_by(conversations.c.id).limit(BATCH).with_for_update()

    def old_records(self, after: int) -> Select[int]:
        """A batch of audit records from before then that still have their sealed text."""
        query = select(audit_records.c.seq).where(
            audit_records.c.tenant == self.tenant,
            audit_records.c.at < stamp(self.before),
            audit_records.c.seq > after,
            audit_records.c.sealed.is_not(None),
        )
        if self.collection is not None:
            within = select(documents.c.id).where(
                documents.c.tenant == self.tenant, documents.c.collection == self.collection
            )
            cited = select(audit_documents.c.seq).where(
                audit_documents.c.tenant == self.tenant, audit_documents.c.document.in_(within)
            )
            query = query.where(audit_records.c.seq.in_(cited))
        return query.order_by(audit_records.c.seq).limit(BATCH)

    def old_versions(self, after: tuple[str, int]) -> Select[str, int, str, str]:
        """A batch of versions that were replaced or deleted before then and that no kept answer needs."""
        version = document_versions.c
        replaced = and_(version.number != documents.c.current_version, documents.c.updated_at < self.before)
        query = (
            select(version.document, version.number, version.sha256, documents.c.collection)
            .join(documents, documents.c.id == version.document)
            .where(documents.c.tenant == self.tenant, or_(replaced, documents.c.deleted_at < self.before))
            .where(tuple_(version.document, version.number) > tuple_(*after), *_not_needed())
        )
        if self.collection is not None:
            query = query.where(documents.c.collection == self.collection)
        return query.order_by(version.document, version.number).limit(BATCH)


def _not_needed() -> list[ColumnElement[bool]]:
    """No conversation was shown the version, none cites it, it is not searched, no audit record that opens cites it, no answer of record rests on it."""
    version = document_versions.c
    opens = and_(
        audit_records.c.tenant == audit_documents.c.tenant,
        audit_records.c.seq == audit_documents.c.seq,
        audit_records.c.sealed.is_not(None),
        person_keys.c.tenant == audit_records.c.tenant,
        person_keys.c.subject == audit_records.c.subject,
        person_keys.c.key.is_not(None),
    )
    here = (audit_documents.c.document == version.document) & (audit_documents.c.version == version.number)
    return [
        *(
            ~exists().where(table.c.document == version.document, table.c.version == version.number)
            for table in (evidence, citations, chunks)
        ),
        ~exists().where(audit_documents.c.tenant == documents.c.tenant, here, opens),
        ~exists().where(
            answers_of_record_documents.c.document == version.document,
            answers_of_record_documents.c.version == version.number,
            answers_of_record.c.id == answers_of_record_documents.c.answer,
            answers_of_record.c.revoked_at.is_(None),
        ),
    ]


def _scopes(row: AnyRow) -> set[tuple[HoldScope, str]]:
    return {(HoldScope.DOCUMENT, row.document), (HoldScope.COLLECTION, row.collection)}


def _add(report: RetentionReport, part: RetentionReport) -> RetentionReport:
    return replace(
        report,
        text=report.text + part.text,
        held=report.held + part.held,
        running=report.running + part.running,
        sealed=report.sealed + part.sealed,
        records=() if report.dry_run else report.records + part.records,
    )


class SqlRetention:
    """Retention policies in SQL."""

    def __init__(
        self, database: Database, log: SqlAuditLog, *, clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self._database = database
        self._log = log
        self._clock = clock

    async def retention(
        self,
        tenant: str,
        before: datetime,
        *,
        by: str,
        reason: str,
        collection: str | None = None,
        sealed: bool = False,
        dry_run: bool = False,
    ) -> RetentionReport:
        """Remove the conversations whose last turn began before `before`; with a collection, those that were shown something of it.

        `sealed` removes the sealed text of audit records from before then too (their hashes stay, and the chain valid). What a
        hold covers stays, and so do conversations with a turn that has not ended. A dry run does the same and takes it back.
        Each batch is one transaction with its audit record: what was interrupted goes on the next time.
        """
        policy = _Policy.of(tenant, before, by, reason, collection)
        report = RetentionReport(tenant, before, dry_run, KeptText(), 0, 0)
        after = ""
        while (found := await self._conversations(policy, after, dry_run)) is not None:
            after, part = found
            report = _add(report, part)
        if sealed:
            report = await self._records(policy, report)
        if not report.records:
            return report
        return replace(report, scrubbed=await scrub(self._database, rebuild=False))

    async def _conversations(self, policy: _Policy, after: str, dry_run: bool) -> tuple[str, RetentionReport] | None:
        """One batch: the last id that was looked at, and what went; None at the end."""
        async with self._database.write() as connection:
            await zero_what_goes(connection)
            rows = (await connection.execute(policy.old_conversations(after))).all()
            if not rows:
                return None
            part = await self._remove(connection, policy, rows, dry_run)
            if dry_run:
                await connection.rollback()
        return rows[-1].id, part

    async def _remove(
        self, connection: AsyncConnection, policy: _Policy, rows: Sequence[AnyRow], dry_run: bool
    ) -> RetentionReport:
        await lock_chain(connection, policy.tenant)
        owners = {row.id: self._log.names.all_of(Caller(policy.tenant, row.user_id)) for row in rows}
        open_ = select(turns.c.conversation).where(turns.c.conversation.in_(owners), running())
        busy = set(await connection.scalars(open_))
        held = await held_conversations(connection, await holds_in_force(connection, policy.tenant), owners)
        going = [id_ for id_ in owners if id_ not in busy and id_ not in held]
        within = select(conversations.c.id).where(conversations.c.id.in_(going))
        await remove_files(connection, within)
        text = await remove(connection, within)
        found = RetentionReport(policy.tenant, policy.before, dry_run, text, len(held), len(busy - set(held)))
        return replace(found, records=await self._tell(connection, policy, "conversations", going, asdict(text)))

    async def _records(self, policy: _Policy, report: RetentionReport) -> RetentionReport:
        after = 0
        while True:
            async with self._database.write() as connection:
                await zero_what_goes(connection)
                await lock_chain(connection, policy.tenant)
                holds = await holds_in_force(connection, policy.tenant)
                going = list(await connection.scalars(policy.old_records(after).where(*not_held(holds))))
                if not going:
                    return report
                mine = (audit_records.c.tenant == policy.tenant) & audit_records.c.seq.in_(going)
                await connection.execute(update(audit_records).where(mine).values(sealed=None))
                told = await self._tell(connection, policy, "sealed", going, {})
                if report.dry_run:
                    await connection.rollback()
            after = going[-1]
            part = replace(report, text=KeptText(), held=0, running=0, sealed=len(going), records=told)
            report = _add(report, part)

    async def texts(
        self,
        tenant: str,
        before: datetime,
        *,
        by: str,
        reason: str,
        collection: str | None = None,
        dry_run: bool = False,
    ) -> RetentionReport:
        """Remove the sealed text of audit records from before `before`, as `retention` does with `sealed`; conversations stay."""
        policy = _Policy.of(tenant, before, by, reason, collection)
        report = await self._records(policy, RetentionReport(tenant, before, dry_run, KeptText(), 0, 0))
        if not report.records:
            return report
        return replace(report, scrubbed=await scrub(self._database, rebuild=False))

    async def due(self, name: str, every: timedelta) -> bool:
        """Whether the schedule of this name is due: `claim` would give True."""
        late = select(retention_runs.c.name).where(
            retention_runs.c.name == name, retention_runs.c.begun_at > self._clock() - every
        )
        async with self._database.read() as connection:
            return (await connection.execute(late)).one_or_none() is None

    async def claim(self, name: str, every: timedelta) -> bool:
        """Whether the schedule of this name is due, which it then is for nobody else: of all processes one gets True."""
        now, never = self._clock(), datetime(1970, 1, 1, tzinfo=UTC)
        due = (retention_runs.c.name == name) & (retention_runs.c.begun_at <= now - every)
        async with self._database.write() as connection:
            await insert_or_ignore(connection, retention_runs, [{"name": name, "begun_at": never}])
            begun = update(retention_runs).where(due).values(begun_at=now).returning(retention_runs.c.name)
            return (await connection.execute(begun)).one_or_none() is not None

    async def prune_versions(
        self,
        tenant: str,
        before: datetime,
        *,
        by: str,
        reason: str,
        collection: str | None = None,
        dry_run: bool = False,
    ) -> PruneReport:
        """Remove document versions that were replaced or deleted before `before` and that no kept answer was shown or cites.

        An answer is kept in its conversation, or as the sealed text of an audit record that can still be opened.
        """
        policy = _Policy.of(tenant, before, by, reason, collection)
        report = PruneReport(tenant, dry_run, 0, 0)
        after = ("", 0)
        while (found := await self._versions(policy, after, dry_run)) is not None:
            after, part = found
            records = () if dry_run else report.records + part.records
            report = replace(
                report, versions=report.versions + part.versions, held=report.held + part.held, records=records
            )
        return report

    async def _versions(
        self, policy: _Policy, after: tuple[str, int], dry_run: bool
    ) -> tuple[tuple[str, int], PruneReport] | None:
        async with self._database.write() as connection:
            await lock_chain(connection, policy.tenant)
            rows = (await connection.execute(policy.old_versions(after))).all()
            if not rows:
                return None
            holds = {(hold.scope, hold.value) for hold in await holds_in_force(connection, policy.tenant)}
            going = [row for row in rows if not holds & _scopes(row)]
            keys = [(row.document, row.number) for row in going]
            await connection.execute(delete(images).where(tuple_(images.c.document, images.c.version).in_(keys)))
            here = tuple_(document_versions.c.document, document_versions.c.number)
            await connection.execute(delete(document_versions).where(here.in_(keys)))
            listed = [[row.document, row.number, row.sha256] for row in going]
            told = await self._tell(connection, policy, "versions", listed, {})
            if dry_run:
                await connection.rollback()
        return (rows[-1].document, rows[-1].number), PruneReport(
            policy.tenant, dry_run, len(going), len(rows) - len(going), told
        )

    async def _tell(
        self, connection: AsyncConnection, policy: _Policy, what: str, going: Sequence[Any], more: dict[str, Any]
    ) -> tuple[int, ...]:
        if not going:
            return ()
        body: dict[str, Any] = {
            "what": what,
            "before": stamp(policy.before),
            "collection": policy.collection,
            what: list(going),
        }
        body |= {"reason": policy.reason, "text": more}
        draft = AuditDraft(policy.tenant, AuditKind.RETENTION, policy.by, self._clock(), body=body)
        return ((await self._log.append(connection, draft)).seq,)
