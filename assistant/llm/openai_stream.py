"""A direct stream from any endpoint that speaks OpenAI's chat completions: vLLM, TGI, Ollama, llama.cpp, gateways.

Written for little work per token: aiohttp, whose parser gives all that one network read held as one piece (httpx hands out
every chunk of the transfer coding by itself, in Python, at four times the cost), a hand-written reader of server-sent
events, orjson, and one delta per beat: what arrives between two beats waits in the kernel, where a token costs nothing.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager, suppress
from typing import Final
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
import httpx
import orjson

from assistant.core.beat import until_beat
from assistant.core.messages import ModelChunk, ModelDelta
from assistant.core.prompt import ModelRequest
from assistant.errors import ModelUnavailable, TurnFailed
from assistant.interfaces import TokenCounter
from assistant.llm.completion import Reply, drop_refused, payload, whole_reply
from assistant.llm.failures import failure, retry_after_ms
from assistant.llm.sse import SseOverflowError, SseParser
from assistant.llm.tokens import counter_for, window_for

RETRIES: Final = 2
BACKOFF_S: Final = 0.4
LONGEST_WAIT_S: Final = 5.0
_DRAIN_S: Final = 0.25
_ERROR_BODY_BYTES: Final = 64 * 1024


class OpenAICompatibleModel:
    """One model behind one endpoint. Keeps a pool of connections; call `aclose` at shutdown.

    `timeout` is the longest silence in seconds, before the first byte and between two; connecting has `connect` seconds. A
    call is tried again, `retries` times at most with growing, jittered waits, only as long as nothing of the answer has
    arrived.
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        api_key: str = "",
        *,
        window: int | None = None,
        counter: TokenCounter | None = None,
        timeout: float = 60.0,
        connect: float = 5.0,
        retries: int = RETRIES,
        connections: int = 128,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._model = model
        self._window = window_for(model, window)
        self._counter = counter or counter_for(model)
        self._url = base_url.rstrip("/") + "/chat/completions"
        self._retries = retries
        self._pause = pause
        self._refused: set[str] = set()
        headers = {"content-type": "application/json", "accept": "text/event-stream", "accept-encoding": "identity"}
        self._headers = headers | ({"authorization": f"Bearer {api_key}"} if api_key else {})
        self._timeout = aiohttp.ClientTimeout(
            total=None, connect=timeout, sock_connect=min(connect, timeout), sock_read=timeout
        )
        self._connections = connections
        self._tls = httpx.create_ssl_context() if base_url.startswith("https:") else True  # who httpx trusts is trusted
        self._proxy = _proxy_for(base_url)
        self._session: aiohttp.ClientSession | None = None

    @property
    def name(self) -> str:
        """The model's name at the endpoint."""
        return self._model

    @property
    def window(self) -> int:
        """Tokens of input and output together."""
        return self._window

    @property
    def counter(self) -> TokenCounter:
        """The counter that fits best."""
        return self._counter

    async def aclose(self) -> None:
        """Close the pool of connections."""
        if self._session is not None:
            await self._session.close()

    def _pool(self) -> aiohttp.ClientSession:
        """The pool of connections; it belongs to the loop of the first call, so it is made there."""
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=self._connections, ssl=self._tls),
                headers=self._headers,
                timeout=self._timeout,
                cookie_jar=aiohttp.DummyCookieJar(),
                proxy=self._proxy,
            )
        return self._session

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelChunk, None]:
        """Answer the request; closing the iterator closes the HTTP response, by which the provider stops.

        Raises ModelUnavailable (also when the stream breaks off), ContextOverflow or ModelMisconfigured.
        """
        for attempt in range(self._retries + 1):
            begun = False
            try:
                async with aclosing(self._attempt(request)) as chunks:
                    async for chunk in chunks:
                        begun = True
                        yield chunk
                return
            except ModelUnavailable as error:
                wait = self._wait_before_retry(error, attempt, begun)
                if wait is None:
                    raise
                await self._pause(wait)

    def _wait_before_retry(self, error: ModelUnavailable, attempt: int, begun: bool) -> float | None:
        """Seconds to wait before the next attempt, None when there must not be one."""
        if begun or attempt >= self._retries or error.data.get("reason") == "timeout":
            return None
        asked = error.retry_after_ms
        if asked is not None:
            return asked / 1000 if asked <= LONGEST_WAIT_S * 1000 else None
        return float(BACKOFF_S * 2**attempt) * random.uniform(0.5, 1.5)  # noqa: S311 - spreads load, hides nothing

    async def _attempt(self, request: ModelRequest) -> AsyncGenerator[ModelChunk, None]:
        reply = Reply()
        try:
            async with self._open(request) as response, aclosing(_read(response, reply)) as deltas:
                async for delta in deltas:
                    yield delta
        except TimeoutError as error:  # those of aiohttp, too
            if not reply.complete:
                raise _broken(f"no word in time: {type(error).__name__}", "timeout", reply) from error
        except aiohttp.InvalidURL as error:
            raise failure(404, f"not a usable address: {error}") from error
        except (aiohttp.ClientError, OSError, SseOverflowError) as error:
            if not reply.complete:
                raise _broken(f"connection broke: {type(error).__name__}", "broken", reply) from error
        if not reply.complete:
            raise _broken("the stream ended in the middle of the answer", "broken_off", reply)
        yield reply.finish()

    @asynccontextmanager
    async def _open(self, request: ModelRequest) -> AsyncIterator[aiohttp.ClientResponse]:
        """The response with status 200. Optional parameters that the endpoint does not know are dropped for good."""
        while True:
            body = payload(self._model, request, without=self._refused)
            async with self._pool().post(self._url, data=orjson.dumps(body), allow_redirects=False) as response:
                if response.status == 200:
                    yield response
                    return
                error_body = await _error_body(response)
                error = _error_for(response, error_body)
            refused = drop_refused(response.status, error_body, body)
            if refused is None:
                raise error
            self._refused.add(refused)


def _proxy_for(url: str) -> str | None:
    """The proxy that the environment names for this address."""
    parts = urlsplit(url)
    return None if proxy_bypass(parts.hostname or "") else getproxies().get(parts.scheme)


def _broken(detail: str, reason: str, reply: Reply) -> ModelUnavailable:
    """The error of a stream that broke, with what the provider had counted by then: it is paid for all the same."""
    usage = reply.usage
    return ModelUnavailable(detail, reason=reason, tokens_in=usage.tokens_in, tokens_out=usage.tokens_out)


async def _read(response: aiohttp.ClientResponse, reply: Reply) -> AsyncGenerator[ModelDelta, None]:
    """The text of a response as it arrives; `reply` keeps what else was said. A plain JSON reply is read whole."""
    if response.headers.get("content-type", "").startswith("application/json"):
        text = whole_reply(await response.read(), reply)
        if text:
            yield ModelDelta(text)
        _raise_reported(reply)
        return
    parser = SseParser()
    pieces = response.content.iter_any()
    async for piece in pieces:
        text = reply.take(parser.feed(piece))
        if text:
            yield ModelDelta(text)
        _raise_reported(reply)
        if reply.done:
            await _drain(pieces)
            return
        if text:
            await _gather(response)
    if text := reply.take(parser.finish()):
        yield ModelDelta(text)
    _raise_reported(reply)


async def _gather(response: aiohttp.ClientResponse) -> None:
    """Leave what comes before the next beat in the kernel, where a token costs nothing."""
    connection = response.connection
    transport = None if connection is None else connection.transport
    if transport is None:
        return
    transport.pause_reading()
    try:
        await asyncio.sleep(until_beat(asyncio.get_running_loop().time()))
    finally:
        if not transport.is_closing():
            transport.resume_reading()


async def _drain(pieces: AsyncIterator[bytes]) -> None:
    """Read the end of the body, so that the connection can be used again; a server that dawdles loses it."""
    with suppress(TimeoutError):
        async with asyncio.timeout(_DRAIN_S):
            async for _ in pieces:
                pass


def _raise_reported(reply: Reply) -> None:
    """Raise the failure that the stream reported, unless the answer was already at its end."""
    if reply.error is not None and not reply.complete:
        raise reply.error


async def _error_body(response: aiohttp.ClientResponse) -> bytes:
    """The start of an error's body; what cannot be read is empty."""
    body = b""
    try:
        async for piece in response.content.iter_any():
            body += piece
            if len(body) > _ERROR_BODY_BYTES:
                break
    except (aiohttp.ClientError, TimeoutError):
        return body
    return body


def _error_for(response: aiohttp.ClientResponse, body: bytes) -> TurnFailed:
    headers = response.headers
    wait = retry_after_ms(headers.get("retry-after"))
    if (precise := headers.get("retry-after-ms", "")).isdecimal():
        wait = int(precise)
    return failure(response.status, body, wait)
