"""Who may read which document, as a part of every query."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any, Final

import orjson
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from assistant.core.access import Caller
from assistant.core.attachments import FILES, SHARED
from assistant.core.text import without_unstorable
from assistant.store.tables import document_access

_AMONG: Final = {
    "sqlite": "{column} IN (SELECT value FROM json_each(:{name}))",
    "postgresql": "{column} = ANY(CAST(:{name} AS text[]))",
}


def among(dialect: str, column: str, name: str) -> str:
    """SQL that says whether the column is in the list given by the parameter `name`."""
    return _AMONG[dialect].format(column=column, name=name)


def listed(dialect: str, values: Iterable[str]) -> Any:
    """A list as the parameter of `among`; names that no database holds are left out, as nothing has them."""
    names = sorted(value for value in values if without_unstorable(value) == value)
    return names if dialect == "postgresql" else orjson.dumps(names).decode()


def readable(dialect: str) -> str:
    """A subquery for the ids of the live documents that the caller of `rights` may read."""
    return f"""
        SELECT d.id FROM documents d
        WHERE d.tenant = :tenant AND d.deleted_at IS NULL
        AND (
            :every_collection OR (:shared AND substr(d.collection, 1, {len(FILES)}) <> '{FILES}')
            OR {among(dialect, "d.collection", "collections")}
        )
        AND EXISTS (
            SELECT 1 FROM document_access a WHERE a.document = d.id AND {among(dialect, "a.group_name", "groups")}
        )
    """  # noqa: S608 - fixed text, values are parameters


def rights(
    dialect: str, caller: Caller, collections: frozenset[str] | None, *, everywhere: bool = False
) -> dict[str, Any]:
    """The parameters of `readable`: for these collections (None: all but the files of sessions), or for really `everywhere`."""
    return {
        "tenant": caller.tenant,
        "every_collection": everywhere,
        "shared": collections is None or SHARED in collections,
        "collections": listed(dialect, collections or ()),
        "groups": listed(dialect, caller.holds),
    }


async def read_access(connection: AsyncConnection, ids: Iterable[str]) -> defaultdict[str, frozenset[str]]:
    """The access groups of these documents as they are now."""
    groups: defaultdict[str, frozenset[str]] = defaultdict(frozenset)
    query = select(document_access).where(document_access.c.document.in_(ids))
    for row in await connection.execute(query):
        groups[row.document] |= {row.group_name}
    return groups
