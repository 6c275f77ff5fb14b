"""The audit log in SQL: records are added inside the transaction of what they tell of, and never changed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final, TypeVar

import orjson
from sqlalchemy import Select, insert, select, update
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection
from ulid import ULID

from assistant.codec import storable
from assistant.core.audit import AuditDraft, AuditKind, AuditRecord, StoredBody, canonical, genesis, place
from assistant.core.audit_columns import StoredColumns, cited_rows, facet_columns
from assistant.core.audit_figures import Aftermath, DayFigures
from assistant.core.audit_filter import AuditFilter, cited_versions, facets_of
from assistant.errors import BadInput, NotFound
from assistant.store.audit_columns import RATING, first_stray, read_columns, read_ends
from assistant.store.audit_figures import read_aftermath, read_figures
from assistant.store.audit_filters import FEW, LONGEST_TERM, OUTDATED, RECORD, page
from assistant.store.engine import Database
from assistant.store.pseudonyms import Pseudonyms
from assistant.store.rows import AnyRow
from assistant.store.sealing import key_for, key_of, seal, sealed_hash, unseal
from assistant.store.tables import audit_chains, audit_checkpoints, audit_documents, audit_records
from assistant.store.together import write_together
from assistant.store.upsert import insert_or_ignore
from assistant.store.wrapping import KeyWrap, check_secret, note_secret, unwrapped, wrap_stored

T = TypeVar("T")

MOST_RECORDS: Final = 1000
"""Records that are read at once."""

_HIGHEST: Final = 2**63 - 1  # of a seq
_CHECKPOINT: Final = ("tenant", "size", "root", "head", "at", "key_id", "signature")


class SqlAuditLog:
    """The AuditLog in SQL: one chain per tenant, without gaps, whoever appends."""

    def __init__(
        self,
        database: Database,
        *,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        new_id: Callable[[], str] = lambda: str(ULID()),
        secret: bytes | None = None,
    ) -> None:
        self._database = database
        self._clock = clock
        self._new_id = new_id
        self.names: Final = Pseudonyms(secret)
        self._wrap = None if secret is None else KeyWrap(secret)
        self._noted = False

    async def prepare(self) -> int:
        """Check that the secret is the one that the database is used with, and wrap every key that is not; how many were.

        Call it once at start-up. Raises BadSetting with `reason` "wrong_secret" or "no_secret".
        """
        async with self._database.read() as connection:
            await check_secret(connection, self._wrap)
        if self._wrap is None:
            return 0
        done = 0
        while count := await self._wrap_some(self._wrap):
            done += count
        return done

    async def _wrap_some(self, wrap: KeyWrap) -> int:
        async with self._database.read() as connection:
            waiting = await unwrapped(connection, MOST_RECORDS)
        for tenant in {tenant for tenant, _ in waiting}:
            async with self._database.write() as connection:
                await lock_chain(connection, tenant)
                await note_secret(connection, wrap, self._clock())
                for _, subject in [one for one in waiting if one[0] == tenant]:
                    await wrap_stored(connection, wrap, tenant, subject)
        return len(waiting)

    async def append(self, connection: AsyncConnection, draft: AuditDraft) -> AuditRecord:
        """Add a record inside the caller's transaction for writing; both commit together or neither does.

        Make it the last step: the chain of the tenant stays locked until the commit. Of a person whose key was destroyed the
        personal text is not stored, and the body says `"erased": true`. Raises BadInput for a body that JSON cannot hold,
        for names that no database can, and for personal text without a person; BadSetting where the secret of the installation is
        not the one that the database is used with.
        """
        _check(draft)
        seq, previous = await lock_chain(connection, draft.tenant)
        id_ = self._new_id()
        sealed = await self._sealed(connection, draft, id_) if draft.personal else None
        if draft.personal and sealed is None:
            draft = replace(draft, body=dict(draft.body or {}) | {"erased": True})
        digest = None if sealed is None else sealed_hash(sealed)
        record = place(draft, id_=id_, seq=seq + 1, previous=previous, sealed_sha256=digest)
        await _write(connection, record, sealed)
        return record

    async def append_one(self, draft: AuditDraft) -> AuditRecord:
        """Add a record in a transaction of its own."""
        async with self._database.write() as connection:
            return await self.append(connection, draft)

    async def _sealed(self, connection: AsyncConnection, draft: AuditDraft, id_: str) -> bytes | None:
        subject = draft.subject or ""
        if not self._noted:
            self._noted = await note_secret(connection, self._wrap, self._clock())
        key = await key_for(connection, draft.tenant, subject, self._clock(), self._wrap)
        return (
            None if key is None else seal(key, draft.personal or {}, tenant=draft.tenant, subject=subject, record=id_)
        )

    async def record(self, tenant: str, id_: str) -> AuditRecord:
        """The record with this id; NotFound when the tenant has none."""
        query = select(*RECORD).where(audit_records.c.id == _known(id_), audit_records.c.tenant == _known(tenant))
        async with self._database.read() as connection:
            row = (await connection.execute(query)).one_or_none()
        if row is None:
            raise NotFound("no such record")
        return record_of_row(row)

    async def records(self, tenant: str, after: int = 0, limit: int = MOST_RECORDS) -> list[AuditRecord]:
        """The records with seq > after, ascending, at most `limit` and at most MOST_RECORDS."""
        rows = await self._following(select(*RECORD), tenant, after, min(limit, MOST_RECORDS))
        return [record_of_row(row) for row in rows]

    async def stream(
        self, tenant: str, after: int = 0, *, through: int | None = None, batch: int = MOST_RECORDS
    ) -> AsyncIterator[AuditRecord]:
        """All records with seq > after, ascending, until `through` where given; one batch is in memory at a time.

        Each batch is a short read of its own; records that are appended meanwhile come too.
        """
        while rows := await self._legible(self.records, tenant, after, batch):
            for record in rows:
                if through is not None and record.seq > through:
                    return
                yield record
            after = rows[-1].seq

    async def _legible(
        self, read: Callable[[str, int, int], Awaitable[list[T]]], tenant: str, after: int, limit: int
    ) -> list[T]:
        """What `read` gives; where SQLite holds bytes in a text that are none, what is before them, then BadInput.

        Whoever changes a row can write such bytes: they must not hide which row it is.
        """
        try:
            return await read(tenant, after, limit)
        except DBAPIError as error:
            if "decode" not in str(error.orig):
                raise
            if limit <= 1:
                raise BadInput("a row holds bytes that are no text", reason="unreadable") from error
            return await self._legible(read, tenant, after, 1)

    async def hashes(self, tenant: str, after: int, limit: int) -> list[tuple[int, str]]:
        """(seq, hash) of the records with seq > after, ascending, at most `limit`."""
        query = select(audit_records.c.seq, audit_records.c.hash)
        return [(row.seq, row.hash) for row in await self._following(query, tenant, after, limit)]

    async def ciphertexts(self, tenant: str, after: int, limit: int) -> list[tuple[int, bytes]]:
        """(seq, sealed text) of the records with seq > after that still have one, ascending, at most `limit`."""
        query = select(audit_records.c.seq, audit_records.c.sealed).where(audit_records.c.sealed.is_not(None))
        return [(row.seq, bytes(row.sealed)) for row in await self._following(query, tenant, after, limit)]

    async def columns(self, tenant: str, after: int, limit: int) -> list[StoredColumns]:
        """What stands beside the records with seq > after for filters, ascending, at most `limit` and at most MOST_RECORDS."""
        return await self._legible(self._columns, tenant, after, min(limit, MOST_RECORDS))

    async def _columns(self, tenant: str, after: int, limit: int) -> list[StoredColumns]:
        async with self._database.read() as connection:
            return await read_columns(connection, _known(tenant), max(-1, min(after, _HIGHEST)), limit)

    async def stray(self, tenant: str, last: int) -> int | None:
        """The first number outside of 1 to `last` that is listed as citing something and has no record; None where there is none."""
        async with self._database.read() as connection:
            return await first_stray(connection, _known(tenant), last)

    async def ends(self, tenant: str) -> tuple[tuple[Any, Any] | None, tuple[Any, Any] | None]:
        """The (seq, hash) that is noted as the end of the chain, and that of the last record; None for what is not there."""
        async with self._database.read() as connection:
            return await read_ends(connection, _known(tenant))

    async def _following(
        self, query: Select[*tuple[Any, ...]], tenant: str, after: int, limit: int
    ) -> Sequence[AnyRow]:
        after = max(-1, min(after, _HIGHEST))
        query = query.where(audit_records.c.tenant == _known(tenant), audit_records.c.seq > after)
        async with self._database.read() as connection:
            return (await connection.execute(query.order_by(audit_records.c.seq).limit(max(0, limit)))).all()

    async def search(
        self, tenant: str, filters: AuditFilter, before: int | None = None, limit: int = 50
    ) -> list[AuditRecord]:
        """The records that fit, the latest first, at most `limit` and at most MOST_RECORDS.

        The next page begins behind the record with the seq `before`; BadInput with `reason` "cursor" when the tenant has none
        such. Ordered by (at, seq), so that a page costs the same anywhere in the log.
        """
        limit = max(1, min(limit, MOST_RECORDS))
        async with self._database.read_copy() as connection:
            cursor = None if before is None else await _cursor(connection, _known(tenant), before)
            among = await _among(connection, _known(tenant), filters)
            rows = (await connection.execute(page(_known(tenant), filters, cursor, limit, among))).all()
        return [record_of_row(row) for row in rows]

    async def aftermath(self, tenant: str, seqs: Collection[int]) -> dict[int, Aftermath]:
        """What came after each of these records: the last rating of its answer, and whether a cited source has changed."""
        async with self._database.read_copy() as connection:
            return await read_aftermath(connection, _known(tenant), seqs)

    async def figures(self, tenant: str, filters: AuditFilter) -> list[DayFigures]:
        """The figures of each day that has answers that fit, by ascending day; give both times in `filters`."""
        async with self._database.read_copy() as connection:
            return await read_figures(connection, _known(tenant), filters)

    async def open_sealed(self, record: AuditRecord) -> Mapping[str, str] | None:
        """The personal text of a record; None when it has none, or its key is destroyed, or a policy removed it.

        Raises BadInput with `reason` "tampered" when what is stored is not what was sealed.
        """
        if record.subject is None or record.sealed_sha256 is None:
            return None
        here = (audit_records.c.tenant == record.tenant) & (audit_records.c.seq == record.seq)
        async with self._database.read() as connection:
            sealed = await connection.scalar(select(audit_records.c.sealed).where(here))
            key = await key_of(connection, record.tenant, record.subject, self._wrap)
        if sealed is None or key is None:
            return None
        if sealed_hash(bytes(sealed)) != record.sealed_sha256:
            raise BadInput("the sealed text does not fit its record", reason="tampered")
        return unseal(key, bytes(sealed), tenant=record.tenant, subject=record.subject, record=record.id)

    async def tenants(self) -> list[str]:
        """The tenants that have a chain, sorted."""
        async with self._database.read() as connection:
            return list(await connection.scalars(select(audit_chains.c.tenant).order_by(audit_chains.c.tenant)))

    async def save_checkpoint(self, row: Mapping[str, Any]) -> None:
        """Keep a checkpoint; the first one of a size stays."""
        async with self._database.write() as connection:
            await insert_or_ignore(connection, audit_checkpoints, [{name: row[name] for name in _CHECKPOINT}])

    async def checkpoints(self, tenant: str) -> list[dict[str, Any]]:
        """The checkpoints of a tenant, by ascending size."""
        query = select(audit_checkpoints).where(audit_checkpoints.c.tenant == _known(tenant))
        async with self._database.read() as connection:
            rows = await connection.execute(query.order_by(audit_checkpoints.c.size))
            return [dict(row._mapping) for row in rows]  # noqa: SLF001


async def lock_chain(connection: AsyncConnection, tenant: str) -> tuple[int, str]:
    """(seq, hash) of the last record of a tenant, locked until the end of the transaction; its genesis where it has none."""
    query = select(audit_chains.c.seq, audit_chains.c.hash).where(audit_chains.c.tenant == tenant).with_for_update()
    row = (await connection.execute(query)).one_or_none()
    if row is None:
        start = {"tenant": tenant, "seq": 0, "hash": genesis(tenant)}
        await insert_or_ignore(connection, audit_chains, [start])  # waits for another's first record
        row = (await connection.execute(query)).one()
    return row.seq, row.hash


def record_of_row(row: AnyRow) -> AuditRecord:
    """The record of a row; of one that somebody spoilt too, so that its hash tells."""
    return AuditRecord(
        tenant=row.tenant,
        seq=row.seq,
        id=row.id,
        at=row.at,
        kind=AuditKind(row.kind) if row.kind in _KINDS else row.kind,
        actor=row.actor,
        subject=row.subject,
        conversation=row.conversation,
        turn=row.turn,
        body=_body(row.body),
        sealed_sha256=row.sealed_sha256,
        previous=row.previous,
        hash=row.hash,
    )


_KINDS: Final = frozenset(AuditKind)


def _body(stored: str) -> Mapping[str, Any]:
    try:
        body = orjson.loads(stored)
    except orjson.JSONDecodeError:
        body = None
    return StoredBody.read(stored, body) if isinstance(body, dict) else {"unreadable": stored}


async def _write(connection: AsyncConnection, record: AuditRecord, sealed: bytes | None) -> None:
    row = {column.name: getattr(record, column.name) for column in RECORD}
    row |= {"kind": record.kind.value, "body": canonical(record.body).decode(), "sealed": sealed}
    place_ = {"tenant": record.tenant, "seq": record.seq}
    rows = [
        place_ | {"document": document, "version": version, "at": at} for document, version, at in cited_rows(record)
    ]
    moved = update(audit_chains).where(audit_chains.c.tenant == record.tenant)
    await write_together(
        connection,
        insert(audit_records).values(row | facet_columns(record.body)),
        *([insert(audit_documents).values(rows)] if rows else []),
        moved.values(seq=record.seq, hash=record.hash),
    )
    if record.kind in RATING and record.turn is not None:
        await _rate(connection, record)


async def _rate(connection: AsyncConnection, record: AuditRecord) -> None:
    """Let the answer be found by its last rating. The column only serves filters: verification tells it from the log again."""
    rating = facet_columns(record.body)["rating"]
    if rating is None:
        return
    answer = (audit_records.c.tenant == record.tenant) & (audit_records.c.turn == record.turn)
    of_turn = update(audit_records).where(answer, audit_records.c.kind == AuditKind.TURN.value)
    await connection.execute(of_turn.values(rating=rating))


async def _among(connection: AsyncConnection, tenant: str, filters: AuditFilter) -> Sequence[int] | None:
    """The records with a changed source when these are wanted and few."""
    if not filters.source_changed:
        return None
    found = (await connection.scalars(OUTDATED, {"tenant": tenant, "most": FEW + 1})).all()
    return sorted(set(found)) if len(found) <= FEW else None


async def _cursor(connection: AsyncConnection, tenant: str, before: int) -> tuple[str, int]:
    here = (audit_records.c.tenant == tenant) & (audit_records.c.seq == before)
    at = await connection.scalar(select(audit_records.c.at).where(here)) if 0 < before <= _HIGHEST else None
    if at is None:
        raise BadInput("no record has this number", reason="cursor")
    return at, before


def _check(draft: AuditDraft) -> None:
    """What can be told without the database, before the chain is locked."""
    for name in (draft.tenant, draft.actor, draft.subject, draft.conversation, draft.turn):
        if name is not None and len(storable(name)) > LONGEST_TERM:
            raise BadInput("a name in a record is too long", reason="too_long", limit=LONGEST_TERM)
    for found in (*(document for document, _ in cited_versions(draft.body or {})), *_named(draft)):
        storable(found)
    if draft.personal and not draft.subject:
        raise BadInput("personal text needs a person", reason="subject")
    canonical(draft.body or {})


def _named(draft: AuditDraft) -> list[str]:
    facets = facets_of(draft.body or {})
    given = (facets.model, facets.mode, facets.status, facets.finish, facets.rating)
    return [value for value in given if value is not None]


def _known(name: str) -> str:
    """Names come from outside; what no database can hold is not there."""
    try:
        return storable(name)
    except BadInput as error:
        raise NotFound("no such record") from error
