"""LlamaIndex's ContextChatEngine for `first_token.py`: the same chunks, vectors, questions and answer, all in its memory."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from importlib.metadata import version
from statistics import median
from typing import Any

from first_token import ANSWER
from growing import CHUNKS, DIMENSION, chunk_words, questions, vector_of, vocabulary
from llama_index.core import VectorStoreIndex
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, CompletionResponse, LLMMetadata
from llama_index.core.chat_engine import ContextChatEngine
from llama_index.core.llms import CustomLLM
from llama_index.core.schema import TextNode

KEPT = 24
"""Passages of an answer, as many as the assistant's search brings."""


class Answering(CustomLLM):
    """Answers at once."""

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(context_window=8_192, num_output=512, is_chat_model=True, model_name="scripted")

    def complete(self, *_: Any, **__: Any) -> CompletionResponse:
        return CompletionResponse(text=ANSWER)

    def stream_complete(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError("only asynchronous chats are measured")

    async def astream_chat(self, messages: Sequence[ChatMessage], **_: Any) -> Any:
        async def pieces() -> Any:
            for end in range(16, len(ANSWER) + 16, 16):
                message = ChatMessage(role="assistant", content=ANSWER[:end])
                yield ChatResponse(message=message, delta=ANSWER[end - 16 : end])

        return pieces()


class Table(BaseEmbedding):
    """Knows the vectors of the questions that will be asked."""

    known: dict[str, list[float]]

    def _get_query_embedding(self, query: str) -> list[float]:
        return self.known[query]

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self.known[query]

    def _get_text_embedding(self, text: str) -> list[float]:
        raise NotImplementedError("the nodes come with their vectors")


def nodes(first: int, last: int) -> list[TextNode]:
    """The chunks of the documents of these numbers."""
    words = vocabulary().words
    return [
        TextNode(
            text=" ".join(words[word] for word in row) + ".",
            embedding=vector_of(row).tolist(),
            metadata={"title": f"{number:07}.md"},
        )
        for number in range(first, last)
        for row in chunk_words(number)
    ]


async def measure(sizes: Sequence[int], repeats: int) -> dict[str, object]:
    """Milliseconds to the first piece by number of chunks, one index that grows."""
    asked = questions(repeats + 1)
    embedder = Table(known={question: vector.tolist() for question, vector in asked}, embed_batch_size=DIMENSION)
    index = VectorStoreIndex(nodes=[], embed_model=embedder)
    figures: dict[object, object] = {}
    before = 0
    for size in sizes:
        index.insert_nodes(nodes(before // CHUNKS, size // CHUNKS))
        before = size
        taken = [await _first(index, question) for question, _ in asked][1:]
        figures[size] = {"first_ms": round(median(taken), 1), "first_least": round(min(taken), 1)}
        print(f"LlamaIndex {size}: {figures[size]}", file=sys.stderr, flush=True)
    return {"version": version("llama-index-core"), "figures": figures}


async def _first(index: VectorStoreIndex, question: str) -> float:
    """Milliseconds until the first piece of an answer in a new conversation."""
    engine = ContextChatEngine.from_defaults(retriever=index.as_retriever(similarity_top_k=KEPT), llm=Answering())
    begin = time.perf_counter()
    answer = await engine.astream_chat(question)
    first = 0.0
    async for _ in answer.async_response_gen():
        first = first or (time.perf_counter() - begin) * 1e3
    return first
