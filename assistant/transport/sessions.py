"""One's own sessions over REST: listed and searched, renamed, deleted, exported; and what one may still use today."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, Final, Literal, cast

import orjson
from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field

from assistant.core.own_export import ExportedSession, as_markdown
from assistant.core.turn import TurnMessage, fold
from assistant.interfaces import ConversationView, NumberedEvent
from assistant.interfaces.sessions import Sessions, UsageReport
from assistant.transport.http import DoorsHere, Json, SessionId, Who, encode_message

router = APIRouter()

_LONGEST_TITLE: Final = 2000
"""Of a title as it comes, before blanks are taken out; the store holds the promise of 120."""


class Renamed(BaseModel):
    """Another title for a session."""

    model_config = ConfigDict(extra="forbid")

    title: str = Field(min_length=1, max_length=_LONGEST_TITLE)


def _sessions(request: Request) -> Sessions:
    return cast("Sessions", request.app.state.doors.sessions)


def _usage(request: Request) -> UsageReport:
    return cast("UsageReport", request.app.state.doors.usage)


Kept = Annotated[Sessions, Depends(_sessions)]
Usage = Annotated[UsageReport, Depends(_usage)]


@router.get("/api/sessions")
async def sessions(
    kept: Kept,
    who: Who,
    query: Annotated[str, Query(max_length=200)] = "",
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    cursor: Annotated[str | None, Query(max_length=400)] = None,
) -> Json:
    """The caller's sessions, the latest first, or those whose title, questions or answers hold all words of `query`.

    `next` is the `cursor` of the following page, null at the end.
    """
    page = await kept.page(who, query=query, limit=limit, cursor=cursor)
    return {"sessions": [_item(item) for item in page.items], "next": page.next}


@router.patch("/api/sessions/{session}")
async def rename(kept: Kept, who: Who, session: SessionId, body: Renamed) -> Json:
    """Give a session another title of 1 to 120 characters."""
    return _item(await kept.rename(who, session, body.title))


@router.delete("/api/sessions/{session}", status_code=204)
async def delete(kept: Kept, doors: DoorsHere, who: Who, session: SessionId) -> Response:
    """Make a session gone for its owner and stop its turns. For the audit it is kept as long as policies say."""
    for turn in await kept.delete(who, session):
        await doors.live.cancel(who, session, turn)
    doors.presence.ring([(who.tenant, who.user)])  # an open socket of the session looks again
    return Response(status_code=204)


@router.get("/api/sessions/{session}/export")
async def export(
    kept: Kept,
    doors: DoorsHere,
    who: Who,
    session: SessionId,
    format: Literal["markdown", "json"] = "markdown",  # noqa: A002 - the name in the address
    language: Literal["en", "zh"] = "en",
) -> Response:
    """The whole session as a file: Markdown with footnotes, or JSON with everything that the snapshot has.

    Answers that rest on something that may not be read now are withheld; their questions are there.
    """
    view = await kept.view(who, session)
    events = await doors.events.read(session)
    withheld = await doors.rights.withheld(who, session)  # after the text, so that nothing newer than the look is given
    turns = await asyncio.to_thread(_turns, events)
    exported = ExportedSession(view.title, view.created_at, doors.now(), turns, withheld)
    if format == "json":
        seq = events[-1].seq if events else 0
        return _file(await asyncio.to_thread(_json, view, exported, seq), "application/json", "conversation.json")
    text = await asyncio.to_thread(as_markdown, exported, language)
    return _file(text.encode(), "text/markdown; charset=utf-8", "conversation.md")


@router.get("/api/usage")
async def usage(report: Usage, who: Who) -> Json:
    """What the caller has used today (UTC) and may use; a limit of null is none. `reached` names a limit that is used up."""
    today = await report.today(who)
    return {
        "day": today.day.isoformat(),
        "used": asdict(today.used),
        "limits": {name: limit or None for name, limit in asdict(today.limits).items()},
        "reached": today.reached,
        "resets_in_ms": today.resets_in_ms,
    }


def _item(view: ConversationView) -> Json:
    return {
        "session_id": view.id,
        "title": view.title,
        "created_at": view.created_at.isoformat(),
        "updated_at": view.updated_at.isoformat(),
        "turns": view.turns,
    }


def _turns(events: Sequence[NumberedEvent]) -> tuple[tuple[str, TurnMessage], ...]:
    of_turn: dict[str, list[NumberedEvent]] = {}
    for item in events:
        of_turn.setdefault(item.turn, []).append(item)
    return tuple((turn, fold(item.event for item in items)) for turn, items in of_turn.items())


def _json(view: ConversationView, exported: ExportedSession, seq: int) -> bytes:
    shown = {
        **_item(view),
        "exported_at": exported.exported_at.isoformat(),
        "as_of_seq": seq,
        "turns": [
            {"turn": turn, "message": encode_message(message, withheld=turn in exported.withheld)}
            for turn, message in exported.turns
        ],
    }
    return orjson.dumps(shown, option=orjson.OPT_INDENT_2)


def _file(content: bytes, media_type: str, name: str) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
    return Response(content, media_type=media_type, headers=headers)
