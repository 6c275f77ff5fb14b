"""Turns whose sources may no longer be read: what they say is withheld, as it may repeat them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from sqlalchemy import Select, select
from sqlalchemy.ext.asyncio import AsyncConnection

from assistant.core.access import EVERYONE, Caller
from assistant.core.evidence import Evidence
from assistant.store.engine import Database
from assistant.store.identity_tables import people
from assistant.store.rights import read_access
from assistant.store.tables import documents, evidence, turns
from assistant.store.unreachable import patient

Shown = tuple[str, str, frozenset[str]]
"""A turn, a document that it showed to a model, and the groups that the document had then."""


async def withheld_turns(connection: AsyncConnection, caller: Caller, conversation: str) -> frozenset[str]:
    """The turns of a conversation that showed a model a document which the caller may not read now."""
    query = _shown().join(turns, turns.c.id == evidence.c.turn).where(turns.c.conversation == conversation)
    return await _withheld(connection, caller, query)


async def is_withheld(connection: AsyncConnection, caller: Caller, turn: str) -> bool:
    """Whether a turn showed a model a document which the caller may not read now."""
    return bool(await _withheld(connection, caller, _shown().where(evidence.c.turn == turn)))


def _shown() -> Select[tuple[str, str, list[str]]]:
    return select(evidence.c.turn, evidence.c.document, evidence.c.access)


async def _withheld(
    connection: AsyncConnection, caller: Caller, query: Select[tuple[str, str, list[str]]]
) -> frozenset[str]:
    rows = await connection.execute(query)
    shown = {(row.turn, row.document, frozenset(row.access)) for row in rows}
    hidden = await hidden_documents(connection, caller, {(document, access) for _, document, access in shown})
    return frozenset(turn for turn, document, _ in shown if document in hidden)


async def hidden_documents(
    connection: AsyncConnection, caller: Caller, shown: Iterable[tuple[str, frozenset[str]]]
) -> set[str]:
    """Those of the documents that the caller may not read now; one from outside the knowledge base has the groups it was
    found with."""
    found = dict(shown)
    if not found:
        return set()
    known = select(documents.c.id, documents.c.tenant).where(documents.c.id.in_(found))
    tenants = {row.id: row.tenant for row in await connection.execute(known)}
    now = await read_access(connection, tenants)
    return {
        document
        for document, then in found.items()
        if tenants.get(document, caller.tenant) != caller.tenant
        or not caller.may_read(now[document] if document in tenants else then)
    }


class SqlRights:
    """The Rights of a database: what a person may read now."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @patient
    async def now(self, caller: Caller) -> Caller:
        """The caller with the groups that an administrator gave them, if any. Revoked people are sent away by their door."""
        query = select(people.c.groups).where(people.c.tenant == caller.tenant, people.c.user_id == caller.user)
        async with self._database.read() as connection:
            groups = await connection.scalar(query)
        return caller if groups is None else replace(caller, groups=frozenset({EVERYONE, *groups}))

    async def withheld(self, caller: Caller, conversation: str) -> frozenset[str]:
        """The turns of a conversation that showed a model a document which the caller may not read now."""
        async with self._database.read() as connection:
            return await withheld_turns(connection, caller, conversation)

    async def may_read(self, caller: Caller, shown: Iterable[Evidence]) -> bool:
        """Whether the caller may read all of the evidence now."""
        found = {(item.source.document, item.source.access) for item in shown}
        return not found or not await self._hidden(caller, found)

    @patient
    async def _hidden(self, caller: Caller, found: Collection[tuple[str, frozenset[str]]]) -> set[str]:
        async with self._database.read() as connection:
            return await hidden_documents(connection, caller, found)
