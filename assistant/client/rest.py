"""What a client asks over REST, with the token of the moment."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import Any, Final
from urllib.parse import quote

import httpx

from assistant.client.errors import Unreachable, error_named
from assistant.codec import adapter
from assistant.core.calls import ModelCall
from assistant.errors import NotAuthenticated, StoreUnavailable

GetToken = Callable[[], str | Awaitable[str]]
_CALLS: Final = adapter(list[ModelCall])


class Tokens:
    """The token of a client: always the same one, or what `get` gives whenever a newer one is needed."""

    def __init__(self, token: str | None, get: GetToken | None) -> None:
        self.current = token
        self._get = get

    @property
    def renewable(self) -> bool:
        """Whether another one can be had."""
        return self._get is not None

    async def renew(self) -> str | None:
        """Another token where one can be had; the one that there is otherwise. Raises what the given function raises."""
        if self._get is not None:
            given = self._get()
            self.current = await given if inspect.isawaitable(given) else given
        return self.current


class Rest:
    """Requests of one client."""

    def __init__(self, http: httpx.AsyncClient, tokens: Tokens) -> None:
        self._http = http
        self._tokens = tokens

    async def snapshot(self, session: str) -> dict[str, Any]:
        """The whole session as of a sequence number. Raises Unreachable, and what the server refuses with."""
        return await self._read(f"/api/sessions/{quote(session, safe='')}")

    async def calls(self, session: str, turn: str) -> list[ModelCall]:
        """How an answer was made. Raises Unreachable, and what the server refuses with."""
        path = f"/api/sessions/{quote(session, safe='')}/turns/{quote(turn, safe='')}/calls"
        calls: list[ModelCall] = _CALLS.validate_python((await self._read(path))["calls"])
        return calls

    async def _read(self, path: str) -> dict[str, Any]:
        try:
            return await self._get(path)
        except NotAuthenticated:  # ended, or spent: a portal's token is taken once
            if not self._tokens.renewable:
                raise
            await self._tokens.renew()
            return await self._get(path)

    async def _get(self, path: str) -> dict[str, Any]:
        token = self._tokens.current
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        try:
            answer = await self._http.get(path, headers=headers)
            body = answer.json()
        except (httpx.HTTPError, ValueError) as error:
            raise Unreachable(f"no answer over REST: {type(error).__name__}") from error
        if answer.is_success and isinstance(body, dict):
            return body
        told = body.get("error") if isinstance(body, dict) else None
        if not isinstance(told, dict) or (answer.status_code >= 500 and told.get("code") != StoreUnavailable.code):
            raise Unreachable(f"the server answers {answer.status_code}", status=answer.status_code)
        data = {name: value for name, value in told.items() if name not in ("code", "retryable")}
        raise error_named(str(told.get("code")), data)
