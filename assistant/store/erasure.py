"""Erasing a person: the key of the sealed text is destroyed, the plain text is overwritten, a record says that it was done."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Any, Final

from sqlalchemy import exists, func, or_, select, union
from sqlalchemy.ext.asyncio import AsyncConnection

from assistant.codec import storable
from assistant.core.access import Caller
from assistant.core.audit import AuditDraft, AuditKind, AuditRecord
from assistant.core.keeping import ErasureReport
from assistant.errors import BadInput, Busy, NotFound
from assistant.store.answers_of_record import take_back
from assistant.store.audit import SqlAuditLog, lock_chain
from assistant.store.engine import Database
from assistant.store.holds import check_reason, held_conversations, holds_in_force, holds_on_records
from assistant.store.library_files import remove_files
from assistant.store.scrubbing import Ids, blank, scrub, zero_what_goes
from assistant.store.sealing import destroy_key
from assistant.store.starting import RETRY_MS, running
from assistant.store.tables import audit_records, conversations, feedback, person_keys, turns

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
        self,
        tenant: str,
        subject: str,
        *,
        by: str,
        reason: str,
        known_as: Sequence[str] = (),
        dry_run: bool = False,
        rebuild: bool = True,
    ) -> ErasureReport:
        """Erase all text of the person with this pseudonym; what documents say stays, and the chain stays valid.

        `known_as` are other pseudonyms of the same person, from before there was a secret; those that can be told from what is kept need not
        be given. Each has its key destroyed and a record of its own. A dry run does the same and takes it back. `rebuild` is told to `scrub`. The reason is kept in the open: it must not name
        the person. Raises BadInput with `reason` "hold" and the `holds` that forbid it, Busy while a turn of the person
        runs, NotFound when nothing is kept of them.
        """
        check_reason(by, reason)
        tenant, subject = storable(tenant), storable(subject)
        async with self._database.write() as connection:
            report = await self._erase(connection, tenant, (subject, *map(storable, known_as)), by, reason, dry_run)
            if dry_run:
                await connection.rollback()
        return report if dry_run else replace(report, scrubbed=await scrub(self._database, rebuild=rebuild))

    async def _erase(
        self, connection: AsyncConnection, tenant: str, given: Sequence[str], by: str, reason: str, dry_run: bool
    ) -> ErasureReport:
        await zero_what_goes(connection)
        users, subjects = await self._known(connection, tenant, given)
        within = select(conversations.c.id).where(conversations.c.tenant == tenant, conversations.c.user_id.in_(users))
        owned = await lock_ended(connection, within)
        await lock_chain(connection, tenant)
        await _check_known(connection, tenant, subjects, users)
        held = await _held(connection, tenant, subjects, owned)
        if held and not dry_run:
            raise BadInput("a legal hold covers the person", reason="hold", holds=list(held))
        sealed = [await _sealed(connection, tenant, subject) for subject in subjects]
        await remove_files(connection, within)
        text = await blank(connection, within, tenant, users, ERASED + subjects[0])
        await take_back(connection, tenant, subjects, self._clock())
        told = dict(zip(subjects, sealed, strict=True))
        record = await self._tell(connection, tenant, told, {"by": by, "reason": reason, "text": asdict(text)})
        return ErasureReport(tenant, subjects[0], dry_run, text, sum(sealed), held, None if dry_run else record)

    async def _known(
        self, connection: AsyncConnection, tenant: str, given: Sequence[str]
    ) -> tuple[list[str], list[str]]:
        """The users behind these pseudonyms, and all their pseudonyms, the given ones first."""
        known = union(
            select(conversations.c.user_id).where(conversations.c.tenant == tenant),
            select(feedback.c.user_id).where(feedback.c.tenant == tenant),
        )
        stream = await connection.stream_scalars(known)
        names = {user: self._log.names.all_of(Caller(tenant, user)) async for user in stream}
        users = [user for user, theirs in names.items() if not set(given).isdisjoint(theirs)]
        return users, list(dict.fromkeys([*given, *(name for user in users for name in names[user])]))

    async def _tell(
        self, connection: AsyncConnection, tenant: str, sealed: Mapping[str, int], told: Mapping[str, Any]
    ) -> AuditRecord:
        """Destroy the keys and say so; the record of the pseudonym that was given first. No record names another pseudonym."""
        now = self._clock()
        records: list[AuditRecord] = []
        for subject, count in sealed.items():
            if records and not await _is_known(connection, tenant, [subject]):
                continue
            await destroy_key(connection, tenant, subject, now)
            body = {"reason": told["reason"], "sealed": count, "text": {} if records else told["text"]}
            draft = AuditDraft(tenant, AuditKind.ERASURE, told["by"], now, subject=subject, body=body)
            records.append(await self._log.append(connection, draft))
        return records[0]


async def lock_ended(connection: AsyncConnection, within: Ids) -> list[str]:
    """Lock these conversations and return their ids; Busy while one of them has a turn that has not ended."""
    query = select(conversations.c.id).where(conversations.c.id.in_(within)).order_by(conversations.c.id)
    ids = list(await connection.scalars(query.with_for_update()))
    open_ = select(turns.c.id).where(turns.c.conversation.in_(within), running()).limit(1)
    if await connection.scalar(open_) is not None:
        raise Busy("a turn of the person still runs", retry_after_ms=RETRY_MS)
    return ids


async def _held(connection: AsyncConnection, tenant: str, subjects: Sequence[str], owned: list[str]) -> tuple[str, ...]:
    holds = await holds_in_force(connection, tenant)
    on_conversations = await held_conversations(connection, holds, dict.fromkeys(owned, subjects))
    found = set().union(*on_conversations.values()) | await holds_on_records(connection, holds, subjects)
    return tuple(sorted(found))


async def _check_known(connection: AsyncConnection, tenant: str, subjects: Sequence[str], users: list[str]) -> None:
    if not users and not await _is_known(connection, tenant, subjects):
        raise NotFound("nothing is kept of this person")


async def _is_known(connection: AsyncConnection, tenant: str, subjects: Sequence[str]) -> bool:
    """Whether there are records, or was a key, under one of these pseudonyms."""
    of_person = exists().where(audit_records.c.tenant == tenant, audit_records.c.subject.in_(subjects))
    keyed = exists().where(person_keys.c.tenant == tenant, person_keys.c.subject.in_(subjects))
    return bool(await connection.scalar(select(or_(of_person, keyed))))


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
