"""Erasing a person: the key of the sealed text is destroyed, the plain text is overwritten, a record says that it was done."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Final

from sqlalchemy import ColumnElement, Select, exists, func, or_, select, union
from sqlalchemy.ext.asyncio import AsyncConnection

from assistant.codec import storable
from assistant.core.access import Caller
from assistant.core.audit import AuditDraft, AuditKind
from assistant.core.events import TurnFinished
from assistant.core.keeping import ErasureReport
from assistant.errors import BadInput, Busy, NotFound
from assistant.store.audit import SqlAuditLog, lock_chain
from assistant.store.engine import Database
from assistant.store.holds import check_reason, held_conversations, holds_in_force, holds_on_records
from assistant.store.pseudonyms import pseudonym
from assistant.store.scrubbing import Ids, blank, scrub, zero_what_goes
from assistant.store.sealing import destroy_key
from assistant.store.starting import RETRY_MS
from assistant.store.tables import audit_records, conversations, events, feedback, person_keys, turns

ERASED: Final = "erased:"
"""Before the pseudonym, the owner of a conversation whose person was erased."""


class SqlErasure:
    """Erasure of persons in SQL."""

    def __init__(
        self, database: Database, log: SqlAuditLog, *, clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self._database = database
        self._log = log
        self._clock = clock

    async def erase(
        self, tenant: str, subject: str, *, by: str, reason: str, dry_run: bool = False, rebuild: bool = True
    ) -> ErasureReport:
        """Erase all text of the person with this pseudonym; what documents say stays, and the chain stays valid.

        A dry run does the same and takes it back. `rebuild` is told to `scrub`. The reason is kept in the open: it must not name
        the person. Raises BadInput with `reason` "hold" and the `holds` that forbid it, Busy while a turn of the person
        runs, NotFound when nothing is kept of them.
        """
        check_reason(by, reason)
        tenant, subject = storable(tenant), storable(subject)
        async with self._database.write() as connection:
            report = await self._erase(connection, tenant, subject, by, reason, dry_run)
            if dry_run:
                await connection.rollback()
        return report if dry_run else replace(report, scrubbed=await scrub(self._database, rebuild=rebuild))

    async def _erase(
        self, connection: AsyncConnection, tenant: str, subject: str, by: str, reason: str, dry_run: bool
    ) -> ErasureReport:
        await zero_what_goes(connection)
        users = await _users(connection, tenant, subject)
        within = select(conversations.c.id).where(conversations.c.tenant == tenant, conversations.c.user_id.in_(users))
        owned = await lock_ended(connection, within)
        await lock_chain(connection, tenant)
        await _check_known(connection, tenant, subject, users)
        held = await _held(connection, tenant, subject, owned)
        if held and not dry_run:
            raise BadInput("a legal hold covers the person", reason="hold", holds=list(held))
        sealed = await _sealed(connection, tenant, subject)
        text = await blank(connection, within, tenant, users, ERASED + subject)
        now = self._clock()
        await destroy_key(connection, tenant, subject, now)
        body = {"reason": reason, "sealed": sealed, "text": asdict(text)}
        record = await self._log.append(
            connection, AuditDraft(tenant, AuditKind.ERASURE, by, now, subject=subject, body=body)
        )
        return ErasureReport(tenant, subject, dry_run, text, sealed, held, None if dry_run else record)


async def _users(connection: AsyncConnection, tenant: str, subject: str) -> list[str]:
    """The users of the tenant behind a pseudonym: one, or none where nothing is kept in the open."""
    known = union(
        select(conversations.c.user_id).where(conversations.c.tenant == tenant),
        select(feedback.c.user_id).where(feedback.c.tenant == tenant),
    )
    stream = await connection.stream_scalars(known)
    return [user async for user in stream if pseudonym(Caller(tenant, user)) == subject]


async def lock_ended(connection: AsyncConnection, within: Ids) -> list[str]:
    """Lock these conversations and return their ids; Busy while one of them has a turn that has not ended."""
    query = select(conversations.c.id).where(conversations.c.id.in_(within)).order_by(conversations.c.id)
    ids = list(await connection.scalars(query.with_for_update()))
    open_ = select(turns.c.id).where(turns.c.conversation.in_(within), running()).limit(1)
    if await connection.scalar(open_) is not None:
        raise Busy("a turn of the person still runs", retry_after_ms=RETRY_MS)
    return ids


def running() -> ColumnElement[bool]:
    """The condition that a turn has not ended, or that its log does not say so yet."""
    done = exists().where(events.c.turn == turns.c.id, events.c.type == TurnFinished.type)
    return or_(turns.c.ended_at.is_(None), ~done)


async def _held(connection: AsyncConnection, tenant: str, subject: str, owned: list[str]) -> tuple[str, ...]:
    holds = await holds_in_force(connection, tenant)
    on_conversations = await held_conversations(connection, holds, dict.fromkeys(owned, subject))
    found = set().union(*on_conversations.values()) | await holds_on_records(connection, holds, subject)
    return tuple(sorted(found))


async def _check_known(connection: AsyncConnection, tenant: str, subject: str, users: list[str]) -> None:
    of_person = (audit_records.c.tenant == tenant) & (audit_records.c.subject == subject)
    keyed = (person_keys.c.tenant == tenant) & (person_keys.c.subject == subject)
    kept: list[Select[int]] = [
        select(func.count()).select_from(audit_records).where(of_person),
        select(func.count()).select_from(person_keys).where(keyed),
    ]
    if not users and not any([await connection.scalar(query) for query in kept]):
        raise NotFound("nothing is kept of this person")


async def _sealed(connection: AsyncConnection, tenant: str, subject: str) -> int:
    """How many audit records have text that only the person's key opens."""
    keyed = (person_keys.c.tenant == tenant) & (person_keys.c.subject == subject) & person_keys.c.key.is_not(None)
    query = (
        select(func.count())
        .select_from(audit_records)
        .where(
            audit_records.c.tenant == tenant, audit_records.c.subject == subject, audit_records.c.sealed.is_not(None)
        )
        .where(exists().where(keyed))
    )
    return int(await connection.scalar(query) or 0)
