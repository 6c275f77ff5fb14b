"""verified: a draft is checked sentence by sentence against the evidence; what has no support is rewritten or withheld."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from pydantic import BaseModel, Field

from assistant.core.checking import check_draft, without
from assistant.core.marks import strip_marks
from assistant.core.messages import Usage
from assistant.core.outcome import is_refusal
from assistant.core.prompt import judge_request, render_checked_draft
from assistant.core.structured import read_json
from assistant.core.text import Span
from assistant.errors import AssistantError
from assistant.interfaces import ChatModel
from assistant.synthesis.calls import complete
from assistant.synthesis.job import Job, Step, StepDone
from assistant.synthesis.summarize import said, simple_summarize


async def verified(model: ChatModel, job: Job) -> AsyncGenerator[Step, None]:
    """Draft, check every sentence, rewrite what the evidence does not carry, check again, withhold the rest.

    Two calls at most; a draft that is too long to be corrected beside its evidence only loses sentences. The check is by rule
    (the same that gives citations their verdicts) and by the rules of the job. Where the job is `judged`, the model is asked
    about the sentences that the rules doubt, in one call a check; it cannot save what contradicts the evidence.
    """
    if not job.evidence:
        async with aclosing(simple_summarize(model, job)) as steps:
            async for step in steps:
                yield step
        return
    reply = await complete(model, job.request(final=False))
    spent, text = reply.usage, strip_marks(reply.text).strip()
    yield StepDone(1, 3, text)
    flagged, cost = await _flagged(model, job, text)
    spent += cost
    if flagged and job.counter.count(render_checked_draft(text, flagged)) <= job.draft_tokens:
        reply = await complete(model, job.request(draft=text, flagged=tuple(flagged), final=False))
        spent, text = spent + reply.usage, strip_marks(reply.text).strip()
        yield StepDone(2, 3, text)
        flagged, cost = await _flagged(model, job, text)
        spent += cost
    yield StepDone(3, 3, "\n".join(_quoted(text, flagged)))
    for step in said(job, _kept(job, text, flagged), spent):
        yield step


async def _flagged(model: ChatModel, job: Job, text: str) -> tuple[list[Span], Usage]:
    """The sentences that must not stay, and what it cost to find them."""
    if is_refusal(text, job.prompts.refusal):
        return [], Usage()
    checked = await asyncio.to_thread(check_draft, text, job.evidence, job.rules)
    if not (job.judged and checked.doubted):
        return checked.flagged(), Usage()
    supported, cost = await _supported(model, job, _quoted(text, checked.doubted))
    doubted = [span for number, span in enumerate(checked.doubted, start=1) if number not in supported]
    return sorted({*doubted, *checked.refused}), cost


class _Judgement(BaseModel):
    supported: list[int] = Field(max_length=1000)


async def _supported(model: ChatModel, job: Job, sentences: Sequence[str]) -> tuple[set[int], Usage]:
    """The numbers of the sentences that the model finds supported; none when it fails or does not keep to the form."""
    schema = _Judgement.model_json_schema()
    request = judge_request(prompts=job.prompts, sentences=sentences, evidence=job.evidence, schema=schema)
    try:
        reply = await complete(model, request)
        return set(_Judgement.model_validate(read_json(reply.text)).supported), reply.usage
    except (AssistantError, ValueError, RecursionError):
        return set(), Usage()


def _quoted(text: str, spans: Sequence[Span]) -> tuple[str, ...]:
    return tuple(text[span.start : span.end] for span in spans)


def _kept(job: Job, text: str, flagged: Sequence[Span]) -> str:
    """The text without what is withheld; empty (a refusal is said instead) when nothing is left or it refuses."""
    kept = without(text, flagged)
    return "" if is_refusal(kept, job.prompts.refusal) else kept
