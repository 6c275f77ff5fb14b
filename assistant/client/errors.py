"""What ends a client or refuses a command, as typed errors: those of the server keep their own types."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from assistant.errors import AssistantError, NotAuthenticated, NotFound, OtherUser, Refusal, TokenExpired
from assistant.transport.errors import Close
from assistant.transport.protocol import ErrorShown


class Unreachable(AssistantError):
    """There is no line to the server, and there was none for as long as the client has patience."""

    code = "unreachable"
    retryable = True


class Ended(AssistantError):
    """The client was closed while something was still waited for. Turns go on without it."""

    code = "ended"


class SocketRefused(AssistantError):
    """The server closed the socket for good; `data["close"]` is the code."""

    code = "socket_refused"


class OriginRefused(SocketRefused):
    """The origin of the request is not among those that may call."""

    code = "origin_refused"


class WrongVersion(SocketRefused):
    """The server speaks another version of the protocol."""

    code = "wrong_version"


_REFUSED: Final[dict[int, type[AssistantError]]] = {
    Close.NOT_AUTHENTICATED: NotAuthenticated,
    Close.ORIGIN_REFUSED: OriginRefused,
    Close.OTHER_USER: OtherUser,
    Close.VERSION: WrongVersion,
}
_FINAL: Final = range(4500, 4600)
NO_SUCH_SESSION: Final = "no such session"


def error_of_close(code: int, reason: str, *, new_token: bool) -> AssistantError | None:
    """What a close means; None when the client is to come back. `new_token` says whether it can get another token."""
    if code == Close.TOKEN_EXPIRED and not new_token:
        return TokenExpired("the token has ended, and there is no way to get another", close=code)
    if code not in _FINAL:
        return None
    kind = _REFUSED.get(code, SocketRefused)
    if code == Close.OTHER_USER and reason == NO_SUCH_SESSION:
        kind = NotFound
    return kind(reason, close=code)


def error_of_frame(shown: ErrorShown) -> AssistantError:
    """The error that an `error` frame tells, of the type that has its code."""
    told = {"incident": shown.incident, "retry_after_ms": shown.retry_after_ms}
    return error_named(shown.code, told)


def error_named(code: str, data: dict[str, Any]) -> AssistantError:
    """The error of this code with this data; a Refusal with `data["code"]` for one that this version does not know."""
    kind = next((each for each in _kinds(AssistantError) if each.__dict__.get("code") == code), None)
    known = {name: value for name, value in data.items() if value is not None and name != "detail"}
    return kind(code, **known) if kind else Refusal(code, **{**known, "code": code})


def _kinds(base: type[AssistantError]) -> Iterator[type[AssistantError]]:
    yield base
    for kind in base.__subclasses__():
        yield from _kinds(kind)
