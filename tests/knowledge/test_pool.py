import asyncio
import io
from collections.abc import AsyncIterator
from datetime import date

import pytest
import pytest_asyncio
from blockbuster import blockbuster_ctx

from assistant.core.evidence import Authority
from assistant.errors import BadDocument
from assistant.knowledge import worker
from assistant.knowledge.chunking import ChunkSize
from assistant.knowledge.documents import Limits
from assistant.knowledge.drafts import draft
from assistant.knowledge.metadata import Properties
from assistant.knowledge.pool import ReaderPool
from assistant.knowledge.reading import Sources, read
from assistant.knowledge.worker import Job, decode_answer, decode_job, encode_job, encode_reading, encode_refusal, frame
from tests.knowledge.files import office
from tests.knowledge.picture_files import InWord, OnSlide, png, slides_with, word_with

KNOWN = Properties("T", date(2024, 10, 1), Authority.HIGH, "Ops", frozenset({"hr", "it"}))
HANGS = b"Subject: x\nContent-Type: text/plain" + b";a*0*=" * 60_000 + b"\n\nx"


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def pool() -> AsyncIterator[ReaderPool]:
    async with ReaderPool(1) as one:
        yield one


def test_jobs_and_drafts_survive_the_way() -> None:
    job = Job("a/b.md", Sources(KNOWN, Properties(), KNOWN), Limits(seconds=1.5), ChunkSize(500, 100))
    assert decode_job(encode_job(job)) == job
    reading = read(b"# A\n\nText.", "a.md", sources=Sources(KNOWN))
    assert decode_answer(encode_reading(reading)) == reading
    slide = slides_with([[OnSlide((0, 0, 1, 0.2), "Text"), OnSlide((0.1, 0.2, 0.9, 1), picture=png(1), said="Plan")]])
    for data, uri in ((png(1), "a.png"), (slide, "a.pptx")):
        illustrated = read(data, uri)
        assert illustrated.images
        assert decode_answer(encode_reading(illustrated)) == illustrated
    with pytest.raises(BadDocument) as caught:
        decode_answer(encode_refusal(BadDocument("why", reason="bomb")))
    assert caught.value.data == {"reason": "bomb"}
    assert caught.value.detail == "why"


def test_the_worker_serves_until_its_input_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "_bound_memory", lambda _: None)
    request = frame(encode_job(Job("a.md"))) + frame(b"Text.") + frame(encode_job(Job("a.pdf"))) + frame(b"no")
    sink = io.BytesIO()
    worker.serve(io.BytesIO(request + b"\0\0\0\x09cut"), sink)
    answers = sink.getvalue()
    assert answers.startswith(frame(b""))
    assert b'"text":"Text."' in answers
    assert b'"refused":"corrupt"' in answers


@pytest.mark.asyncio(loop_scope="module")
async def test_documents_are_read_in_another_process(pool: ReaderPool) -> None:
    document = await pool.read(Job("memo.pdf", Sources(KNOWN)), office("fake-memo.pdf"))
    assert document == draft(office("fake-memo.pdf"), "memo.pdf", sources=Sources(KNOWN))
    with pytest.raises(BadDocument) as caught:
        await pool.read(Job("password.pdf"), office("password.pdf"))
    assert caught.value.data["reason"] == "encrypted"


@pytest.mark.asyncio(loop_scope="module")
async def test_nothing_blocks_the_loop(pool: ReaderPool) -> None:
    with blockbuster_ctx("assistant"):
        document = await pool.read(Job("a.md"), b"Text.")
    assert document.text == "Text."


@pytest.mark.asyncio(loop_scope="module")
async def test_a_file_that_is_too_large_is_not_even_sent(pool: ReaderPool) -> None:
    with pytest.raises(BadDocument) as caught:
        await pool.read(Job("a.md", limits=Limits(bytes=10)), b"x" * 11)
    assert caught.value.data["reason"] == "too_large"


@pytest.mark.asyncio(loop_scope="module")
async def test_a_reader_that_hangs_is_ended_and_replaced(pool: ReaderPool) -> None:
    with pytest.raises(BadDocument) as caught:
        await pool.read(Job("x.eml", limits=Limits(seconds=0.3)), HANGS)
    assert caught.value.data["reason"] == "too_slow"
    assert (await pool.read(Job("a.md"), b"Text.")).text == "Text."


@pytest.mark.asyncio(loop_scope="module")
async def test_a_document_that_its_pictures_make_too_slow_is_read_without(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    async def answer(_: ReaderPool, job: Job, data: bytes) -> bytes:
        asked.append(job.limits.images)
        if job.limits.images:
            raise BadDocument("took long", reason="too_slow")
        return encode_reading(read(data, job.uri, limits=job.limits))

    monkeypatch.setattr(ReaderPool, "_answer", answer)
    data = word_with([InWord("Words."), InWord(picture=png(1), said="Plan")])
    document = await ReaderPool(1).read(Job("a.docx"), data)
    assert (document.text, document.images, asked) == ("Words.\n\n[Image: Plan]", (), [200, 0])
    with pytest.raises(BadDocument):
        await ReaderPool(1).read(Job("a.md"), b"Words.")
    assert asked == [200, 0, 200]


@pytest.mark.asyncio(loop_scope="module")
async def test_a_cancelled_read_leaves_the_pool_usable(pool: ReaderPool) -> None:
    task = asyncio.create_task(pool.read(Job("x.eml"), HANGS))
    await asyncio.sleep(0.2)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await pool.read(Job("a.md"), b"Text.")).text == "Text."


@pytest.mark.asyncio(loop_scope="module")
async def test_a_reader_that_dies_takes_nobody_with_it(pool: ReaderPool) -> None:
    await pool.read(Job("a.md"), b"Text.")  # a reader is started when it is needed
    (reader,) = pool._readers
    reader._process.kill()
    with pytest.raises(BadDocument) as caught:
        await pool.read(Job("a.md"), b"Text.")
    assert caught.value.data["reason"] == "corrupt"
    assert (await pool.read(Job("a.md"), b"Text.")).text == "Text."
