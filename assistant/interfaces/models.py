"""Models of language and of meaning."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from assistant.core.messages import ModelChunk
from assistant.core.prompt import ModelRequest

Vectors = NDArray[np.float32]


class TokenCounter(Protocol):
    """Counts tokens as one model does. Pure and fast: tables are loaded before the first request."""

    @property
    def name(self) -> str:
        """The encoding in use, for the plan."""
        ...

    def count(self, text: str) -> int:
        """The number of tokens of `text`; 0 for an empty text."""
        ...


class ChatModel(Protocol):
    """A language model, or something that answers like one."""

    @property
    def name(self) -> str:
        """The name that is stored with each answer."""
        ...

    @property
    def window(self) -> int:
        """Tokens of input and output together that one call may hold."""
        ...

    @property
    def counter(self) -> TokenCounter:
        """The counter that fits this model best."""
        ...

    def stream(self, request: ModelRequest) -> AsyncGenerator[ModelChunk, None]:
        """Answer the request: deltas, then exactly one ModelFinish.

        Closing the iterator stops the generation at the provider. Raises ModelUnavailable, ContextOverflow or
        ModelMisconfigured.
        """
        ...

    async def aclose(self) -> None:
        """Release what the model holds; called once, at shutdown."""
        ...


class ModelAround:
    """The base of a model around another: everything is that of the model `inner`, but what a subclass says itself."""

    def __init__(self, inner: ChatModel) -> None:
        self._inner = inner

    @property
    def name(self) -> str:
        """The name of the model inside."""
        return self._inner.name

    @property
    def window(self) -> int:
        """Tokens of input and output together."""
        return self._inner.window

    @property
    def counter(self) -> TokenCounter:
        """The counter of the model inside."""
        return self._inner.counter

    async def aclose(self) -> None:
        """Release what the model inside holds."""
        await self._inner.aclose()


class Embedder(Protocol):
    """Turns text into unit vectors, so that the dot product is the cosine."""

    @property
    def name(self) -> str:
        """Name and revision; vectors of different names are never compared."""
        ...

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        ...

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Vectors of texts to be found, shape (len(texts), dimension)."""
        ...

    async def embed_query(self, text: str) -> Vectors:
        """The vector of a search text, shape (dimension,)."""
        ...
