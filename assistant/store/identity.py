"""People, service keys and spent tokens in SQL."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final

from sqlalchemy import delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from assistant.codec import storable
from assistant.core.text import without_unstorable
from assistant.errors import BadInput, NotFound
from assistant.interfaces import Person, ServiceKey, service_user
from assistant.store.engine import Database
from assistant.store.rows import AnyRow
from assistant.store.tables import people, service_keys, spent_tokens
from assistant.store.upsert import upsert

LONGEST_NAME: Final = 255
MOST_GROUPS: Final = 500
SWEEP_EVERY: Final = timedelta(minutes=5)


class SqlIdentity:
    """The identity store of a database; see `IdentityStore` for what each call promises."""

    def __init__(self, database: Database, *, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._database = database
        self._clock = clock
        self._swept = clock()

    async def spend(self, tenant: str, token: str, expires_at: datetime) -> bool:
        """Whether this is the first time; the primary key decides, so that two at once cannot both win."""
        row = {"tenant": storable(tenant), "digest": _digest(token), "expires_at": expires_at}
        try:
            async with self._database.write() as connection:
                await connection.execute(insert(spent_tokens), [row])
        except IntegrityError:
            return False
        await self._sweep()
        return True

    async def _sweep(self) -> None:
        """From time to time, forget tokens that no longer count anyway."""
        now = self._clock()
        if now - self._swept < SWEEP_EVERY:
            return
        self._swept = now
        async with self._database.write() as connection:
            await connection.execute(delete(spent_tokens).where(spent_tokens.c.expires_at < now))

    async def is_spent(self, tenant: str, token: str) -> bool:
        """Whether the token was taken."""
        mine = (spent_tokens.c.tenant == storable(tenant)) & (spent_tokens.c.digest == _digest(token))
        async with self._database.read() as connection:
            return await connection.scalar(select(spent_tokens.c.digest).where(mine)) is not None

    async def add_key(self, key: ServiceKey) -> None:
        """Keep a new key. Raises BadInput for names that cannot be kept."""
        row = {name: getattr(key, name) for name in _KEY_COLUMNS}
        row |= {"name": _name(key.name), "groups": _names(key.groups), "roles": _names(key.roles)}
        async with self._database.write() as connection:
            await connection.execute(insert(service_keys), [row])

    async def key_by_id(self, tenant: str, id_: str) -> ServiceKey | None:
        """The key with this id, revoked or expired too; None where the tenant has none."""
        if without_unstorable(tenant + id_) != tenant + id_:
            return None
        mine = (service_keys.c.tenant == tenant) & (service_keys.c.id == id_)
        async with self._database.read() as connection:
            row = (await connection.execute(select(service_keys).where(mine))).one_or_none()
        return None if row is None else _key(row)

    async def keys(self, tenant: str) -> list[ServiceKey]:
        """All keys of a tenant, the oldest first."""
        query = select(service_keys).where(service_keys.c.tenant == storable(tenant))
        async with self._database.read() as connection:
            rows = await connection.execute(query.order_by(service_keys.c.made_at, service_keys.c.id))
            return [_key(row) for row in rows]

    async def use_key(self, key: ServiceKey, day: date) -> None:
        """Remember that the key was used on this day."""
        mine = (service_keys.c.tenant == key.tenant) & (service_keys.c.id == key.id)
        async with self._database.write() as connection:
            await connection.execute(update(service_keys).where(mine).values(last_used=day))

    async def revoke_key(self, tenant: str, id_: str, at: datetime) -> None:
        """End a key, once; the row of its service in `people` tells the watchers of all workers."""
        mine = (service_keys.c.tenant == storable(tenant)) & (service_keys.c.id == storable(id_))
        async with self._database.write() as connection:
            if await connection.scalar(select(service_keys.c.id).where(mine)) is None:
                raise NotFound("no such key")
            ended = update(service_keys).where(mine, service_keys.c.revoked_at.is_(None))
            await connection.execute(ended.values(revoked_at=at))
        await self.revoke_person(tenant, service_user(id_), at)

    async def person(self, tenant: str, user: str) -> Person | None:
        """What was said of this person; None for nothing."""
        if without_unstorable(tenant + user) != tenant + user:
            return None
        mine = (people.c.tenant == tenant) & (people.c.user_id == user)
        async with self._database.read() as connection:
            row = (await connection.execute(select(people).where(mine))).one_or_none()
        return None if row is None else _person(row)

    async def put_groups(self, tenant: str, user: str, groups: frozenset[str] | None, at: datetime) -> None:
        """Set the groups of a person from now on; None takes those of the tokens again."""
        await self._put(tenant, user, at, groups=None if groups is None else _names(groups))

    async def revoke_person(self, tenant: str, user: str, at: datetime) -> None:
        """Refuse every token of this person that was issued before then; the bound never goes back."""
        known = await self.person(tenant, user)
        earlier = known.not_before if known else None
        await self._put(tenant, user, at, not_before=max(at, earlier) if earlier else at)

    async def _put(self, tenant: str, user: str, at: datetime, **said: Any) -> None:
        row = {"tenant": storable(tenant), "user_id": _name(user), "changed_at": at, **said}
        async with self._database.write() as connection:
            await upsert(connection, people, [row])

    async def changed_since(self, at: datetime) -> list[Person]:
        """The people of all tenants whose row changed then or later."""
        query = select(people).where(people.c.changed_at >= at).order_by(people.c.changed_at)
        async with self._database.read() as connection:
            return [_person(row) for row in await connection.execute(query)]


_KEY_COLUMNS: Final = tuple(column.name for column in service_keys.columns)


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode(errors="surrogatepass")).hexdigest()


def _name(name: str) -> str:
    if not 0 < len(storable(name).strip()) <= LONGEST_NAME:
        raise BadInput("a name has 1 to 255 characters", reason="name")
    return name


def _names(names: Collection[str]) -> list[str]:
    if len(names) > MOST_GROUPS:
        raise BadInput("too many groups", reason="groups", limit=MOST_GROUPS)
    return sorted(_name(name) for name in names)


def _key(row: AnyRow) -> ServiceKey:
    lists = {"groups": frozenset(row.groups), "roles": frozenset(row.roles)}
    return ServiceKey(**{name: getattr(row, name) for name in _KEY_COLUMNS} | lists)


def _person(row: AnyRow) -> Person:
    groups = None if row.groups is None else frozenset(row.groups)
    return Person(row.tenant, row.user_id, groups, row.not_before, row.changed_at)
