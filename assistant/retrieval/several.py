"""Several searches as one: asked at once, fused by rank, one that fails is left out."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import structlog

from assistant.core.access import Caller
from assistant.core.attachments import covers
from assistant.core.evidence import Passage, Place
from assistant.errors import AssistantError
from assistant.interfaces import Retriever
from assistant.interfaces.outside import SearchFailure

log = structlog.get_logger(__name__)

BUILTIN: Final = "builtin"
"""The name of the search in the knowledge base."""
_FADING: Final = 60
"""How ranks become scores where nothing else gives a scale (Cormack, Clarke and Buettcher 2009)."""


@dataclass(frozen=True, slots=True)
class WeightedSearch:
    """A search by name. `weight` is what its passages count against built-in ones of the same rank.

    `enough` says whether a turn may go on with its answer alone when the others fail.
    """

    name: str
    retriever: Retriever
    weight: float = 1.0
    enough: bool = True


class SeveralRetrievers:
    """Asks all searches at once; `note` hears of each that failed. When none is left that is enough, the first failure is raised."""

    def __init__(
        self, searches: Sequence[WeightedSearch], note: Callable[[SearchFailure], None] = lambda _: None
    ) -> None:
        self._searches = tuple(searches)
        self._note = note

    def reporting(self, note: Callable[[SearchFailure], None]) -> SeveralRetrievers:
        """The same searches, whose failures are told to `note`."""
        return SeveralRetrievers(self._searches, note)

    async def search(
        self,
        queries: Sequence[str],
        caller: Caller,
        *,
        collections: frozenset[str] | None = None,
        limit: int = 24,
        earlier: Sequence[Place] = (),
    ) -> list[Passage]:
        """The best passages of all searches, best first, at most `limit`."""
        asked = [one for one in self._searches if one.name == BUILTIN or covers(collections, one.name)]
        answers = await asyncio.gather(
            *(
                one.retriever.search(queries, caller, collections=collections, limit=limit, earlier=earlier)
                for one in asked
            ),
            return_exceptions=True,
        )
        found: list[tuple[WeightedSearch, list[Passage]]] = []
        failures: list[BaseException] = []
        for one, answer in zip(asked, answers, strict=True):
            if isinstance(answer, BaseException):
                failures.append(answer)
                self._tell(one, answer)
            else:
                found.append((one, answer))
        if failures and not any(one.enough for one, _ in found):
            raise failures[0]
        return fuse_ranks(found)[:limit]

    def _tell(self, one: WeightedSearch, error: BaseException) -> None:
        if not isinstance(error, Exception):
            raise error
        if isinstance(error, AssistantError):
            code = error.code
            log.warning("a search failed", code=code, detail=error.detail, **{**error.data, "search": one.name})
        else:
            code = "internal"
            log.error("a search failed", code=code, search=one.name, exc_info=error)
        self._note(SearchFailure(one.name, code))


def fuse_ranks(found: Sequence[tuple[WeightedSearch, Sequence[Passage]]]) -> list[Passage]:
    """One ranking from the ranks of several, best first.

    The built-in search keeps its scores, because the floor of evidence is calibrated on them. A passage from outside gets,
    times the weight of its search, the score of the built-in passage of its rank; beyond those, or without any, scores
    fade as 60 / (60 + rank). Nothing is asked of the scores outside, which have other scales.
    """
    scale = next(([item.score for item in items] for one, items in found if one.name == BUILTIN and items), [1.0])
    ranked: list[Passage] = []
    for one, items in found:
        if one.name == BUILTIN:
            ranked += items
        else:
            ranked += [replace(item, score=min(1.0, one.weight * _at(scale, n))) for n, item in enumerate(items)]
    return sorted(ranked, key=lambda passage: -passage.score)


def _at(scale: Sequence[float], rank: int) -> float:
    """The score of a rank (0 is the best) on a falling scale that may end before it."""
    beyond = max(0, rank - len(scale) + 1)
    return scale[min(rank, len(scale) - 1)] * _FADING / (_FADING + beyond)
