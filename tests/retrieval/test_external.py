"""A search outside over a real socket: what is asked and signed, what is believed, and what is not."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from datetime import date, datetime
from typing import Any

import orjson
import pytest
from joserfc import jwt
from joserfc.jwk import OctKey

from assistant.core.access import Caller
from assistant.core.evidence import Authority, Passage
from assistant.errors import BadSetting
from assistant.interfaces.outside import SearchUnavailable
from assistant.retrieval.external import MOST_BYTES, HttpRetriever, check_address
from assistant.retrieval.external_wire import read_passages
from assistant.retrieval.signing import CallerSigner
from tests.retrieval.outside import SECRET, Answer, answer, example, http, passage, serving

ANN = Caller("acme", "ann", frozenset({"everyone", "staff", "person:0123"}))
BOB = Caller("acme", "bob")


def signer(secret: str = SECRET, name: str = "wiki") -> CallerSigner:
    return CallerSigner(name, secret, lambda caller: f"p-{caller.user[:1]}")


async def found(
    url: str, *queries: str, caller: Caller = ANN, limit: int = 24, timeout: float = 5.0, secret: str = SECRET
) -> list[Passage]:
    retriever = HttpRetriever(url, signer(secret), timeout=timeout)
    try:
        return await retriever.search(queries or ["holiday"], caller, limit=limit)
    finally:
        await retriever.aclose()


async def refused(*answers: bytes | Answer, timeout: float = 5.0) -> tuple[str, int]:
    """The reason of the refusal, and how often was asked."""
    async with serving(*answers) as asked:
        with pytest.raises(SearchUnavailable) as caught:
            await found(asked.url, timeout=timeout)
    assert caught.value.data["search"] == "wiki"
    return str(caught.value.data["reason"]), len(asked.requests)


async def test_the_example_of_the_documentation_answers_by_the_rights_of_the_caller(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with example(monkeypatch) as url:
        both = await found(url, "How much is band 4, and how many days of holiday?")
        one = await found(url, "How much is band 4, and how many days of holiday?", caller=BOB)
        with pytest.raises(SearchUnavailable) as caught:
            await found(url, secret="b" + SECRET[1:])
    assert {item.source.document for item in both} == {"outside:wiki:holidays", "outside:wiki:salaries"}
    assert [item.source.document for item in one] == ["outside:wiki:holidays"]
    assert one[0].text == "Everybody has 31 days of holiday in a year."
    assert one[0].source.uri == "https://wiki.example/holidays"
    assert (one[0].source.number, one[0].source.date) == (3, date(2026, 1, 5))
    assert (one[0].source.authority, one[0].source.collection) == (Authority.HIGH, "wiki")
    assert caught.value.data["reason"] == "status"


async def test_the_question_is_signed_with_its_body_and_nobody_s_name() -> None:
    async with serving(answer()) as asked:
        assert await found(asked.url, "  Holiday?\0 ", "Holiday?", "", "x" * 5000, limit=7) == []
    ((first, headers, body),) = asked.requests
    assert first == "POST /search HTTP/1.1"
    assert orjson.loads(body) == {"v": 1, "query": "Holiday?", "searches": ["Holiday?", "x" * 2000], "limit": 7}
    scheme, _, token = headers["authorization"].partition(" ")
    claims = jwt.decode(token, OctKey.import_key(SECRET), ["HS256"]).claims
    assert scheme == "Bearer"
    assert (claims["iss"], claims["aud"], claims["sub"], claims["tenant"]) == ("assistant", "wiki", "p-a", "acme")
    assert claims["groups"] == ["everyone", "staff"]  # the group of one person stays here
    assert claims["sha256"] == hashlib.sha256(body).hexdigest()
    assert claims["exp"] - claims["iat"] == 60
    assert "ann" not in orjson.dumps(claims).decode()
    assert "cookie" not in headers


async def test_tokens_differ_and_end() -> None:
    at = datetime.fromisoformat("2026-01-01T00:00:00+00:00")
    maker = CallerSigner("wiki", SECRET, lambda _: "p", lambda: at)
    one, other = (jwt.decode(maker.token(ANN, b"x"), OctKey.import_key(SECRET), ["HS256"]).claims for _ in range(2))
    assert one["jti"] != other["jti"]
    assert one["exp"] == int(at.timestamp()) + 60


def test_a_short_secret_is_refused() -> None:
    with pytest.raises(BadSetting):
        signer("x" * 31)


@pytest.mark.parametrize(
    "url",
    [
        "http://wiki.example/search",
        "http://10.0.0.1/",
        "http://169.254.169.254/latest/meta-data",
        "http://localhost.evil.example/",
        "http://127.0.0.1.evil.example/",
        "https://user@wiki.example/",
        "https://wiki.example/#part",
        "file:///etc/passwd",
        "ftp://wiki.example/",
        "//wiki.example/",
        "https://",
        "no url",
        "",
    ],
)
def test_addresses_that_are_never_asked(url: str) -> None:
    with pytest.raises(BadSetting):
        check_address(url)


@pytest.mark.parametrize("url", ["https://wiki.example/s?v=1", "http://127.0.0.1:9300/search", "http://[::1]:1/"])
def test_addresses_that_are_asked(url: str) -> None:
    check_address(url)


async def test_a_redirect_is_not_followed() -> None:
    async with serving(answer(passage())) as inside:
        away = http(b"", "307 Temporary Redirect", f"location: {inside.url}\r\n")
        assert await refused(away) == ("status", 1)
    assert inside.requests == []


async def test_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving(answer()) as proxy, serving(answer(passage())) as asked:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.url)
        assert len(await found(asked.url)) == 1
    assert proxy.requests == []


@pytest.mark.parametrize("status", ["502 Bad Gateway", "503 Service Unavailable", "504 Gateway Timeout"])
async def test_a_server_that_is_away_is_asked_once_more(status: str) -> None:
    async with serving(http(b"", status), answer(passage())) as asked:
        assert len(await found(asked.url)) == 1
    first, second = (headers["authorization"] for _, headers, _ in asked.requests)
    assert first != second  # each question has a token of its own
    assert await refused(http(b"", status)) == ("away", 2)


@pytest.mark.parametrize("status", ["401 Unauthorized", "403 Forbidden", "404 Not Found", "429 Slow", "500 Error"])
async def test_an_answer_that_will_be_no_better_is_not_asked_for_again(status: str) -> None:
    assert await refused(http(b"the secret text", status)) == ("status", 1)


async def test_a_connection_that_breaks_is_tried_once_more() -> None:
    async with serving(b"", answer(passage())) as asked:
        assert len(await found(asked.url)) == 1
    assert await refused(b"") == ("connection", 2)
    assert await refused(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{") == ("connection", 2)
    assert await refused(b"no http at all\r\n\r\n") == ("connection", 2)


async def test_nobody_listens() -> None:
    async with serving(answer()) as asked:
        pass
    with pytest.raises(SearchUnavailable):
        await found(asked.url)


async def test_a_server_that_says_nothing_is_given_up() -> None:
    silent = asyncio.Event()

    async def never(_: object) -> bytes:
        await silent.wait()
        return b""

    assert await refused(never, timeout=0.05) == ("timeout", 1)
    silent.set()


async def test_an_endless_answer_is_cut() -> None:
    endless = b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n" + b" " * (MOST_BYTES + 100_000)
    assert await refused(endless) == ("too_large", 1)


async def test_a_compressed_answer_is_refused() -> None:
    assert await refused(http(b"\x1f\x8b", headers="content-encoding: gzip\r\n")) == ("invalid", 1)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"null",
        b"{",
        b"\xff",
        b"[" * 100_000,
        b'{"v": 1}',
        b'{"v": 2, "passages": []}',
        b'{"v": 1, "passages": [], "more": 1}',
        b'{"v": 1, "passages": [null]}',
    ],
)
async def test_answers_that_are_not_the_contract(body: bytes) -> None:
    assert await refused(http(body)) == ("invalid", 1)


_WRONG: Sequence[dict[str, Any]] = (
    *({name: None} for name in ("document", "version", "text", "title", "access")),
    {"document": ""},
    {"document": "d" * 201},
    {"document": "a\nb"},
    {"document": "a\0b"},
    {"document": 7},
    {"version": 0},
    {"version": 2**31},
    {"version": "1"},
    {"version": 1.5},
    {"version": True},
    {"text": ""},
    {"text": "x" * 20_001},
    {"text": "a\0b"},
    {"title": "a\u202eb"},
    {"title": ""},
    {"section": "s" * 501},
    {"uri": "javascript:alert(1)"},
    {"uri": "JavaScript:alert(1)"},
    {"uri": " javascript:alert(1)"},
    {"uri": "java\tscript:alert(1)"},
    {"uri": "data:text/html,x"},
    {"uri": "file:///etc/passwd"},
    {"uri": "https://user:word@wiki.example/"},
    {"date": "2026-02-30"},
    {"date": "yesterday"},
    {"date": 20260101},
    {"authority": "highest"},
    {"language": "de"},
    {"access": []},
    {"access": "everyone"},
    {"access": [""]},
    {"access": ["everyone", ANN.private_group]},
    {"access": ["everyone"] + [f"g{n}" for n in range(200)]},
    {"score": 1.0},
)


@pytest.mark.parametrize("wrong", _WRONG, ids=str)
def test_a_value_out_of_bounds_refuses_the_whole_answer(wrong: dict[str, Any]) -> None:
    body = orjson.dumps({"v": 1, "passages": [passage(), passage(**wrong)]})
    with pytest.raises(SearchUnavailable) as caught:
        read_passages(body, "wiki", ANN, 24)
    assert caught.value.data["reason"] == "invalid"
    assert "31 days" not in str(caught.value.data)


def test_lone_surrogates_are_refused() -> None:
    body = b'{"v":1,"passages":[{"document":"d","version":1,"text":"\\ud800","title":"t","access":["everyone"]}]}'
    with pytest.raises(SearchUnavailable):
        read_passages(body, "wiki", ANN, 24)


def test_one_passage_that_the_caller_may_not_read_refuses_all() -> None:
    body = orjson.dumps({"v": 1, "passages": [passage(), passage(document="e", access=["board"])]})
    with pytest.raises(SearchUnavailable) as caught:
        read_passages(body, "wiki", ANN, 24)
    assert caught.value.data["reason"] == "access"


def test_more_passages_than_asked_for_are_refused() -> None:
    body = orjson.dumps({"v": 1, "passages": [passage(document=f"d{n}") for n in range(3)]})
    assert len(read_passages(body, "wiki", ANN, 3)) == 3
    with pytest.raises(SearchUnavailable):
        read_passages(body, "wiki", ANN, 2)


def test_no_document_outside_passes_for_one_of_the_knowledge_base() -> None:
    body = orjson.dumps({"v": 1, "passages": [passage(document="01JZZZ"), passage(document="outside:other:x")]})
    ids = [item.source.document for item in read_passages(body, "wiki", ANN, 24)]
    assert ids == ["outside:wiki:01JZZZ", "outside:wiki:outside:other:x"]


def test_another_text_is_other_evidence_and_the_same_is_given_once() -> None:
    given = [passage(), passage(), passage(text="30 days."), passage(version=2), passage(text="年假三十一天。")]
    read = read_passages(orjson.dumps({"v": 1, "passages": given}), "wiki", ANN, 24)
    assert [item.text for item in read] == ["31 days.", "30 days.", "年假三十一天。"]
    assert [item.source.language for item in read] == ["en", "en", "zh"]
    assert all(len(item.span) == len(item.text) for item in read)


@pytest.mark.parametrize(
    ("collections", "asked"),
    [
        (None, True),
        (frozenset({"*", "files:s"}), True),
        (frozenset({"wiki"}), True),
        (frozenset({"handbook"}), False),
        (frozenset({"files:s"}), False),
        (frozenset[str](), False),
    ],
)
async def test_only_its_collection_is_searched(collections: frozenset[str] | None, asked: bool) -> None:
    async with serving(answer(passage())) as server:
        retriever = HttpRetriever(server.url, signer())
        read = await retriever.search(["holiday"], ANN, collections=collections)
        await retriever.aclose()
    assert bool(read) is bool(server.requests) is asked


async def test_nothing_to_search_for_asks_nobody() -> None:
    async with serving(answer(passage())) as server:
        retriever = HttpRetriever(server.url, signer())
        assert await retriever.search(["", " \0 "], ANN) == []
        assert await retriever.search(["holiday"], ANN, limit=0) == []
    assert server.requests == []
