"""Answers of record in SQL: adopted from a correction, found under the rights of today, revoked; each change with its audit record."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, and_, exists, insert, or_, select, text, update
from sqlalchemy.ext.asyncio import AsyncConnection
from ulid import ULID

from assistant.codec import storable
from assistant.core.access import Caller
from assistant.core.adopted import AdoptedAnswer, question_key
from assistant.core.audit import AuditDraft, AuditKind, AuditRecord
from assistant.core.audit_filter import AuditFilter, cited_versions
from assistant.core.text import without_unstorable
from assistant.errors import BadInput, NotFound
from assistant.store.audit import SqlAuditLog, lock_chain
from assistant.store.engine import Database
from assistant.store.holds import check_reason
from assistant.store.rights import readable, rights
from assistant.store.rows import AnyRow
from assistant.store.shown import read_evidence
from assistant.store.tables import answers_of_record, answers_of_record_documents, documents
from assistant.store.unreachable import patient

MOST_LISTED: Final = 1000
_GONE: Final = {"question": "", "text": ""}
"""What a revoked answer is left with: the words stay in the sealed text of its record."""


class SqlAnswersOfRecord:
    """The answers of record of all tenants; one at a time answers a question."""

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

    @patient
    async def find(
        self, caller: Caller, question: str, collections: frozenset[str] | None = None
    ) -> AdoptedAnswer | None:
        """The answer of record to this standalone question; None where there is none for this caller.

        It is not given to who may not read every document that it rests on today, nor when one of them has another version than then or is
        gone, nor when one lies outside of `collections`.
        """
        if without_unstorable(question) != question:
            return None
        dialect = self._database.dialect
        answer = answers_of_record.c
        query = select(answers_of_record).where(
            answer.tenant == caller.tenant,
            answer.question_key == question_key(question),
            answer.revoked_at.is_(None),
            ~exists().where(answers_of_record_documents.c.answer == answer.id, _barred(dialect)),
        )
        async with self._database.read() as connection:
            row = (await connection.execute(query, rights(dialect, caller, collections))).one_or_none()
            return None if row is None else await _with_sources(connection, row)

    async def adopt(self, tenant: str, correction: str, *, by: str, reason: str) -> AdoptedAnswer:
        """Make the correction in this audit record the answer to its question from now on; an earlier one is revoked.

        The words of the correction and the question are in the open from then on, for all who may read its sources. Raises NotFound for another
        record, BadInput with `reason` "no_reason", "kind" for a record of something else, "erased" where the words are gone.
        """
        check_reason(by, reason)
        record = await self._log.record(tenant, correction)
        if record.kind is not AuditKind.CORRECTION or record.turn is None:
            raise BadInput("this record holds no correction", reason="kind")
        said, answered = await self._texts(record), await self._answer(tenant, record.turn)
        asked = await self._texts(answered)
        sources = _sources(answered.body)
        adopted = AdoptedAnswer(
            self._new_id(), asked["standalone"], said["correction"], record.turn, record.id, by, self._clock(), sources
        )
        async with self._database.write() as connection:
            await lock_chain(connection, tenant)
            replaced = await _revoke(connection, _same(tenant, adopted.question), adopted.at)
            await connection.execute(insert(answers_of_record), [_row(tenant, record.subject or "", adopted)])
            rows = [{"answer": adopted.id, "document": each, "version": number} for each, number in sources]
            if rows:
                await connection.execute(insert(answers_of_record_documents), rows)
            told = {"change": "adopted", "reason": reason, "documents": [list(each) for each in sources]}
            told |= {"replaces": [row.id for row in replaced]}
            words = {"question": adopted.question, "answer": adopted.text}
            await self._log.append(connection, _draft(tenant, adopted, record.subject, by, told, adopted.at, words))
        return adopted

    async def revoke(self, tenant: str, id_: str, *, by: str, reason: str) -> AdoptedAnswer:
        """Give the answer no more, and take its words out of the open; NotFound when no such answer is in force."""
        check_reason(by, reason)
        now = self._clock()
        mine = (answers_of_record.c.tenant == storable(tenant)) & (answers_of_record.c.id == storable(id_))
        async with self._database.write() as connection:
            await lock_chain(connection, tenant)
            found = await _revoke(connection, mine, now)
            if not found:
                raise NotFound("no such answer of record")
            answer = replace(_answer(found[0]), revoked_at=now)
            told = {"change": "revoked", "reason": reason}
            await self._log.append(connection, _draft(tenant, answer, found[0].subject or None, by, told, now, None))
        return answer

    async def list(self, tenant: str, *, revoked: bool = False) -> list[AdoptedAnswer]:
        """The answers in force, the latest first, at most MOST_LISTED; with those that were revoked when `revoked`."""
        query = select(answers_of_record).where(answers_of_record.c.tenant == storable(tenant))
        if not revoked:
            query = query.where(answers_of_record.c.revoked_at.is_(None))
        query = query.order_by(answers_of_record.c.at.desc(), answers_of_record.c.id.desc()).limit(MOST_LISTED)
        async with self._database.read() as connection:
            return [_answer(row) for row in await connection.execute(query)]

    async def _answer(self, tenant: str, turn: str) -> AuditRecord:
        """The record of the answer that was corrected."""
        found = await self._log.search(tenant, AuditFilter(kind=AuditKind.TURN, turn=turn), limit=1)
        if not found:
            raise BadInput("no record of the corrected answer is there", reason="no_answer")
        return found[0]

    async def _texts(self, record: AuditRecord) -> Mapping[str, str]:
        texts = await self._log.open_sealed(record)
        if not texts or not (texts.get("correction") or texts.get("standalone")):
            raise BadInput("the words of this record are no longer kept", reason="erased")
        return texts


def _barred(dialect: str) -> ColumnElement[bool]:
    """A document of an answer that the caller may not read, or that is not what it was."""
    here = answers_of_record_documents.c
    same = exists().where(documents.c.id == here.document, documents.c.current_version == here.version)
    return or_(~here.document.in_(text(readable(dialect))), ~same)


def _sources(body: Mapping[str, Any]) -> tuple[tuple[str, int], ...]:
    """The document versions that an answer cites; where it cites none, those that the model was shown."""
    return tuple(cited_versions(body) or cited_versions({"citations": body.get("evidence")}))


def _same(tenant: str, question: str) -> ColumnElement[bool]:
    return and_(answers_of_record.c.tenant == tenant, answers_of_record.c.question_key == question_key(question))


async def _revoke(connection: AsyncConnection, which: ColumnElement[bool], at: datetime) -> Sequence[AnyRow]:
    in_force = which & answers_of_record.c.revoked_at.is_(None)
    change = update(answers_of_record).where(in_force).values(revoked_at=at, **_GONE)
    rows: Sequence[AnyRow] = (await connection.execute(change.returning(answers_of_record))).all()
    return rows


async def take_back(connection: AsyncConnection, tenant: str, subjects: Sequence[str], at: datetime) -> int:
    """Revoke the answers that were made from the corrections of an erased person; how many were."""
    return len(
        await _revoke(
            connection, (answers_of_record.c.tenant == tenant) & answers_of_record.c.subject.in_(subjects), at
        )
    )


async def _with_sources(connection: AsyncConnection, row: AnyRow) -> AdoptedAnswer:
    query = select(answers_of_record_documents).where(answers_of_record_documents.c.answer == row.id)
    sources = tuple(sorted((each.document, each.version) for each in await connection.execute(query)))
    shown = await read_evidence(connection, row.turn)
    kept = tuple(each for each in shown if (each.source.document, each.source.number) in sources)
    return replace(_answer(row), sources=sources, evidence=kept)


def _draft(
    tenant: str,
    answer: AdoptedAnswer,
    subject: str | None,
    by: str,
    told: Mapping[str, Any],
    at: datetime,
    words: Mapping[str, str] | None,
) -> AuditDraft:
    body = {"answer": answer.id, "correction": answer.correction, **told}
    return AuditDraft(
        tenant,
        AuditKind.ADOPTION,
        by,
        at,
        subject=subject,
        turn=answer.turn,
        body=body,
        personal=words if subject else None,
    )


def _row(tenant: str, subject: str, answer: AdoptedAnswer) -> dict[str, Any]:
    return {
        "id": answer.id,
        "tenant": tenant,
        "question_key": question_key(answer.question),
        "question": answer.question,
        "text": answer.text,
        "subject": subject,
        "turn": answer.turn,
        "correction": answer.correction,
        "by": answer.by,
        "at": answer.at,
        "revoked_at": None,
    }


def _answer(row: AnyRow) -> AdoptedAnswer:
    return AdoptedAnswer(
        row.id, row.question, row.text, row.turn, row.correction, row.by, row.at, revoked_at=row.revoked_at
    )
