"""The event stream over SSE: the frames of the websocket, for clients that only listen."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from typing import Annotated, Any, Final

from fastapi import APIRouter, Header, Query
from fastapi.responses import StreamingResponse

from assistant.core.events import SourceChanged, TurnFinished
from assistant.errors import AssistantError, BadInput, StoreUnavailable
from assistant.interfaces import Identity, NumberedEvent, OpenedConversation
from assistant.transport.asking import read_question
from assistant.transport.doors import Doors
from assistant.transport.http import DoorsHere, NewTurn, SessionId, WhoWith
from assistant.transport.presence import RECONNECT_MS
from assistant.transport.protocol import (
    ReplayDone,
    ServerDraining,
    encode_control,
    encode_numbered,
    error_shown,
)
from assistant.transport.readiness import ready_of

router = APIRouter()

BEAT: Final = b": \n\n"
"""A comment, which keeps a stream open and says nothing."""
_HEADERS: Final = {"X-Accel-Buffering": "no"}
Stays = Callable[[Doors, Identity, str], Awaitable[bool]]


@router.get("/api/sessions/{session}/stream")
async def stream(
    doors: DoorsHere,
    who: WhoWith,
    session: SessionId,
    after_seq: Annotated[int | None, Query(ge=0, le=2**53)] = None,
    last_event_id: Annotated[str | None, Header(max_length=120)] = None,
) -> StreamingResponse:
    """The numbered events of a session, first those of the past, then live ones, until the client goes or its token ends.

    Without Last-Event-ID (as it was given: epoch:seq) or `after_seq` only what comes from now on. `session.ready` comes first
    and says `recovered`: false where the session has to be loaded anew.
    """
    opened = await doors.store.open(who.caller, session)
    withheld = await doors.rights.withheld(who.caller, session)
    after = _place(opened, last_event_id) if last_event_id is not None else after_seq
    recovered = after is not None and after <= opened.head_seq and not (withheld and last_event_id)
    if after is None or not recovered:
        after = opened.head_seq
    frames = _told_of_outage(doors, session, _frames(doors, who, opened, after, withheld, recovered=recovered))
    return StreamingResponse(frames, media_type="text/event-stream", headers=_HEADERS)


@router.post("/api/sessions/{session}/turns/stream")
async def stream_turn(
    doors: DoorsHere,
    who: WhoWith,
    session: SessionId,
    body: NewTurn,
    idempotency_key: Annotated[str, Header(min_length=1, max_length=64)],
) -> StreamingResponse:
    """Ask a question and read its events until turn.done. A client that goes stops nothing; the same key reads the same turn."""
    asked = await read_question(doors, who.caller, session, client_id=idempotency_key, data=body)
    begun = await doors.live.start(who.caller, session, asked)
    frames = _told_of_outage(doors, session, _frames_of_turn(doors, who, session, begun.turn))
    return StreamingResponse(frames, media_type="text/event-stream", headers=_HEADERS)


async def _told_of_outage(doors: Doors, session: str, frames: AsyncGenerator[bytes, None]) -> AsyncIterator[bytes]:
    """The frames, with an error at their end where the database went away for too long. The client comes back."""
    try:
        async with aclosing(frames):
            async for frame in frames:
                yield frame
    except StoreUnavailable as error:
        yield _sse(encode_control(session, error_shown(error, doors.new_id()), doors.now()))


def _place(opened: OpenedConversation, given: str) -> int | None:
    """The number that a client has, where it is of this life of the log."""
    epoch, _, number = given.rpartition(":")
    if not number.isascii() or not number.isdigit() or len(number) > 16:
        raise BadInput("Last-Event-ID has not the form epoch:seq", reason="last_event_id")
    return int(number) if epoch == opened.epoch else None


async def _frames(
    doors: Doors,
    who: Identity,
    opened: OpenedConversation,
    after: int,
    withheld: frozenset[str],
    *,
    recovered: bool,
) -> AsyncGenerator[bytes, None]:
    head = opened.head_seq
    ready = ready_of(doors, who, opened, after, recovered=recovered)
    yield _sse(encode_control(opened.id, ready, doors.now()))
    if after >= head:
        yield _sse(encode_control(opened.id, ReplayDone(head_seq=head), doors.now()))
    async with aclosing(allowed(doors, who, opened.id, after)) as events:
        async for event in events:
            if event is None:
                yield BEAT
                continue
            if isinstance(event.event, SourceChanged):
                newer = await doors.rights.withheld(who.caller, opened.id)
                if not newer <= withheld:
                    return  # the client comes back, and is told to load the session anew
            yield _sse(encode_numbered(opened.id, event, withheld), f"{opened.epoch}:{event.seq}")
            if after < head == event.seq:
                yield _sse(encode_control(opened.id, ReplayDone(head_seq=head), doors.now()))
    if doors.presence.draining:
        yield _sse(encode_control(opened.id, ServerDraining(reconnect_after_ms=RECONNECT_MS), doors.now()))


async def _frames_of_turn(doors: Doors, who: Identity, session: str, turn: str) -> AsyncGenerator[bytes, None]:
    opened = await doors.store.open(who.caller, session)
    withheld = await doors.rights.withheld(who.caller, session)
    first = await doors.events.read(session, turn=turn, limit=1)
    async with aclosing(allowed(doors, who, session, first[0].seq - 1 if first else 0)) as events:
        async for event in events:
            if event is None:
                yield BEAT
            elif event.turn == turn:
                yield _sse(encode_numbered(session, event, withheld), f"{opened.epoch}:{event.seq}")
                if isinstance(event.event, TurnFinished):
                    return


async def allowed(
    doors: Doors, who: Identity, session: str, after: int, stays: Stays | None = None
) -> AsyncGenerator[NumberedEvent | None, None]:
    """Events as long as the person may be here; None at every heartbeat without one.

    `stays` is asked whenever something about the person or the server changes, and at every heartbeat; not given it is
    no to a stopping server and to other groups too, as a client that can resume comes back.
    """
    stays = stays or _may_stay
    events = doors.live.follow(session, after)
    with doors.presence.here(who.caller) as bell:
        async with aclosing(events):
            following = asyncio.ensure_future(anext(events))
            ringing = asyncio.ensure_future(bell.wait())
            try:
                while True:
                    done, _ = await asyncio.wait(
                        {following, ringing}, timeout=doors.heartbeat_s, return_when=asyncio.FIRST_COMPLETED
                    )
                    if (ringing in done or not done) and not await stays(doors, who, session):
                        return
                    if ringing in done:
                        bell.clear()
                        ringing = asyncio.ensure_future(bell.wait())
                    if following in done:
                        yield following.result()
                        following = asyncio.ensure_future(anext(events))
                    elif not done:
                        yield None
            finally:
                following.cancel()
                ringing.cancel()
                await _over({following, ringing})


async def _over(tasks: set[asyncio.Future[Any]]) -> None:
    """Wait for cancelled tasks to end.

    A stream whose client went is cancelled again and again until it is over. That must not reach the tasks, which are giving
    a connection of the database back; cut off in that they would lose it, with a trace in the log.
    """
    broken: asyncio.CancelledError | None = None
    while not all(task.done() for task in tasks):
        try:
            await asyncio.wait(tasks)
        except asyncio.CancelledError as error:
            broken = error
    for task in tasks:
        if not task.cancelled():
            task.exception()  # looked at, so that nobody complains
    if broken is not None:
        raise broken


async def _may_stay(doors: Doors, who: Identity, session: str) -> bool:
    if doors.presence.draining or (who.expires_at is not None and who.expires_at <= doors.now()):
        return False
    try:
        now = await doors.authenticator.recheck(who)
        await doors.store.open(who.caller, session)
    except StoreUnavailable:
        raise
    except AssistantError:
        return False
    return now.caller.groups == who.caller.groups


def _sse(frame: bytes, id_: str = "") -> bytes:
    head = f"id: {id_}\n".encode() if id_ else b""
    return head + b"data: " + frame + b"\n\n"
