"""tree_summarize: groups of evidence answered side by side, the answers combined, until one is left."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from assistant.core.messages import Usage
from assistant.core.prompt import ModelRequest, render_partials
from assistant.core.similarity import neighbours_together
from assistant.core.text import sentences
from assistant.errors import AssistantError
from assistant.interfaces import ChatModel, TokenCounter
from assistant.synthesis.calls import Reply, gathered, relayed
from assistant.synthesis.job import Job, Step, StepDone
from assistant.synthesis.opening import answer_of
from assistant.synthesis.packing import Group, pack
from assistant.synthesis.summarize import said, simple_summarize


async def tree_summarize(model: ChatModel, job: Job) -> AsyncGenerator[Step, None]:
    """Answer packed groups in parallel, combine the answers in parallel, and so on; the last step is streamed."""
    groups = await asyncio.to_thread(packed_alike, job)
    if len(groups) < 2:
        async with aclosing(simple_summarize(model, job)) as steps:
            async for step in steps:
                yield step
        return
    requests = [job.request(group, final=False) for group in groups]
    level = _Level(len(groups) + 1)
    while True:
        async with aclosing(level.run(model, job, requests)) as steps:
            async for step in steps:
                yield step
        partials = level.texts
        if len(partials) < 2:
            for step in said(job, "".join(partials), level.spent):
                yield step
            return
        packed = pack_texts(partials, job.counter, job.group_tokens)
        if len(packed) == 1:
            break
        requests = [job.summary(texts, final=False) for texts in packed]
        level.total += len(packed)
    async with aclosing(_combined(model, job, packed[0], level.spent)) as steps:
        async for step in steps:
            yield step


def packed_alike(job: Job) -> list[Group]:
    """The evidence in as few groups as fit, similar pieces in one group. Takes milliseconds: call it in a thread."""
    return pack(neighbours_together(job.evidence), job.counter, job.group_tokens)


async def _combined(model: ChatModel, job: Job, partials: Sequence[str], spent: Usage) -> AsyncGenerator[Step, None]:
    """The last step, streamed; when it fails before its first word, the partial answers stand one below the other."""
    begun = False
    try:
        async with aclosing(model.stream(job.summary(partials))) as chunks:
            async for chunk in chunks:
                begun = True
                yield relayed(chunk, spent)
    except AssistantError as failure:
        if begun:
            raise
        yield StepDone(len(partials), len(partials), failed=failure.code)
        for step in said(job, "\n\n".join(partials), spent):
            yield step


class _Level:
    """One level of the tree after the other: what its calls said, in order, and what all calls have cost."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.done = 0
        self.spent = Usage()
        self.texts: list[str] = []

    async def run(self, model: ChatModel, job: Job, requests: Sequence[ModelRequest]) -> AsyncGenerator[Step, None]:
        """Run the calls of a level. Raises the first failure when every call failed."""
        replies: dict[int, Reply] = {}
        async with aclosing(gathered(model, requests, job.gate)) as ended:
            async for item in ended:
                replies[item.index] = item.reply
                self.spent += item.reply.usage
                self.done += 1
                failed = item.reply.error.code if item.reply.error else None
                yield StepDone(self.done, self.total, item.reply.text, failed)
        self.texts = answers_in_order(replies, job.prompts.refusal)


def answers_in_order(replies: dict[int, Reply], refusal: str) -> list[str]:
    """What the calls answered, in their order; refusals and failures are left out.

    Raises the first failure when nothing else is there.
    """
    failures = [reply.error for _, reply in sorted(replies.items()) if reply.error is not None]
    if failures and len(failures) == len(replies):
        raise failures[0]
    texts = [answer_of(reply.text, refusal) for _, reply in sorted(replies.items()) if reply.error is None]
    return [text for text in texts if text]


def pack_texts(texts: Sequence[str], counter: TokenCounter, limit: int) -> list[list[str]]:
    """Partial answers into as few prompts as hold them; at least two in each, so that every level is smaller.

    A text that is longer than half a prompt is cut at a sentence end.
    """
    short = [_cut(text, counter, max(1, limit // 2)) for text in texts]
    groups: list[list[str]] = []
    room = 0
    for text in short:
        need = counter.count(render_partials([text]))
        if groups and (need <= room or len(groups[-1]) < 2):
            groups[-1].append(text)
            room -= need
        else:
            groups.append([text])
            room = limit - need
    return groups


def _cut(text: str, counter: TokenCounter, limit: int) -> str:
    if counter.count(render_partials([text])) <= limit:
        return text
    spans = sentences(text)
    while len(spans) > 1 and counter.count(render_partials([text[: spans[-1].end]])) > limit:
        del spans[-max(1, len(spans) // 4) :]
    return text[: spans[-1].end] if spans else text
