"""Searches that other packages register in Python, held to the same laws as those over HTTP."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.metadata import entry_points
from typing import Final

from assistant.core.access import PRIVATE, Caller
from assistant.core.attachments import covers
from assistant.core.evidence import Passage, Place, evidence_id
from assistant.core.text import without_unstorable
from assistant.errors import BadSetting
from assistant.interfaces import Retriever
from assistant.interfaces.outside import SearchUnavailable
from assistant.retrieval.external_wire import OUTSIDE

GROUP: Final = "assistant.retrievers"
"""The entry point group of searches: the name is that of the settings, the object a RetrieverFactory."""

RetrieverFactory = Callable[[], Retriever]


def registered(name: str) -> Retriever:
    """The search that is registered under this name. Raises BadSetting when there is none, or it cannot be made."""
    entries = {entry.name: entry for entry in entry_points(group=GROUP)}
    if name not in entries:
        raise BadSetting(
            "there is no such search; give it a url", setting="retrieval.external", name=name, known=sorted(entries)
        )
    try:
        made: Retriever = entries[name].load()()
    except Exception as error:
        raise BadSetting(f"{name} cannot be made: {type(error).__name__}", setting="retrieval.external") from error
    return LawfulRetriever(name, made)


class LawfulRetriever:
    """A search of somebody else's code: its documents get names and a collection of their own, and its access is checked."""

    def __init__(self, name: str, inner: Retriever) -> None:
        self._name = name
        self._inner = inner

    async def search(
        self,
        queries: Sequence[str],
        caller: Caller,
        *,
        collections: frozenset[str] | None = None,
        limit: int = 24,
        earlier: Sequence[Place] = (),
    ) -> list[Passage]:
        """The passages in the order in which they come. Raises SearchUnavailable when one of them breaks a law."""
        if limit < 1 or not covers(collections, self._name):
            return []
        prefix = f"{OUTSIDE}{self._name}:"
        own = [
            replace(place, document=place.document.removeprefix(prefix))
            for place in earlier
            if place.document.startswith(prefix)
        ]
        found = await self._inner.search(queries, caller, collections=None, limit=limit, earlier=own)
        return [self._checked(passage, caller) for passage in found[:limit]]

    def _checked(self, passage: Passage, caller: Caller) -> Passage:
        source = passage.source
        if not caller.may_read(source.access) or any(group.startswith(PRIVATE) for group in source.access):
            raise SearchUnavailable("a passage that the caller may not read", search=self._name, reason="access")
        if len(passage.text) != len(passage.span) or without_unstorable(passage.text) != passage.text:
            raise SearchUnavailable("a passage that is not its span", search=self._name, reason="invalid")
        source = replace(source, document=f"{OUTSIDE}{self._name}:{source.document}", collection=self._name)
        return replace(passage, id=evidence_id(source, passage.span), source=source, images=())
