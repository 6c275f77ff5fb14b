"""Conversations: owners, idempotency, history, plans, answers, and what they rest on."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import date, timedelta

import pytest
from sqlalchemy import select

from assistant.core.access import Caller
from assistant.core.events import AnswerDelta, TurnAccepted, TurnFinished
from assistant.core.evidence import Authority, Evidence, SourceVersion
from assistant.core.messages import Message, Role
from assistant.core.text import Span
from assistant.core.turn import TurnMessage
from assistant.errors import BadInput, Busy, IdempotencyMismatch, NotFound
from assistant.interfaces import BegunTurn, Feedback
from assistant.store import Store
from assistant.store.remembering import PAST_TURNS
from assistant.store.tables import feedback
from tests.store.filling import (
    ANN,
    BOB,
    EVE,
    answer_of,
    citation_of,
    conflict_of,
    draft,
    found_evidence,
    plan_of,
    put,
)


async def _begin(
    store: Store, conversation: str, turn: str = "t1", text: str = "How many days?", **more: object
) -> BegunTurn:
    given = {"turn": turn, "client_id": f"c-{turn}", "text": text, "mode": "auto", "limit": 99} | more
    return await store.conversations.begin_turn(ANN, conversation, **given)  # type: ignore[arg-type]


async def _new(store: Store, caller: Caller = ANN) -> str:
    return (await store.conversations.open(caller, None)).id


async def _answered(store: Store, conversation: str, turn: str = "t1", question: str = "days leave") -> list[Evidence]:
    """A finished turn that cites everything it found."""
    await _begin(store, conversation, turn)
    evidence = await found_evidence(store, question)
    await store.conversations.save_plan(turn, plan_of(evidence), evidence, [])
    await store.conversations.finish_turn(conversation, turn, answer_of(evidence))
    return evidence


async def test_a_conversation_is_its_owners_alone(store: Store) -> None:
    conversation = await _new(store)
    assert (await store.conversations.open(ANN, conversation)).id == conversation
    await _begin(store, conversation)
    for stranger in (BOB, EVE, Caller("rival", "ann")):
        for call in (
            store.conversations.open(stranger, conversation),
            store.conversations.messages(stranger, conversation),
            store.conversations.cited_passage(stranger, conversation, "t1", 1),
            store.conversations.begin_turn(stranger, conversation, turn="x", client_id="x", text="?", mode="auto"),
        ):
            with pytest.raises(NotFound):
                await call
        assert await store.conversations.conversations(stranger) == []


async def test_an_unknown_conversation_is_not_found(store: Store) -> None:
    with pytest.raises(NotFound):
        await store.conversations.open(ANN, "nothing")


async def test_opening_tells_the_epoch_and_the_head(store: Store) -> None:
    first = await store.conversations.open(ANN, None)
    assert (first.head_seq, len(first.id), first.epoch != first.id) == (0, 26, True)
    await _begin(store, first.id)
    again = await store.conversations.open(ANN, first.id)
    assert (again.epoch, again.head_seq) == (first.epoch, 1)


async def test_a_question_is_stored_with_its_event(store: Store) -> None:
    conversation = await _new(store)
    begun = await _begin(store, conversation, text="年假 😀 how many?")
    assert begun.event is not None
    accepted = begun.event.event
    assert isinstance(accepted, TurnAccepted)
    assert (accepted.turn, accepted.client_id, accepted.text) == ("t1", "c-t1", "年假 😀 how many?")
    assert accepted.by not in ("", "ann")
    assert await store.events.read(conversation) == [begun.event]
    [view] = await store.conversations.messages(ANN, conversation)
    assert (view.turn, view.message, view.answer) == ("t1", Message(Role.USER, "年假 😀 how many?"), None)
    assert await store.conversations.open_turns() == [(conversation, "t1")]


async def test_the_same_client_id_means_the_same_turn(store: Store) -> None:
    conversation = await _new(store)
    await _begin(store, conversation)
    again = await _begin(store, conversation, "t2", client_id="c-t1")
    assert (again.turn, again.duplicate, again.event) == ("t1", True, None)
    assert await store.events.head(conversation) == 1
    for other in ({"text": "Something else?"}, {"mode": "compact"}):
        with pytest.raises(IdempotencyMismatch):
            await _begin(store, conversation, "t3", **{"client_id": "c-t1", **other})


async def test_the_same_client_id_at_the_same_time_starts_one_turn(store: Store) -> None:
    conversation = await _new(store)
    begun = await asyncio.gather(*(_begin(store, conversation, f"t{n}", client_id="c") for n in range(8)))
    assert sum(not each.duplicate for each in begun) == 1
    assert len({each.turn for each in begun}) == 1
    assert await store.events.head(conversation) == 1


async def test_client_ids_of_two_conversations_do_not_meet(store: Store) -> None:
    for conversation in (await _new(store), await _new(store)):
        begun = await _begin(store, conversation, f"t-{conversation}", client_id="same")
        assert not begun.duplicate


async def test_too_many_running_turns_are_refused_over_all_conversations(store: Store) -> None:
    first, second = await _new(store), await _new(store)
    await _begin(store, first, "t1")
    await _begin(store, second, "t2")
    with pytest.raises(Busy) as refusal:
        await _begin(store, second, "t3", limit=2)
    assert refusal.value.data["retry_after_ms"]
    assert (await _begin(store, first, "t4", client_id="c-t1", limit=2)).duplicate  # a repeat is answered
    await store.conversations.finish_turn(first, "t1", answer_of([]))
    assert not (await _begin(store, second, "t3", limit=2)).duplicate


async def test_two_starts_at_once_do_not_pass_the_limit(store: Store) -> None:
    conversations = [await _new(store) for _ in range(6)]
    results = await asyncio.gather(
        *(_begin(store, id_, f"t{n}", limit=2) for n, id_ in enumerate(conversations)), return_exceptions=True
    )
    assert sum(isinstance(result, BegunTurn) for result in results) == 2


@pytest.mark.parametrize("text", ["a\x00b", "\ud800"])
async def test_a_question_that_no_database_holds_is_refused(store: Store, text: str) -> None:
    conversation = await _new(store)
    with pytest.raises(BadInput):
        await _begin(store, conversation, text=text)
    assert await store.events.head(conversation) == 0


async def test_a_finished_turn_comes_back_as_it_was_folded(store: Store) -> None:
    await put(store, draft("Employees get 20 days of leave. Leave is paid. 年假二十天。", on=date(2024, 5, 6)))
    conversation = await _new(store)
    await _begin(store, conversation)
    evidence = await found_evidence(store, "leave 年假")
    await store.conversations.save_plan("t1", plan_of(evidence), evidence, [])
    message = answer_of(evidence)
    receipt = await store.conversations.finish_turn(conversation, "t1", message)
    question, answer = await store.conversations.messages(ANN, conversation)
    assert question.message == Message(Role.USER, "How many days?")
    assert answer.message == Message(Role.ASSISTANT, "20 days.")
    assert receipt is not None
    assert answer.answer == replace(message, audit_id=receipt.audit_id, record_hash=receipt.record_hash)
    assert len({question.id, answer.id}) == 2


async def test_a_failed_turn_comes_back_as_it_was_folded(store: Store) -> None:
    conversation = await _new(store)
    await _begin(store, conversation)
    failed = TurnMessage("How many days?", "20 d", "failed", "done", "error", "abc", error="model_unavailable")
    receipt = await store.conversations.finish_turn(conversation, "t1", failed)
    assert receipt is not None
    stored = replace(failed, audit_id=receipt.audit_id, record_hash=receipt.record_hash)
    assert (await store.conversations.messages(ANN, conversation))[1].answer == stored


async def test_finishing_twice_changes_nothing(store: Store) -> None:
    conversation = await _new(store)
    await _begin(store, conversation)
    message = answer_of([])
    receipt = await store.conversations.finish_turn(conversation, "t1", message)
    other = replace(message, text="other", status="failed")
    assert await store.conversations.finish_turn(conversation, "t1", other) == receipt
    assert receipt is not None
    views = await store.conversations.messages(ANN, conversation)
    stored = replace(message, audit_id=receipt.audit_id, record_hash=receipt.record_hash)
    assert [view.answer for view in views] == [None, stored]


async def test_finishing_needs_a_turn_that_exists_and_has_ended(store: Store) -> None:
    conversation, other = await _new(store), await _new(store)
    await _begin(store, conversation)
    for place, turn in ((conversation, "t9"), (other, "t1")):
        with pytest.raises(NotFound):
            await store.conversations.finish_turn(place, turn, answer_of([]))
    with pytest.raises(BadInput):
        await store.conversations.finish_turn(conversation, "t1", TurnMessage())
    with pytest.raises(NotFound):
        await store.conversations.save_plan("t9", plan_of([]), [], [])


async def test_a_turn_is_open_until_its_answer_and_its_last_event_are_stored(store: Store) -> None:
    conversation = await _new(store)
    await _begin(store, conversation)
    await store.conversations.finish_turn(conversation, "t1", answer_of([]))
    assert await store.conversations.open_turns() == [(conversation, "t1")]
    await store.events.append(conversation, "t1", [AnswerDelta(0, "x"), TurnFinished("completed")])
    assert await store.conversations.open_turns() == []
    await _begin(store, conversation, "t2")
    await store.events.append(conversation, "t2", [TurnFinished("failed")])
    assert await store.conversations.open_turns() == [(conversation, "t2")]


async def test_history_is_the_last_finished_turns_oldest_first(store: Store) -> None:
    await put(store, draft("Employees get 20 days of leave."))
    conversation = await _new(store)
    await _begin(store, conversation, "running")
    for number in range(PAST_TURNS + 2):
        evidence = await _answered(store, conversation, f"t{number:02}")
    history = (await _begin(store, conversation, "now")).history
    assert [past.turn for past in history] == [f"t{number:02}" for number in range(2, PAST_TURNS + 2)]
    last = history[-1]
    assert (last.question, last.standalone, last.answer) == ("How many days?", "How many days?", "20 days.")
    assert last.number == PAST_TURNS + 3
    source = evidence[0].source
    assert [(place.document, place.version) for place in last.cited] == [(source.document, source.number)]


async def test_citation_numbers_stay_in_the_conversation(store: Store) -> None:
    await put(store, draft("Employees get 20 days of leave. Leave is paid."))
    conversation = await _new(store)
    first = await _answered(store, conversation)
    numbers = (await _begin(store, conversation, "t2")).numbers
    assert numbers == {each.id: n for n, each in enumerate(first, start=1)}
    renumbered = answer_of(list(reversed(first)))
    await store.conversations.finish_turn(conversation, "t2", renumbered)
    assert (await _begin(store, conversation, "t3")).numbers == numbers
    assert (await _begin(store, await _new(store), "t4")).numbers == {}


async def test_evidence_and_conflicts_come_back_exactly_as_shown(store: Store) -> None:
    await put(store, draft("😀 Employees get 20 days of leave. 年假二十天。", "a.md", on=date(2024, 1, 2)))
    await put(store, draft("Employees get 25 days of leave.", "b.md", access=["everyone", "hr"]))
    first, second, *_ = await found_evidence(store, "employees leave", BOB)
    shown = [
        replace(first, score=0.1 + 0.2, conflicts=(second.id,), preferred=True, flags=("instruction",)),
        replace(second, kept=(Span(0, 9), Span(14, 31)), preferred=False, language="zh", page=3, section="§ 1"),
    ]
    conversation = await _new(store)
    await _begin(store, conversation)
    found = [conflict_of(first, second)]
    await store.conversations.save_plan("t1", plan_of(shown), shown, found)
    assert await store.conversations.evidence_of("t1") == shown
    assert await store.conversations.conflicts_of("t1") == found
    assert await store.conversations.evidence_of("t9") == []


async def test_a_second_plan_replaces_the_first(store: Store) -> None:
    await put(store, draft("Employees get 20 days of leave. Leave is paid."))
    evidence = await found_evidence(store, "leave")
    conversation = await _new(store)
    await _begin(store, conversation)
    await store.conversations.save_plan("t1", plan_of(evidence), evidence, [conflict_of(*evidence)])
    await store.conversations.save_plan("t1", plan_of(evidence[:1]), evidence[:1], [])
    assert await store.conversations.evidence_of("t1") == evidence[:1]
    assert await store.conversations.conflicts_of("t1") == []


async def test_old_answers_keep_the_text_they_saw(store: Store) -> None:
    await put(store, draft("Employees get 20 days of leave."))
    conversation = await _new(store)
    evidence = await _answered(store, conversation)
    passage, state = await store.conversations.cited_passage(ANN, conversation, "t1", 1)
    assert (passage.text, state) == ("Employees get 20 days of leave.", "unchanged")
    await put(store, draft("Preface. Employees get 25 days of leave."))
    passage, state = await store.conversations.cited_passage(ANN, conversation, "t1", 1)
    assert (passage.text, passage.source.number, state) == ("Employees get 20 days of leave.", 1, "changed")
    assert await store.conversations.evidence_of("t1") == evidence
    await store.documents.delete("acme", "handbook", "leave.md")
    passage, state = await store.conversations.cited_passage(ANN, conversation, "t1", 1)
    assert (passage.text, state) == ("Employees get 20 days of leave.", "deleted")


async def test_rights_are_checked_again_when_an_old_answer_is_opened(store: Store) -> None:
    document = draft("Employees get 20 days of leave.")
    await put(store, document)
    conversation = await _new(store)
    await _answered(store, conversation)
    await put(store, replace(document, access=frozenset({"hr"})))
    with pytest.raises(NotFound):
        await store.conversations.cited_passage(ANN, conversation, "t1", 1)
    again = replace(ANN, groups=frozenset({"hr"}))
    assert (await store.conversations.cited_passage(again, conversation, "t1", 1))[1] == "unchanged"
    with pytest.raises(NotFound):
        await store.conversations.cited_passage(again, conversation, "t1", 2)


async def test_a_source_outside_the_knowledge_base_keeps_its_text_and_rights(store: Store) -> None:
    source = SourceVersion("wiki:7", 3, "s", "Wiki", "https://wiki", "wiki", None, Authority.LOW, "zh", "f", ANN.groups)
    outside = Evidence("e7", source, Span(10, 14), "年假十天", (Span(10, 14),), score=0.5)
    conversation = await _new(store)
    await _begin(store, conversation)
    await store.conversations.save_plan("t1", plan_of([outside]), [outside], [])
    assert await store.conversations.evidence_of("t1") == [outside]
    passage, state = await store.conversations.cited_passage(ANN, conversation, "t1", 1)
    assert (passage.text, passage.source, state) == ("年假十天", source, "unchanged")
    stranger = replace(ANN, groups=frozenset({"other"}))
    with pytest.raises(NotFound):
        await store.conversations.cited_passage(stranger, conversation, "t1", 1)


async def test_a_number_given_only_when_cited_opens_its_passage(store: Store) -> None:
    await put(store, draft("Employees get 20 days of leave. Leave is paid."))
    conversation = await _new(store)
    await _begin(store, conversation)
    first, second = await found_evidence(store, "leave")
    plan = plan_of([first, second])
    unnumbered = replace(plan, evidence=tuple(replace(each, n=None) for each in plan.evidence))
    await store.conversations.save_plan("t1", unnumbered, [first, second], [])
    answer = answer_of([second])
    await store.conversations.finish_turn(conversation, "t1", replace(answer, plan=unnumbered))
    assert answer.citations is not None
    assert answer.citations.items == (citation_of(second, 1),)
    assert (await store.conversations.cited_passage(ANN, conversation, "t1", 1))[0].text == second.exact


async def test_conversations_are_listed_latest_first(store: Store) -> None:
    first, second = await _new(store), await _new(store)
    await _begin(store, second, "t1", "  A question\n over two lines " + "x" * 200)
    await _begin(store, first, "t2", "Erste?")
    await _begin(store, first, "t3", "Zweite?")
    listed = await store.conversations.conversations(ANN)
    assert [(view.id, view.turns) for view in listed] == [(first, 2), (second, 1)]
    assert [view.title[:26] for view in listed] == ["Erste?", "A question over two lines "[:26]]
    assert len(listed[1].title) <= 80
    assert [view.id for view in await store.conversations.conversations(ANN, limit=1)] == [first]
    assert [view.id for view in await store.conversations.conversations(ANN, before=listed[0].updated_at)] == [second]
    early = listed[1].created_at - timedelta(days=1)
    assert await store.conversations.conversations(ANN, before=early) == []
    assert listed[0].updated_at.utcoffset() == timedelta(0)


async def test_hostile_ids_and_numbers_are_not_found(store: Store) -> None:
    conversation = await _new(store)
    await _begin(store, conversation)
    for hostile in ("a\x00b", "\ud800", "' OR 1=1 --", "x" * 100_000, ""):
        for call in (
            store.conversations.open(ANN, hostile),
            store.conversations.messages(ANN, hostile),
            store.conversations.cited_passage(ANN, conversation, hostile, 1),
        ):
            with pytest.raises(NotFound):
                await call
    for number in (0, -1, 2**31, 10**30):
        with pytest.raises(NotFound):
            await store.conversations.cited_passage(ANN, conversation, "t1", number)
    for after in (-5, 0, 10**30):
        assert len(await store.events.read(conversation, after=after)) == (after < 1)


async def test_a_group_that_no_database_holds_opens_nothing(store: Store) -> None:
    await put(store, draft("Salaries.", access=["hr"]))
    await put(store, draft("Open salaries.", "open.md"))
    odd = replace(ANN, groups=frozenset({"everyone", "h\x00r", "\ud800", "hr' OR '1'='1"}))
    assert [each.exact for each in await found_evidence(store, "salaries", odd)] == ["Open salaries."]


async def test_feedback_is_kept_beside_the_answer_once(store: Store) -> None:
    opened = await store.conversations.open(ANN, None)
    await store.conversations.begin_turn(ANN, opened.id, turn="t", client_id="c", text="Why?", mode="auto")
    given = Feedback("f", "t", "down", correction="Because 年假 😀")
    await store.conversations.add_feedback(ANN, opened.id, given)
    await store.conversations.add_feedback(ANN, opened.id, given)
    async with store.database.read() as connection:
        (row,) = (await connection.execute(select(feedback))).all()
    assert (row.user_id, row.rating, row.correction) == ("ann", "down", "Because 年假 😀")
    for caller, turn in ((BOB, "t"), (ANN, "another")):
        with pytest.raises(NotFound):
            await store.conversations.add_feedback(caller, opened.id, Feedback("g", turn, "up"))
