"""Modes that answer from all of the evidence: simple_summarize (one prompt) and compact (as few prompts as fit)."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace

from assistant.core.messages import ModelDelta, ModelFinish, Usage
from assistant.core.prompt import ModelRequest, answer_request
from assistant.interfaces import ChatModel
from assistant.synthesis.job import Job, Step, StepDone
from assistant.synthesis.packing import pack


async def simple_summarize(model: ChatModel, job: Job) -> AsyncGenerator[Step, None]:
    """Answer from the whole evidence in one call, streamed; without evidence refuse without a call."""
    if not job.evidence:
        yield ModelDelta(job.prompts.refusal)
        yield ModelFinish("no_answer", Usage())
        return
    async with aclosing(model.stream(_request(job))) as chunks:
        async for chunk in chunks:
            yield chunk


async def compact(model: ChatModel, job: Job) -> AsyncGenerator[Step, None]:
    """Answer from the first group of evidence and improve the draft with each further one; the last step is streamed."""
    groups = pack(job.evidence, job.counter, job.group_tokens)
    if len(groups) < 2:
        async with aclosing(simple_summarize(model, job)) as steps:
            async for step in steps:
                yield step
        return
    draft, spent = "", Usage()
    for done, group in enumerate(groups[:-1], start=1):
        draft, usage = await complete(model, _request(replace(job, evidence=group), draft))
        spent += usage
        yield StepDone(done, len(groups), draft)
    last = replace(job, evidence=groups[-1])
    async with aclosing(model.stream(_request(last, draft))) as chunks:
        async for chunk in chunks:
            yield replace(chunk, usage=spent + chunk.usage) if isinstance(chunk, ModelFinish) else chunk


async def complete(model: ChatModel, request: ModelRequest) -> tuple[str, Usage]:
    """The whole text of one call, and its usage."""
    parts: list[str] = []
    usage = Usage(calls=1)
    async with aclosing(model.stream(request)) as chunks:
        async for chunk in chunks:
            if isinstance(chunk, ModelDelta):
                parts.append(chunk.text)
            else:
                usage = chunk.usage
    return "".join(parts), usage


def _request(job: Job, draft: str = "") -> ModelRequest:
    return answer_request(
        prompts=job.prompts,
        question=job.question,
        evidence=job.evidence,
        conflicts=job.conflicts,
        history=job.history,
        sampling=job.sampling,
        draft=draft,
        brief=job.brief,
    )
