"""A search outside over HTTP: one signed question, one bounded answer (docs/external-search.md)."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Sequence
from functools import cache
from typing import Final

import httpx
import orjson

from assistant.core.access import Caller
from assistant.core.attachments import covers
from assistant.core.evidence import Passage, Place
from assistant.core.text import without_unstorable
from assistant.errors import BadSetting
from assistant.interfaces.outside import SearchUnavailable
from assistant.retrieval.external_wire import read_passages
from assistant.retrieval.signing import CallerSigner

MOST_BYTES: Final = 2 * 1024 * 1024
"""Of an answer."""
_WORDINGS: Final = 4
_CHARACTERS: Final = 2000
_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_AGAIN: Final = frozenset({502, 503, 504})


class HttpRetriever:
    """Asks one search at one address. Keeps a pool of connections; call `aclose` at the end.

    Nothing but the address of the settings is ever asked: https, or http of this machine; no redirects, no proxies. A question
    that found no connection, or a server that is away, is asked once more; all of it within `timeout` seconds. Raises
    BadSetting for an address that is not one of those.
    """

    def __init__(
        self, url: str, signer: CallerSigner, *, timeout: float = 5.0, trusted: ssl.SSLContext | None = None
    ) -> None:
        check_address(url)
        self._url = url
        self._signer = signer
        self._timeout = timeout
        self._trusted = trusted
        self._client: httpx.AsyncClient | None = None
        self._opening = asyncio.Lock()

    @property
    def name(self) -> str:
        """The name of the search, which is that of its collection, too."""
        return self._signer.audience

    async def aclose(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.aclose()

    async def search(
        self,
        queries: Sequence[str],
        caller: Caller,
        *,
        collections: frozenset[str] | None = None,
        limit: int = 24,
        earlier: Sequence[Place] = (),
    ) -> list[Passage]:
        """The passages in the order of the answer, with falling scores that tell nothing but it.

        Asks nobody where its collection is not searched. Raises SearchUnavailable.
        """
        wordings = _wordings(queries)
        if not wordings or limit < 1 or not covers(collections, self.name):
            return []
        asked = {"v": 1, "query": wordings[0], "searches": wordings, "limit": limit}
        try:
            async with asyncio.timeout(self._timeout):
                answer = await self._ask(orjson.dumps(asked), caller)
        except TimeoutError:
            raise self._failure("no answer in time", "timeout") from None
        return await asyncio.to_thread(read_passages, answer, self.name, caller, limit)

    async def _ask(self, body: bytes, caller: Caller) -> bytes:
        try:
            return await self._attempt(body, caller)
        except SearchUnavailable as failure:
            if failure.data["reason"] not in ("connection", "away"):
                raise
        return await self._attempt(body, caller)

    async def _attempt(self, body: bytes, caller: Caller) -> bytes:
        """One question, with a token of its own."""
        client = await self._opened()
        headers = {"authorization": f"Bearer {self._signer.token(caller, body)}"}
        try:
            async with client.stream("POST", self._url, content=body, headers=headers) as response:
                if response.status_code != 200:
                    reason = "away" if response.status_code in _AGAIN else "status"
                    raise self._failure(f"the answer has status {response.status_code}", reason)
                return await self._bounded(response)
        except (httpx.HTTPError, ssl.SSLError, OSError) as error:
            raise self._failure(f"no answer: {type(error).__name__}", "connection") from None

    async def _bounded(self, response: httpx.Response) -> bytes:
        if response.headers.get("content-encoding", "identity") != "identity":
            raise self._failure("the answer is compressed", "invalid")  # it was asked for as it is
        body = bytearray()
        async for piece in response.aiter_raw():
            body += piece
            if len(body) > MOST_BYTES:
                raise self._failure("the answer is too large", "too_large")
        return bytes(body)

    async def _opened(self) -> httpx.AsyncClient:
        async with self._opening:
            if self._client is None:
                trusted = self._trusted if self._trusted is not None else await asyncio.to_thread(_authorities)
                headers = {"content-type": "application/json", "accept": "application/json"}
                self._client = httpx.AsyncClient(
                    verify=trusted,
                    trust_env=False,
                    follow_redirects=False,
                    timeout=self._timeout,
                    headers=headers | {"accept-encoding": "identity"},
                )
        return self._client

    def _failure(self, detail: str, reason: str) -> SearchUnavailable:
        return SearchUnavailable(detail, search=self.name, reason=reason)


@cache
def _authorities() -> ssl.SSLContext:
    """Those whose certificates are believed. Reads files, once."""
    return httpx.create_ssl_context()


def check_address(url: str) -> None:
    """Raises BadSetting unless the URL is https, or http at a loopback address, without user name and fragment."""
    try:
        parts = httpx.URL(url)
    except httpx.InvalidURL:
        raise BadSetting("this is no URL", setting="retrieval.external.url") from None
    own = parts.scheme == "http" and parts.host in _LOOPBACK
    if not parts.host or parts.userinfo or parts.fragment or not (own or parts.scheme == "https"):
        raise BadSetting("give a https URL, or a http URL of this machine", setting="retrieval.external.url")


def _wordings(queries: Sequence[str]) -> list[str]:
    """The wordings that are sent, the question first."""
    told = (without_unstorable(query).strip()[:_CHARACTERS] for query in queries)
    return list(dict.fromkeys(filter(None, told)))[:_WORDINGS]
