"""Modes without grounding or without a model: generation, context_only, no_text."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from assistant.core.messages import ModelDelta, ModelFinish, Usage
from assistant.core.prompt import generation_request
from assistant.interfaces import ChatModel
from assistant.synthesis.job import Job, Step


async def generation(model: ChatModel, job: Job) -> AsyncGenerator[Step, None]:
    """Answer without evidence (small talk); the answer is marked as not grounded by its mode."""
    request = generation_request(prompts=job.prompts, question=job.question, history=job.history, sampling=job.sampling)
    async with aclosing(model.stream(request)) as chunks:
        async for chunk in chunks:
            yield chunk


async def context_only(model: ChatModel, job: Job) -> AsyncGenerator[Step, None]:
    """The text of the evidence is the answer, one paragraph a piece."""
    for place, item in enumerate(job.evidence):
        yield ModelDelta(("\n\n" if place else "") + item.text)
    yield ModelFinish("stop" if job.evidence else "no_answer", Usage())


async def no_text(model: ChatModel, job: Job) -> AsyncGenerator[Step, None]:
    """Retrieval only: the plan shows the evidence, no answer is written."""
    yield ModelFinish("stop", Usage())
