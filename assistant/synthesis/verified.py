"""verified: a draft is checked sentence by sentence against the evidence; what has no support is rewritten or withheld."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from assistant.core.checking import flagged_spans, without
from assistant.core.marks import strip_marks
from assistant.core.outcome import is_refusal
from assistant.core.prompt import render_checked_draft
from assistant.core.text import Span
from assistant.interfaces import ChatModel
from assistant.synthesis.calls import complete
from assistant.synthesis.job import Job, Step, StepDone
from assistant.synthesis.summarize import said, simple_summarize


async def verified(model: ChatModel, job: Job) -> AsyncGenerator[Step, None]:
    """Draft, check every sentence, rewrite what the evidence does not carry, check again, withhold the rest.

    Two calls at most; a draft that is too long to be corrected beside its evidence only loses sentences. The check is by rule (the same that gives citations their verdicts) and by the rules of the job.
    """
    if not job.evidence:
        async with aclosing(simple_summarize(model, job)) as steps:
            async for step in steps:
                yield step
        return
    reply = await complete(model, job.request(final=False))
    spent, text = reply.usage, strip_marks(reply.text).strip()
    yield StepDone(1, 3, text)
    flagged = await _flagged(job, text)
    if flagged and job.counter.count(render_checked_draft(text, flagged)) <= job.draft_tokens:
        reply = await complete(model, job.request(draft=text, flagged=tuple(flagged), final=False))
        spent, text = spent + reply.usage, strip_marks(reply.text).strip()
        yield StepDone(2, 3, text)
        flagged = await _flagged(job, text)
    yield StepDone(3, 3, "\n".join(_quoted(text, flagged)))
    for step in said(job, _kept(job, text, flagged), spent):
        yield step


async def _flagged(job: Job, text: str) -> list[Span]:
    if is_refusal(text, job.prompts.refusal):
        return []
    return await asyncio.to_thread(flagged_spans, text, job.evidence, job.rules)


def _quoted(text: str, spans: Sequence[Span]) -> tuple[str, ...]:
    return tuple(text[span.start : span.end] for span in spans)


def _kept(job: Job, text: str, flagged: Sequence[Span]) -> str:
    """The text without what is withheld; empty (a refusal is said instead) when nothing is left or it refuses."""
    kept = without(text, flagged)
    return "" if is_refusal(kept, job.prompts.refusal) else kept
