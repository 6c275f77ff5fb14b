"""A model that is there: time-outs, retries, stand-ins and breakers around models that may not be."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from time import monotonic
from typing import Final

import structlog

from assistant.config import Failure
from assistant.core.messages import ModelChunk, ModelDelta, ModelFinish, Usage
from assistant.core.prompt import ModelRequest
from assistant.errors import AssistantError, Busy, ModelUnavailable, TurnFailed
from assistant.interfaces import ModelAround
from assistant.llm.endpoints import Endpoint, failure_kind
from assistant.llm.observing import observed

log = structlog.get_logger(__name__)

BACKOFF_S: Final = 0.4
LONGEST_WAIT_S: Final = 5.0
"""A Retry-After up to this is waited for; a longer one is told to the caller, and the endpoint is left alone so long."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a call may take, in seconds: to its first word, from one word to the next, and as a whole (None: any)."""

    first_s: float = 60.0
    between_s: float = 60.0
    whole_s: float | None = None


@dataclass(slots=True)
class _Call:
    """What one request has used so far; `end` is the time by which it must be through."""

    end: float | None
    spent: Usage = Usage()

    def failed(self, error: TurnFailed) -> None:
        """Count a call that failed, with what its provider counted before."""
        tokens = (error.data.get("tokens_in"), error.data.get("tokens_out"))
        read, written = (count if isinstance(count, int) else 0 for count in tokens)
        self.spent += Usage(calls=1, tokens_in=read, tokens_out=written)

    def told(self, error: TurnFailed) -> TurnFailed:
        """The error with the usage of all calls that were made for the request."""
        error.data |= {
            "calls": self.spent.calls,
            "tokens_in": self.spent.tokens_in,
            "tokens_out": self.spent.tokens_out,
        }
        return error


@dataclass(frozen=True, slots=True)
class _Begun:
    """A call that has its first chunk."""

    endpoint: Endpoint
    chunks: AsyncGenerator[ModelChunk, None]
    first: ModelChunk


class ReliableModel(ModelAround):
    """The first endpoint's model, with the others standing in where it fails before its first word.

    Retries and stand-ins end with the first word: a text that was shown is never begun anew. Every endpoint has its breaker,
    so that one that is down is left alone; when none may be asked, the answer is at once ModelUnavailable with
    `retry_after_ms`. Errors say in `calls`, `tokens_in` and `tokens_out` what the failed calls used; a finish holds it too.
    """

    def __init__(
        self,
        endpoints: Sequence[Endpoint],
        patience: Patience = Patience(),
        *,
        retries: int = 2,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        super().__init__(endpoints[0].model)
        self._endpoints = tuple(endpoints)
        self._patience = patience
        self._retries = retries
        self._pause = pause
        self._clock = clock

    async def aclose(self) -> None:
        """Release what the models hold."""
        for endpoint in self._endpoints:
            await endpoint.model.aclose()

    def admit(self) -> None:
        """Raise Busy with `retry_after_ms` when no endpoint may be asked now: a door says so before anything is stored."""
        first, *others = self._endpoints
        waits = [first.wait_ms(), *(other.wait_ms() for other in others if set(other.on) - {"overflow"})]
        if all(waits):
            raise Busy("no model may be asked now", retry_after_ms=min(waits))

    def last_seen(self) -> str:
        """`answers` while an endpoint may be asked, else `rests`: what the last calls met; nothing is asked for this."""
        return "rests" if all(endpoint.wait_ms() for endpoint in self._endpoints) else "answers"

    @observed
    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelChunk, None]:
        """Answer the request; closing the iterator closes the call.

        Raises ModelUnavailable (also when the stream breaks off or is silent), ContextOverflow or ModelMisconfigured.
        """
        whole = self._patience.whole_s
        call = _Call(None if whole is None else self._clock() + whole)
        begun = await self._begin(request, call)
        endpoint, chunk = begun.endpoint, begun.first
        try:
            async with aclosing(begun.chunks), asyncio.timeout(None) as silence:
                while isinstance(chunk, ModelDelta):
                    yield chunk
                    silence.reschedule(self._by(self._patience.between_s, call))
                    chunk = await _next_of(begun.chunks)
                    if silence.expired():  # it came in the same moment
                        raise TimeoutError
                    silence.reschedule(None)  # how long the reader takes is not the model's silence
            endpoint.breaker.succeeded()
        except (TurnFailed, TimeoutError) as error:
            failure = _silent() if isinstance(error, TimeoutError) else error
            self._blame(endpoint, failure, call)
            raise call.told(failure) from (error if failure is not error else error.__cause__)
        finally:
            endpoint.leave()
        yield _finished(chunk, call, "" if endpoint is self._endpoints[0] else endpoint.model.name)

    async def _begin(self, request: ModelRequest, call: _Call) -> _Begun:
        """The first call that has a word: of the first endpoint, or of one that stands in. Raises the most telling error."""
        first, *others = self._endpoints
        try:
            return await self._persist(first, request, call, others)
        except TurnFailed as error:
            told, kind, failed = error, failure_kind(error), first
        for endpoint in others:
            if kind is None or not endpoint.stands_in(kind, failed.model) or not await _holds(endpoint, first, request):
                continue
            log.warning("a model stands in", model=endpoint.model.name, instead_of=failed.model.name, failure=kind)
            try:
                return await self._persist(endpoint, request, call, ())
            except TurnFailed as error:
                told, kind, failed = _more_telling(told, error), failure_kind(error) or kind, endpoint
        raise call.told(told) from told.__cause__

    async def _persist(
        self, endpoint: Endpoint, request: ModelRequest, call: _Call, others: Sequence[Endpoint]
    ) -> _Begun:
        """A call of one endpoint that has its first word, after as many retries as may be."""
        for attempt in range(self._retries + 1):
            try:
                return await self._attempt(endpoint, request, call)
            except ModelUnavailable as error:
                wait = self._wait_before_retry(error, attempt, endpoint, others)
                if wait is None or (call.end is not None and self._clock() + wait >= call.end):
                    raise
                await self._pause(wait)
        raise AssertionError("the last attempt returns or raises")

    async def _attempt(self, endpoint: Endpoint, request: ModelRequest, call: _Call) -> _Begun:
        endpoint.enter()
        chunks = endpoint.model.stream(request)
        try:
            first = await self._first(chunks, call)
        except BaseException as error:
            if isinstance(error, TurnFailed):
                self._blame(endpoint, error, call)
            endpoint.leave()
            await chunks.aclose()
            raise
        endpoint.breaker.answered()
        return _Begun(endpoint, chunks, first)

    async def _first(self, chunks: AsyncGenerator[ModelChunk, None], call: _Call) -> ModelChunk:
        try:
            async with asyncio.timeout_at(self._by(self._patience.first_s, call)):
                return await _next_of(chunks)
        except TimeoutError as error:
            raise _silent() from error

    def _by(self, seconds: float, call: _Call) -> float:
        """When a word has to be there, by the clock of the loop: in so many seconds, and before the end of the call."""
        if call.end is not None:
            seconds = min(seconds, max(0.0, call.end - self._clock()))
        return asyncio.get_running_loop().time() + seconds

    def _blame(self, endpoint: Endpoint, error: TurnFailed, call: _Call) -> None:
        """Tell the breaker of a failure. Who answers that a prompt is too long or a key wrong is there."""
        call.failed(error)
        if not isinstance(error, ModelUnavailable):
            endpoint.breaker.succeeded()
            return
        asked = _asked_s(error)
        endpoint.breaker.failed(asked if asked is not None and asked > LONGEST_WAIT_S else None)

    def _wait_before_retry(
        self, error: ModelUnavailable, attempt: int, endpoint: Endpoint, others: Sequence[Endpoint]
    ) -> float | None:
        """Seconds to wait before the next attempt, None when there must not be one."""
        at_once = error.data.get("reason") in ("timeout", "resting", "overloaded")
        if attempt >= self._retries or at_once or endpoint.breaker.wait_ms():
            return None
        kind = failure_kind(error)
        if kind == "overloaded" and _any_stands_in(others, kind, endpoint):
            return None  # it asks to be left alone, and another may answer now
        asked = _asked_s(error)
        if asked is not None:
            return asked if asked <= LONGEST_WAIT_S else None
        return float(BACKOFF_S * 2**attempt) * random.uniform(0.5, 1.5)  # noqa: S311 - spreads load, hides nothing


async def _next_of(chunks: AsyncGenerator[ModelChunk, None]) -> ModelChunk:
    """The next chunk. Raises ModelUnavailable when the stream ends without a finish."""
    try:
        return await anext(chunks)
    except StopAsyncIteration as error:
        raise ModelUnavailable("the stream ended without a finish", reason="broken_off") from error


def _silent() -> ModelUnavailable:
    return ModelUnavailable("no word in time", reason="timeout")


async def _holds(endpoint: Endpoint, first: Endpoint, request: ModelRequest) -> bool:
    """Whether a prompt that was made for the window of the first fits here, too."""
    if endpoint.model.window >= first.model.window or await asyncio.to_thread(endpoint.holds, request):
        return True
    log.warning("a model cannot stand in: the prompt is too long for it", model=endpoint.model.name)
    return False


def _any_stands_in(others: Sequence[Endpoint], kind: Failure, endpoint: Endpoint) -> bool:
    return any(other.stands_in(kind, endpoint.model) and not other.wait_ms() for other in others)


def _asked_s(error: AssistantError) -> float | None:
    asked = error.retry_after_ms
    return None if asked is None else asked / 1000


def _more_telling(one: TurnFailed, other: TurnFailed) -> TurnFailed:
    """The error to raise of two: a rest or a wrong stand-in explains less than what happened; the least wait is told."""
    chosen = one if other.data.get("reason") == "resting" or failure_kind(other) is None else other
    waits = [wait for error in (one, other) if (wait := error.retry_after_ms) is not None]
    if waits and isinstance(chosen, ModelUnavailable):
        chosen.data["retry_after_ms"] = min(waits)
    return chosen


def _finished(finish: ModelFinish, call: _Call, model: str) -> ModelFinish:
    """The finish with the usage of the calls that failed before it, and the name of the model that stood in."""
    return ModelFinish(finish.reason, call.spent + finish.usage, model)
