"""The websocket `assistant.v1`: a thin shell around the protocol. One receiver, one sender, one follower per socket."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from contextlib import aclosing, suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import structlog
from fastapi import WebSocket, WebSocketDisconnect

from assistant.core.events import SourceChanged
from assistant.errors import (
    AssistantError,
    BadInput,
    NotAuthenticated,
    NotFound,
    OtherUser,
    StoreUnavailable,
    TokenExpired,
)
from assistant.interfaces import Feedback, Identity, NumberedEvent, OpenedConversation
from assistant.telemetry.figures import ERRORS, bounded
from assistant.transport.asking import read_question
from assistant.transport.auth import needs_origin, origin_allowed
from assistant.transport.doors import Doors
from assistant.transport.errors import Close
from assistant.transport.outbox import Outbox, SlowReader
from assistant.transport.presence import RECONNECT_MS
from assistant.transport.protocol import (
    SUBPROTOCOL,
    Ack,
    AuthExpiring,
    AuthRefresh,
    ClientFrame,
    Control,
    FeedbackAdd,
    Ping,
    Pong,
    ReplayDone,
    ServerDraining,
    SessionOpen,
    TurnCancel,
    TurnStart,
    decode,
    encode_control,
    encode_numbered,
    error_shown,
)
from assistant.transport.readiness import ready_of

log = structlog.get_logger(__name__)

OPEN_WITHIN_S = 5.0
WARN_S = 60.0
"""How long before its token ends a client is told so, in seconds."""
_DAY_S = 86_400.0
MISSED_HEARTBEATS = 2.5


class _Closed(Exception):
    """Ends the socket with a code."""

    def __init__(self, code: Close, reason: str = "") -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


async def serve_socket(websocket: WebSocket, doors: Doors) -> None:
    """Serve one socket from handshake to close; the turns it started go on without it."""
    if SUBPROTOCOL not in websocket.scope.get("subprotocols", []):
        await websocket.accept()
        await websocket.close(Close.VERSION, "subprotocol")
        return
    await websocket.accept(SUBPROTOCOL)
    outbox = Outbox(websocket)
    try:
        if not origin_allowed(websocket.headers.get("origin"), websocket.headers.get("host"), doors.origins):
            raise _Closed(Close.ORIGIN_REFUSED, "origin")
        if doors.presence.draining:
            raise _Closed(Close.DRAINING, "draining")
        await _serve(websocket, doors, outbox)
    except WebSocketDisconnect:
        return
    except _Closed as closed:
        await outbox.flush_and_close(closed.code, closed.reason)
    except SlowReader:
        await outbox.flush_and_close(Close.SLOW_READER, "slow reader", patience=0)
    except StoreUnavailable as error:
        await _refuse(outbox, doors, "", error, None)
        await outbox.flush_and_close(Close.UNAVAILABLE, "unavailable")
    except Exception:
        log.exception("a socket failed")
        await outbox.flush_and_close(Close.STATE_LOST, "internal")
    finally:
        outbox.stop()


async def _serve(websocket: WebSocket, doors: Doors, outbox: Outbox) -> None:
    opening = await _first_frame(websocket, doors, outbox)
    try:
        identity = await doors.authenticator.authenticate(opening.d.token)
        if websocket.headers.get("origin") is None and needs_origin(identity):
            raise _Closed(Close.ORIGIN_REFUSED, "origin")
        opened = await doors.store.open(identity.caller, opening.d.session_id)
    except TokenExpired:
        raise _Closed(Close.TOKEN_EXPIRED, "token expired") from None
    except NotAuthenticated:
        raise _Closed(Close.NOT_AUTHENTICATED, "not authenticated") from None
    except NotFound:
        raise _Closed(Close.OTHER_USER, "no such session") from None
    with doors.presence.here(identity.caller) as bell:
        session = _Session(websocket, doors, outbox, identity, opened, bell)
        after = await session.ready(opening)
        await _until_first({session.follow(after), session.receive(), session.attend()})


async def _until_first(works: set[Coroutine[Any, Any, None]]) -> None:
    """Run all until the first one ends or fails; the others are stopped, and its error is raised."""
    tasks = [asyncio.create_task(work) for work in works]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await task


async def _first_frame(websocket: WebSocket, doors: Doors, outbox: Outbox) -> SessionOpen:
    try:
        async with asyncio.timeout(OPEN_WITHIN_S):
            frame = decode(await _receive(websocket))
    except TimeoutError:
        raise _Closed(Close.NO_OPEN, "no session.open in time") from None
    except BadInput as error:
        await _refuse(outbox, doors, "", error, None)
        raise _Closed(_close_code(error), "bad frame") from None
    if not isinstance(frame, SessionOpen):
        raise _Closed(Close.NO_OPEN, "session.open must come first")
    return frame


async def _receive(websocket: WebSocket) -> str | bytes:
    message = await websocket.receive()
    if message["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(message.get("code", 1000))
    text = message.get("text")
    return text if text is not None else message.get("bytes") or b""


def _close_code(error: BadInput) -> Close:
    return Close.VERSION if error.data.get("reason") == "version" else Close.BAD_FRAME


async def _refuse(outbox: Outbox, doors: Doors, session: str, error: AssistantError, ref: str | None) -> None:
    incident = doors.new_id()
    ERRORS.labels("socket", bounded("code", error.code)).inc()
    log.info("refused", code=error.code, incident=incident, reason=error.data.get("reason"))
    await outbox.put(encode_control(session, error_shown(error, incident, ref), doors.now()))


@dataclass(slots=True)
class _Session:
    websocket: WebSocket
    doors: Doors
    outbox: Outbox
    identity: Identity
    opened: OpenedConversation
    bell: asyncio.Event
    withheld: frozenset[str] = frozenset()

    async def ready(self, opening: SessionOpen) -> int:
        """Say where the session stands; the number after which events are sent.

        A client that may hold what is withheld now has to load the session anew.
        """
        resume, head = opening.d.resume, self.opened.head_seq
        self.withheld = await self.doors.rights.withheld(self.identity.caller, self.opened.id)
        fresh = opening.d.session_id is None or (head == 0 and (resume is None or resume.seq == 0))
        known = resume is not None and resume.epoch == self.opened.epoch and resume.seq <= head and not self.withheld
        after = resume.seq if known and resume and not fresh else head
        await self.control(ready_of(self.doors, self.identity, self.opened, after, recovered=fresh or known))
        return after

    async def follow(self, after: int) -> None:
        """Send missed events, say so, then live ones."""
        head = self.opened.head_seq
        if after >= head:
            await self.control(ReplayDone(head_seq=head))
        events: AsyncGenerator[NumberedEvent, None] = self.doors.live.follow(self.opened.id, after)
        async with aclosing(events):
            async for event in events:
                if isinstance(event.event, SourceChanged):
                    await self._look_again()
                await self.outbox.put(encode_numbered(self.opened.id, event, self.withheld))
                if after < head == event.seq:
                    await self.control(ReplayDone(head_seq=head))

    async def _look_again(self) -> None:
        """Let the client load the session anew when something that it was sent may no longer be read."""
        withheld = await self.doors.rights.withheld(self.identity.caller, self.opened.id)
        if not withheld <= self.withheld:
            raise _Closed(Close.STATE_LOST, "sources were withdrawn")
        self.withheld = withheld

    async def attend(self) -> None:
        """Close the socket when its token ends, the person is sent away or the server stops; warn before."""
        warned: datetime | None = None
        while True:
            expires = self.identity.expires_at
            warns = expires is not None and warned != expires
            with suppress(TimeoutError):
                async with asyncio.timeout(self._until(expires, warns)):
                    await self.bell.wait()
            self.bell.clear()
            if self.doors.presence.draining:
                await self.control(ServerDraining(reconnect_after_ms=RECONNECT_MS))
                raise _Closed(Close.DRAINING, "draining")
            await self._recheck()
            if expires is None or expires != self.identity.expires_at:
                continue
            if expires <= self.doors.now():
                raise _Closed(Close.TOKEN_EXPIRED, "token expired")
            if warns and self._until(expires, warns) <= 0:
                warned = expires
                await self.control(AuthExpiring(expires_at=expires))

    def _until(self, expires: datetime | None, warns: bool) -> float:
        """Seconds until the client is to be warned, or else until its token ends; a day without an end."""
        if expires is None:
            return _DAY_S
        left = (expires - self.doors.now()).total_seconds()
        return max(0.0, min(_DAY_S, left - WARN_S if warns else left))

    async def _recheck(self) -> None:
        """Whether the person may still be here, and with which groups."""
        try:
            now = await self.doors.authenticator.recheck(self.identity)
        except TokenExpired:
            raise _Closed(Close.TOKEN_EXPIRED, "token expired") from None
        except NotAuthenticated:
            self.doors.live.cancel_all_of(self.identity.caller)  # nobody may read what they would say
            raise _Closed(Close.NOT_AUTHENTICATED, "not authenticated") from None
        if now.caller.groups != self.identity.caller.groups:
            self.identity = now
            await self._look_again()
        try:
            await self.doors.store.open(self.identity.caller, self.opened.id)
        except NotFound:
            raise _Closed(Close.STATE_LOST, "the session is gone") from None

    async def receive(self) -> None:
        """Take commands until the client goes or stays silent for too long."""
        silence = self.doors.heartbeat_s * MISSED_HEARTBEATS
        while True:
            try:
                async with asyncio.timeout(silence):
                    data = await _receive(self.websocket)
            except TimeoutError:
                raise _Closed(Close.NO_PONG, "silent") from None
            await self._take(data)

    async def _take(self, data: str | bytes) -> None:
        try:
            frame = decode(data)
        except BadInput as error:
            reference = error.data.get("ref_id")
            await _refuse(
                self.outbox, self.doors, self.opened.id, error, reference if isinstance(reference, str) else None
            )
            if reference is None:
                raise _Closed(_close_code(error), "bad frame") from None
            return
        if frame is None:
            return
        try:
            await self._obey(frame)
        except AssistantError as error:
            await _refuse(self.outbox, self.doors, self.opened.id, error, frame.id)
        except (_Closed, SlowReader, WebSocketDisconnect):
            raise
        except Exception:
            log.exception("command failed", type=frame.type)
            await _refuse(self.outbox, self.doors, self.opened.id, AssistantError(), frame.id)

    async def _obey(self, frame: ClientFrame) -> None:
        match frame:
            case TurnStart():
                await self._start(frame)
            case TurnCancel():
                await self.doors.live.cancel(self.identity.caller, self.opened.id, frame.d.turn)
                await self.control(Ack(id=frame.id, turn=frame.d.turn))
            case AuthRefresh():
                await self._refresh(frame)
            case FeedbackAdd():
                given = Feedback(id=frame.id, **frame.d.model_dump())
                await self.doors.store.add_feedback(self.identity.caller, self.opened.id, given)
                await self.control(Ack(id=frame.id, turn=frame.d.turn))
            case Ping():
                await self.control(Pong(head_seq=await self.doors.events.head(self.opened.id)))
            case SessionOpen():
                raise BadInput("the session is open already", reason="session.open")

    async def _refresh(self, frame: AuthRefresh) -> None:
        """Go on with a newer token; one of another person closes the socket, one that is not good only says so."""
        try:
            newer = await self.doors.authenticator.refresh(self.identity, frame.d.token)
        except OtherUser:
            raise _Closed(Close.OTHER_USER, "another person") from None
        changed = newer.caller.groups != self.identity.caller.groups
        self.identity = newer
        self.bell.set()
        await self.control(Ack(id=frame.id))
        if changed:
            await self._look_again()

    async def _start(self, frame: TurnStart) -> None:
        identity = self.identity = await self.doors.authenticator.recheck(self.identity)
        asked = await read_question(
            self.doors,
            identity.caller,
            self.opened.id,
            client_id=frame.id,
            data=frame.d,
        )
        begun = await self.doors.live.start(identity.caller, self.opened.id, asked)
        await self.control(Ack(id=frame.id, duplicate=begun.duplicate, turn=begun.turn))

    async def control(self, message: Control) -> None:
        """Queue a control frame."""
        await self.outbox.put(encode_control(self.opened.id, message, self.doors.now()))
