"""Structured answers: JSON in a reply, and the texts in it with their places, so that they can be cited."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar

from assistant.core.citations import Alignment, Citation, SentenceVerdict, agreement, align, status_of
from assistant.core.evidence import Evidence
from assistant.core.text import Span

_FENCE: Final = re.compile(r"^\s*```(?:json)?\s*\n(.*?)\n\s*```\s*$", re.DOTALL | re.IGNORECASE)
_STRING: Final = re.compile(r'"((?:[^"\\]|\\.)*)"(\s*:)?', re.DOTALL)
_ESCAPE: Final = re.compile(r"\\(?:u[0-9a-fA-F]{4}|.)", re.DOTALL)


def read_json(text: str) -> Any:
    """The JSON value of a reply, a Markdown fence around it allowed. Raises ValueError for anything else."""
    found = _FENCE.match(text)
    return json.loads(found[1] if found else text, parse_constant=_refuse)


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def write_json(value: Any) -> str:
    """The value as readable JSON in which only quotes, backslashes and control characters are escaped."""
    return json.dumps(value, ensure_ascii=False, indent=1)


Placed = TypeVar("Placed", Citation, SentenceVerdict)


@dataclass(frozen=True, slots=True)
class TextField:
    """A text value inside JSON: what it says, and for each of its characters (and its end) the offset in the JSON."""

    text: str
    offsets: tuple[int, ...]

    def place(self, span: Span) -> Span:
        """Where a span of the text stands in the JSON."""
        return Span(self.offsets[span.start], self.offsets[span.end])


def text_fields(document: str) -> Iterator[TextField]:
    """The text values of a JSON document in order; names of members are not among them."""
    for found in _STRING.finditer(document):
        if found[2] is None:
            yield _field(document, found.start(1), found.end(1))


def _field(document: str, start: int, end: int) -> TextField:
    text, offsets, at = [], [], start
    while at < end:
        escape = _ESCAPE.match(document, at, end) if document[at] == "\\" else None
        raw = escape.group() if escape else document[at]
        text.append(_plain(raw))
        offsets.append(at)
        at += len(raw)
    return TextField("".join(text), (*offsets, end))


def _plain(raw: str) -> str:
    """One character of a text; half of a surrogate pair stays a mark for what is missing, so that lengths agree."""
    if len(raw) == 1:
        return raw
    char = str(json.loads(f'"{raw}"'))
    return "\ufffd" if "\ud800" <= char <= "\udfff" else char


def align_fields(document: str, evidence: Sequence[Evidence], *, numbers: Mapping[str, int] | None = None) -> Alignment:
    """Align the texts of a structured answer to the evidence; offsets are those of the JSON document."""
    given = dict(numbers or {})
    citations: list[Citation] = []
    sentences: list[SentenceVerdict] = []
    for field in text_fields(document):
        found = align(field.text, evidence, numbers=given)
        given |= {item.evidence: item.n for item in found.citations}
        citations += [_moved(item, field) for item in found.citations]
        sentences += [_moved(item, field) for item in found.sentences]
    verdicts = [item.verdict for item in sentences]
    return Alignment(status_of(verdicts), tuple(citations), tuple(sentences), agreement(verdicts))


def _moved(item: Placed, field: TextField) -> Placed:
    place = field.place(Span(item.start, item.end))
    return replace(item, start=place.start, end=place.end)
