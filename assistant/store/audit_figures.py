"""Figures of the audit log over time, one grouped statement for each measure, and what came after single records."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, Final

import orjson
from sqlalchemy import ColumnElement, Select, case, func, literal_column, select
from sqlalchemy.ext.asyncio import AsyncConnection

from assistant.core.audit import AuditKind, stamp
from assistant.core.audit_figures import Aftermath, DayFigures
from assistant.core.audit_filter import AuditFilter
from assistant.store.audit_filters import conditions, source_changed
from assistant.store.tables import audit_records, turns

# Constants and not parameters: PostgreSQL does not see that two parameters of one value are one expression.
_DAY: Final = func.substr(audit_records.c.at, literal_column("1"), literal_column("10"))
_SUMS: Final = ("tokens_in", "tokens_out", "cost")


async def read_figures(connection: AsyncConnection, tenant: str, wanted: AuditFilter) -> list[DayFigures]:
    """The figures of each day that has answers that fit, by ascending day; other kinds of records are not counted.

    Read `wanted` with both of its times: nothing else bounds the work. Raises BadInput for a filter that no database can hold.
    """
    wanted = replace(wanted, kind=AuditKind.TURN)
    rows = (await connection.execute(_totals(tenant, wanted))).all()
    verdicts = await _split(connection, tenant, wanted, audit_records.c.verdict)
    modes = await _split(connection, tenant, wanted, audit_records.c.mode)
    return [DayFigures(**_numbers(row._asdict()), verdicts=verdicts[row.day], modes=modes[row.day]) for row in rows]


async def read_aftermath(connection: AsyncConnection, tenant: str, seqs: Collection[int]) -> dict[int, Aftermath]:
    """What came after each of these records; those that are not there are left out."""
    if not seqs:
        return {}
    changed = case((source_changed(), True), else_=False).label("changed")
    query = select(audit_records.c.seq, audit_records.c.rating, changed)
    if connection.dialect.name == "sqlite":
        # Without statistics SQLite would read the whole index of ratings, which holds every column that is asked for: an outer join has one order.
        wanted = func.json_each(orjson.dumps(list(seqs)).decode()).table_valued("value")
        same = (audit_records.c.tenant == tenant) & (audit_records.c.seq == wanted.c.value)
        query = query.select_from(wanted.outerjoin(audit_records, same))
    else:
        query = query.where(audit_records.c.tenant == tenant, audit_records.c.seq.in_(seqs))
    rows = await connection.execute(query)
    return {row.seq: Aftermath(row.rating, bool(row.changed)) for row in rows if row.seq is not None}


def _totals(tenant: str, wanted: AuditFilter) -> Select[*tuple[Any, ...]]:
    """A row for each day; tokens and cost stand in the turn, which may be gone."""
    query = select(
        _DAY.label("day"),
        func.count().label("answers"),
        _how_many(audit_records.c.finish == "no_answer").label("refusals"),
        _how_many(audit_records.c.has_conflict).label("conflicts"),
        _how_many(audit_records.c.rating == "up").label("up"),
        _how_many(audit_records.c.rating == "down").label("down"),
        func.count(turns.c.id).label("kept"),
        func.count(turns.c.cost).label("priced"),
        *(func.coalesce(func.sum(turns.c[name]), 0).label(name) for name in _SUMS),
    ).select_from(audit_records.outerjoin(turns, turns.c.id == audit_records.c.turn))
    return _within(query, tenant, wanted).group_by(_DAY).order_by(_DAY)


async def _split(
    connection: AsyncConnection, tenant: str, wanted: AuditFilter, by: ColumnElement[Any]
) -> Mapping[str, dict[str, int]]:
    """For each day how many answers have which value; those without one are not counted."""
    query = select(_DAY.label("day"), by.label("value"), func.count().label("answers")).where(by.is_not(None))
    found: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for row in await connection.execute(_within(query, tenant, wanted).group_by(_DAY, by).order_by(_DAY, by)):
        found[row.day][row.value] = row.answers
    return found


def _within(query: Select[*tuple[Any, ...]], tenant: str, wanted: AuditFilter) -> Select[*tuple[Any, ...]]:
    query = query.where(audit_records.c.tenant == tenant, *conditions(wanted))
    if wanted.since is not None:
        query = query.where(audit_records.c.at >= stamp(wanted.since))
    if wanted.until is not None:
        query = query.where(audit_records.c.at < stamp(wanted.until))
    return query


def _how_many(condition: ColumnElement[bool]) -> ColumnElement[int]:
    return func.count(case((condition, 1)))


def _numbers(row: Mapping[str, Any]) -> dict[str, Any]:
    """Sums of PostgreSQL are decimals."""
    whole = {name: int(value) for name, value in row.items() if name not in ("day", "cost")}
    return {"day": row["day"], "cost": float(row["cost"]), **whole}
