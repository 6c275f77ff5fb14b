"""The embedded default: a model without weights that answers by quoting the evidence. Needs no network, no download."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import orjson

from assistant.core.checking import without
from assistant.core.messages import ModelChunk, ModelDelta, ModelFinish, Usage
from assistant.core.prompt import ModelRequest
from assistant.core.quoting.extract import Extraction, extract, improve
from assistant.core.quoting.phrases import small_talk
from assistant.core.text import prompt_language
from assistant.interfaces import TokenCounter
from assistant.llm.observing import observed
from assistant.llm.tokens import DEFAULT_ENCODING, counter_for

_PIECE: Final = re.compile(r"\s*\S{1,24}|\s+")
_WORDS_PER_DELTA: Final = 6


@dataclass(frozen=True, slots=True)
class ExtractiveModel:
    """Quotes the sentences that answer; deterministic. It needs no window, so `window` only bounds the plan."""

    name: str = "extractive"
    window: int = 16_384
    counter: TokenCounter = field(default_factory=lambda: counter_for(DEFAULT_ENCODING))

    async def aclose(self) -> None:
        """Nothing is held."""

    @observed
    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelChunk, None]:
        """Answer by quotation in a few words a piece; the reason is no_answer when the evidence holds no answer."""
        answer = await asyncio.to_thread(reply, request)
        for piece in pieces(answer.text):
            yield ModelDelta(piece)
            await asyncio.sleep(0)
        yield ModelFinish("stop" if answer.answered else "no_answer", Usage(calls=1))


def reply(request: ModelRequest) -> Extraction:
    """The whole answer to a request, by what it is for; nothing is said that was not in the request."""
    said_in = reply_language(request)
    match request.purpose:
        case "generation":
            return Extraction(small_talk(request.question, said_in), True, 1.0)
        case "summary":
            return Extraction(joined(request.partials), True, 1.0)
        case "verify":
            return Extraction(without(request.draft, request.flagged), True, 1.0)
    found = extract(request.question, request.evidence, request.conflicts, said_in)
    if request.filtered:
        return replace(found, text=f"RELEVANT\n{_improved(request, found).text}" if found.answered else "IRRELEVANT")
    return _structured(request, _improved(request, found))


def _improved(request: ModelRequest, found: Extraction) -> Extraction:
    return improve(request.draft, found) if request.draft else found


def joined(partials: Sequence[str]) -> str:
    """Partial answers one below the other, each line said once."""
    lines = [line.rstrip() for partial in partials for line in partial.splitlines() if line.strip()]
    return "\n\n".join(dict.fromkeys(lines))


def _structured(request: ModelRequest, found: Extraction) -> Extraction:
    """The quotation in the first text field of the schema, where one is enough to satisfy it."""
    if request.schema is None or not found.answered:
        return found
    fields = request.schema.get("properties")
    named = fields.items() if isinstance(fields, dict) else ()
    texts = [name for name, field in named if isinstance(field, dict) and field.get("type") == "string"]
    return replace(found, text=orjson.dumps({texts[0]: found.text}).decode() if texts else found.text)


def reply_language(request: ModelRequest) -> str:
    """The language of the model's own words: the request's, or the question's when the request leaves it open."""
    if request.language in ("en", "zh"):
        return request.language
    return prompt_language(request.question)


def pieces(text: str) -> list[str]:
    """The text cut for streaming at word ends; joined they are the text."""
    atoms = _PIECE.findall(text)
    return ["".join(atoms[start : start + _WORDS_PER_DELTA]) for start in range(0, len(atoms), _WORDS_PER_DELTA)]
