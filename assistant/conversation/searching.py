"""Searching for a turn: in what was asked for, in the files of its session, and first in those that came with the question."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from assistant.conversation.turns import StartedTurn
from assistant.core.attachments import files_of, preferring, search_scope
from assistant.core.evidence import Passage, Place
from assistant.interfaces import Retriever, SessionFiles
from assistant.telemetry import stepping


@stepping("search")
async def search_for(
    start: StartedTurn,
    queries: Sequence[str],
    retriever: Retriever,
    files: SessionFiles | None = None,
    *,
    limit: int,
    earlier: Sequence[Place] = (),
) -> list[Passage]:
    """The best passages for a turn, best first. Files of its session take part; those attached to the question stand first.

    Files of other sessions are never found. Where nothing is to be searched for, as in small talk, an attached file is read from
    its beginning. Raises NotFound when it is no longer there.
    """
    scope = search_scope(start.conversation, start.collections)
    search = retriever.search(queries, start.caller, collections=scope, limit=limit, earlier=earlier)
    if not start.attachments or files is None:
        return await search
    found, own = await asyncio.gather(search, _in_files(start, queries, retriever, files, limit))
    return preferring(found, own, frozenset(start.attachments), limit)


async def _in_files(
    start: StartedTurn, queries: Sequence[str], retriever: Retriever, files: SessionFiles, limit: int
) -> list[Passage]:
    """Passages of the session's files; those of attached ones also where no word of the question is in them."""
    attached = await files.attached(start.caller, start.conversation, start.attachments)
    within = frozenset({files_of(start.conversation)})
    places = [file.place for file in attached]
    return await retriever.search(
        queries or [start.text], start.caller, collections=within, limit=limit, earlier=places
    )
