"""Answers that may be given again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from assistant.core.caching import CachedAnswer, CacheKey
from assistant.interfaces.models import Vectors


@dataclass(frozen=True, slots=True)
class QuestionVector:
    """The unit vector of a question, and the name of the embedder that made it; others' vectors are never compared."""

    embedder: str
    values: Vectors


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """A kept answer under its key (without `documents`), and the vector of its question where there was an embedder."""

    key: CacheKey
    vector: QuestionVector | None
    answer: CachedAnswer


class AnswerStore(Protocol):
    """Keeps answers for a while. Deleting or changing a document ends those made from it; so does erasing their turn."""

    async def candidates(self, key: CacheKey) -> Sequence[KeptAnswer]:
        """The kept answers under this frame and meaning that have not expired, newest first; a bounded number."""
        ...

    async def library(self, tenant: str) -> str | None:
        """A name for the state of all shared documents of a tenant: another one after any change; None shortly after one."""
        ...

    async def keep(self, key: CacheKey, answer: CachedAnswer, vector: QuestionVector | None) -> bool:
        """Keep an answer in place of one to the same question and evidence; False when its turn or a document has changed meanwhile."""
        ...
