"""What people set about a document: it wins over what is read in, now and later."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import date, datetime
from typing import Any

from sqlalchemy import delete, insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from assistant.core.evidence import Authority
from assistant.interfaces import DocumentChange, DocumentDraft
from assistant.store.tables import document_access, document_settings
from assistant.store.upsert import upsert

Settings = Mapping[str, Any]
"""The fields that were set, as plain JSON values by name."""


async def read_settings(connection: AsyncConnection, document: str) -> Settings:
    """What people set about a document; empty when nobody did."""
    said = await connection.scalar(select(document_settings.c.said).where(document_settings.c.document == document))
    return dict(said or {})


async def write_settings(connection: AsyncConnection, document: str, said: Settings, now: datetime) -> None:
    """Keep these settings of a document in place of the former ones."""
    await connection.execute(delete(document_settings).where(document_settings.c.document == document))
    if said:
        await upsert(connection, document_settings, [{"document": document, "said": dict(said), "at": now}])


async def write_access(connection: AsyncConnection, document: str, groups: Iterable[str]) -> None:
    """Make these the groups that may read a document."""
    await connection.execute(delete(document_access).where(document_access.c.document == document))
    rows = [{"document": document, "group_name": group} for group in sorted(groups)]
    await connection.execute(insert(document_access), rows)


def with_settings(draft: DocumentDraft, said: Settings) -> DocumentDraft:
    """The draft with what people set about the document."""
    change = change_of(said)
    return replace(draft, **{name: getattr(change, name) for name in change.given}) if said else draft


def change_of(said: Settings) -> DocumentChange:
    """The change that these settings make."""
    return DocumentChange(
        given=frozenset(said),
        access=frozenset(said.get("access") or ()),
        authority=Authority(said.get("authority") or Authority.MEDIUM),
        date=date.fromisoformat(said["date"]) if said.get("date") else None,
        owner=said.get("owner"),
    )


def plain(change: DocumentChange) -> dict[str, Any]:
    """The fields that a change sets, as plain JSON values."""
    values = {
        "access": sorted(change.access),
        "authority": change.authority.value,
        "date": change.date.isoformat() if change.date else None,
        "owner": change.owner,
    }
    return {name: value for name, value in values.items() if name in change.given}
