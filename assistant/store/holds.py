"""Legal holds: placed and lifted on the record, and what they cover."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, false, func, insert, not_, select, union, update
from sqlalchemy.ext.asyncio import AsyncConnection
from ulid import ULID

from assistant.codec import storable
from assistant.core.audit import AuditDraft, AuditKind
from assistant.core.keeping import Hold, HoldScope
from assistant.errors import BadInput, NotFound
from assistant.store.audit import SqlAuditLog, lock_chain
from assistant.store.audit_filters import LONGEST_TERM, term
from assistant.store.engine import Database
from assistant.store.rows import AnyRow
from assistant.store.tables import (
    audit_documents,
    audit_records,
    citations,
    documents,
    evidence,
    legal_holds,
    turns,
)


class SqlHolds:
    """Legal holds in SQL. Each change is one transaction with its audit record."""

    def __init__(
        self,
        database: Database,
        log: SqlAuditLog,
        *,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        new_id: Callable[[], str] = lambda: str(ULID()),
    ) -> None:
        self._database = database
        self._log = log
        self._clock = clock
        self._new_id = new_id

    async def place(self, tenant: str, scope: HoldScope, value: str, *, by: str, reason: str) -> Hold:
        """Hold everything that is covered, from now on. Raises BadInput without a value or a reason."""
        check_reason(by, reason)
        if not 0 < len(storable(value)) <= LONGEST_TERM:
            raise BadInput("a hold names what it covers", reason="hold_value")
        hold = Hold(self._new_id(), tenant, scope, value, reason, by, self._clock())
        async with self._database.write() as connection:
            await self._log.append(connection, _draft(hold, by, "placed", reason, hold.at))
            await connection.execute(insert(legal_holds), [_row(hold)])
        return hold

    async def lift(self, tenant: str, id_: str, *, by: str, reason: str) -> Hold:
        """End a hold; NotFound when the tenant has no such hold that is in force."""
        check_reason(by, reason)
        mine = (legal_holds.c.tenant == storable(tenant)) & (legal_holds.c.id == storable(id_))
        change = update(legal_holds).where(mine, legal_holds.c.lifted_at.is_(None)).values(lifted_at=self._clock())
        async with self._database.write() as connection:
            await lock_chain(connection, tenant)
            row = (await connection.execute(change.returning(legal_holds))).one_or_none()
            if row is None:
                raise NotFound("no such hold")
            hold = _hold(row)
            await self._log.append(connection, _draft(hold, by, "lifted", reason, hold.lifted_at or hold.at))
        return hold

    async def list(self, tenant: str, *, lifted: bool = False) -> list[Hold]:
        """The holds in force, oldest first; with those that were lifted when `lifted`."""
        query = select(legal_holds).where(legal_holds.c.tenant == storable(tenant))
        query = query.order_by(legal_holds.c.at, legal_holds.c.id)
        if not lifted:
            query = query.where(legal_holds.c.lifted_at.is_(None))
        async with self._database.read() as connection:
            return [_hold(row) for row in await connection.execute(query)]


def check_reason(by: str, reason: str) -> None:
    """Raises BadInput when nobody says why."""
    if not storable(by).strip() or not storable(reason).strip():
        raise BadInput("say who does it and why", reason="no_reason")


async def holds_in_force(connection: AsyncConnection, tenant: str) -> Sequence[Hold]:
    """The holds of a tenant. Whoever has locked its chain may rely on them until the end of the transaction."""
    query = select(legal_holds).where(legal_holds.c.tenant == tenant, legal_holds.c.lifted_at.is_(None))
    return [_hold(row) for row in await connection.execute(query.order_by(legal_holds.c.id))]


async def held_conversations(
    connection: AsyncConnection, holds: Collection[Hold], owners: Mapping[str, Collection[str]]
) -> dict[str, set[str]]:
    """The ids of the holds on each of these conversations, given as id -> pseudonyms of the owner; only those that are held."""
    held: defaultdict[str, set[str]] = defaultdict(set)
    for hold in holds:
        for conversation in await _covered(connection, hold, owners):
            held[conversation].add(hold.id)
    return dict(held)


async def _covered(connection: AsyncConnection, hold: Hold, owners: Mapping[str, Collection[str]]) -> list[str]:
    if hold.scope is HoldScope.PERSON:
        return [id_ for id_, names in owners.items() if hold.value in names]
    if hold.scope is HoldScope.SESSION:
        return [hold.value] if hold.value in owners else []
    found: list[str] = []
    ids = list(owners)
    for start in range(0, len(ids), _AT_ONCE):
        of_turn = turns.c.conversation.in_(ids[start : start + _AT_ONCE])
        query = select(turns.c.conversation).where(of_turn, turns.c.id.in_(_resting_on(hold))).distinct()
        found += await connection.scalars(query)
    return found


_AT_ONCE: Final = 500


def _resting_on(hold: Hold) -> Select[*tuple[Any, ...]]:
    """The turns that were shown, or cite, what the hold covers."""
    if hold.scope is HoldScope.COLLECTION:
        return select(evidence.c.turn).where(evidence.c.collection == hold.value)
    shown = select(evidence.c.turn).where(evidence.c.document == hold.value)
    cited = select(citations.c.turn).where(citations.c.document == hold.value)
    both = union(shown, cited).subquery()
    return select(both.c.turn)


async def holds_on_records(connection: AsyncConnection, holds: Collection[Hold], subjects: Collection[str]) -> set[str]:
    """The holds that cover an audit record of the person with these pseudonyms, whatever is left of the conversations."""
    found = set()
    for hold in holds:
        of_person = (audit_records.c.tenant == hold.tenant) & (audit_records.c.subject.in_(subjects))
        query = select(audit_records.c.seq).where(of_person, _covers_record(hold)).limit(1)
        if hold.scope is HoldScope.PERSON:
            covered = hold.value in subjects
        else:
            covered = await connection.scalar(query) is not None
        if covered:
            found.add(hold.id)
    return found


def _covers_record(hold: Hold) -> ColumnElement[bool]:
    """The condition that a hold covers an audit record."""
    if hold.scope is HoldScope.PERSON:
        return audit_records.c.subject == hold.value
    if hold.scope is HoldScope.SESSION:
        return audit_records.c.conversation == hold.value
    cited = select(audit_documents.c.seq).where(audit_documents.c.tenant == hold.tenant)
    if hold.scope is HoldScope.DOCUMENT:
        return audit_records.c.seq.in_(cited.where(audit_documents.c.document == term(hold.value)))
    within = select(documents.c.id).where(documents.c.tenant == hold.tenant, documents.c.collection == hold.value)
    return audit_records.c.seq.in_(cited.where(audit_documents.c.document.in_(within)))


def not_held(holds: Collection[Hold]) -> list[ColumnElement[bool]]:
    """The conditions that no hold covers an audit record."""
    return [not_(func.coalesce(_covers_record(hold), false())) for hold in holds]


def _draft(hold: Hold, by: str, change: str, reason: str, at: datetime) -> AuditDraft:
    body = {"hold": hold.id, "change": change, "scope": hold.scope.value, "value": hold.value, "reason": reason}
    subject = hold.value if hold.scope is HoldScope.PERSON else None
    return AuditDraft(hold.tenant, AuditKind.HOLD, by, at, subject=subject, body=body)


def _row(hold: Hold) -> dict[str, Any]:
    return {
        "id": hold.id,
        "tenant": hold.tenant,
        "scope": hold.scope.value,
        "value": hold.value,
        "reason": hold.reason,
        "by": hold.by,
        "at": hold.at,
        "lifted_at": hold.lifted_at,
    }


def _hold(row: AnyRow) -> Hold:
    return Hold(
        row.id, row.tenant, HoldScope(row.scope), row.value, row.reason, row.by, row.at, lifted_at=row.lifted_at
    )
