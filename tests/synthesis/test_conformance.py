"""What every mode promises: calls, order, prompts within the window, any chunking, cancel and failure at every point."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import pytest

from assistant.core.messages import ModelDelta
from assistant.core.modes import Mode
from assistant.core.prompt import ModelRequest
from assistant.core.reading import MESSAGE_OVERHEAD
from assistant.errors import ModelUnavailable
from assistant.llm.scripted import ScriptedModel
from assistant.synthesis.registry import get_synthesizer
from tests.synthesis.making import COUNTER, disagreeing, job_of, passages, planned, run, scripted

LLM_MODES = (
    Mode.SIMPLE_SUMMARIZE,
    Mode.REFINE,
    Mode.COMPACT,
    Mode.TREE_SUMMARIZE,
    Mode.ACCUMULATE,
    Mode.COMPACT_ACCUMULATE,
    Mode.GENERATION,
    Mode.MULTI_MODAL,
    Mode.VERIFIED,
)
WINDOW = 1900
"""Twelve passages fill three prompts or so."""


def told(request: ModelRequest) -> str:
    """An answer that names what its prompt held: the pieces of evidence, the draft, the number of partial answers."""
    pieces = " ".join(item.source.document for item in request.evidence)
    return f"Seen {pieces or 'nothing'}. {request.draft} {' '.join(request.partials)}".strip()


def size(request: ModelRequest) -> int:
    return sum(COUNTER.count(message.text) + MESSAGE_OVERHEAD for message in request.messages)


@pytest.mark.parametrize(
    ("mode", "calls"),
    [
        (Mode.SIMPLE_SUMMARIZE, 1),
        (Mode.REFINE, 24),
        (Mode.COMPACT, 2),
        (Mode.TREE_SUMMARIZE, 3),
        (Mode.ACCUMULATE, 24),
        (Mode.COMPACT_ACCUMULATE, 2),
        (Mode.GENERATION, 1),
        (Mode.MULTI_MODAL, 1),
    ],
)
async def test_the_number_of_calls_for_24_passages_that_fill_two_prompts(mode: Mode, calls: int) -> None:
    plan = planned(passages(24, 18), mode, 8192)
    model = scripted(told, piece=4000)
    await run(mode, model, job_of(plan))
    assert len(model.calls) == calls
    assert all(call.ended == "finished" for call in model.calls)


@pytest.mark.parametrize("mode", [Mode.NO_TEXT, Mode.CONTEXT_ONLY])
async def test_modes_without_a_model_call_none(mode: Mode) -> None:
    plan = planned(passages(3), mode)
    model = scripted(told)
    text, _, finish = await run(mode, model, job_of(plan))
    assert model.calls == []
    assert finish.usage.calls == 0
    assert text == ("" if mode is Mode.NO_TEXT else "\n\n".join(item.text for item in plan.evidence))


@pytest.mark.parametrize("mode", LLM_MODES)
@pytest.mark.parametrize("window", [700, 1100, WINDOW, 6000, 16000])
async def test_no_prompt_is_longer_than_the_window_with_the_wordiest_model(mode: Mode, window: int) -> None:
    plan = planned(passages(12, 8), mode, window)
    model = ScriptedModel(lambda call: " word" * call.sampling.max_tokens, counter=COUNTER, window=window, piece=4000)
    await run(mode, model, job_of(plan))
    assert model.calls
    assert plan.budget.total <= window
    for call in model.calls:
        assert size(call.request) + call.request.sampling.max_tokens <= window


@pytest.mark.parametrize(
    "mode", [Mode.REFINE, Mode.COMPACT, Mode.TREE_SUMMARIZE, Mode.ACCUMULATE, Mode.COMPACT_ACCUMULATE]
)
async def test_every_piece_is_read_once(mode: Mode) -> None:
    plan = planned(passages(12, 8), mode, WINDOW)
    model = scripted(told, piece=4000)
    await run(mode, model, job_of(plan))
    read = [item.id for call in model.calls for item in call.request.evidence]
    assert sorted(read) == sorted(item.id for item in plan.evidence)
    assert len(plan.evidence) == 12


@pytest.mark.parametrize(
    "mode", [Mode.REFINE, Mode.COMPACT, Mode.TREE_SUMMARIZE, Mode.ACCUMULATE, Mode.COMPACT_ACCUMULATE]
)
async def test_both_sides_of_a_conflict_are_read_in_one_prompt(mode: Mode) -> None:
    plan = planned(disagreeing(8), mode, 1100, question="What is the budget of the workshop for hammers and saws?")
    assert plan.conflicts
    model = scripted(told, piece=4000)
    await run(mode, model, job_of(plan))
    for conflict in plan.conflicts:
        sides = {side.evidence for side in conflict.sides}
        together = [sides <= {item.id for item in call.request.evidence} for call in model.calls]
        assert together.count(True) == 1
        assert all(
            sides.isdisjoint(item.id for item in call.request.evidence)
            for call, both in zip(model.calls, together, strict=True)
            if not both
        )


@pytest.mark.parametrize("mode", [Mode.REFINE, Mode.COMPACT])
async def test_each_prompt_holds_the_draft_of_the_one_before(mode: Mode) -> None:
    plan = planned(passages(12, 8), mode, WINDOW)
    model = scripted(lambda call: f"Draft {len(call.draft)}.", piece=4000)
    text, steps, finish = await run(mode, model, job_of(plan))
    drafts = [call.request.draft for call in model.calls]
    answers = [call.text for call in model.calls]
    assert drafts == ["", *answers[:-1]]
    assert [call.request.purpose for call in model.calls] == ["answer", *["refine"] * (len(answers) - 1)]
    assert text == answers[-1]
    assert [step.text for step in steps] == answers[:-1]
    assert [(step.done, step.total) for step in steps] == [(n, len(answers)) for n in range(1, len(answers))]
    assert finish.usage.calls == len(answers)


async def test_a_tree_combines_what_its_leaves_say_until_one_is_left() -> None:
    plan = planned(passages(24, 8), Mode.TREE_SUMMARIZE, 1500)
    model = ScriptedModel(lambda call: told(call) + " and more" * 90, counter=COUNTER, window=1500, piece=4000)
    text, steps, finish = await run(Mode.TREE_SUMMARIZE, model, job_of(plan))
    leaves = [call for call in model.calls if call.request.purpose == "answer"]
    inner = [call for call in model.calls if call.request.purpose == "summary"]
    assert len(leaves) > 4
    assert len(inner) > 1
    assert text == inner[-1].text
    first = [partial for call in inner for partial in call.request.partials][: len(leaves)]
    assert [partial.split(".")[0] for partial in first] == [call.text.split(".")[0] for call in leaves]
    assert len(steps) == len(model.calls) - 1
    assert finish.usage.calls == len(model.calls)


async def test_accumulated_answers_stand_in_the_order_of_the_evidence_whoever_is_first() -> None:
    plan = planned(passages(6), Mode.ACCUMULATE)

    class Uneven(ScriptedModel):
        async def stream(self, request: ModelRequest):  # type: ignore[no-untyped-def]
            await asyncio.sleep(0.02 * (6 - int(request.evidence[0].source.document[4:])))
            async for chunk in super().stream(request):
                yield chunk

    text, steps, _ = await run(Mode.ACCUMULATE, Uneven(told, counter=COUNTER), job_of(plan))
    expected = [f"**{item.source.title}**\n\nSeen {item.source.document}." for item in plan.evidence]
    assert text == "\n\n".join(expected)
    assert [step.done for step in steps] == [1, 2, 3, 4, 5, 6]


async def test_the_first_of_accumulated_answers_streams_while_the_others_run() -> None:
    plan = planned(passages(4), Mode.ACCUMULATE)
    model = scripted(told, piece=3, delay=0.002)
    seen: list[int] = []
    async with aclosing(get_synthesizer(Mode.ACCUMULATE)(model, job_of(plan))) as steps:
        async for step in steps:
            if isinstance(step, ModelDelta):
                seen.append(sum(call.ended == "finished" for call in model.calls))
    assert seen[0] == 0


async def test_the_limit_of_parallel_calls_is_kept() -> None:
    plan = planned(passages(24), Mode.ACCUMULATE)
    open_, most = 0, 0

    class Watched(ScriptedModel):
        async def stream(self, request: ModelRequest):  # type: ignore[no-untyped-def]
            nonlocal open_, most
            open_ += 1
            most = max(most, open_)
            async for chunk in super().stream(request):
                yield chunk
            open_ -= 1

    model = Watched(told, counter=COUNTER, delay=0.01, piece=4000)
    await run(Mode.ACCUMULATE, model, job_of(plan, parallel=8))
    assert most == 8
    assert len(model.calls) == 24


@pytest.mark.parametrize("mode", LLM_MODES)
@pytest.mark.parametrize("piece", [1, 7, 100000])
async def test_any_chunking_gives_the_same_answer(mode: Mode, piece: int) -> None:
    plan = planned(passages(12, 8), mode, WINDOW)
    whole, _, _ = await run(mode, scripted(told, piece=64), job_of(plan))
    text, _, _ = await run(mode, scripted(told, piece=piece), job_of(plan))
    assert text == whole != ""


@pytest.mark.parametrize("mode", LLM_MODES)
async def test_closing_it_at_any_point_stops_every_call(mode: Mode) -> None:
    plan = planned(passages(12, 8), mode, WINDOW)
    after = 0
    while True:
        model = scripted(told, piece=40)
        steps = get_synthesizer(mode)(model, job_of(plan))
        taken = 0
        async for _ in steps:
            taken += 1
            if taken > after:
                break
        await steps.aclose()
        assert all(call.ended for call in model.calls)
        if taken <= after:
            return
        after += 3


@pytest.mark.parametrize("mode", LLM_MODES)
async def test_cancelling_its_task_while_it_waits_stops_every_call(mode: Mode) -> None:
    plan = planned(passages(12, 8), mode, WINDOW)
    model = scripted(told, piece=40, delay=30)
    task = asyncio.create_task(run(mode, model, job_of(plan)))
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert model.calls
    assert {call.ended for call in model.calls} == {"cancelled"}


@pytest.mark.parametrize(
    "mode", [Mode.REFINE, Mode.COMPACT, Mode.TREE_SUMMARIZE, Mode.ACCUMULATE, Mode.COMPACT_ACCUMULATE]
)
async def test_one_failed_call_of_many_does_not_lose_the_rest(mode: Mode) -> None:
    plan = planned(passages(12, 8), mode, WINDOW)
    healthy = scripted(told, piece=4000)
    await run(mode, healthy, job_of(plan))
    for failing in range(len(healthy.calls)):
        model = scripted(told, piece=4000, fail_with=ModelUnavailable(), fail_calls=frozenset({failing}))
        text, steps, _ = await run(mode, model, job_of(plan))
        lost = {item.source.document for item in model.calls[failing].request.evidence}
        rest = {item.source.document for item in plan.evidence} - lost
        last_of_chain = mode in (Mode.REFINE, Mode.COMPACT) and failing == len(healthy.calls) - 1
        assert all(document in text for document in rest)
        assert last_of_chain or "model_unavailable" in [step.failed for step in steps]


@pytest.mark.parametrize("mode", LLM_MODES)
async def test_when_every_call_fails_the_failure_is_raised(mode: Mode) -> None:
    plan = planned(passages(12, 8), mode, WINDOW)
    model = scripted(told, fail_with=ModelUnavailable())
    with pytest.raises(ModelUnavailable):
        await run(mode, model, job_of(plan))


@pytest.mark.parametrize("mode", [mode for mode in LLM_MODES if mode is not Mode.GENERATION])
async def test_without_evidence_no_model_is_asked(mode: Mode) -> None:
    plan = planned([], mode)
    model = scripted(told)
    text, _, finish = await run(mode, model, job_of(plan))
    assert (text, finish.reason, model.calls) == (plan.prompts.refusal, "no_answer", [])


@pytest.mark.parametrize("mode", [mode for mode in LLM_MODES if mode not in (Mode.GENERATION, Mode.VERIFIED)])
async def test_refusals_of_parts_are_no_part_of_the_answer(mode: Mode) -> None:
    plan = planned(passages(12, 8), mode, WINDOW)
    refusal = plan.prompts.refusal
    text, _, _ = await run(mode, scripted(lambda _: refusal, piece=5), job_of(plan))
    assert text == refusal
    answers = scripted(
        lambda call: told(call) if "page05" in told(call) or call.draft or call.partials else refusal, piece=5
    )
    text, _, _ = await run(mode, answers, job_of(plan))
    assert "page05" in text
    assert refusal not in text
