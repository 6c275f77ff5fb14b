import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.core.messages import ModelFinish, Usage
from assistant.llm.completion import Reply
from assistant.llm.sse import SseEvent, SseOverflowError, SseParser


def parse(stream: bytes, cuts: list[int] | None = None) -> list[SseEvent]:
    parser = SseParser()
    edges = sorted({0, len(stream), *(cut % (len(stream) + 1) for cut in cuts or [])})
    events = [event for start, end in pairwise(edges) for event in parser.feed(stream[start:end])]
    return events + parser.finish()


STREAM = (
    '\ufeffdata: {"a":"你好 🙂"}\r\n\r\n: a comment\n\n:\r\rdata:one\ndata: two\n\nevent: error\r\ndata: {}\r\n\r\n'
    "id: 7\nretry: 10\nunknown: x\n\ndata\n\ndata:  two spaces\n\ndata: [DONE]\n\n"
).encode()
EVENTS = [
    SseEvent('{"a":"你好 🙂"}'.encode()),
    SseEvent(b"one\ntwo"),
    SseEvent(b"{}", "error"),
    SseEvent(b""),
    SseEvent(b" two spaces"),
    SseEvent(b"[DONE]"),
]


def test_reads_all_forms_of_the_standard() -> None:
    assert parse(STREAM) == EVENTS


@given(st.lists(st.integers(0, len(STREAM)), max_size=40))
def test_any_chunking_gives_the_same_events(cuts: list[int]) -> None:
    assert parse(STREAM, cuts) == EVENTS


def test_byte_by_byte() -> None:
    assert parse(STREAM, list(range(len(STREAM)))) == EVENTS


LINE = st.sampled_from([b"data: x", b"data:", b"", b": c", b"event: e", b"data: \xe4\xbd\xa0", b"junk", b"\xff\xfe"])
BREAK = st.sampled_from([b"\n", b"\r\n", b"\r"])


@given(st.lists(st.tuples(LINE, BREAK), max_size=20), st.lists(st.integers(0, 200), max_size=20))
def test_chunking_never_matters(lines: list[tuple[bytes, bytes]], cuts: list[int]) -> None:
    stream = b"".join(line + end for line, end in lines)
    assert parse(stream, cuts) == parse(stream)


@given(st.binary(max_size=300), st.lists(st.integers(0, 300), max_size=10))
def test_any_bytes_are_survived_and_chunking_never_matters(stream: bytes, cuts: list[int]) -> None:
    assert parse(stream, cuts) == parse(stream)


def test_an_event_without_its_blank_line_is_given_at_the_end() -> None:
    parser = SseParser()
    assert parser.feed(b"data: a\n\ndata: b") == [SseEvent(b"a")]
    assert parser.finish() == [SseEvent(b"b")]


@pytest.mark.parametrize("piece", [b"x" * 600, b"data: " + b"y" * 300 + b"\n"])
def test_an_endless_line_or_event_is_refused(piece: bytes) -> None:
    parser = SseParser(max_bytes=1000)
    with pytest.raises(SseOverflowError):
        [parser.feed(piece) for _ in range(10)]


def test_a_long_line_in_small_pieces_takes_linear_time() -> None:
    parser = SseParser()
    for _ in range(100_000):
        parser.feed(b"data: a "[:8])
    assert parser.feed(b"\n\n") != []


def chunk(content: str | None = None, reason: str | None = None, **more: object) -> bytes:
    choice = {"index": 0, "delta": {"content": content} if content is not None else {}, "finish_reason": reason}
    return json.dumps({"choices": [choice], **more}).encode()


def test_reply_gathers_text_reason_and_usage() -> None:
    reply = Reply()
    usage = {"prompt_tokens": 5, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 3}}
    events = [chunk("你"), chunk("好"), chunk(None, "stop"), json.dumps({"choices": [], "usage": usage}).encode()]
    assert reply.take([SseEvent(data) for data in events]) == "你好"
    assert reply.complete
    assert not reply.done
    assert reply.take([SseEvent(b"[DONE]"), SseEvent(chunk("late"))]) == ""
    assert reply.finish() == ModelFinish("stop", Usage(calls=1, tokens_in=5, tokens_out=2, tokens_cached=3))


def test_reply_keeps_the_text_before_an_error() -> None:
    reply = Reply()
    assert reply.take([SseEvent(chunk("so far")), SseEvent(b'{"error": {"message": "overloaded"}}')]) == "so far"
    assert reply.error is not None
    assert reply.error.code == "model_unavailable"


@pytest.mark.parametrize(
    "data",
    [
        b'{"choices": null}',
        b'{"choices": [null]}',
        b'{"choices": [{"delta": null}]}',
        b'{"choices": [{"delta": {"content": 3}}]}',
        b'{"choices": [], "usage": {"prompt_tokens": "many"}}',
        b'{"choices": [{"delta": {"reasoning_content": "hm"}}]}',
        b'{"usage": [1]}',
        b"{}",
    ],
)
def test_odd_chunks_say_nothing_and_do_no_harm(data: bytes) -> None:
    reply = Reply()
    assert reply.take([SseEvent(data)]) == ""
    assert reply.error is None


@pytest.mark.parametrize("data", [b"not json", b"[1]", b'"text"', b"\xff", b'{"choices": [{"delta": {"cont'])
def test_what_is_no_chunk_is_a_broken_stream(data: bytes) -> None:
    reply = Reply()
    reply.take([SseEvent(data)])
    assert reply.error is not None
    assert reply.error.code == "model_unavailable"


@pytest.mark.parametrize(("reason", "expected"), [("stop", "stop"), ("length", "length"), ("content_filter", "length")])
def test_finish_reasons(reason: str, expected: str) -> None:
    reply = Reply()
    reply.take([SseEvent(chunk("x", reason))])
    assert reply.finish().reason == expected
