"""Counting tokens and knowing windows: the only door to tiktoken.

The tables of o200k_base and cl100k_base come from the folder that litellm ships, found without importing litellm, and
are checked before tiktoken sees them, because tiktoken answers a missing or wrong table with a download. Nothing here
opens a connection.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final

import orjson
import tiktoken
from tiktoken.model import encoding_name_for_model

from assistant.errors import BadSetting
from assistant.interfaces import TokenCounter

DEFAULT_WINDOW: Final = 8192
"""Window in tokens of a model of which nothing is known and for which nothing is set."""

DEFAULT_ENCODING: Final = "o200k_base"
"""The encoding for models whose tokenizer is not public; wrap it in a `CorrectedCounter`."""

FACTOR_BOUNDS: Final = (0.5, 3.0)
"""A factor outside this range says that the usage was reported wrongly, not that the tokenizer is so different."""

# Name of the encoding -> (file name: SHA-1 of the table's address, SHA-256 of its content), as tiktoken defines them.
_TABLES: Final[Mapping[str, tuple[str, str]]] = {
    "o200k_base": (
        "fb374d419588a4632f3f557e76b4b70aebbca790",
        "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    ),
    "cl100k_base": (
        "9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
        "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    ),
}
_SAME_TABLE: Final = {"o200k_harmony": "o200k_base"}
_PIECE_LENGTH: Final = 4000
_SEAM: Final = re.compile(r"\S(?= )")


def counter_for(model: str) -> TokenCounter:
    """The counter that fits a model best, with a cache: its own encoding where that is public, else `o200k_base`.

    Loads the table (up to a second), so call it at start-up. Raises BadSetting when the installation lacks the table.
    """
    return _cached_counter(encoding_of(model) or DEFAULT_ENCODING)


def encoding_of(model: str) -> str | None:
    """The encoding of a model by its name, a provider's prefix ("azure/gpt-4o") allowed; None when it is not known."""
    try:
        name = encoding_name_for_model(model.rsplit("/", 1)[-1])
    except KeyError:
        return None
    name = _SAME_TABLE.get(name, name)
    return name if name in _TABLES else None


@cache
def _cached_counter(encoding: str) -> CachedCounter:
    return CachedCounter(TiktokenCounter(encoding))


class TiktokenCounter:
    """Counts with a tiktoken encoding; special tokens inside a text count as the plain text they are.

    Long texts are counted in pieces. A piece ends before a space where it can, which changes no count; inside a run
    without spaces each cut may add one token in 4,000 characters. That bounds the time that a hostile text can take.
    """

    def __init__(self, encoding: str) -> None:
        self._encoding = load_encoding(encoding)

    @property
    def name(self) -> str:
        """The encoding."""
        return self._encoding.name

    def count(self, text: str) -> int:
        """The number of tokens of `text`."""
        return sum(len(self._encoding.encode_ordinary(piece)) for piece in _pieces(text))


def _pieces(text: str) -> Iterator[str]:
    """Cut a text into pieces of bounded length, where possible at seams that the tokenizer's pattern never crosses."""
    start = 0
    while len(text) - start > _PIECE_LENGTH:
        end = start + _PIECE_LENGTH
        seam = _last_seam(text, end - 400, end) or end
        yield text[start:seam]
        start = seam
    if start < len(text):
        yield text[start:]


def _last_seam(text: str, start: int, end: int) -> int | None:
    seams = [match.end() for match in _SEAM.finditer(text, start, end)]
    return seams[-1] if seams else None


class CachedCounter:
    """Remembers counts of the texts seen last, by digest, so that the texts themselves are not kept alive."""

    def __init__(self, inner: TokenCounter, size: int = 16_384) -> None:
        self._inner = inner
        self._size = size
        self._counts: OrderedDict[bytes, int] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """The name of the counter inside."""
        return self._inner.name

    def count(self, text: str) -> int:
        """The number of tokens of `text`; counted once while it stays among the last texts."""
        if not text:
            return 0
        key = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        with self._lock:
            if (known := self._counts.get(key)) is not None:
                self._counts.move_to_end(key)
                return known
        counted = self._inner.count(text)
        with self._lock:
            self._counts[key] = counted
            if len(self._counts) > self._size:
                self._counts.popitem(last=False)
        return counted


class CorrectedCounter:
    """A counter for a model whose tokenizer is not known: another one's count times a learnt factor, rounded up.

    `factor` may be a function, so that a factor learnt while the program runs is used at once.
    """

    def __init__(self, inner: TokenCounter, factor: float | Callable[[], float] = 1.0) -> None:
        self._inner = inner
        self._factor = factor

    @property
    def factor(self) -> float:
        """The factor in use, inside FACTOR_BOUNDS."""
        return bounded_factor(self._factor() if callable(self._factor) else self._factor)

    @property
    def name(self) -> str:
        """The encoding and the factor, for example "o200k_base x1.31"."""
        return f"{self._inner.name} x{self.factor:.2f}"

    def count(self, text: str) -> int:
        """The corrected number of tokens; 0 only for an empty text."""
        return -int(-self._inner.count(text) * self.factor // 1)


class NaiveCounter:
    """The fake: every Chinese character and every other word or mark is a token. Quick, and additive over lines."""

    _TOKEN: Final = re.compile(r"[㐀-鿿豈-﫿]|[^\W_㐀-鿿豈-﫿]+|[^\w\s]|_")

    @property
    def name(self) -> str:
        """Always "naive"."""
        return "naive"

    def count(self, text: str) -> int:
        """The number of words, Chinese characters and marks."""
        return sum(1 for _ in self._TOKEN.finditer(text))


def bounded_factor(factor: float) -> float:
    """The factor inside FACTOR_BOUNDS; 1.0 for what is not a number."""
    low, high = FACTOR_BOUNDS
    return 1.0 if factor != factor else min(max(factor, low), high)


def learn_factor(factor: float, *, counted: int, reported: int, weight: float = 0.2) -> float:
    """The factor after one more report of usage: an exponentially weighted mean, bounded.

    `counted` is what the uncorrected counter says of the prompt, `reported` what the provider charged for it. Prompts
    under 100 tokens are ignored: there the provider's own wrapping weighs more than the tokenizer.
    """
    if counted < 100 or reported <= 0:
        return bounded_factor(factor)
    return bounded_factor((1 - weight) * bounded_factor(factor) + weight * bounded_factor(reported / counted))


@cache
def load_encoding(name: str) -> tiktoken.Encoding:
    """Load an encoding from the tables on disk. Raises BadSetting when they are missing or not as published."""
    if name not in _TABLES:
        raise BadSetting(f"no table for the encoding {name}", encoding=name)
    folder = _litellm_folder() / "litellm_core_utils" / "tokenizers"
    file, digest = _TABLES[name]
    try:
        content = (folder / file).read_bytes()
    except OSError as error:
        raise BadSetting(f"the table of {name} is missing from the installed litellm", encoding=name) from error
    if hashlib.sha256(content).hexdigest() != digest:
        raise BadSetting(f"the table of {name} is not the published one", encoding=name)
    os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)
    return tiktoken.get_encoding(name)


@cache
def _litellm_folder() -> Path:
    """The folder of the installed litellm, found without importing it (which takes seconds)."""
    spec = importlib.util.find_spec("litellm")
    if spec is None or not spec.submodule_search_locations:
        raise BadSetting("litellm is not installed; its folder holds the token tables")
    return Path(spec.submodule_search_locations[0])


def window_for(model: str, override: int | None = None, default: int = DEFAULT_WINDOW) -> int:
    """The window of a model in tokens: the override, else the input limit that litellm's table states, else `default`.

    Reads `max_input_tokens`; the table's `max_tokens` is the limit of the output. The table is read from disk at the
    first call (about 0.1 s).
    """
    if override is not None:
        return override
    limits = (_entry(name).get("max_input_tokens") for name in _names(model))
    return next((limit for limit in limits if isinstance(limit, int) and limit > 0), default)


def _names(model: str) -> tuple[str, ...]:
    """The name as given, then without the provider's prefix."""
    return (model, *(model.split("/", cut)[-1] for cut in range(1, model.count("/") + 1)))


def price_for(model: str) -> float | None:
    """US dollars per token of input, from litellm's table; None for a model that it does not know."""
    prices = (_entry(name).get("input_cost_per_token") for name in _names(model))
    return next((float(price) for price in prices if isinstance(price, int | float) and price > 0), None)


def sees_images(model: str) -> bool:
    """Whether litellm's table says that the model takes images."""
    return any(_entry(name).get("supports_vision") is True for name in _names(model))


def _entry(name: str) -> Mapping[str, Any]:
    found = _table().get(name)
    return found if isinstance(found, dict) else {}


@lru_cache(maxsize=1)
def _table() -> Mapping[str, Any]:
    path = _litellm_folder() / "model_prices_and_context_window_backup.json"
    try:
        table: dict[str, Any] = orjson.loads(path.read_bytes())
    except (OSError, orjson.JSONDecodeError):
        return {}
    return table
