"""A conversation as a client has it: ask, follow, stop, rate."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from types import MappingProxyType
from typing import Any, Final, Literal

import httpx
from pydantic import ValidationError
from ulid import ULID

from assistant import __version__
from assistant.client.asked import Asked
from assistant.client.errors import Ended, error_of_frame
from assistant.client.frames import Told
from assistant.client.line import Dialling, Line
from assistant.client.log import Log
from assistant.client.rest import GetToken, Rest, Tokens
from assistant.client.waiting import back_off
from assistant.core.calls import ModelCall
from assistant.core.events import TurnAccepted
from assistant.core.turn import TurnMessage
from assistant.errors import BadInput, NotFound
from assistant.transport.protocol import (
    MAX_FRAME_BYTES,
    Ack,
    CancelData,
    ClientFrame,
    ClientInfo,
    Control,
    ErrorShown,
    FeedbackAdd,
    FeedbackData,
    Limits,
    Scope,
    SessionReady,
    StartData,
    TurnCancel,
    TurnStart,
    encode_client,
)

PATIENCE_S: Final = 120.0
NAME: Final = "assistant-python"


@asynccontextmanager
async def connect(
    url: str,
    *,
    token: str | None = None,
    get_token: GetToken | None = None,
    session: str | None = None,
    locale: str = "en",
    origin: str | None = None,
    patience_s: float = PATIENCE_S,
    wait: Callable[[int], float] = back_off,
) -> AsyncIterator[Session]:
    """A session of the server at `url` (http or https): a new one, or the one with the id `session`.

    `origin` is told to the server, which lets nobody in from an unknown one: its own, unless something else is given.
    `get_token` is asked for a token before every dial and when the one in use ends soon. A line that is lost is made again,
    after `wait(attempt)` seconds, until there was none for `patience_s`. Raises Unreachable when the server is not there at the start,
    and what it refuses with: NotAuthenticated, TokenExpired, NotFound for a session that is not the caller's, OriginRefused, WrongVersion.
    """
    if not url.startswith(("http://", "https://")):
        raise BadInput("the address of a server begins with http:// or https://", reason="url")
    client = ClientInfo(name=NAME, version=__version__)
    dialling = Dialling(url.rstrip("/"), origin or _origin(url), client, locale, patience_s, wait)
    tokens = Tokens(token, get_token)
    async with httpx.AsyncClient(base_url=dialling.url, timeout=30) as http:
        made = Session(dialling, tokens, Rest(http, tokens), session)
        try:
            await made._start()  # noqa: SLF001 - a session is begun and ended here
            yield made
        finally:
            await made._stop()  # noqa: SLF001


class Session:
    """One conversation. All its turns are in `turns`, whoever asked them, from whatever tab."""

    def __init__(self, dialling: Dialling, tokens: Tokens, rest: Rest, session: str | None) -> None:
        self._rest = rest
        self._log = Log(session)
        self._line = Line(dialling, tokens, rest, self._log, self)
        self._unanswered: dict[str, ClientFrame] = {}
        self._answers: dict[str, asyncio.Future[None]] = {}
        self._asked: dict[str, Asked] = {}
        self._open = asyncio.Event()
        self._limits: Limits | None = None
        self._running: asyncio.Task[None] | None = None
        self._sending: set[asyncio.Task[None]] = set()

    @property
    def id(self) -> str:
        """The id of the session; it grants nothing by itself."""
        return self._log.session or ""

    @property
    def seq(self) -> int:
        """The number of the last event that is known."""
        return self._log.seq

    @property
    def turns(self) -> Mapping[str, TurnMessage]:
        """The turns of the session by their ids, the oldest first, as far as their events have come."""
        return MappingProxyType(self._log.turns)

    @property
    def limits(self) -> Limits | None:
        """What the server accepts, as it said last."""
        return self._limits

    def ask(
        self,
        text: str,
        *,
        mode: str = "auto",
        collections: Sequence[str] = (),
        schema: Mapping[str, Any] | None = None,
        attachments: Sequence[str] = (),
        id_: str | None = None,
    ) -> Asked:
        """Ask a question. The same `id_` (a ULID) again is the same turn and costs nothing.

        `attachments` are ids of files of the session, `schema` asks for a structured answer. Raises BadInput for what no
        server would take, Ended when the client is closed.
        """
        key = id_ or str(ULID())
        if key in self._asked:
            return self._asked[key]
        frame = _frame(
            lambda: TurnStart(
                type="turn.start",
                id=key,
                d=StartData(
                    text=text,
                    mode=mode,
                    scope=Scope(collections=list(collections)) if collections else None,
                    schema=dict(schema) if schema is not None else None,
                    attachments=list(attachments),
                ),
            )
        )
        asked = self._asked[key] = Asked(key)
        self._send(frame)
        return asked

    async def answer(self, text: str, **more: Any) -> TurnMessage:
        """Ask a question and wait for its end; takes what `ask` takes and raises what its events raise."""
        return await self.ask(text, **more).finished()

    async def cancel(self, turn: str) -> None:
        """Stop a turn; what was written is kept and cited. Returns when the server knows."""
        await self._answered(_frame(lambda: TurnCancel(type="turn.cancel", id=str(ULID()), d=CancelData(turn=turn))))

    async def feedback(
        self,
        turn: str,
        rating: Literal["up", "down"],
        *,
        reason: str | None = None,
        correction: str | None = None,
        citation: int | None = None,
    ) -> None:
        """Rate an answer. Returns when it is stored; raises what the server refuses with."""
        given = {"reason": reason, "correction": correction, "citation": citation}
        await self._answered(
            _frame(
                lambda: FeedbackAdd(
                    type="feedback.add", id=str(ULID()), d=FeedbackData(turn=turn, rating=rating, **given)
                )
            )
        )

    async def calls(self, turn: str) -> list[ModelCall]:
        """How an answer was made: every call of a model. Raises Unreachable, and what the server refuses with."""
        return await self._rest.calls(self.id, turn)

    # What the line tells

    def on_event(self, told: Told) -> None:
        """Pass an event on to who asked for its turn."""
        if isinstance(told.event, TurnAccepted) and told.event.client_id in self._asked:
            self._asked[told.event.client_id].turn = told.turn
            self._unanswered.pop(told.event.client_id, None)
        for asked in self._of(told.turn):
            if asked.hear(told, self._log.turns.get(told.turn, TurnMessage())):
                del self._asked[asked.id]

    def on_reload(self) -> None:
        """Pass the turns on as they are now; one that is no longer there is not waited for."""
        for asked in list(self._asked.values()):
            if asked.turn is not None and asked.turn not in self._log.turns:
                self._refused(asked.id, NotFound("the server has lost this turn"))
            else:
                self._reload(asked)

    def on_control(self, control: Control) -> None:
        """Take what the server says of the line and of commands."""
        match control:
            case SessionReady():
                self._limits = control.limits
                self._open.set()
            case Ack():
                self._acknowledged(control)
            case ErrorShown() if control.ref_id:
                self._refused(control.ref_id, error_of_frame(control))
            case _:
                pass

    def unanswered(self) -> list[ClientFrame]:
        """Commands that the server has not acknowledged."""
        return list(self._unanswered.values())

    def _acknowledged(self, ack: Ack) -> None:
        self._unanswered.pop(ack.id, None)
        if (answer := self._answers.pop(ack.id, None)) is not None and not answer.done():
            answer.set_result(None)
        asked = self._asked.get(ack.id)
        if asked is not None and asked.turn is None:
            asked.turn = ack.turn
            self._reload(asked)  # its events came before it was known whose they are

    def _reload(self, asked: Asked) -> None:
        if asked.turn in self._log.turns and asked.reload(self._log.seq, self._log.turns[asked.turn]):
            del self._asked[asked.id]

    def _refused(self, id_: str, error: Exception) -> None:
        self._unanswered.pop(id_, None)
        if (answer := self._answers.pop(id_, None)) is not None and not answer.done():
            answer.set_exception(error)
        if (asked := self._asked.pop(id_, None)) is not None:
            asked.fail(error)

    def _of(self, turn: str) -> list[Asked]:
        return [asked for asked in self._asked.values() if asked.turn == turn]

    # The life of a session

    async def _start(self) -> None:
        """Return when the session is open."""
        self._running = asyncio.create_task(self._line.run())
        opening = asyncio.create_task(self._open.wait())
        try:
            await asyncio.wait({self._running, opening}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            opening.cancel()
        if self._running.done():
            self._running.result()
        self._running.add_done_callback(self._lost)

    async def _stop(self) -> None:
        if self._running is not None:
            self._running.cancel()
            await asyncio.gather(self._running, return_exceptions=True)
        self._fail_all(Ended())

    def _lost(self, running: asyncio.Task[None]) -> None:
        """The line is gone for good: whoever waits is told why."""
        error = None if running.cancelled() else running.exception()
        self._fail_all(error if isinstance(error, Exception) else Ended())

    def _fail_all(self, error: Exception) -> None:
        for id_ in {*self._unanswered, *self._answers, *self._asked}:
            self._refused(id_, error)

    def _send(self, frame: ClientFrame) -> None:
        if self._running is None or self._running.done():
            self._asked.pop(frame.id, None)
            raise self._why()
        self._unanswered[frame.id] = frame
        sending = asyncio.create_task(self._line.send(frame))
        self._sending.add(sending)
        sending.add_done_callback(self._sending.discard)

    def _why(self) -> Exception:
        done = self._running is not None and self._running.done() and not self._running.cancelled()
        error = self._running.exception() if done and self._running is not None else None
        return error if isinstance(error, Exception) else Ended()

    async def _answered(self, frame: ClientFrame) -> None:
        answer = self._answers[frame.id] = asyncio.get_running_loop().create_future()
        try:
            self._send(frame)
            await answer
        finally:
            self._answers.pop(frame.id, None)
            self._unanswered.pop(frame.id, None)


def _origin(url: str) -> str:
    """The origin of an address, as browsers write it."""
    parsed = httpx.URL(url)
    return f"{parsed.scheme}://{parsed.netloc.decode()}"


def _frame(make: Callable[[], ClientFrame]) -> ClientFrame:
    """The frame, if servers take such. Raises BadInput that names the field."""
    try:
        frame = make()
    except ValidationError as error:
        where = ".".join(str(part) for part in error.errors()[0]["loc"])
        raise BadInput("no server would take this", reason=where or "frame") from None
    if len(encode_client(frame)) > MAX_FRAME_BYTES:
        raise BadInput("the command is too large", reason="too_large", limit=MAX_FRAME_BYTES)
    return frame
