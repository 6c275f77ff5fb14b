"""The sources of old answers over REST: the passage as it was, and what became of it."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request

from assistant.interfaces import PastSources
from assistant.transport.http import SessionId, TurnId, Who

router = APIRouter()


def _sources(request: Request) -> PastSources:
    sources: PastSources = request.app.state.doors.sources
    return sources


Sources = Annotated[PastSources, Depends(_sources)]


@router.get("/api/sessions/{session}/turns/{turn}/citations/{n}/source")
async def source(
    sources: Sources,
    who: Who,
    session: SessionId,
    turn: TurnId,
    n: Annotated[int, Path(ge=1, le=1_000_000)],
    start: Annotated[int | None, Query(ge=0, le=2**53)] = None,
) -> dict[str, Any]:
    """A cited passage as it was, its place in the version of today, and the words that differ; `start` picks one of several places.

    `state` is unchanged, same_text (a newer version says the same), changed, deleted or unknown (a source from outside). What
    may not be read now is not found, like anything else that is not there.
    """
    found = await sources.source(who, session, turn, n, start)
    return await asyncio.to_thread(found.as_json)


@router.get("/api/sessions/{session}/sources")
async def states(sources: Sources, who: Who, session: SessionId) -> dict[str, Any]:
    """What became of every citation of a session: a state as above, or not_available for what may not be read now."""
    found = await sources.states(who, session)
    return {"sources": [{"turn": turn, "n": n, "state": state.value} for (turn, n), state in found.items()]}
