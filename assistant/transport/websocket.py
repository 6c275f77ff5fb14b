"""The websocket `assistant.v1`: a thin shell around the protocol. One receiver, one sender, one follower per socket."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from dataclasses import dataclass

import structlog
from fastapi import WebSocket, WebSocketDisconnect

from assistant.core.access import Caller
from assistant.errors import AssistantError, BadInput, NotAuthenticated, NotFound
from assistant.interfaces import Feedback, NumberedEvent, OpenedConversation
from assistant.synthesis.registry import read_mode
from assistant.transport.auth import origin_allowed
from assistant.transport.doors import Doors, read_schema
from assistant.transport.errors import Close
from assistant.transport.outbox import Outbox, SlowReader
from assistant.transport.protocol import (
    SUBPROTOCOL,
    Ack,
    ClientFrame,
    Control,
    ErrorShown,
    FeedbackAdd,
    Ping,
    Pong,
    ReplayDone,
    SessionOpen,
    SessionReady,
    TurnCancel,
    TurnStart,
    decode,
    encode_control,
    encode_numbered,
)

log = structlog.get_logger(__name__)

OPEN_WITHIN_S = 5.0
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
        await _serve(websocket, doors, outbox)
    except WebSocketDisconnect:
        return
    except _Closed as closed:
        await outbox.flush_and_close(closed.code, closed.reason)
    except SlowReader:
        await outbox.flush_and_close(Close.SLOW_READER, "slow reader", patience=0)
    finally:
        outbox.stop()


async def _serve(websocket: WebSocket, doors: Doors, outbox: Outbox) -> None:
    opening = await _first_frame(websocket, doors, outbox)
    try:
        caller = await doors.authenticator.authenticate(opening.d.token)
        opened = await doors.store.open(caller, opening.d.session_id)
    except NotAuthenticated:
        raise _Closed(Close.NOT_AUTHENTICATED, "not authenticated") from None
    except NotFound:
        raise _Closed(Close.OTHER_USER, "no such session") from None
    session = _Session(websocket, doors, outbox, caller, opened)
    after = await session.ready(opening)
    follower = asyncio.create_task(session.follow(after))
    receiver = asyncio.create_task(session.receive())
    try:
        done, _ = await asyncio.wait({follower, receiver}, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in (follower, receiver):
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
    log.info("refused", code=error.code, incident=incident, reason=error.data.get("reason"))
    wait = error.data.get("retry_after_ms")
    shown = ErrorShown(
        code=error.code,
        message_key=f"error.{error.code}",
        retryable=error.retryable,
        retry_after_ms=wait if isinstance(wait, int) else None,
        ref_id=ref,
        incident=incident,
    )
    await outbox.put(encode_control(session, shown, doors.now()))


@dataclass(slots=True)
class _Session:
    websocket: WebSocket
    doors: Doors
    outbox: Outbox
    caller: Caller
    opened: OpenedConversation

    async def ready(self, opening: SessionOpen) -> int:
        """Say where the session stands; the number after which events are sent."""
        resume, head = opening.d.resume, self.opened.head_seq
        fresh = opening.d.session_id is None or (head == 0 and (resume is None or resume.seq == 0))
        recovered = fresh or (resume is not None and resume.epoch == self.opened.epoch and resume.seq <= head)
        after = resume.seq if recovered and resume and not fresh else head
        await self.control(
            SessionReady(
                session_id=self.opened.id,
                epoch=self.opened.epoch,
                head_seq=head,
                recovered=recovered,
                replay_count=head - after,
                heartbeat_ms=int(self.doors.heartbeat_s * 1000),
                limits=self.doors.limits,
            )
        )
        return after

    async def follow(self, after: int) -> None:
        """Send missed events, say so, then live ones."""
        head = self.opened.head_seq
        if after >= head:
            await self.control(ReplayDone(head_seq=head))
        events: AsyncGenerator[NumberedEvent, None] = self.doors.live.follow(self.opened.id, after)
        async with aclosing(events):
            async for event in events:
                await self.outbox.put(encode_numbered(self.opened.id, event))
                if after < head == event.seq:
                    await self.control(ReplayDone(head_seq=head))

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
                self.doors.live.cancel(self.caller, self.opened.id, frame.d.turn)
                await self.control(Ack(id=frame.id, turn=frame.d.turn))
            case FeedbackAdd():
                given = Feedback(id=frame.id, **frame.d.model_dump())
                await self.doors.store.add_feedback(self.caller, self.opened.id, given)
                await self.control(Ack(id=frame.id, turn=frame.d.turn))
            case Ping():
                await self.control(Pong(head_seq=await self.doors.events.head(self.opened.id)))
            case SessionOpen():
                raise BadInput("the session is open already", reason="session.open")

    async def _start(self, frame: TurnStart) -> None:
        mode, schema = read_mode(frame.d.mode), read_schema(frame.d.json_schema)
        if not frame.d.text.strip():
            raise BadInput("the question is empty", reason="text")
        self.doors.limiter.take(self.caller)
        collections = frozenset(frame.d.scope.collections) if frame.d.scope and frame.d.scope.collections else None
        begun = await self.doors.live.start(
            self.caller,
            self.opened.id,
            client_id=frame.id,
            text=frame.d.text,
            mode=mode,
            collections=collections,
            schema=schema,
        )
        await self.control(Ack(id=frame.id, duplicate=begun.duplicate, turn=begun.turn))

    async def control(self, message: Control) -> None:
        """Queue a control frame."""
        await self.outbox.put(encode_control(self.opened.id, message, self.doors.now()))
