"""A model that says what it is told to: the fake for tests, demonstrations and rehearsals of failures."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, field

from assistant.core.messages import ModelChunk, ModelDelta, ModelFinish, Usage
from assistant.core.prompt import ModelRequest
from assistant.errors import AssistantError
from assistant.interfaces import TokenCounter
from assistant.llm.tokens import NaiveCounter

Script = Sequence[str] | Callable[[ModelRequest], str]


@dataclass(slots=True)
class ScriptedCall:
    """What became of one call: the request, the text handed out so far, and how it ended.

    `ended` is "" while it runs, then finished, failed or cancelled (closed by the reader, or its task cancelled).
    """

    request: ModelRequest
    text: str = ""
    ended: str = ""


@dataclass(slots=True)
class ScriptedModel:
    """Answers from a script: a list of texts (one a call; the last one repeats) or a function of the request.

    `piece` is the number of characters per delta and `delay` the seconds before each. `fail_with` is raised once
    `fail_after` characters of an answer are out (0: before the first), in the calls that `fail_calls` names (counted
    from 0; None: all). Every call is recorded in `calls`.
    """

    script: Script = ("A scripted answer.",)
    name: str = "scripted"
    window: int = 8192
    counter: TokenCounter = field(default_factory=NaiveCounter)
    piece: int = 8
    delay: float = 0.0
    reason: str = "stop"
    fail_with: AssistantError | None = None
    fail_after: int = 0
    fail_calls: frozenset[int] | None = None
    calls: list[ScriptedCall] = field(default_factory=list)

    async def aclose(self) -> None:
        """Nothing is held."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelChunk, None]:
        """Hand out the scripted text of this call, then the finish with counted usage."""
        number = len(self.calls)
        call = ScriptedCall(request)
        self.calls.append(call)
        try:
            async for delta in self._deltas(number, call):
                yield delta
            call.ended = "finished"
            yield ModelFinish(self.reason, self._usage(call))
        except AssistantError:
            call.ended = "failed"
            raise
        finally:
            call.ended = call.ended or "cancelled"

    async def _deltas(self, number: int, call: ScriptedCall) -> AsyncGenerator[ModelDelta, None]:
        text = self._text(number, call.request)
        failure = self._failure(number)
        stop = len(text) if failure is None else min(self.fail_after, len(text))
        for start in range(0, stop, self.piece):
            await asyncio.sleep(self.delay)
            piece = text[start : min(start + self.piece, stop)]
            call.text += piece
            yield ModelDelta(piece)
        if failure is not None:
            raise failure

    def _text(self, number: int, request: ModelRequest) -> str:
        if callable(self.script):
            return self.script(request)
        return self.script[min(number, len(self.script) - 1)] if self.script else ""

    def _failure(self, number: int) -> AssistantError | None:
        concerned = self.fail_calls is None or number in self.fail_calls
        return self.fail_with if concerned else None

    def _usage(self, call: ScriptedCall) -> Usage:
        prompt = sum(self.counter.count(message.text) for message in call.request.messages)
        return Usage(calls=1, tokens_in=prompt, tokens_out=self.counter.count(call.text))
