"""Answers that may be given again, in SQL: bounded in number and age, ended with their turn and with their documents."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import numpy as np
from sqlalchemy import CursorResult, Delete, Select, delete, func, insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from assistant.codec import adapter, storable
from assistant.core.attachments import FILES
from assistant.core.caching import CachedAnswer, CacheKey
from assistant.interfaces import KeptAnswer, QuestionVector
from assistant.store.answer_cache_tables import answer_cache, answer_cache_documents
from assistant.store.engine import Database
from assistant.store.rows import AnyRow
from assistant.store.tables import documents, turns
from assistant.store.upsert import upsert

MOST_CANDIDATES: Final = 16
"""Answers of one frame and meaning that are looked at."""
RESTING: Final = timedelta(minutes=1)
SWEEP: Final = 64
"""At most so many answers are kept before the oldest are taken out again."""

_ANSWER: Final = adapter(CachedAnswer)


class SqlAnswerCache:
    """The AnswerStore in SQL. `entries` is a bound per tenant; up to `SWEEP` more a process may be there for a while."""

    def __init__(
        self,
        database: Database,
        *,
        hours: float = 24.0,
        entries: int = 10_000,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._database = database
        self._life = timedelta(hours=hours)
        self._entries = entries
        self._clock = clock
        self._every = max(1, min(SWEEP, entries // 16))
        self._kept = 0

    async def candidates(self, key: CacheKey) -> Sequence[KeptAnswer]:
        """The kept answers under this frame and meaning that have not expired, newest first, `MOST_CANDIDATES` at most."""
        query = (
            select(answer_cache)
            .where(
                answer_cache.c.tenant == key.tenant,
                answer_cache.c.frame == key.frame,
                answer_cache.c.meaning == key.meaning,
                answer_cache.c.expires_at > self._clock(),
            )
            .order_by(answer_cache.c.made_at.desc(), answer_cache.c.id)
            .limit(MOST_CANDIDATES)
        )
        async with self._database.read() as connection:
            rows = (await connection.execute(query)).all()
        return [_kept(row) for row in rows]

    async def library(self, tenant: str) -> str | None:
        """A name for the state of the documents of a tenant but the files of sessions.

        None for `RESTING` after a change: a search of now may not have seen it, and clocks differ.
        """
        query = select(func.count(), func.max(documents.c.updated_at), func.max(documents.c.deleted_at)).where(
            documents.c.tenant == tenant, func.substr(documents.c.collection, 1, len(FILES)) != FILES
        )
        async with self._database.read() as connection:
            count, updated, deleted = (await connection.execute(query)).one()
        changes = [at for at in (updated, deleted) if at is not None]
        if changes and max(changes) > self._clock() - RESTING:
            return None
        return f"{count} {' '.join(at.isoformat() for at in changes)}"

    async def keep(self, key: CacheKey, answer: CachedAnswer, vector: QuestionVector | None) -> bool:
        """Keep an answer in place of one to the same question and evidence, in one transaction; take out what is too much.

        False, and nothing is kept, when the text of its turn is gone or a document is no longer at the version that was used.
        Raises BadInput for text that cannot be stored.
        """
        row = await asyncio.to_thread(self._row, key, answer, vector)
        used = [{"entry": row["id"], "document": document, "version": number} for document, number in key.documents]
        async with self._database.write() as connection:
            if not await _still_stands(connection, answer.origin, key.documents):
                return False
            await upsert(connection, answer_cache, [row])
            mine = answer_cache_documents.c.entry == row["id"]
            await connection.execute(delete(answer_cache_documents).where(mine))
            await connection.execute(insert(answer_cache_documents), used)
            if self._kept % self._every == 0:
                await self._sweep(connection, key.tenant)
        self._kept += 1
        return True

    async def sweep(self) -> int:
        """Take out, for all tenants, what has expired, what was made from documents that have changed, and the oldest of too many;
        how many. A transaction for each `SWEEP` of them."""
        newest = func.row_number().over(
            partition_by=answer_cache.c.tenant, order_by=(answer_cache.c.made_at.desc(), answer_cache.c.id)
        )
        ranked = select(answer_cache.c.id, newest.label("place")).subquery()
        kinds = (
            select(answer_cache.c.id).where(answer_cache.c.expires_at <= self._clock()),
            select(ranked.c.id).where(ranked.c.place > self._entries),
            _stale(),
        )
        return sum([await self._take_out(gone) for gone in kinds])

    async def _take_out(self, gone: Select[Any]) -> int:
        async with self._database.read() as connection:
            ids = (await connection.scalars(gone)).all()
        count = 0
        for start in range(0, len(ids), SWEEP):
            part = answer_cache.c.id.in_(ids[start : start + SWEEP])
            async with self._database.write() as connection:
                free = await connection.scalars(select(answer_cache.c.id).where(part).with_for_update(skip_locked=True))
                count += await _count(connection, delete(answer_cache).where(answer_cache.c.id.in_(free.all())))
        return count

    def _row(self, key: CacheKey, answer: CachedAnswer, vector: QuestionVector | None) -> dict[str, Any]:
        now = self._clock()
        name = "\0".join((key.tenant, key.frame, key.digest, storable(key.question)))
        return {
            "id": hashlib.sha256(name.encode()).hexdigest(),
            "tenant": key.tenant,
            "frame": key.frame,
            "digest": key.digest,
            "meaning": key.meaning,
            "question": key.question,
            "library": key.library,
            "embedder": vector and vector.embedder,
            "vector": vector and np.ascontiguousarray(vector.values, dtype="<f4").tobytes(),
            "origin": answer.origin,
            "made_at": now,
            "expires_at": now + self._life,
            "answer": _ANSWER.dump_python(answer, mode="json") | {"text": storable(answer.text)},
        }

    async def _sweep(self, connection: AsyncConnection, tenant: str) -> None:
        """Take out what has expired, and the oldest of too many. Rows that somebody else holds are left for the next time,
        so that nobody who deletes them (a document that is read in) ever waits in a circle."""
        mine = select(answer_cache.c.id).where(answer_cache.c.tenant == tenant)
        newest = mine.order_by(answer_cache.c.made_at.desc(), answer_cache.c.id)
        for gone in (mine.where(answer_cache.c.expires_at <= self._clock()), newest.offset(self._entries)):
            ids = list(await connection.scalars(gone.with_for_update(skip_locked=True)))
            await connection.execute(delete(answer_cache).where(answer_cache.c.id.in_(ids)))


async def forget_turns(connection: AsyncConnection, within: Select[Any]) -> int:
    """End the answers that these turns (a query for their ids) were the origin of; how many."""
    return await _count(connection, delete(answer_cache).where(answer_cache.c.origin.in_(within)))


async def forget_document(connection: AsyncConnection, document: str) -> int:
    """End the answers that were made from any version of a document; how many."""
    made = select(answer_cache_documents.c.entry).where(answer_cache_documents.c.document == document)
    return await _count(connection, delete(answer_cache).where(answer_cache.c.id.in_(made)))


def _stale() -> Select[Any]:
    """The answers that were made from a version which is not the current one any more, or from a document that is gone."""
    used = answer_cache_documents.c
    now = (documents.c.id == used.document) & (documents.c.current_version == used.version)
    same = select(documents.c.id).where(now, documents.c.deleted_at.is_(None))
    return select(used.entry).where(~same.exists()).distinct()


async def _count(connection: AsyncConnection, change: Delete) -> int:
    result: CursorResult[Any] = await connection.execute(change)
    return result.rowcount


async def _still_stands(connection: AsyncConnection, origin: str, used: Sequence[tuple[str, int]]) -> bool:
    """Whether the turn still has its text and the documents are as they were used; they stay so until the end of the
    transaction: who erases or writes waits, and then finds the answer to end."""
    turn = select(turns.c.id).where(turns.c.id == origin, turns.c.question != "")
    if await connection.scalar(turn.with_for_update(read=True)) is None:
        return False
    query = (
        select(documents.c.id, documents.c.current_version)
        .where(documents.c.id.in_([document for document, _ in used]), documents.c.deleted_at.is_(None))
        .order_by(documents.c.id)
        .with_for_update(read=True)
    )
    current = {(row.id, row.current_version) for row in await connection.execute(query)}
    return current == set(used)


def _kept(row: AnyRow) -> KeptAnswer:
    vector = None
    if row.embedder is not None and row.vector is not None:
        vector = QuestionVector(row.embedder, np.frombuffer(row.vector, dtype="<f4"))
    key = CacheKey(row.tenant, row.frame, row.digest, row.meaning, row.question, (), row.library)
    return KeptAnswer(key, vector, _ANSWER.validate_python(row.answer))
