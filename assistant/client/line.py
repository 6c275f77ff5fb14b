"""One socket after another, for as long as the client wants it: dials, opens, reads, beats, and comes back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, Protocol

import structlog
from ulid import ULID
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidURI
from websockets.typing import Origin, Subprotocol

from assistant.client.errors import Unreachable, error_of_close
from assistant.client.frames import Told, read
from assistant.client.log import Log, Outcome
from assistant.client.rest import Rest, Tokens
from assistant.errors import BadInput, Busy, StoreUnavailable
from assistant.transport.errors import Close
from assistant.transport.protocol import (
    SUBPROTOCOL,
    AuthExpiring,
    AuthRefresh,
    ClientFrame,
    ClientInfo,
    Control,
    OpenData,
    Ping,
    PingData,
    Pong,
    RefreshData,
    Resume,
    ServerDraining,
    SessionOpen,
    SessionReady,
    encode_client,
)

log = structlog.get_logger(__name__)

READY_WITHIN_S: Final = 10.0
SHORTEST_BEAT_S: Final = 0.02
LARGEST_FRAME: Final = 16 * 1024 * 1024
RATE_LIMITED_FROM: Final = 4
"""From which attempt on a client waits that comes too often."""


class Hears(Protocol):
    """Who is told what comes over the line."""

    def on_event(self, told: Told) -> None:
        """An event was applied to the log."""
        ...

    def on_reload(self) -> None:
        """The log was taken anew from a snapshot."""
        ...

    def on_control(self, control: Control) -> None:
        """A control frame came."""
        ...

    def unanswered(self) -> list[ClientFrame]:
        """Commands that were not acknowledged yet, in their order."""
        ...


class _Again(Exception):
    """This socket is of no use: come back at once."""


@dataclass(frozen=True, slots=True)
class Dialling:
    """Where to, as whom, and with how much patience."""

    url: str
    origin: str
    client: ClientInfo
    locale: str
    patience_s: float
    wait: Callable[[int], float]

    @property
    def address(self) -> str:
        """The address of the websocket."""
        return "ws" + self.url.removeprefix("http") + "/v1/ws"


class Line:
    """The way to the server. `run` ends only with an error; close it by cancelling it."""

    def __init__(self, dialling: Dialling, tokens: Tokens, rest: Rest, known: Log, hears: Hears) -> None:
        self._dialling = dialling
        self._tokens = tokens
        self._rest = rest
        self._log = known
        self._hears = hears
        self._socket: ClientConnection | None = None
        self._attempt = 0
        self._reload = False
        self._hole_at = -1
        self._lagged_at = -1
        self._silent = False
        self._drain_s: float | None = None
        self.ready: SessionReady | None = None
        """What the server said when the socket was opened; None while there is no line."""

    async def run(self) -> None:
        """Hold the line. Raises what it was refused with for good, or Unreachable when patience is at its end."""
        loop = asyncio.get_running_loop()
        lost_at = loop.time()
        first = True
        while True:
            try:
                await self._hold()
            except _Again:
                lost_at, delay = loop.time(), self._next_delay() if self._reload else 0.0
            except ConnectionClosed as closed:
                delay = self._after_close(closed)
            except (OSError, TimeoutError, InvalidHandshake, InvalidURI, Unreachable, Busy, StoreUnavailable) as error:
                if first and self.ready is None:
                    raise Unreachable(f"no line to the server: {type(error).__name__}") from error
                delay = self._next_delay()
            if self.ready is not None:
                first, lost_at, self.ready = False, loop.time(), None
            if loop.time() + delay - lost_at > self._dialling.patience_s:
                raise Unreachable("the server was not there for too long")
            await asyncio.sleep(delay)

    def _next_delay(self) -> float:
        self._attempt += 1
        return self._dialling.wait(self._attempt - 1)

    def _after_close(self, closed: ConnectionClosed) -> float:
        """How long to wait after a close. Raises the error of one that is for good."""
        code, reason = (closed.rcvd.code, closed.rcvd.reason) if closed.rcvd else (1006, "")
        error = error_of_close(code, reason, new_token=self._tokens.renewable)
        if error is not None:
            raise error from closed
        log.info("the line was lost", close=code)
        if code == Close.RATE_LIMITED:
            self._attempt = max(self._attempt, RATE_LIMITED_FROM)
        drain, self._drain_s = self._drain_s, None
        return self._next_delay() + (drain or 0.0)

    async def _hold(self) -> None:
        """One socket, from the first frame to its end."""
        token = await self._tokens.renew()
        async with connect(
            self._dialling.address,
            subprotocols=[Subprotocol(SUBPROTOCOL)],
            origin=Origin(self._dialling.origin),
            max_size=LARGEST_FRAME,
            compression=None,
            open_timeout=READY_WITHIN_S,
            ping_interval=None,  # the protocol has its own
            close_timeout=1,
        ) as socket:
            ready = await self._open(socket, token)
            self._socket, self._silent = socket, False
            try:
                await self._begin(ready)
                await self._serve(socket, max(SHORTEST_BEAT_S, ready.heartbeat_ms / 1000))
            finally:
                self._socket = None

    async def _open(self, socket: ClientConnection, token: str | None) -> SessionReady:
        known = self._log
        resume = Resume(epoch=known.epoch, seq=known.seq) if known.epoch and not self._reload else None
        d = OpenData(
            token=token,
            session_id=known.session,
            resume=resume,
            client=self._dialling.client,
            locale=self._dialling.locale,
        )
        await socket.send(encode_client(SessionOpen(type="session.open", id=str(ULID()), d=d)).decode())
        async with asyncio.timeout(READY_WITHIN_S):
            while not isinstance(frame := read(await socket.recv()), SessionReady):
                if frame is not None:
                    raise BadInput("session.ready comes first", reason="frame")
        return frame

    async def _begin(self, ready: SessionReady) -> None:
        """Bring the log to where the session stands, then send what waits."""
        fresh = ready.session_id != self._log.session or ready.head_seq == 0
        if fresh and (ready.recovered or ready.head_seq == 0):
            self._log.begin(ready.session_id, ready.epoch)
            self._reload = False
            self._hears.on_reload()
        elif not ready.recovered or self._reload:
            await self._restore(ready.session_id)
        self.ready, self._attempt = ready, 0
        self._hears.on_control(ready)
        for frame in self._hears.unanswered():
            await self.send(frame)

    async def _restore(self, session: str) -> None:
        self._reload = True  # also after a failure, until it has succeeded
        self._log.restore(await self._rest.snapshot(session))
        self._reload = False
        self._hears.on_reload()

    async def _serve(self, socket: ClientConnection, heartbeat_s: float) -> None:
        beating = asyncio.create_task(self._beat(socket, heartbeat_s))
        try:
            while True:
                data = await socket.recv()
                self._silent = False
                await self._take(read(data))
        finally:
            beating.cancel()
            await asyncio.gather(beating, return_exceptions=True)

    async def _take(self, frame: Told | Control | None) -> None:
        match frame:
            case None:
                return
            case Told():
                await self._event(frame)
            case Pong():
                self._check_lag(frame)
            case ServerDraining():
                self._drain_s = frame.reconnect_after_ms / 1000
            case AuthExpiring():
                await self._refresh()
            case _:
                self._hears.on_control(frame)

    async def _refresh(self) -> None:
        """Send a newer token; without one the socket closes, and another one is opened with what there is then."""
        if not self._tokens.renewable:
            return
        try:
            token = await self._tokens.renew() or ""
            frame = AuthRefresh(type="auth.refresh", id=str(ULID()), d=RefreshData(token=token))
        except Exception:
            log.warning("there is no newer token", exc_info=True)
            return
        await self.send(frame)

    async def _event(self, told: Told) -> None:
        match self._log.take(told):
            case Outcome.NEW:
                self._hears.on_event(told)
            case Outcome.HOLE:
                self._reload = self._hole_at == self._log.seq  # asked again, and it is still not there
                self._hole_at = self._log.seq
                raise _Again
            case Outcome.SPOILED:
                await self._restore(self._log.session or "")
            case Outcome.OLD:
                pass

    def _check_lag(self, pong: Pong) -> None:
        """Two pongs that tell of more than has come, and nothing came between them: something was lost."""
        if pong.head_seq <= self._log.seq:
            self._lagged_at = -1
        elif self._lagged_at == self._log.seq:
            raise _Again
        else:
            self._lagged_at = self._log.seq

    async def _beat(self, socket: ClientConnection, heartbeat_s: float) -> None:
        """Say that the client is there; a server that says nothing for a whole heartbeat is not."""
        with suppress(ConnectionClosed):
            while True:
                await asyncio.sleep(heartbeat_s)
                if self._silent:
                    socket.transport.abort()
                    return
                self._silent = True
                await socket.send(
                    encode_client(Ping(type="ping", id=str(ULID()), d=PingData(seq=self._log.seq))).decode()
                )

    async def send(self, frame: ClientFrame) -> None:
        """Send a command where there is a line; it is sent again with the next one while it is unanswered."""
        if self._socket is not None and self.ready is not None:
            with suppress(ConnectionClosed):
                await self._socket.send(encode_client(frame).decode())
