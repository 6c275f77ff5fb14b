"""What persons and tenants use in a day, counted in the transactions of their turns, so that it holds over all workers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from datetime import UTC, date, datetime
from typing import Final

from sqlalchemy import Date, Text, bindparam, func, select, text
from sqlalchemy.ext.asyncio import AsyncConnection

from assistant.core.access import Caller
from assistant.core.allowance import DayLimits, UsageToday, Used, day_of, ms_of_day_left, reached
from assistant.core.events import UsageReported
from assistant.errors import Busy
from assistant.store.engine import Database
from assistant.store.pseudonyms import Pseudonyms
from assistant.store.tables import conversations, usage_days

NO_LIMITS: Final = DayLimits()

_ADD: Final = text("""
    INSERT INTO usage_days (tenant, day, person, turns, tokens, cost)
    VALUES (:tenant, :day, :person, :turns, :tokens, :cost)
    ON CONFLICT (tenant, day, person) DO UPDATE SET
        turns = usage_days.turns + excluded.turns,
        tokens = usage_days.tokens + excluded.tokens,
        cost = usage_days.cost + excluded.cost
""").bindparams(bindparam("tenant", type_=Text), bindparam("day", type_=Date), bindparam("person", type_=Text))


@dataclass(frozen=True, slots=True)
class Meter:
    """Counts what is used, under the pseudonyms of people, and refuses what goes beyond the limits."""

    limits: DayLimits = NO_LIMITS
    names: Pseudonyms = field(default_factory=Pseudonyms)

    async def check_allowance(self, connection: AsyncConnection, caller: Caller, now: datetime) -> None:
        """Raise Busy when the day's allowance of the caller or of the tenant is used up.

        `reason` names the limit, `retry_after_ms` reaches to midnight UTC. Call it in the transaction that counts the turn,
        behind `check_limit`, which makes the starts of a person wait for each other; those of a tenant with a limit wait here.
        """
        limits = self.limits
        if not (limits.for_users or limits.for_tenants):
            return
        if limits.for_tenants and connection.dialect.name == "postgresql":  # SQLite writes one at a time anyway
            await connection.execute(select(func.pg_advisory_xact_lock(func.hashtextextended(caller.tenant, 0))))
        own, whole = await self.used(connection, caller, day_of(now))
        reason = reached(limits, own, whole)
        if reason is not None:
            raise Busy("the allowance of the day is used up", reason=reason, retry_after_ms=ms_of_day_left(now))

    async def count_turn(self, connection: AsyncConnection, caller: Caller, now: datetime) -> None:
        """Count a turn that begins; in the transaction that stores it."""
        await self._add(connection, caller, day_of(now), Used(turns=1))

    async def count_answer(
        self, connection: AsyncConnection, conversation: str, usage: UsageReported | None, now: datetime
    ) -> None:
        """Count what an answer took, on the day on which it ended; in the transaction that stores it."""
        used = Used(tokens=usage.tokens_in + usage.tokens_out, cost=usage.cost or 0.0) if usage else Used()
        if used == Used():
            return
        owner = select(conversations.c.tenant, conversations.c.user_id).where(conversations.c.id == conversation)
        row = (await connection.execute(owner)).one()
        await self._add(connection, Caller(row.tenant, row.user_id), day_of(now), used)

    async def _add(self, connection: AsyncConnection, caller: Caller, day: date, used: Used) -> None:
        row = {"tenant": caller.tenant, "day": day, "person": self.names.of(caller), **asdict(used)}
        await connection.execute(_ADD, row)

    async def used(self, connection: AsyncConnection, caller: Caller, day: date) -> tuple[Used, Used]:
        """What the caller used on a day and what the whole tenant did; the latter only where it has a limit."""
        own = await _sum(connection, caller.tenant, day, self.names.of(caller))
        return own, await _sum(connection, caller.tenant, day) if self.limits.for_tenants else Used()


class SqlUsage:
    """The UsageReport in SQL."""

    def __init__(
        self, database: Database, meter: Meter, *, clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self._database = database
        self._meter = meter
        self._clock = clock

    async def today(self, caller: Caller) -> UsageToday:
        """What the caller has used today (UTC) and may use."""
        now, limits = self._clock(), self._meter.limits
        async with self._database.read() as connection:
            own, whole = await self._meter.used(connection, caller, day_of(now))
        return UsageToday(day_of(now), own, limits, reached(limits, own, whole), ms_of_day_left(now))


async def _sum(connection: AsyncConnection, tenant: str, day: date, person: str | None = None) -> Used:
    columns = (usage_days.c.turns, usage_days.c.tokens, usage_days.c.cost)
    query = select(*(func.sum(column).label(column.name) for column in columns))
    query = query.where(usage_days.c.tenant == tenant, usage_days.c.day == day)
    if person is not None:
        query = query.where(usage_days.c.person == person)
    row = (await connection.execute(query)).one()
    return Used(int(row.turns or 0), int(row.tokens or 0), float(row.cost or 0.0))
