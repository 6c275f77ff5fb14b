"""Pages of the audit log: one statement per filter, each read from an index that ends in the order of time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, Table, exists, func, or_, select, text, tuple_, union_all

from assistant.codec import storable
from assistant.core.audit import RECORD_FIELDS, stamp
from assistant.core.audit_columns import LONGEST_TERM as LONGEST_TERM
from assistant.core.audit_columns import term as term
from assistant.core.audit_filter import AuditFilter
from assistant.store.tables import audit_documents, audit_records, documents

RECORD: Final = tuple(audit_records.c[name] for name in RECORD_FIELDS)
"""The columns of a record, without its sealed text."""

FEW: Final = 5000
"""So many records with a changed source are listed first; where there are more, the next ones are met soon."""

# The rarest first: it leads to its index, and the others are looked at row by row. No statistics tell a database that a person
# has fewer records than a mode.
_EQUAL: Final = {
    "turn": audit_records.c.turn,
    "session": audit_records.c.conversation,
    "person": audit_records.c.subject,
    "feedback": audit_records.c.rating,
    "actor": audit_records.c.actor,
    "verdict": audit_records.c.verdict,
    "status": audit_records.c.status,
    "mode": audit_records.c.mode,
    "model": audit_records.c.model,
    "kind": audit_records.c.kind,
}


def page(
    tenant: str,
    wanted: AuditFilter,
    before: tuple[str, int] | None,
    limit: int,
    among: Sequence[int] | None = None,
) -> Select[*tuple[Any, ...]]:
    """As `_page`; of a person with two pseudonyms the records of both, each read from its end of the same index."""
    if wanted.former is None or wanted.person is None:
        return _page(tenant, wanted, before, limit, among)
    names = dict.fromkeys((wanted.person, wanted.former))
    halves = [_page(tenant, replace(wanted, person=name), before, limit, among).subquery() for name in names]
    both = union_all(*(select(half) for half in halves)).subquery()
    return select(both).order_by(both.c.at.desc(), both.c.seq.desc()).limit(limit)


def _page(
    tenant: str,
    wanted: AuditFilter,
    before: tuple[str, int] | None,
    limit: int,
    among: Sequence[int] | None,
) -> Select[*tuple[Any, ...]]:
    """The last `limit` records that fit, the latest first; `before` is the (at, seq) after which the page begins.

    `among` names the few records that have a changed source, where it is known that they are few. Raises BadInput for a filter
    that no database can hold.
    """
    place = audit_records if wanted.document is None else audit_documents
    query = select(*RECORD).where(place.c.tenant == tenant)
    if wanted.document is not None:
        query = _of_document(query, storable(wanted.document))
    query = query.where(*_equal(wanted), *_others(wanted, among))
    query = _within(query, place, wanted, before)
    # By an expression where few are known: else the index of all records, read in order, looks cheaper than it is.
    at = place.c.at if among is None else func.coalesce(place.c.at, "")
    return query.order_by(at.desc(), place.c.seq.desc()).limit(limit)


def conditions(wanted: AuditFilter) -> list[ColumnElement[bool]]:
    """What a record must be like beside its tenant and its time, for statements that count and do not page.

    Raises BadInput for a filter that no database can hold.
    """
    found = [*_equal(wanted), *_others(wanted, None)]
    if wanted.document is not None:
        cites = audit_documents.c.document == term(storable(wanted.document))
        same = (audit_documents.c.tenant == audit_records.c.tenant) & (audit_documents.c.seq == audit_records.c.seq)
        found.append(exists().where(same, cites))
    return found


def _equal(wanted: AuditFilter) -> list[ColumnElement[bool]]:
    given = {name: getattr(wanted, name) for name in _EQUAL if getattr(wanted, name) is not None}
    terms = {name: term(storable(str(value))) for name, value in given.items()}
    leading = None if wanted.document is not None else next(iter(terms), None)
    return [
        (_EQUAL[name] if name == leading else func.coalesce(_EQUAL[name], "")) == value for name, value in terms.items()
    ]


def _of_document(query: Select[*tuple[Any, ...]], document: str) -> Select[*tuple[Any, ...]]:
    """From the list of what cites the document; an answer that cites two versions is there twice and counts once."""
    other = audit_documents.alias("other")
    here = audit_documents.c
    # A value for each row, not a join: the list stays in its order, and only the page is looked at.
    first = select(func.min(other.c.version)).where(
        other.c.tenant == here.tenant, other.c.seq == here.seq, other.c.document == here.document
    )
    # The time names the partition.
    same = (audit_records.c.tenant == here.tenant) & (audit_records.c.seq == here.seq) & (audit_records.c.at == here.at)
    query = query.select_from(audit_documents).join(audit_records, same)
    return query.where(here.document == term(document), here.version == first.scalar_subquery())


# From the documents to their old citations: CROSS JOIN keeps SQLite in this order, and two halves let it seek the versions below the
# current one. A record that cites two such documents comes twice.
OUTDATED: Final = text("""
    SELECT c.seq FROM documents d CROSS JOIN audit_documents c
    WHERE d.tenant = :tenant AND d.deleted_at IS NULL
        AND c.tenant = :tenant AND c.document = d.id AND c.version < d.current_version
    UNION ALL
    SELECT c.seq FROM documents d CROSS JOIN audit_documents c
    WHERE d.tenant = :tenant AND d.deleted_at IS NOT NULL AND c.tenant = :tenant AND c.document = d.id
    LIMIT :most
""")
"""The records that cite a version that is not the current one, or a document that is gone; `most` of them at most."""


def _within(
    query: Select[*tuple[Any, ...]], place: Table, wanted: AuditFilter, before: tuple[str, int] | None
) -> Select[*tuple[Any, ...]]:
    if wanted.since is not None:
        query = query.where(place.c.at >= stamp(wanted.since))
    if wanted.until is not None:
        query = query.where(place.c.at < stamp(wanted.until))
    if before is not None:
        query = query.where(tuple_(place.c.at, place.c.seq) < tuple_(*before))
    return query


def _others(wanted: AuditFilter, among: Sequence[int] | None) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if wanted.conflict is not None:
        conditions.append(audit_records.c.has_conflict == wanted.conflict)
    if among is not None:
        conditions.append(audit_records.c.seq.in_(among))
    elif wanted.source_changed is not None:
        changed = source_changed()
        conditions.append(changed if wanted.source_changed else ~changed)
    return conditions


def source_changed() -> ColumnElement[bool]:
    """Whether a document that the record cites has another current version, or is gone."""
    cited = audit_documents.alias("cited")
    return exists().where(
        cited.c.tenant == audit_records.c.tenant,
        cited.c.seq == audit_records.c.seq,
        documents.c.id == cited.c.document,
        documents.c.tenant == cited.c.tenant,
        or_(documents.c.deleted_at.is_not(None), cited.c.version < documents.c.current_version),
    )
