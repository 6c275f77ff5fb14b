"""Any embedding model that litellm can reach."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from assistant.errors import ModelMisconfigured
from assistant.interfaces import Vectors
from assistant.llm.litellm_door import begin_import, failure_of, litellm_module

# What each side is called by providers that embed questions and passages differently (Cohere, Voyage, Gemini, NVIDIA).
_QUERY: Final = {"cohere": "search_query", "voyage": "query", "nvidia_nim": "query", "gemini": "RETRIEVAL_QUERY"}
_PASSAGE: Final = {
    "cohere": "search_document",
    "voyage": "document",
    "nvidia_nim": "passage",
    "gemini": "RETRIEVAL_DOCUMENT",
}


class LiteLLMEmbedder:
    """Embeds through litellm, in batches, and scales every vector to length one."""

    def __init__(
        self,
        model: str,
        dimension: int,
        *,
        api_key: str | None = None,
        api_base: str | None = None,
        timeout: float = 30.0,
        batch: int = 64,
    ) -> None:
        self._model = model
        self._dimension = dimension
        self._batch = batch
        self._options: dict[str, Any] = {"timeout": timeout, "drop_params": True, "encoding_format": "float"}
        self._options |= {"api_key": api_key} if api_key else {}
        self._options |= {"api_base": api_base} if api_base else {}
        begin_import()

    @property
    def name(self) -> str:
        """The model's litellm name and the length of its vectors."""
        return f"{self._model}#{self._dimension}"

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return self._dimension

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors of texts to be found, shape (len(texts), dimension), in the order given."""
        parts = [
            await self._embed(texts[start : start + self._batch], _PASSAGE)
            for start in range(0, len(texts), self._batch)
        ]
        return np.concatenate(parts) if parts else np.zeros((0, self._dimension), np.float32)

    async def embed_query(self, text: str) -> Vectors:
        """The unit vector of a search text, shape (dimension,)."""
        vectors = await self._embed([text], _QUERY)
        first: Vectors = vectors[0]
        return first

    async def _embed(self, texts: Sequence[str], sides: Mapping[str, str]) -> Vectors:
        litellm = await litellm_module()
        side = sides.get(self._model.partition("/")[0])
        try:
            response = await litellm.aembedding(
                model=self._model,
                input=[text or " " for text in texts],  # providers refuse an empty text
                **({"input_type": side} if side else {}),
                **self._options,
            )
        except Exception as error:
            raise failure_of(litellm, error) from error
        rows = sorted(response.data, key=lambda row: row["index"])
        return self._checked([row["embedding"] for row in rows], len(texts))

    def _checked(self, rows: list[list[float]], expected: int) -> Vectors:
        """Unit vectors of the promised shape. Raises ModelMisconfigured when the model gives another one."""
        lengths = {len(row) for row in rows}
        if len(rows) != expected or lengths != {self._dimension}:
            raise ModelMisconfigured(
                f"{len(rows)} vectors of length {sorted(lengths)} for {expected} texts",
                expected=self._dimension,
            )
        return unit(np.asarray(rows, np.float32))


def unit(vectors: Vectors) -> Vectors:
    """Each row scaled to length one; a row of zeros stays as it is."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    scaled: Vectors = np.divide(vectors, np.where(lengths > 0, lengths, 1.0)).astype(np.float32)
    return scaled
