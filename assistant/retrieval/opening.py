"""Open the searches of the settings: the built-in one, those outside, or both as one."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

from assistant.config import ExternalSettings, RetrievalSettings
from assistant.core.access import Caller
from assistant.core.attachments import FILES
from assistant.core.evidence import Passage, Place
from assistant.errors import BadSetting
from assistant.interfaces import Retriever
from assistant.retrieval.external import HttpRetriever
from assistant.retrieval.registered import registered
from assistant.retrieval.several import BUILTIN, SeveralRetrievers, WeightedSearch
from assistant.retrieval.signing import CallerSigner


@asynccontextmanager
async def open_retriever(
    chosen: RetrievalSettings, builtin: Retriever, pseudonym: Callable[[Caller], str]
) -> AsyncIterator[Retriever]:
    """What searches by these settings; `builtin` is the search in the knowledge base. Connections are closed at the end.

    Raises BadSetting for an address, secret or name that cannot be used, and where nothing would be searched.
    """
    twice = [name for name, times in Counter([BUILTIN, *(one.name for one in chosen.external)]).items() if times > 1]
    if twice:
        raise BadSetting("two searches have one name", setting="retrieval.external", names=twice)
    if not chosen.builtin and not chosen.external:
        raise BadSetting("nothing would be searched", setting="retrieval.builtin")
    async with AsyncExitStack() as stack:
        outside = [
            WeightedSearch(one.name, await _opened(one, pseudonym, stack), one.weight) for one in chosen.external
        ]
        if not outside:
            yield builtin
        else:
            # Without the knowledge base, the files of a session still have to be found.
            own = builtin if chosen.builtin else SessionFilesOnly(builtin)
            yield SeveralRetrievers([WeightedSearch(BUILTIN, own, enough=chosen.builtin), *outside])


async def _opened(one: ExternalSettings, pseudonym: Callable[[Caller], str], stack: AsyncExitStack) -> Retriever:
    if not one.url:
        return await asyncio.to_thread(registered, one.name)  # reads files
    signer = CallerSigner(one.name, one.secret.get_secret_value(), pseudonym)
    made = HttpRetriever(one.url, signer, timeout=one.timeout_s)
    stack.push_async_callback(made.aclose)
    return made


class SessionFilesOnly:
    """The built-in search where it is left to others: it finds what people attached to their session, and nothing else."""

    def __init__(self, builtin: Retriever) -> None:
        self._builtin = builtin

    async def search(
        self,
        queries: Sequence[str],
        caller: Caller,
        *,
        collections: frozenset[str] | None = None,
        limit: int = 24,
        earlier: Sequence[Place] = (),
    ) -> list[Passage]:
        """The best passages of the files among the collections."""
        files = frozenset(name for name in collections or () if name.startswith(FILES))
        if not files:
            return []
        return await self._builtin.search(queries, caller, collections=files, limit=limit, earlier=earlier)
