"""Reader processes: several documents at once, none longer than its time, no blocking call in the event loop."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from dataclasses import replace
from pathlib import PurePosixPath
from types import TracebackType
from typing import Final, Self

from assistant.errors import BadDocument
from assistant.interfaces import DocumentDraft
from assistant.knowledge.drafts import draft_of
from assistant.knowledge.worker import Job, decode_answer, encode_job, frame

_MODULE: Final = "assistant.knowledge.worker"
_ANSWER_BYTES: Final = 1 << 30
_START_SECONDS: Final = 120.0
_ILLUSTRATED: Final = (".pdf", ".docx", ".docm", ".dotx", ".pptx", ".pptm", ".ppsx")


class ReaderPool:
    """A few reader processes, started when first needed and ended with the pool.

    A process that takes longer than the job's `limits.seconds`, or dies, is replaced; its document is refused.
    Use as an async context manager, inside one event loop.
    """

    def __init__(self, workers: int = 2) -> None:
        self._free: asyncio.LifoQueue[_Reader | None] = asyncio.LifoQueue()
        for _ in range(max(1, workers)):
            self._free.put_nowait(None)
        self._readers: set[_Reader] = set()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """End all processes."""
        readers, self._readers = self._readers, set()
        await asyncio.gather(*(reader.end() for reader in readers))

    async def read(self, job: Job, data: bytes) -> DocumentDraft:
        """The draft of a document. Raises BadDocument; reason too_slow when the time was not enough.

        A document over `limits.bytes` is refused before it is sent anywhere. One that its pictures may have made too
        much is read once more without them.
        """
        if len(data) > job.limits.bytes:
            raise BadDocument(f"more than {job.limits.bytes} bytes", reason="too_large")
        try:
            answer = await self._answer(job, data)
        except BadDocument:
            if not job.limits.images or PurePosixPath(job.uri).suffix.lower() not in _ILLUSTRATED:
                raise
            job = replace(job, limits=replace(job.limits, images=0))
            answer = await self._answer(job, data)
        return await asyncio.to_thread(_draft, answer, job, data)

    async def _answer(self, job: Job, data: bytes) -> bytes:
        """What a reader answers. Raises BadDocument when it takes too long or dies; it is replaced then."""
        reader = await self._free.get()
        sound: _Reader | None = None
        try:
            reader = reader or await self._started()
            answer = await asyncio.wait_for(reader.ask(job, data), job.limits.seconds)
            sound = reader
        except TimeoutError:
            raise BadDocument(f"took longer than {job.limits.seconds:g} s", reason="too_slow") from None
        except (EOFError, ConnectionError):
            raise BadDocument("the reader died on this document", reason="corrupt") from None
        finally:
            self._free.put_nowait(sound)
            if sound is None and reader is not None:
                self._readers.discard(reader)
                await reader.end()
        return answer

    async def _started(self) -> _Reader:
        """A new process, ready: the time it takes to import is not the document's."""
        reader = await _Reader.start()
        self._readers.add(reader)
        try:
            await asyncio.wait_for(reader.receive(), _START_SECONDS)
        except BaseException:
            self._readers.discard(reader)
            await reader.end()
            raise
        return reader


def _draft(answer: bytes, job: Job, data: bytes) -> DocumentDraft:
    return draft_of(decode_answer(answer), data, job.uri)


class _Reader:
    """One process and its two pipes."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    @classmethod
    async def start(cls) -> _Reader:
        """Start a process that imports from where this one does."""
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            _MODULE,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            limit=1 << 20,
            env=environment,
        )
        return cls(process)

    async def ask(self, job: Job, data: bytes) -> bytes:
        """Send a request and wait for its answer. EOFError or ConnectionError when the process died."""
        sink = self._process.stdin
        if sink is None:
            raise EOFError
        sink.write(frame(encode_job(job)))
        sink.write(frame(data))
        await sink.drain()
        return await self.receive()

    async def receive(self) -> bytes:
        """The next frame from the process."""
        source = self._process.stdout
        if source is None:
            raise EOFError
        length = int.from_bytes(await source.readexactly(4), "big")
        if length > _ANSWER_BYTES:
            raise EOFError
        return await source.readexactly(length)

    async def end(self) -> None:
        """Kill the process and wait until it is gone."""
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        if self._process.stdin is not None:
            self._process.stdin.close()
        await self._process.wait()
