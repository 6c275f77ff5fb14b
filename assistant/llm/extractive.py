"""The embedded default: a model without weights that answers by quoting the evidence. Needs no network, no download."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Final

from assistant.core.messages import ModelChunk, ModelDelta, ModelFinish, Usage
from assistant.core.prompt import ModelRequest
from assistant.core.quoting.extract import Extraction, extract, improve
from assistant.core.quoting.phrases import small_talk
from assistant.core.text import language
from assistant.interfaces import TokenCounter
from assistant.llm.tokens import DEFAULT_ENCODING, counter_for

_PIECE: Final = re.compile(r"\s*\S{1,24}|\s+")
_WORDS_PER_DELTA: Final = 6


@dataclass(frozen=True, slots=True)
class ExtractiveModel:
    """Quotes the sentences that answer; deterministic. It needs no window, so `window` only bounds the plan."""

    name: str = "extractive"
    window: int = 16_384
    counter: TokenCounter = field(default_factory=lambda: counter_for(DEFAULT_ENCODING))

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelChunk, None]:
        """Answer by quotation in a few words a piece; the reason is no_answer when the evidence holds no answer."""
        answer = await asyncio.to_thread(reply, request)
        for piece in pieces(answer.text):
            yield ModelDelta(piece)
            await asyncio.sleep(0)
        yield ModelFinish("stop" if answer.answered else "no_answer", Usage(calls=1))


def reply(request: ModelRequest) -> Extraction:
    """The whole answer to a request: small talk without evidence, a quotation, or an improved draft."""
    said_in = reply_language(request)
    if request.purpose == "generation":
        return Extraction(small_talk(request.question, said_in), True, 1.0)
    found = extract(request.question, request.evidence, request.conflicts, said_in)
    return improve(request.draft, found) if request.draft else found


def reply_language(request: ModelRequest) -> str:
    """The language of the model's own words: the request's, or the question's when the request leaves it open."""
    if request.language in ("en", "zh"):
        return request.language
    return "en" if language(request.question) == "en" else "zh"


def pieces(text: str) -> list[str]:
    """The text cut for streaming at word ends; joined they are the text."""
    atoms = _PIECE.findall(text)
    return ["".join(atoms[start : start + _WORDS_PER_DELTA]) for start in range(0, len(atoms), _WORDS_PER_DELTA)]
