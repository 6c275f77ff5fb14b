"""Batching: what is committed together, so that the first word goes at once and the rest does not cost a commit each."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from assistant.core.beat import until_beat
from assistant.core.events import AnswerDelta, TurnEvent


async def batched(events: AsyncGenerator[TurnEvent, None], interval: float) -> AsyncGenerator[list[TurnEvent], None]:
    """Gather events into batches to commit: the first delta goes at once, further ones on the beat, every `interval` seconds.

    All turns of a process keep one beat, so that their batches are committed together. Neighbouring deltas of a batch become
    one. What is not a delta does not wait for a beat, but for deltas before it.
    """
    queue: asyncio.Queue[TurnEvent | None] = asyncio.Queue()
    loop = asyncio.get_running_loop()
    pump = asyncio.create_task(_pump(events, queue))
    quiet_until = 0.0
    try:
        while (event := await queue.get()) is not None:
            if isinstance(event, AnswerDelta) and (rest := quiet_until - loop.time()) > 0:
                await asyncio.sleep(rest)
            batch, ended = _drained([event], queue)
            yield batch
            quiet_until = (now := loop.time()) + until_beat(now, interval)
            if ended:
                break
        await pump
    finally:
        pump.cancel()


async def _pump(events: AsyncGenerator[TurnEvent, None], queue: asyncio.Queue[TurnEvent | None]) -> None:
    try:
        async with aclosing(events):
            async for event in events:
                queue.put_nowait(event)
    finally:
        queue.put_nowait(None)


def _drained(batch: list[TurnEvent], queue: asyncio.Queue[TurnEvent | None]) -> tuple[list[TurnEvent], bool]:
    while not queue.empty():
        event = queue.get_nowait()
        if event is None:
            return batch, True
        last = batch[-1]
        if isinstance(event, AnswerDelta) and isinstance(last, AnswerDelta):
            batch[-1] = AnswerDelta(last.off, last.text + event.text)
        else:
            batch.append(event)
    return batch, False
