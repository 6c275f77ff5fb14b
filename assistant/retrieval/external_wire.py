"""The answer of a search outside, read with bounds: what docs/external-search.md promises, and nothing else."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from datetime import date
from typing import Annotated, Final, Literal

import httpx
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from assistant.core.access import PRIVATE, Caller
from assistant.core.evidence import Authority, Passage, SourceVersion, evidence_id
from assistant.core.text import Span, prompt_language, without_unstorable
from assistant.interfaces.outside import SearchUnavailable

OUTSIDE: Final = "outside:"
"""Ids of documents from outside begin like this, then the name of the search: none can pass for one of the knowledge base."""

_STRICT: Final = ConfigDict(extra="forbid", frozen=True, strict=True)


def _storable(text: str) -> str:
    if without_unstorable(text) != text:
        raise ValueError("characters that nothing can hold")
    return text


def _one_line(text: str) -> str:
    if not _storable(text).isprintable():
        raise ValueError("control characters")
    return text


def _opens_safely(uri: str) -> str:
    """A path, or an address that a reader may open; never a script."""
    if _one_line(uri) != uri.strip():
        raise ValueError("white space that browsers take away")
    try:
        parts = httpx.URL(uri)
    except httpx.InvalidURL as error:
        raise ValueError("no URI") from error
    if parts.userinfo or (parts.scheme and parts.scheme not in ("http", "https")):
        raise ValueError("a scheme that is not shown")
    return uri


def _is_group(name: str) -> str:
    if _one_line(name).startswith(PRIVATE):
        raise ValueError("a group of one person")
    return name


Day = date  # in the model below the field has the name
Line = Annotated[str, AfterValidator(_one_line)]
Group = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_is_group)]


class FoundPassage(BaseModel):
    """A passage as a search outside gives it."""

    model_config = _STRICT

    document: Annotated[Line, Field(min_length=1, max_length=200)]
    version: int = Field(ge=1, le=2**31 - 1)
    text: Annotated[str, Field(min_length=1, max_length=20_000), AfterValidator(_storable)]
    title: Annotated[Line, Field(min_length=1, max_length=500)]
    access: frozenset[Group] = Field(min_length=1, max_length=200)
    section: Annotated[Line, Field(max_length=500)] = ""
    uri: Annotated[str, Field(max_length=2000), AfterValidator(_opens_safely)] = ""
    date: Day | None = None
    authority: Authority = Authority.MEDIUM
    language: Literal["en", "zh"] | None = None


class FoundPassages(BaseModel):
    """An answer: the passages, best first."""

    model_config = _STRICT

    v: Literal[1]
    passages: list[FoundPassage] = Field(max_length=500)


def read_passages(body: bytes, name: str, caller: Caller, limit: int) -> list[Passage]:
    """The passages of an answer in its order, each once, with score 0.

    All or nothing: raises SearchUnavailable for an answer that is not as promised, that holds more than was asked for, or
    that shows the caller one document which none of its groups admits.
    """
    try:
        answer = FoundPassages.model_validate_json(body)
    except ValidationError as error:
        where = ".".join(str(part) for part in error.errors()[0]["loc"])[:200]
        raise SearchUnavailable("the answer is not as promised", search=name, reason="invalid", where=where) from None
    if len(answer.passages) > limit:
        raise SearchUnavailable("more passages than were asked for", search=name, reason="invalid", where="passages")
    if not all(caller.may_read(found.access) for found in answer.passages):
        raise SearchUnavailable("a passage that the caller may not read", search=name, reason="access")
    return list({passage.id: passage for passage in _passages(answer, name)}.values())


def _passages(answer: FoundPassages, name: str) -> Iterator[Passage]:
    """What is found stands for itself: its text is the whole of what is known of the version, so its span begins at 0."""
    for found in answer.passages:
        source = SourceVersion(
            document=f"{OUTSIDE}{name}:{found.document}",
            number=found.version,
            sha256=hashlib.sha256(found.text.encode()).hexdigest(),
            title=found.title,
            uri=found.uri,
            collection=name,
            date=found.date,
            authority=found.authority,
            language=found.language or prompt_language(found.text),
            access=found.access,
        )
        span = Span(0, len(found.text))
        yield Passage(evidence_id(source, span), found.text, source, span, found.section)
