"""Calls of a model for synthesizers: one to its end, or many at once under one limit, their texts in order."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

from assistant.core.messages import ModelChunk, ModelDelta, ModelFinish, Usage
from assistant.core.prompt import ModelRequest
from assistant.errors import AssistantError
from assistant.interfaces import ChatModel


@dataclass(frozen=True, slots=True)
class Reply:
    """What one call said, how it ended and what it cost; `error` when it failed (then `text` may be cut off)."""

    text: str = ""
    reason: str = "stop"
    usage: Usage = field(default_factory=lambda: Usage(calls=1))
    error: AssistantError | None = None


async def complete(model: ChatModel, request: ModelRequest) -> Reply:
    """One call to its end. Raises what the model raises."""
    parts: list[str] = []
    finish = ModelFinish()
    async with aclosing(model.stream(request)) as chunks:
        async for chunk in chunks:
            if isinstance(chunk, ModelDelta):
                parts.append(chunk.text)
            else:
                finish = chunk
    return Reply("".join(parts), finish.reason, finish.usage)


@dataclass(frozen=True, slots=True)
class Ended:
    """The call number `index` has ended with this reply."""

    index: int
    reply: Reply


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of text of the call number `index`."""

    index: int
    text: str


async def side_by_side(
    model: ChatModel, requests: Sequence[ModelRequest], gate: asyncio.Semaphore
) -> AsyncGenerator[Piece | Ended, None]:
    """Run all calls, as many at once as the gate lets in, and pass on what they say as it comes.

    A call that fails ends with its error and the others go on. Closing the generator stops every call.
    """
    said: asyncio.Queue[Piece | Ended] = asyncio.Queue()
    tasks = [asyncio.create_task(_one(model, request, index, gate, said)) for index, request in enumerate(requests)]
    open_ = len(tasks)
    try:
        while open_:
            item = await said.get()
            open_ -= isinstance(item, Ended)
            yield item
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _one(
    model: ChatModel,
    request: ModelRequest,
    index: int,
    gate: asyncio.Semaphore,
    said: asyncio.Queue[Piece | Ended],
) -> None:
    parts: list[str] = []
    finish = ModelFinish()
    error: AssistantError | None = None
    try:
        async with gate, aclosing(model.stream(request)) as chunks:
            async for chunk in chunks:
                if isinstance(chunk, ModelDelta):
                    parts.append(chunk.text)
                    said.put_nowait(Piece(index, chunk.text))
                else:
                    finish = chunk
    except AssistantError as failure:
        error = failure
    except Exception as failure:
        error = AssistantError(type(failure).__name__)
    said.put_nowait(Ended(index, Reply("".join(parts), finish.reason, finish.usage, error)))


async def gathered(
    model: ChatModel, requests: Sequence[ModelRequest], gate: asyncio.Semaphore
) -> AsyncGenerator[Ended, None]:
    """The replies of all calls as they end, without their pieces."""
    async with aclosing(side_by_side(model, requests, gate)) as items:
        async for item in items:
            if isinstance(item, Ended):
                yield item


def relayed(chunk: ModelChunk, spent: Usage) -> ModelChunk:
    """A chunk of the last call, its finish with the usage of all calls before."""
    return ModelFinish(chunk.reason, spent + chunk.usage) if isinstance(chunk, ModelFinish) else chunk
