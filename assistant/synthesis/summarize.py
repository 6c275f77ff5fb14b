"""One prompt after the other: simple_summarize (one), refine (a piece each) and compact (as few prompts as fit)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from assistant.core.messages import Image, ModelDelta, ModelFinish, Usage
from assistant.errors import AssistantError
from assistant.interfaces import ChatModel
from assistant.synthesis.calls import complete, relayed
from assistant.synthesis.job import Job, Step, StepDone
from assistant.synthesis.opening import Opening, answer_of
from assistant.synthesis.packing import Group, one_each, pack


async def simple_summarize(model: ChatModel, job: Job) -> AsyncGenerator[Step, None]:
    """Answer from the whole evidence in one call, streamed; without evidence refuse without a call."""
    async with aclosing(_one_call(model, job, ())) as steps:
        async for step in steps:
            yield step


async def multi_modal(model: ChatModel, job: Job) -> AsyncGenerator[Step, None]:
    """As simple_summarize, with the images of the evidence beside its text; a model that cannot see has the captions."""
    async with aclosing(_one_call(model, job, job.images)) as steps:
        async for step in steps:
            yield step


async def _one_call(model: ChatModel, job: Job, images: tuple[Image, ...]) -> AsyncGenerator[Step, None]:
    if not job.evidence:
        for step in refused(job, Usage()):
            yield step
        return
    async with aclosing(model.stream(job.request(images=images))) as chunks:
        async for chunk in chunks:
            yield chunk


async def refine(model: ChatModel, job: Job) -> AsyncGenerator[Step, None]:
    """Answer from the best piece of evidence and improve the draft with each further one; the last step is streamed."""
    groups = await asyncio.to_thread(one_each, job.evidence, job.counter, job.group_tokens)
    async with aclosing(_chain(model, job, groups)) as steps:
        async for step in steps:
            yield step


async def compact(model: ChatModel, job: Job) -> AsyncGenerator[Step, None]:
    """As refine, over evidence packed into as few prompts as fit; the first holds no draft and so more evidence."""
    first = job.group_tokens + job.sampling.max_tokens
    groups = await asyncio.to_thread(pack, job.evidence, job.counter, job.group_tokens, first=first)
    async with aclosing(_chain(model, job, groups)) as steps:
        async for step in steps:
            yield step


async def _chain(model: ChatModel, job: Job, groups: Sequence[Group]) -> AsyncGenerator[Step, None]:
    """Draft, improve, improve. A step that fails, refuses or finds its evidence irrelevant leaves the draft as it is."""
    if len(groups) < 2 and not job.filtered:
        async with aclosing(simple_summarize(model, job)) as steps:
            async for step in steps:
                yield step
        return
    draft, spent = "", Usage()
    for done, group in enumerate(groups[:-1], start=1):
        request = job.request(group, draft=draft, filtered=job.filtered, final=False)
        try:
            reply = await complete(model, request)
        except AssistantError as failure:
            yield StepDone(done, len(groups), failed=failure.code)
            continue
        draft = answer_of(reply.text, job.prompts.refusal, filtered=job.filtered) or draft
        spent += reply.usage
        yield StepDone(done, len(groups), draft)
    async with aclosing(_last(model, job, groups[-1] if groups else (), draft, spent)) as steps:
        async for step in steps:
            yield step


async def _last(model: ChatModel, job: Job, group: Group, draft: str, spent: Usage) -> AsyncGenerator[Step, None]:
    """The last step, streamed. When it has nothing to say the draft is the answer; without a draft it is a refusal."""
    opening = Opening(job.prompts.refusal, filtered=job.filtered)
    finish = ModelFinish()
    try:
        async with aclosing(model.stream(job.request(group, draft=draft, filtered=job.filtered))) as chunks:
            async for chunk in chunks:
                if isinstance(chunk, ModelFinish):
                    finish = chunk
                elif text := opening.feed(chunk.text):
                    yield ModelDelta(text)
                if opening.irrelevant:
                    break
    except AssistantError:
        if opening.answered or not draft:
            raise
    if text := opening.close():
        yield ModelDelta(text)
    if opening.answered:
        yield relayed(finish, spent)
        return
    for step in said(job, draft, spent + finish.usage):
        yield step


def said(job: Job, text: str, spent: Usage) -> list[Step]:
    """A finished text as the steps that hand it out; a refusal when there is none."""
    return [ModelDelta(text), ModelFinish("stop", spent)] if text else refused(job, spent)


def refused(job: Job, spent: Usage) -> list[Step]:
    """The refusal as the steps that hand it out."""
    return [ModelDelta(job.prompts.refusal), ModelFinish("no_answer", spent)]
