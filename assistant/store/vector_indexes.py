"""Approximate indexes over vectors in PostgreSQL: one HNSW per embedder, made while the program runs."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic
from typing import Final

import asyncpg
import structlog
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from assistant.store.engine import Database

log = structlog.get_logger(__name__)

LONGEST_VECTOR: Final = 4_000
"""Numbers of the longest vector that pgvector's HNSW takes, as halves; longer ones are searched exactly."""
LOOKED_AT_AGAIN_S: Final = 60.0
"""How often a process looks whether there is an index for an embedder, in seconds."""

_LOCK: Final = "SELECT pg_try_advisory_lock(hashtext('vector index'), hashtext($1))"
_STATE: Final = text("""
    SELECT (SELECT i.indisvalid FROM pg_index i WHERE i.indexrelid = to_regclass(:name)) AS valid,
        (SELECT vector_dims(vector) FROM vectors WHERE embedder = :embedder LIMIT 1) AS dimension,
        GREATEST(
            (SELECT count(*) FROM (SELECT 1 FROM vectors WHERE embedder = :embedder LIMIT :enough) one),
            (SELECT reltuples FROM pg_class WHERE oid = to_regclass(:name))
        ) AS vectors
""")
_VALID: Final = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass($1)"


@dataclass(frozen=True, slots=True)
class VectorIndex:
    """What is known of the vectors of an embedder: their length (0: there are none), how many there are (as the index
    knows it; without one, counted up to what pays for one), and whether a whole index is over them.
    """

    dimension: int
    vectors: int
    ready: bool


def index_name(embedder: str) -> str:
    """The name of the index of an embedder."""
    return "ix_vectors_near_" + hashlib.sha256(embedder.encode()).hexdigest()[:16]


def literal(embedder: str) -> str:
    """The name of an embedder as an SQL literal that holds no parameter sign either.

    The predicate of a partial index is compared with the text of a query, so the name has to stand there.
    """
    return (
        "U&'" + "".join(char if char.isascii() and char.isalnum() else f"\\+{ord(char):06x}" for char in embedder) + "'"
    )


class VectorIndexes:
    """Knows the indexes of a database, and makes the one that is missing, in the background and beside all other work.

    An index is made when an embedder has `enough` vectors. Many processes may want it: the one that gets the lock makes
    it. A process that is killed leaves an invalid index, which the next one drops and makes anew.
    """

    def __init__(self, database: Database, enough: int, *, clock: Callable[[], float] = monotonic) -> None:
        self._database = database
        self._enough = enough
        self._clock = clock
        self._known: dict[str, tuple[float, VectorIndex]] = {}
        self._making: dict[str, asyncio.Task[bool]] = {}

    async def of(self, connection: AsyncConnection, embedder: str) -> VectorIndex:
        """What there is for this embedder, as it was at most a minute ago."""
        until, index = self._known.get(embedder, (0.0, VectorIndex(0, 0, False)))
        if self._clock() < until:
            return index
        values = {"name": index_name(embedder), "embedder": embedder, "enough": self._enough}
        row = (await connection.execute(_STATE, values)).one()
        index = VectorIndex(row.dimension or 0, int(row.vectors), bool(row.valid))
        self._known[embedder] = (self._clock() + LOOKED_AT_AGAIN_S, index)
        return index

    def wanted(self, index: VectorIndex) -> bool:
        """Whether an index is missing that would pay and that pgvector can make."""
        return not index.ready and index.vectors >= self._enough and 0 < index.dimension <= LONGEST_VECTOR

    def make_in_background(self, embedder: str, index: VectorIndex) -> None:
        """Begin to make the index where it is missing and pays; returns at once. What goes wrong is logged and tried again."""
        if self.wanted(index) and (embedder not in self._making or self._making[embedder].done()):
            self._making[embedder] = asyncio.create_task(self._try_to_make(embedder, index.dimension))

    async def _try_to_make(self, embedder: str, dimension: int) -> bool:
        try:
            return await self.make(embedder, dimension)
        except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
            log.warning("the index over vectors was not made", embedder=embedder, error=type(error).__name__)
            return False

    async def make(self, embedder: str, dimension: int) -> bool:
        """Make the index, or wait for nothing and return False where another process is at it. True when it is there.

        Takes minutes for a million vectors. Nobody waits for it: searches go on without it, and vectors may be written.
        """
        url = self._database.direct_url.set(drivername="postgresql")
        connection = await asyncpg.connect(url.render_as_string(hide_password=False))
        try:
            # Lifted for this session alone: a role may have limits that suit short queries.
            await connection.execute("SET statement_timeout = 0; SET idle_session_timeout = 0; SET lock_timeout = 0")
            if not await connection.fetchval(_LOCK, embedder):
                return False
            await self._make(connection, embedder, dimension)
        finally:
            # Also ends the lock. A connection that is busy with an index is not closed politely.
            with suppress(Exception):
                await connection.close(timeout=1)
        self._known.pop(embedder, None)
        return True

    async def _make(self, connection: asyncpg.Connection, embedder: str, dimension: int) -> None:
        name = index_name(embedder)
        valid = await connection.fetchval(_VALID, name)
        if valid:
            return
        if valid is not None:
            await connection.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")
        log.info("makes the index over vectors", embedder=embedder, dimension=dimension)
        await connection.execute(
            f"CREATE INDEX CONCURRENTLY {name} ON vectors USING hnsw "
            f"((vector::halfvec({int(dimension)})) halfvec_ip_ops) WHERE embedder = {literal(embedder)}"
        )
        log.info("the index over vectors is made", embedder=embedder)

    async def close(self) -> None:
        """Stop what is being made; the next process begins anew."""
        for task in self._making.values():
            task.cancel()
        await asyncio.gather(*self._making.values(), return_exceptions=True)
