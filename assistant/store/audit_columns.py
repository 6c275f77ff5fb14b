"""What stands beside the records of the audit log and in no hash, read raw for verification: nothing here trusts a column's type."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any, Final

import orjson
from sqlalchemy import (
    ColumnElement,
    Integer,
    Text,
    and_,
    any_,
    case,
    exists,
    func,
    not_,
    null,
    or_,
    select,
    type_coerce,
)
from sqlalchemy.dialects.postgresql import distinct_on
from sqlalchemy.ext.asyncio import AsyncConnection

from assistant.core.audit import AuditKind
from assistant.core.audit_columns import FACETS, StoredColumns
from assistant.store.tables import audit_chains, audit_documents, audit_records

RATING: Final = (AuditKind.FEEDBACK, AuditKind.CORRECTION)
"""The kinds of records that rate an answer."""


def _raw(name: str) -> ColumnElement[Any]:
    """A column as it lies in the database: a Boolean that holds 7 must not be read as true."""
    kind = Integer if name == "has_conflict" else Text
    return type_coerce(audit_records.c[name], kind).label(name)


def _rated() -> ColumnElement[Any]:
    """The body of the last rating behind an answer, in the statement that reads the answer: both are of one moment."""
    later = audit_records.alias("later")
    # Expressions where an index would lead astray: only the one by turn has few rows.
    body = (
        select(later.c.body)
        .where(
            later.c.tenant == audit_records.c.tenant,
            later.c.turn == audit_records.c.turn,
            func.coalesce(later.c.kind, "").in_([kind.value for kind in RATING]),
            func.coalesce(later.c.seq, 0) > audit_records.c.seq,
        )
        .order_by(func.coalesce(later.c.seq, 0).desc())
        .limit(1)
        .scalar_subquery()
    )
    return case((audit_records.c.kind == AuditKind.TURN.value, body), else_=null()).label("rated")


def _rated_over_months(tenant: str, after: int, limit: int) -> ColumnElement[Any]:
    """As `_rated`, looked up in each partition once for the whole batch: a rating may lie in any month, whatever the clocks said."""
    later, batch = audit_records.alias("later"), audit_records.alias("batch")
    answers = (
        select(batch.c.turn)
        .where(batch.c.tenant == tenant, batch.c.seq > after, batch.c.kind == AuditKind.TURN.value)
        .order_by(batch.c.seq)
        .limit(limit)
    )
    last = (
        select(later.c.turn, later.c.seq, later.c.body)
        .where(later.c.tenant == tenant, later.c.turn == any_(func.array(answers.scalar_subquery())))
        .where(later.c.kind.in_([kind.value for kind in RATING]))
        .ext(distinct_on(later.c.turn))
        .order_by(later.c.turn, later.c.seq.desc())
        .cte("last_ratings")
        .prefix_with("MATERIALIZED")
    )
    behind = (last.c.turn == audit_records.c.turn) & (last.c.seq > audit_records.c.seq)
    body = select(last.c.body).where(behind).scalar_subquery()
    return case((audit_records.c.kind == AuditKind.TURN.value, body), else_=null()).label("rated")


_COLUMNS: Final = select(audit_records.c.seq, *(_raw(name) for name in (*FACETS, "rating")))


async def read_columns(connection: AsyncConnection, tenant: str, after: int, limit: int) -> list[StoredColumns]:
    """The columns of at most `limit` records with seq > after, by ascending seq, with their lists of what is cited."""
    over_months = connection.dialect.name == "postgresql"
    rated = _rated_over_months(tenant, after, limit) if over_months else _rated()
    query = _COLUMNS.add_columns(rated).where(audit_records.c.tenant == tenant, audit_records.c.seq > after)
    rows = (await connection.execute(query.order_by(audit_records.c.seq).limit(limit))).all()
    if not rows:
        return []
    cited = await _cited(connection, tenant, after, rows[-1].seq)
    return [
        StoredColumns(
            row.seq, {name: getattr(row, name) for name in FACETS}, row.rating, _body(row.rated), cited[row.seq]
        )
        for row in rows
    ]


async def _cited(
    connection: AsyncConnection, tenant: str, after: int, last: int
) -> defaultdict[int, tuple[tuple[Any, Any, Any], ...]]:
    table = audit_documents.c
    query = select(table.seq, table.document, table.version, table.at).where(
        table.tenant == tenant, table.seq > after, table.seq <= last
    )
    found: defaultdict[int, list[tuple[Any, Any, Any]]] = defaultdict(list)
    for row in await connection.execute(query):
        found[row.seq].append((row.document, row.version, row.at))
    # Sorted here: databases do not agree on the order of texts.
    ordered = {
        seq: tuple(sorted(rows, key=lambda row: (str(row[0]), str(type(row[1])), row[1])))
        for seq, rows in found.items()
    }
    return defaultdict(tuple, ordered)


def _body(stored: str | None) -> Mapping[str, Any] | None:
    if stored is None:
        return None
    try:
        body = orjson.loads(stored)
    except orjson.JSONDecodeError:
        return {}
    return body if isinstance(body, dict) else {}


async def first_stray(connection: AsyncConnection, tenant: str, last: int) -> int | None:
    """The lowest number in the list of what is cited that no record has, outside of 1 to `last`; None where there is none."""
    table = audit_documents.c
    record = exists().where(audit_records.c.tenant == tenant, audit_records.c.seq == table.seq)
    outside = or_(table.seq < 1, and_(table.seq > last, not_(record)))
    query = select(table.seq).where(table.tenant == tenant, outside)
    seq: int | None = await connection.scalar(query.order_by(table.seq).limit(1))
    return seq


async def read_ends(connection: AsyncConnection, tenant: str) -> tuple[tuple[Any, Any] | None, tuple[Any, Any] | None]:
    """Where the chain says that it ends, and the last record that is there, each as (seq, hash); of one moment."""
    last = select(func.max(audit_records.c.seq)).where(audit_records.c.tenant == tenant).scalar_subquery()
    there = select(audit_records.c.seq, audit_records.c.hash).where(
        audit_records.c.tenant == tenant, audit_records.c.seq == last
    )
    noted = select(audit_chains.c.seq, audit_chains.c.hash).where(audit_chains.c.tenant == tenant)
    sides = there.add_columns(type_coerce("record", Text).label("side")).union_all(
        noted.add_columns(type_coerce("chain", Text).label("side"))
    )
    found = {row.side: (row.seq, row.hash) for row in await connection.execute(sides)}
    return found.get("chain"), found.get("record")
