"""A process that reads documents: started as `python -m assistant.knowledge.worker`, fed through its standard input.

Parsers meet hostile bytes here, away from the server: this process can hang, crash or be ended without harm. What
goes in and out is framed JSON, never pickles, so that a parser that was taken over cannot run code in the server.

Frame: four bytes of length (big endian), then that many bytes. A request is two frames (the job as JSON, the
document's bytes), an answer is one (JSON: `{"reading": …}` or `{"refused": reason, "detail": …}`; pictures in base64). An
empty frame comes first of all: ready.
"""

from __future__ import annotations

import base64
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any, BinaryIO

import orjson

from assistant.core.evidence import Authority
from assistant.core.text import Span
from assistant.errors import BadDocument
from assistant.knowledge.chunking import Chunk, ChunkSize
from assistant.knowledge.documents import Illustration, Limits, Picture
from assistant.knowledge.metadata import Properties
from assistant.knowledge.reading import Reading, Sources, read


@dataclass(frozen=True, slots=True)
class Job:
    """What to do with the bytes that follow."""

    uri: str
    sources: Sources = field(default_factory=Sources)
    limits: Limits = field(default_factory=Limits)
    size: ChunkSize = field(default_factory=ChunkSize)


def frame(data: bytes) -> bytes:
    """The bytes with their length in front."""
    return len(data).to_bytes(4, "big") + data


def encode_job(job: Job) -> bytes:
    """A job as JSON."""
    return orjson.dumps(job, default=_plain)


def decode_job(data: bytes) -> Job:
    """The job that was encoded."""
    raw = orjson.loads(data)
    sources = Sources(**{name: _properties(one) for name, one in raw["sources"].items()})
    return Job(raw["uri"], sources, Limits(**raw["limits"]), ChunkSize(**raw["size"]))


def encode_reading(reading: Reading) -> bytes:
    """An answer that carries what was read."""
    return orjson.dumps({"reading": reading}, default=_plain)


def encode_refusal(error: BadDocument) -> bytes:
    """An answer that carries a refusal."""
    return orjson.dumps({"refused": error.data.get("reason"), "detail": error.detail})


def decode_answer(data: bytes) -> Reading:
    """The reading in an answer; raises the BadDocument that it carries instead."""
    raw = orjson.loads(data)
    if "refused" in raw:
        raise BadDocument(str(raw["detail"]), reason=str(raw["refused"]))
    reading = raw["reading"]
    chunks = tuple(
        Chunk(Span(**one["span"]), one["section"], one["page"], tuple(one["terms"])) for one in reading["chunks"]
    )
    images = tuple(map(_illustration, reading["images"]))
    return Reading(**{**reading, "chunks": chunks, "known": _properties(reading["known"]), "images": images})


def _illustration(raw: Mapping[str, Any]) -> Illustration:
    held = raw["picture"]
    region = None if held["region"] is None else tuple(held["region"])
    picture = Picture(base64.b64decode(held["content"]), held["media_type"], region)
    return Illustration(picture, raw["caption"], Span(**raw["span"]), raw["page"])


def _plain(value: object) -> object:
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    raise TypeError(type(value).__name__)


def _properties(raw: Mapping[str, Any]) -> Properties:
    return Properties(
        title=raw["title"],
        date=_date(raw["date"]),
        authority=None if raw["authority"] is None else Authority(raw["authority"]),
        owner=raw["owner"],
        access=None if raw["access"] is None else frozenset(raw["access"]),
        caption=raw["caption"],
    )


def _date(text: str | None) -> date | None:
    return None if text is None else date.fromisoformat(text)


def answer(job: Job, data: bytes) -> bytes:
    """Read one document and encode what came of it."""
    try:
        return encode_reading(read(data, job.uri, sources=job.sources, limits=job.limits, size=job.size))
    except BadDocument as error:
        return encode_refusal(error)
    except MemoryError:
        return encode_refusal(BadDocument("not enough memory", reason="too_large"))
    except Exception as error:
        return encode_refusal(BadDocument(f"reader failed: {type(error).__name__}", reason="corrupt"))


def serve(source: BinaryIO, sink: BinaryIO) -> None:
    """Say that this process is ready with an empty frame, then answer requests until the source ends."""
    sink.write(frame(b""))
    sink.flush()
    while (head := _received(source)) is not None:
        data = _received(source)
        if data is None:
            return
        job = decode_job(head)
        _bound_memory(job.limits.memory)
        sink.write(frame(answer(job, data)))
        sink.flush()


def _received(source: BinaryIO) -> bytes | None:
    length = source.read(4)
    if len(length) < 4:
        return None
    data = source.read(int.from_bytes(length, "big"))
    return data if len(data) == int.from_bytes(length, "big") else None


def _bound_memory(limit: int) -> None:
    """Let the system refuse memory beyond the limit, where it can (not on Windows and macOS)."""
    if sys.platform == "linux":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (limit, resource.getrlimit(resource.RLIMIT_AS)[1]))


def main() -> None:
    """Serve on the standard streams; what a library prints goes to standard error, not between the frames."""
    sink = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    serve(sys.stdin.buffer, sink)


if __name__ == "__main__":
    main()
