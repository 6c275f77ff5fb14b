"""Files that a person attached to a session: where they lie, who finds them, and how they stand beside other evidence. Pure.

A file is a document like any other in the collection `files:<session>`, readable by the private group of its owner alone. It is
found in turns of its session and nowhere else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from assistant.core.citations import Citation
from assistant.core.events import ConflictShown
from assistant.core.evidence import Passage
from assistant.core.turn import TurnMessage

FILES: Final = "files:"
"""Collections that begin like this hold the files of one session each."""

SHARED: Final = "*"
"""In a set of collections: all of them but those of sessions."""

_PREFERENCE: Final = 1.1
"""How far the best passage of an attached file stands before the best of the rest, as a factor on its score."""

_FADING: Final = 0.98
"""How the passages of a file in which nothing meets the question follow each other, as a factor for each further one."""


def files_of(session: str) -> str:
    """The collection that holds the files of a session."""
    return FILES + session


def covers(collections: frozenset[str] | None, collection: str) -> bool:
    """Whether a search in these collections looks into this one; None and `SHARED` leave out the files of sessions."""
    if collections is not None and collection in collections:
        return True
    return (collections is None or SHARED in collections) and not collection.startswith(FILES)


def search_scope(session: str, scope: frozenset[str] | None) -> frozenset[str]:
    """Where a turn searches: in what was asked for (None: in all that is shared) and in the files of its own session.

    Files of other sessions are taken out of what was asked for.
    """
    asked = {SHARED} if scope is None else {name for name in scope if not name.startswith(FILES)}
    return frozenset({*asked, files_of(session)})


def preferring(
    passages: Sequence[Passage], attached: Sequence[Passage], documents: frozenset[str], limit: int
) -> list[Passage]:
    """What a search found, with the passages of these attached documents before the rest; at most `limit`, best first.

    `attached` was found by a search in the files alone, whose scores mean something else: they are scaled so that their best
    stands a little before the best of the others and none falls below half of that: what is attached is meant, and "what does this
    say" shares no word with the file. Where nothing in it meets the question its order is kept. Half of the places stay with the
    others, where there are as many.
    """
    own = [passage for passage in attached if passage.source.document in documents]
    others = [passage for passage in passages if passage.source.document not in documents]
    room = max(limit - len(others), limit - limit // 2)
    ranked = _scaled(own, max((passage.score for passage in others), default=0.0))[:room]
    return sorted([*ranked, *others[: limit - len(ranked)]], key=lambda passage: -passage.score)


def without_private(message: TurnMessage, documents: frozenset[str], evidence: frozenset[str]) -> TurnMessage:
    """The turn without what it quotes from these private documents, of which it was shown these pieces of evidence.

    For what is kept for good in the open: places, hashes and verdicts stay, words, titles and names go.
    """
    if not documents:
        return message
    found, conflicts = message.citations, message.conflicts
    if found is not None:
        found = replace(found, items=tuple(_unnamed(one, documents) for one in found.items))
    if conflicts is not None:
        conflicts = replace(conflicts, items=tuple(_untold(one, evidence) for one in conflicts.items))
    return replace(message, citations=found, conflicts=conflicts)


def _unnamed(citation: Citation, documents: frozenset[str]) -> Citation:
    if citation.source.document not in documents:
        return citation
    return replace(citation, source=replace(citation.source, title="", uri="", section="", exact=""))


def _untold(conflict: ConflictShown, evidence: frozenset[str]) -> ConflictShown:
    if evidence.isdisjoint(side.evidence for side in conflict.sides):
        return conflict
    sides = tuple(replace(side, claim="", title="") if side.evidence in evidence else side for side in conflict.sides)
    return replace(conflict, topic="", note="", sides=sides)


def _scaled(own: Sequence[Passage], others: float) -> list[Passage]:
    best = max((passage.score for passage in own), default=0.0)
    top = min(1.0, max(best, others) * _PREFERENCE) or 1.0
    shares = [passage.score / best if best > 0 else _FADING**place for place, passage in enumerate(own)]
    return [replace(one, score=top * (0.5 + share / 2)) for one, share in zip(own, shares, strict=True)]
