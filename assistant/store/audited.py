"""What is kept of an answer, for an auditor: read in the place of its owner, with the groups of all that it rests on."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from sqlalchemy import select

from assistant.codec import storable
from assistant.core.access import EVERYONE, Caller
from assistant.core.calls import ModelCall
from assistant.core.conflicts import Conflict
from assistant.core.evidence import Evidence
from assistant.core.past_sources import PastSource
from assistant.errors import BadInput, NotFound
from assistant.store.calls import read_calls
from assistant.store.engine import Database
from assistant.store.past_sources import SqlPastSources
from assistant.store.rights import read_access
from assistant.store.shown import read_conflicts, read_evidence
from assistant.store.tables import citations, conversations, evidence, turns


class SqlAudited:
    """Kept answers, whoever asked. Only for callers whose role was checked, and whose look is on the record."""

    def __init__(self, database: Database, sources: SqlPastSources) -> None:
        self._database = database
        self._sources = sources

    async def owner(self, tenant: str, turn: str) -> tuple[Caller, str]:
        """The owner of a turn, in every group that any source of it has or had, and its conversation.

        Raises NotFound when the turn is no longer kept, or never was this tenant's.
        """
        query = (
            select(conversations.c.user_id, conversations.c.id)
            .join(turns, turns.c.conversation == conversations.c.id)
            .where(turns.c.id == _known(turn), conversations.c.tenant == _known(tenant))
        )
        shown = select(evidence.c.document, evidence.c.access).where(evidence.c.turn == turn)
        cited = select(citations.c.document).where(citations.c.turn == turn)
        async with self._database.read_copy() as connection:
            row = (await connection.execute(query)).one_or_none()
            if row is None:
                raise NotFound("no such turn")
            found = (await connection.execute(shown)).all()
            documents = {each.document for each in found} | set(await connection.scalars(cited))
            now = await read_access(connection, documents)
        groups = {EVERYONE}.union(*(each.access or () for each in found), *now.values())
        return Caller(tenant, row.user_id, frozenset(groups)), row.id

    async def evidence(self, tenant: str, turn: str) -> list[Evidence]:
        """The evidence that a turn showed to the model, in prompt order; empty when it is no longer kept."""
        try:
            await self.owner(tenant, turn)
        except NotFound:
            return []
        async with self._database.read_copy() as connection:
            return await read_evidence(connection, turn)

    async def plan(self, tenant: str, turn: str) -> Mapping[str, Any] | None:
        """The plan of a turn as its event had it; None when it is no longer kept, or never was made."""
        try:
            await self.owner(tenant, turn)
        except NotFound:
            return None
        async with self._database.read_copy() as connection:
            plan: Mapping[str, Any] | None = await connection.scalar(select(turns.c.plan).where(turns.c.id == turn))
        return plan

    async def conflicts(self, tenant: str, turn: str) -> list[Conflict]:
        """The conflicts among the evidence of a turn, as they were found. Raises NotFound as `owner` does."""
        await self.owner(tenant, turn)
        async with self._database.read_copy() as connection:
            return await read_conflicts(connection, turn)

    async def sources(self, tenant: str, turn: str) -> list[tuple[int, PastSource]]:
        """Every cited place of a turn by its number, as it was and as it is today; empty when it is no longer kept.

        A place whose document no group may read today is left out: what it is today is nobody's to see.
        """
        try:
            owner, conversation = await self.owner(tenant, turn)
        except NotFound:
            return []
        query = select(citations.c.n, citations.c.source_start).where(citations.c.turn == turn)
        async with self._database.read_copy() as connection:
            places = (await connection.execute(query.order_by(citations.c.position))).all()
        found = []
        for n, start in dict.fromkeys((row.n, row.source_start) for row in places):
            with suppress(NotFound):
                found.append((n, await self._sources.source(owner, conversation, turn, n, start)))
        return found

    async def calls(self, tenant: str, turn: str) -> list[ModelCall]:
        """The model calls of a turn in the order in which they ended. Raises NotFound as `owner` does."""
        owner, _ = await self.owner(tenant, turn)
        async with self._database.read_copy() as connection:
            return await read_calls(connection, owner, turn)


def _known(name: str) -> str:
    """Names come from outside; what no database can hold is not there."""
    try:
        return storable(name)
    except BadInput as error:
        raise NotFound("no such turn") from error
