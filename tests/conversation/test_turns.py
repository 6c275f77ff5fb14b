from __future__ import annotations

import asyncio
import hashlib
from contextlib import aclosing
from dataclasses import replace

import pytest

from assistant.conversation.turns import Question
from assistant.core.events import AnswerDelta, AnswerFinished, TurnFinished
from assistant.core.modes import Mode
from assistant.core.turn import fold
from assistant.errors import Busy, IdempotencyMismatch, ModelUnavailable, NotFound
from assistant.llm.extractive import ExtractiveModel
from assistant.llm.scripted import ScriptedModel
from assistant.store import Store
from tests.conversation.answering import LEAVE, beside, fill, sit_down, types
from tests.store.filling import BOB

QUESTION = "How many days of annual leave do employees get?"
GROUNDED = "Employees get 20 days of annual leave. Everyone also gets a free unicorn."


async def test_a_turn_tells_its_story_in_order(store: Store) -> None:
    desk = await sit_down(store, ScriptedModel([GROUNDED]))
    message = await desk.answer(QUESTION)
    events = await desk.events()
    assert types(events) == [
        "turn.accepted", "turn.progress", "turn.plan", "answer.start", "answer.delta", "answer.done",
        "citations", "conflicts", "turn.usage", "turn.done",
    ]  # fmt: skip
    assert [item.seq for item in events] == list(range(1, len(events) + 1))
    assert message.text == GROUNDED
    assert message.status == "completed"
    assert message.sha256 == hashlib.sha256(GROUNDED.encode()).hexdigest()


async def test_citations_point_into_the_stored_version_and_unsupported_sentences_are_marked(store: Store) -> None:
    desk = await sit_down(store, ScriptedModel([GROUNDED]))
    message = await desk.answer(QUESTION)
    assert message.citations is not None
    cited = message.citations.items[0]
    assert message.text[cited.start : cited.end] == "Employees get 20 days of annual leave."
    stored = await store.documents.version_text(cited.source.document, cited.source.version)
    assert stored == LEAVE
    assert stored[cited.source.start : cited.source.end] == cited.source.exact
    lonely = [message.text[item.start : item.end] for item in message.citations.unsupported]
    assert lonely == ["Everyone also gets a free unicorn."]


async def test_a_conflict_is_stored_shown_and_judged(store: Store) -> None:
    desk = await sit_down(store, ScriptedModel(["Employees get 20 days of annual leave."]))
    message = await desk.answer(QUESTION)
    assert message.conflicts is not None
    (conflict,) = message.conflicts.items
    assert (conflict.resolution, conflict.followed) == ("newer", "preferred")
    assert [side.claim for side in conflict.sides if side.preferred] == ["Employees get 20 days of annual leave."]
    assert message.plan is not None
    assert {item.preferred for item in message.plan.evidence if item.conflicts} == {True, False}


async def test_the_prompt_that_reaches_the_model_is_within_its_window_and_has_the_three_areas(store: Store) -> None:
    await fill(store)
    for window in (1024, 2048, 8192, 131072):
        model = ScriptedModel(["Fine."], window=window)
        desk = await beside(store, model)
        await desk.answer(QUESTION)
        request = model.calls[0].request
        asked = request.messages[-1].text
        assert asked.index("<evidence-list>") < asked.index('preferred="yes"') < asked.index("<question>")
        used = sum(model.counter.count(message.text) for message in request.messages)
        assert used + request.sampling.max_tokens <= window


async def test_marks_of_the_model_are_taken_out(store: Store) -> None:
    desk = await sit_down(store, ScriptedModel(["Employees get 20 days of annual leave [1]【证据2】. Sure."], piece=1))
    message = await desk.answer(QUESTION)
    assert message.text == "Employees get 20 days of annual leave. Sure."


async def test_forbidden_documents_are_neither_shown_nor_sent(store: Store) -> None:
    model = ScriptedModel(["No."])
    desk = await sit_down(store, model)
    message = await desk.answer("What did the board say about leave in secret in May?")
    assert message.plan is not None
    assert "board.md" not in [item.uri for item in message.plan.evidence]
    assert "secret" not in model.calls[0].request.messages[-1].text.split("<question>")[0]


async def test_cancel_keeps_what_was_written_and_cites_it(store: Store) -> None:
    model = ScriptedModel(
        ["Employees get 20 days of annual leave. " + "More words follow. " * 500], delay=0.005, piece=20
    )
    desk = await sit_down(store, model)
    turn = await desk.ask(QUESTION)
    async with asyncio.timeout(20), aclosing(desk.live.follow(desk.conversation, 0)) as events:
        async for item in events:
            if isinstance(item.event, AnswerDelta) and item.event.off > 60:
                assert await desk.live.cancel(desk.caller, desk.conversation, turn)
            if isinstance(item.event, TurnFinished):
                break
    await desk.live.wait(turn)
    message = await desk.message(turn)
    assert (message.status, message.finish) == ("cancelled", "cancelled")
    assert message.text.startswith("Employees get 20 days")
    assert message.citations is not None
    assert message.citations.items
    assert model.calls[0].ended == "cancelled"
    assert len(message.text) < 5000


async def test_nobody_else_can_cancel(store: Store) -> None:
    desk = await sit_down(store, ScriptedModel(["Slow answer. " * 50], delay=0.01))
    turn = await desk.ask(QUESTION)
    assert not await desk.live.cancel(BOB, desk.conversation, turn)
    assert not await desk.live.cancel(desk.caller, "another", turn)
    assert not await desk.live.cancel(replace(desk.caller, tenant="rival"), desk.conversation, turn)
    assert await desk.live.cancel(desk.caller, desk.conversation, turn)
    await desk.live.wait(turn)


async def test_a_model_that_breaks_off_fails_the_turn_and_keeps_the_text(store: Store) -> None:
    broken = ScriptedModel([GROUNDED], fail_with=ModelUnavailable("gone"), fail_after=40)
    desk = await sit_down(store, broken)
    message = await desk.answer(QUESTION)
    assert (message.status, message.error, message.finish) == ("failed", "model_unavailable", "error")
    assert message.text == GROUNDED[:40]
    assert [item.event.type for item in await desk.events()].count("turn.done") == 1


async def test_hostile_model_output_is_stored_without_what_no_database_holds(store: Store) -> None:
    desk = await sit_down(store, ScriptedModel(["A\x00B\ud800C 😀 e\u0301 \u202e end."]))
    message = await desk.answer(QUESTION)
    assert message.text == "ABC 😀 e\u0301 \u202e end."
    assert message.status == "completed"


async def test_nothing_found_is_refused_without_a_call(store: Store) -> None:
    model = ScriptedModel(["Never."])
    desk = await beside(store, model)
    message = await desk.answer("Who won the world cup?")
    assert message.text == "The documents do not answer this."
    assert message.finish == "no_answer"
    assert model.calls == []
    assert (await desk.answer("谁赢了世界杯？")).text == "根据现有信息无法回答。"


async def test_small_talk_needs_no_documents(store: Store) -> None:
    model = ScriptedModel(["Hello!"])
    desk = await sit_down(store, model)
    message = await desk.answer("Hello!")
    assert message.plan is not None
    assert (message.plan.mode, message.plan.evidence) == ("generation", ())
    assert model.calls[0].request.purpose == "generation"


async def test_small_talk_in_a_conversation_is_not_a_follow_up(store: Store) -> None:
    model = ScriptedModel(["Employees get 20 days of annual leave.", "You are welcome."])
    desk = await sit_down(store, model)
    await desk.answer(QUESTION)
    message = await desk.answer("谢谢")
    assert message.plan is not None
    assert (message.plan.mode, message.plan.standalone, message.plan.searched) == ("generation", "谢谢", ())


@pytest.mark.parametrize("mode", [Mode.NO_TEXT, Mode.CONTEXT_ONLY])
async def test_modes_without_a_model(store: Store, mode: Mode) -> None:
    model = ScriptedModel(["Never."])
    desk = await sit_down(store, model)
    message = await desk.answer(QUESTION, mode=mode)
    assert model.calls == []
    assert message.plan is not None
    assert message.plan.reason == "You chose this mode."
    assert ("20 days" in message.text) is (mode is Mode.CONTEXT_ONLY)


async def test_a_follow_up_is_searched_as_rewritten_and_sees_its_history(store: Store) -> None:
    model = ScriptedModel(["Employees get 20 days of annual leave.", "Sick leave is unlimited."])
    desk = await sit_down(store, model)
    await desk.answer(QUESTION)
    message = await desk.answer("And sick leave?")
    assert message.plan is not None
    assert message.plan.standalone != "And sick leave?"
    assert "sick leave" in message.plan.standalone.lower()
    assert [m.text for m in model.calls[1].request.messages[1:3]] == [
        QUESTION,
        "Employees get 20 days of annual leave.",
    ]


async def test_citation_numbers_stay_in_a_conversation(store: Store) -> None:
    desk = await sit_down(
        store,
        ScriptedModel(
            [
                "Employees get 20 days of annual leave.",
                "Your supervisor approves travel.",
                "Employees get 20 days of annual leave.",
            ]
        ),
    )
    numbers = []
    for question in (QUESTION, "Who approves travel?", QUESTION):
        message = await desk.answer(question)
        assert message.citations is not None
        numbers.append({(item.evidence, item.n) for item in message.citations.items})
    assert numbers[0] & numbers[2]
    assert len({n for _, n in numbers[0] | numbers[1]}) == len(numbers[0] | numbers[1])


async def test_the_same_start_twice_is_one_turn(store: Store) -> None:
    model = ScriptedModel(["Once."])
    desk = await sit_down(store, model)
    first = await desk.ask(QUESTION, client_id="same")
    again = await desk.live.start(desk.caller, desk.conversation, Question(client_id="same", text=QUESTION))
    assert (again.turn, again.duplicate) == (first, True)
    with pytest.raises(IdempotencyMismatch):
        await desk.live.start(desk.caller, desk.conversation, Question(client_id="same", text="Something else?"))
    await desk.live.wait(first)
    assert len(model.calls) == 1


async def test_a_conversation_is_its_owners(store: Store) -> None:
    desk = await sit_down(store, ScriptedModel())
    with pytest.raises(NotFound):
        await desk.live.start(BOB, desk.conversation, Question(client_id="x", text=QUESTION))


async def test_running_turns_of_one_person_are_limited(store: Store) -> None:
    desk = await sit_down(store, ScriptedModel(["Slow. " * 200], delay=0.01), per_user=1)
    turn = await desk.ask(QUESTION)
    with pytest.raises(Busy):
        await desk.ask("Another?")
    await desk.live.cancel(desk.caller, desk.conversation, turn)
    await desk.live.wait(turn)
    await desk.answer("Another?")


async def test_followers_see_everything_once_wherever_they_join(store: Store) -> None:
    desk = await sit_down(store, ScriptedModel(["Word after word comes out. " * 30], delay=0.001))
    turn = await desk.ask(QUESTION)

    async def read(after: int, pause: float) -> list[int]:
        seen: list[int] = []
        async with aclosing(desk.live.follow(desk.conversation, after)) as events:
            async for item in events:
                seen.append(item.seq)
                await asyncio.sleep(pause)
                if isinstance(item.event, TurnFinished):
                    return seen
        return seen

    async with asyncio.timeout(30):
        readers = await asyncio.gather(read(0, 0), read(3, 0.002), read(5, 0.01))
    await desk.live.wait(turn)
    last = len(await desk.events())
    assert list(readers) == [list(range(1, last + 1)), list(range(4, last + 1)), list(range(6, last + 1))]


async def test_start_up_ends_what_a_crash_left_open(store: Store) -> None:
    desk = await sit_down(store, ScriptedModel(["Employees get 20 days of annual leave. " * 200], delay=0.005))
    turn = await desk.ask(QUESTION)
    async with asyncio.timeout(20):
        while not any(isinstance(item.event, AnswerDelta) for item in await desk.events()):
            await asyncio.sleep(0.01)
    for running in list(desk.live._running.values()):
        assert running.task is not None
        running.task.cancel()  # as a crash would: nothing more is written
    await asyncio.sleep(0.05)
    committed = await desk.message(turn)
    later = await beside(store, ScriptedModel(), conversation=desk.conversation)
    assert await later.live.recover() == 1
    message = await later.message(turn)
    assert (message.status, message.error, message.finish) == ("failed", "interrupted", "error")
    assert message.text == committed.text
    assert message.citations is not None
    assert await later.live.recover() == 0


async def test_a_crash_between_answer_and_citations_is_mended(store: Store) -> None:
    desk = await sit_down(store, ScriptedModel([GROUNDED]))
    complete = await desk.answer(QUESTION)
    again = await beside(store, ScriptedModel(["Never."]))
    begun = await store.conversations.begin_turn(
        again.caller, again.conversation, turn="half", client_id="h", text=QUESTION, mode="auto"
    )
    original = [item.event for item in await desk.events()]
    upto = next(place for place, event in enumerate(original) if isinstance(event, AnswerFinished))
    assert complete.plan is not None
    shown = await store.conversations.evidence_of((await desk.events())[0].turn)
    await store.conversations.save_plan(begun.turn, complete.plan, shown, ())
    await store.events.append(again.conversation, begun.turn, original[1 : upto + 1])
    assert await again.live.recover() == 1
    mended = await again.message(begun.turn)
    assert mended.status == "completed"
    assert mended.citations == complete.citations


async def test_what_is_stored_is_the_fold_of_the_events(store: Store) -> None:
    desk = await sit_down(store, await asyncio.to_thread(ExtractiveModel))
    await desk.answer(QUESTION)
    await desk.answer("Who approves travel?")
    stored = await store.conversations.messages(desk.caller, desk.conversation)
    events = await desk.events()
    for view in stored:
        if view.answer is not None:
            assert view.answer == fold(item.event for item in events if item.turn == view.turn)
    assert [view.message.role.value for view in stored] == ["user", "assistant"] * 2


async def test_draining_ends_late_turns(store: Store) -> None:
    desk = await sit_down(store, ScriptedModel(["Slow answer here. " * 500], delay=0.01))
    turn = await desk.ask(QUESTION)
    await asyncio.sleep(0.1)
    await desk.live.drain(0.05)
    assert (await desk.message(turn)).status == "cancelled"
