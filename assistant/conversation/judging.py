"""Judging: an optional pass of a model that looks for contradictions which the rules do not find."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import structlog
from pydantic import BaseModel, Field, ValidationError

from assistant.core.conflicts import Conflict, judged_conflict
from assistant.core.evidence import Evidence
from assistant.core.prompt import conflicts_request
from assistant.core.structured import read_json
from assistant.core.text import Span
from assistant.errors import AssistantError
from assistant.interfaces import ChatModel
from assistant.prompts import Prompts
from assistant.synthesis.calls import complete

log = structlog.get_logger(__name__)

TIMEOUT_S: Final = 8.0
_TOKENS: Final = 600
_MOST: Final = 5


class _Found(BaseModel):
    a: str
    quote_a: str = Field(min_length=2, max_length=600)
    b: str
    quote_b: str = Field(min_length=2, max_length=600)
    topic: str = Field("", max_length=120)


class _Reply(BaseModel):
    conflicts: list[_Found] = Field(max_length=50)


SCHEMA: Final[Mapping[str, Any]] = _Reply.model_json_schema()


@dataclass(frozen=True, slots=True)
class ConflictJudge:
    """A model that is asked for contradictions among the evidence. What it says counts only as far as it quotes.

    It stands before the first word of the answer, so it is off unless an operator wants it, and has `timeout_s` seconds.
    """

    model: ChatModel
    prompts: Prompts
    timeout_s: float = TIMEOUT_S

    async def find(
        self, question: str, evidence: Sequence[Evidence], language: str, window_days: int
    ) -> tuple[Conflict, ...]:
        """The conflicts whose two quotations stand letter by letter in their evidence; none when the model fails."""
        if len(evidence) < 2:
            return ()
        request = conflicts_request(
            prompts=self.prompts(language), question=question, evidence=evidence, schema=SCHEMA, max_tokens=_TOKENS
        )
        try:
            async with asyncio.timeout(self.timeout_s):
                reply = await complete(self.model, request)
            found = _Reply.model_validate(read_json(reply.text))
        except (AssistantError, TimeoutError, ValueError, RecursionError, ValidationError) as failure:
            log.info("conflicts left to the rules", reason=getattr(failure, "code", type(failure).__name__))
            return ()
        return tuple(_quoted(found, evidence, window_days))[:_MOST]


def _quoted(reply: _Reply, evidence: Sequence[Evidence], window_days: int) -> Iterator[Conflict]:
    by_id = {item.id: item for item in evidence}
    for found in reply.conflicts:
        one, other = by_id.get(found.a), by_id.get(found.b)
        if one is None or other is None or one.id == other.id:
            continue
        here, there = place_of(one, found.quote_a), place_of(other, found.quote_b)
        if here is not None and there is not None:
            yield judged_conflict((one, here), (other, there), topic=found.topic, window_days=window_days)


def place_of(evidence: Evidence, quote: str) -> Span | None:
    """Where a quotation stands in a piece of evidence, white space aside; None when it does not."""
    words = quote.split()
    start = 0
    while words and (start := evidence.exact.find(words[0], start)) >= 0:
        end = _end(evidence.exact, start, words)
        if end is not None:
            return Span(start, end).shift(evidence.span.start)
        start += 1
    return None


def _end(text: str, start: int, words: Sequence[str]) -> int | None:
    at = start
    for word in words:
        while at < len(text) and text[at].isspace():
            at += 1
        if not text.startswith(word, at):
            return None
        at += len(word)
    return at
