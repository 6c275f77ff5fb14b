"""Answers of record: a correction becomes the answer to its question, for those who may read what it rests on, while that stands."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import pytest_asyncio
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import text

from assistant.audit.retaining import Retainer
from assistant.core.access import EVERYONE, Caller
from assistant.core.adopted import AdoptedAnswer, normal_question, question_key
from assistant.core.audit import AuditKind
from assistant.core.keeping import Retained, RetentionPolicy
from assistant.errors import BadInput, NotFound
from assistant.store import Store
from assistant.store.documents import document_id
from tests.store.audit_filling import ANNS, all_records, ask, check_chain, turn_draft
from tests.store.filling import ANN, BOB, EVE, draft, put

WHY: dict[str, Any] = {"by": "uboss", "reason": "the handbook is unclear"}
HR = Caller("acme", "hal", frozenset({EVERYONE, "hr"}))
QUESTION = "How many days standalone"
LEAVE = document_id("acme", "handbook", "leave.md")


@pytest_asyncio.fixture
async def corrected(store: Store) -> AsyncIterator[Store]:
    """Bob of hr asked over a document of hr, and corrected the answer."""
    await put(store, draft("Everyone has 20 days of leave.", access=("hr",)))
    await ask(store, BOB, "t1", "How many days")
    yield store


async def adopt(store: Store) -> AdoptedAnswer:
    return await store.records_of_answer.adopt("acme", (await correction(store)).id, **WHY)


async def correction(store: Store) -> Any:
    return next(record for record in await all_records(store.audit) if record.kind is AuditKind.CORRECTION)


async def found(store: Store, caller: Caller = HR, question: str = QUESTION) -> str | None:
    answer = await store.records_of_answer.find(caller, question)
    return None if answer is None else answer.text


@pytest.mark.parametrize(
    "same", [" how MANY days\tstandalone?", "“How many days standalone?!”", "Ｈow many\r\ndays standalone。", "How many days standalone…"]
)  # fmt: skip
def test_the_same_question_has_the_same_key(same: str) -> None:
    assert question_key(same) == question_key(QUESTION)


@pytest.mark.parametrize(
    "other", ["How many days", "How many days standalone $", "How many day s standalone", "5% or 5", "", "?"]
)
def test_another_question_has_another_key(other: str) -> None:
    assert question_key(other) != question_key(QUESTION)
    assert question_key("5% or 5%") != question_key("5% or 5")


@given(st.text())
def test_the_normal_form_of_any_text_is_its_own(question: str) -> None:
    assert question_key(normal_question(question)) == question_key(question)


async def test_the_same_question_gets_the_words_of_the_person(corrected: Store) -> None:
    adopted = await adopt(corrected)
    answer = await corrected.records_of_answer.find(HR, "how many DAYS standalone?")
    assert answer is not None
    assert (answer.id, answer.text, answer.question, answer.turn) == (
        adopted.id, "How many days instead", "How many days standalone", "t1",
    )  # fmt: skip
    assert answer.sources == ((LEAVE, 1),)
    assert [piece.exact for piece in answer.evidence] == ["Everyone has 20 days of leave."]
    assert await found(corrected, question="How many hours?") is None
    assert await found(corrected, question="\ud800") is None


async def test_who_may_not_read_the_sources_gets_none(corrected: Store) -> None:
    await adopt(corrected)
    assert await found(corrected, ANN) is None
    assert await found(corrected, EVE) is None  # of hr, but elsewhere
    assert await corrected.records_of_answer.find(HR, QUESTION, frozenset({"other"})) is None
    assert await corrected.records_of_answer.find(HR, QUESTION, frozenset({"handbook"})) is not None


async def test_rights_of_today_count(corrected: Store) -> None:
    await adopt(corrected)
    assert await found(corrected)
    await put(corrected, draft("Everyone has 20 days of leave.", access=("board",)))
    assert await found(corrected) is None
    assert await found(corrected, Caller("acme", "ceo", frozenset({EVERYONE, "board"})))


async def test_a_document_that_changed_or_went_ends_it(corrected: Store) -> None:
    await adopt(corrected)
    await put(corrected, draft("Everyone has 25 days of leave.", access=("hr",)))
    assert await found(corrected) is None
    assert len(await corrected.records_of_answer.list("acme")) == 1  # until somebody revokes it
    await corrected.documents.delete("acme", "handbook", "leave.md")
    assert await found(corrected) is None


async def test_adopting_and_revoking_are_on_the_record(corrected: Store) -> None:
    first = await adopt(corrected)
    second = await adopt(corrected)
    assert [each.id for each in await corrected.records_of_answer.list("acme")] == [second.id]
    await corrected.records_of_answer.revoke("acme", second.id, **WHY)
    assert await found(corrected) is None
    records = [record for record in await all_records(corrected.audit) if record.kind is AuditKind.ADOPTION]
    assert [(r.body["change"], r.body["answer"], r.actor) for r in records] == [
        ("adopted", first.id, "uboss"), ("adopted", second.id, "uboss"), ("revoked", second.id, "uboss"),
    ]  # fmt: skip
    assert records[1].body["replaces"] == [first.id]
    assert "instead" not in str(records[0].body)
    assert (await corrected.audit.open_sealed(records[0]) or {})["answer"] == "How many days instead"
    listed = await corrected.records_of_answer.list("acme", revoked=True)
    assert [(each.text, each.question) for each in listed] == [("", "")] * 2
    check_chain(await all_records(corrected.audit))
    with pytest.raises(NotFound):
        await corrected.records_of_answer.revoke("acme", second.id, **WHY)


async def test_what_cannot_be_adopted_is_a_typed_error(corrected: Store) -> None:
    answers, given = corrected.records_of_answer, await correction(corrected)
    for tenant, id_ in (("acme", "unknown"), ("rival", given.id), ("acme", "\x00")):
        with pytest.raises(NotFound):
            await answers.adopt(tenant, id_, **WHY)
    turn = (await all_records(corrected.audit))[0]
    lone = await corrected.audit.append_one(
        turn_draft(9, kind=AuditKind.CORRECTION, personal={"correction": "x"}, turn="t99")
    )
    await corrected.erasure.erase("acme", given.subject, by="u", reason="r", rebuild=False)
    for id_, reason in ((turn.id, "kind"), (lone.id, "no_answer"), (given.id, "erased")):
        with pytest.raises(BadInput) as refused:
            await answers.adopt("acme", id_, **WHY)
        assert refused.value.data["reason"] == reason
    with pytest.raises(BadInput):
        await answers.adopt("acme", given.id, by="uboss", reason=" ")
    assert await answers.list("acme", revoked=True) == []


async def test_erasing_the_person_takes_their_words_back(corrected: Store) -> None:
    await adopt(corrected)
    await corrected.erasure.erase("acme", (await correction(corrected)).subject, by="u", reason="r", rebuild=False)
    assert await found(corrected) is None
    async with corrected.database.read() as connection:
        rows = (await connection.execute(text("SELECT question, text FROM answers_of_record"))).all()
    assert [tuple(row) for row in rows] == [("", "")]


async def test_its_versions_are_kept(corrected: Store) -> None:
    adopted = await adopt(corrected)
    await put(corrected, draft("Everyone has 25 days of leave.", access=("hr",)))
    policies = [RetentionPolicy(what, 1) for what in Retained]
    later = datetime.now(UTC) + timedelta(days=9)
    keeper = Retainer(corrected.retention, corrected.audit, policies, lambda: later)
    assert (await keeper.apply("acme"))[-1].gone == 0
    await corrected.records_of_answer.revoke("acme", adopted.id, **WHY)
    assert (await keeper.apply("acme"))[-1].gone == 1


async def test_hostile_words_are_kept_as_they_are(store: Store) -> None:
    secret = "\u202e<script>🙂\r\n'); DROP TABLE answers_of_record;--"
    await put(store, draft("Everyone has 20 days of leave."))
    await ask(store, ANN, "t1", secret)
    assert (await all_records(store.audit))[0].subject == ANNS
    await adopt(store)
    assert await found(store, ANN, f"{secret} standalone") == f"{secret} instead"
