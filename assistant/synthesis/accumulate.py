"""accumulate and compact_accumulate: every piece, or packed group, answered on its own, the answers in order."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from typing import Final

from assistant.core.messages import ModelDelta, ModelFinish, Usage
from assistant.errors import AssistantError
from assistant.interfaces import ChatModel
from assistant.synthesis.calls import Ended, Piece, side_by_side
from assistant.synthesis.job import Job, Step, StepDone
from assistant.synthesis.opening import Opening
from assistant.synthesis.packing import Group, one_each
from assistant.synthesis.summarize import refused
from assistant.synthesis.tree import packed_alike

_MOST_TITLES: Final = 2


async def accumulate(model: ChatModel, job: Job) -> AsyncGenerator[Step, None]:
    """Answer each piece of evidence on its own, in parallel; the answers are streamed in order as they finish."""
    groups = await asyncio.to_thread(one_each, job.evidence, job.counter, job.group_tokens)
    async with aclosing(_each(model, job, groups)) as steps:
        async for step in steps:
            yield step


async def compact_accumulate(model: ChatModel, job: Job) -> AsyncGenerator[Step, None]:
    """As accumulate, over packed groups of similar pieces."""
    groups = await asyncio.to_thread(packed_alike, job)
    async with aclosing(_each(model, job, groups)) as steps:
        async for step in steps:
            yield step


async def _each(model: ChatModel, job: Job, groups: Sequence[Group]) -> AsyncGenerator[Step, None]:
    """One call a group; what refuses or fails is left out. Raises the first failure when every call failed."""
    sequence = _InOrder([heading(group) for group in groups], job.prompts.refusal)
    requests = [job.request(group, final=False) for group in groups]
    async with aclosing(side_by_side(model, requests, job.gate)) as items:
        async for item in items:
            if text := sequence.take(item):
                yield ModelDelta(text)
            if isinstance(item, Ended):
                failed = item.reply.error.code if item.reply.error else None
                yield StepDone(sequence.ended, len(groups), item.reply.text, failed)
    if sequence.begun:
        yield ModelFinish("stop", sequence.spent)
        return
    if groups and len(sequence.failures) == len(groups):
        raise sequence.failures[0]
    for step in refused(job, sequence.spent):
        yield step


def heading(group: Group) -> str:
    """What stands above the answer from a group: the titles of its sources, unless they are too many to help."""
    titles = list(dict.fromkeys(" ".join(item.source.title.replace("*", "").split()) for item in group))
    if len(titles) > _MOST_TITLES:
        return ""
    return "**" + " · ".join(title.rstrip(".。") for title in titles) + "**\n\n"


class _InOrder:
    """Puts what parallel calls say into the order of the calls: the first that is not at its end may speak at once."""

    def __init__(self, headings: Sequence[str], refusal: str) -> None:
        self._headings = headings
        self._openings = [Opening(refusal) for _ in headings]
        self._waiting = ["" for _ in headings]
        self._done = [False for _ in headings]
        self._head = 0
        self._last_spoken = -1
        self.spent = Usage()
        self.failures: list[AssistantError] = []

    @property
    def begun(self) -> bool:
        """Whether any text has gone out."""
        return self._last_spoken >= 0

    @property
    def ended(self) -> int:
        """How many calls are at their end."""
        return sum(self._done)

    def take(self, item: Piece | Ended) -> str:
        """Take what a call said; the text that may go out now."""
        opening = self._openings[item.index]
        if isinstance(item, Piece):
            text = opening.feed(item.text)
        else:
            text = opening.close()
            self._end(item)
        if text:
            self._waiting[item.index] += text
        return "".join(self._ready())

    def _end(self, item: Ended) -> None:
        self._done[item.index] = True
        self.spent += item.reply.usage
        if item.reply.error is not None:
            self.failures.append(item.reply.error)

    def _lead(self) -> str:
        """What stands before the first words of a call: a blank line, and the heading unless it is there already."""
        heading = self._headings[self._head]
        if not self.begun:
            return heading
        return "\n\n" + (heading if heading != self._headings[self._last_spoken] else "")

    def _ready(self) -> Iterator[str]:
        """The text of the calls up to the first that is not at its end, a blank line between two answers."""
        while self._head < len(self._done):
            if text := self._waiting[self._head]:
                self._waiting[self._head] = ""
                if self._last_spoken != self._head:
                    yield self._lead()
                self._last_spoken = self._head
                yield text
            if not self._done[self._head]:
                return
            self._head += 1
