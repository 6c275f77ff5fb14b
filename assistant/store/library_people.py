"""Who is known in a tenant: those who asked, and those of whom an administrator said something."""

from __future__ import annotations

from sqlalchemy import Column, ColumnElement, Select, Table, select, union

from assistant.interfaces import PersonView
from assistant.store.engine import Database
from assistant.store.erasure import ERASED
from assistant.store.tables import conversations, people


class SqlKnownPeople:
    """The KnownPeople of a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def find(self, tenant: str, query: str, after: str | None, limit: int) -> list[PersonView]:
        """People by name from behind `after` whose name holds `query` in any case; nobody whose text was erased."""
        asked = _names(conversations, tenant, query, after, limit)
        named = union(asked, _names(people, tenant, query, after, limit)).subquery()
        said = (people.c.tenant == tenant) & (people.c.user_id == named.c.user_id)
        found = select(named.c.user_id, people.c.groups, people.c.not_before).outerjoin(people, said)
        async with self._database.read() as connection:
            rows = await connection.execute(found.order_by(named.c.user_id).limit(limit))
            return [
                PersonView(row.user_id, None if row.groups is None else frozenset(row.groups), row.not_before)
                for row in rows
            ]


def _names(table: Table, tenant: str, query: str, after: str | None, limit: int) -> Select[str]:
    """The next names of a table; both parts of the union are cut, so that nothing is sorted that is not shown."""
    user: Column[str] = table.c.user_id
    wanted: list[ColumnElement[bool]] = [table.c.tenant == tenant, ~user.startswith(ERASED, autoescape=True)]
    if query:
        wanted.append(user.icontains(query, autoescape=True))
    if after is not None:
        wanted.append(user > after)
    page = select(user).where(*wanted).distinct().order_by(user).limit(limit).subquery()
    return select(page.c.user_id)
