"""The cache beside the conversation: what it finds, what it keeps, and that its failures cost nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from assistant.conversation.answering import Answering, Route, TurnPolicy
from assistant.conversation.caching import AnswerCache
from assistant.conversation.turns import StartedTurn
from assistant.core.access import Caller
from assistant.core.caching import CachedAnswer, CacheKey, Recalled
from assistant.core.calls import ModelCall
from assistant.core.citations import Alignment, CitationStatus, align
from assistant.core.events import CitationsAdded
from assistant.core.evidence import Evidence
from assistant.core.planning import TurnPlan, TurnRequest
from assistant.core.text import Span
from assistant.core.turn import TurnMessage
from assistant.errors import ModelUnavailable
from assistant.interfaces import KeptAnswer, QuestionVector, Vectors
from assistant.llm.scripted import ScriptedModel
from assistant.prompts import load_prompts
from assistant.retrieval.embedders import HashingEmbedder
from tests.making import evidence

LEAVE = evidence("Employees get 20 days of annual leave.", "leave")
TRAVEL = evidence("Travel is approved by the supervisor.", "travel")
TEXT = "Employees get 20 days of annual leave."
QUESTION = "How many days of annual leave do employees get?"
ALIKE = "How many annual leave days do employees get?"
OTHER = "How many days of annual leave did employees get?"
ROUTE = Route(ScriptedModel([TEXT]))
load_prompts("en", "handbook")  # files are never read inside a turn


class Shelf:
    """An AnswerStore in memory."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, ...], KeptAnswer] = {}
        self.state: str | None = None
        self.fails = False

    async def candidates(self, key: CacheKey) -> Sequence[KeptAnswer]:
        self._check()
        return [kept for place, kept in self.kept.items() if place[:3] == (key.tenant, key.frame, key.meaning)]

    async def library(self, tenant: str) -> str | None:
        self._check()
        return self.state and f"{tenant} {self.state}"

    async def keep(self, key: CacheKey, answer: CachedAnswer, vector: QuestionVector | None) -> bool:
        self._check()
        self.kept[key.tenant, key.frame, key.meaning, key.digest, key.question] = KeptAnswer(key, vector, answer)
        return True

    def _check(self) -> None:
        if self.fails:
            raise OSError("the disk is full")


class Embedding:
    """An embedder that finds everything alike, or fails."""

    def __init__(self, name: str = "alike", *, fails: bool = False) -> None:
        self.name = name
        self.dimension = 2
        self.fails = fails
        self.asked = 0

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return np.stack([await self.embed_query(text) for text in texts])

    async def embed_query(self, text: str) -> Vectors:
        self.asked += 1
        if self.fails:
            raise ModelUnavailable("no embedder", reason="test")
        return np.array([1.0, 0.0], dtype=np.float32)


def answering(policy: TurnPolicy | None = None) -> Answering:
    return Answering(main=ROUTE, prompts=load_prompts, policy=policy or TurnPolicy())


def planned(question: str = QUESTION) -> TurnPlan:
    return answering().plan(TurnRequest(question, (LEAVE,)), "en")[0]


def started(question: str = QUESTION, turn: str = "t1") -> StartedTurn:
    return StartedTurn(Caller("acme", "ann"), "s1", turn, question)


def ended() -> TurnMessage:
    found = align(TEXT, [LEAVE])
    cited = CitationsAdded(found.status, found.citations, (), found.agreement)
    return TurnMessage(QUESTION, TEXT, "completed", "done", "stop", model="scripted", citations=cited)


CALLS = (ModelCall("answer", "scripted", (), TEXT, "stop"),)


async def warm(cache: AnswerCache) -> None:
    """Ask the question and let the answer be kept."""
    recalled = await cache.recall(started(), planned(), ROUTE)
    assert recalled is not None
    assert recalled.answer is None
    assert await cache.remember(started(), recalled, ended(), CALLS)


async def found(cache: AnswerCache, question: str) -> bool:
    recalled = await cache.recall(started(question, "t2"), planned(question), ROUTE)
    assert recalled is not None
    return recalled.answer is not None


async def test_the_same_question_is_found_without_an_embedder_and_another_is_not() -> None:
    cache = AnswerCache(Shelf(), answering())
    await warm(cache)
    assert await found(cache, QUESTION)
    assert await found(cache, "  how many days of annual leave do employees get")
    assert not await found(cache, ALIKE)
    assert (cache.counts.found, cache.counts.missed, cache.counts.kept, cache.counts.failed) == (2, 2, 1, 0)


async def test_a_question_of_the_same_meaning_is_found_and_a_near_one_is_not_however_alike() -> None:
    cache = AnswerCache(Shelf(), answering(), Embedding())
    await warm(cache)
    assert await found(cache, ALIKE)
    assert not await found(cache, OTHER)


async def found_with(cache: AnswerCache, *pieces: Evidence) -> bool:
    """Whether the other wording finds the answer when it found these pieces."""
    plan = answering().plan(TurnRequest(ALIKE, pieces), "en")[0]
    recalled = await cache.recall(started(ALIKE, "t2"), plan, ROUTE)
    return recalled is not None and recalled.answer is not None


async def test_other_words_that_found_other_passages_hit_only_while_the_library_is_at_rest_and_with_what_is_cited() -> (
    None
):
    shelf = Shelf()
    cache = AnswerCache(shelf, answering(), Embedding())
    shelf.state = "monday"
    await warm(cache)
    assert await found_with(cache, TRAVEL, LEAVE)
    assert not await found_with(cache, TRAVEL)
    assert not await found_with(cache, TRAVEL, replace(LEAVE, kept=(Span(0, 12), Span(20, 38))))
    assert await found_with(cache, TRAVEL, replace(LEAVE, kept=(Span(0, 12), Span(12, 38))))
    assert not await found_with(cache, TRAVEL, replace(LEAVE, source=replace(LEAVE.source, number=2)))
    for state in ("tuesday", None):
        shelf.state = state
        assert not await found_with(cache, TRAVEL, LEAVE)
        assert await found_with(cache, LEAVE)


async def test_what_was_kept_while_the_library_changed_is_only_found_with_the_same_passages() -> None:
    shelf = Shelf()
    cache = AnswerCache(shelf, answering(), Embedding())
    await warm(cache)
    for state in (None, "monday"):
        shelf.state = state
        assert not await found_with(cache, TRAVEL, LEAVE)
        assert await found_with(cache, LEAVE)


async def test_words_alone_are_near_enough_where_they_are_the_same() -> None:
    cache = AnswerCache(Shelf(), answering(), HashingEmbedder())
    await warm(cache)
    assert await found(cache, ALIKE)


async def test_vectors_of_another_embedder_are_not_compared() -> None:
    shelf = Shelf()
    await warm(AnswerCache(shelf, answering(), Embedding("old")))
    assert not await found(AnswerCache(shelf, answering(), Embedding("new")), ALIKE)
    assert await found(AnswerCache(shelf, answering(), Embedding("new")), QUESTION)


async def test_an_equal_question_and_an_empty_shelf_need_no_vector() -> None:
    embedder = Embedding()
    cache = AnswerCache(Shelf(), answering(), embedder)
    assert not await found(cache, QUESTION)
    assert embedder.asked == 0
    await warm(cache)
    assert embedder.asked == 1
    assert await found(cache, QUESTION)
    assert embedder.asked == 1


@pytest.mark.parametrize("policy", [TurnPolicy(filtered=True), TurnPolicy(judged=True), TurnPolicy(temperature=0.9)])
async def test_another_policy_finds_nothing(policy: TurnPolicy) -> None:
    shelf = Shelf()
    await warm(AnswerCache(shelf, answering()))
    assert not await found(AnswerCache(shelf, answering(policy)), QUESTION)


async def test_another_version_of_the_program_or_another_rule_finds_nothing() -> None:
    def no_promises(sentence: str) -> str | None:
        return sentence if "promise" in sentence else None

    shelf = Shelf()
    await warm(AnswerCache(shelf, answering(), settings=("1.0",)))
    assert await found(AnswerCache(shelf, answering(), settings=("1.0",)), QUESTION)
    assert not await found(AnswerCache(shelf, answering(), settings=("1.1",)), QUESTION)
    ruled = replace(answering(), rules=(no_promises,))
    assert not await found(AnswerCache(shelf, ruled, settings=("1.0",)), QUESTION)


async def test_a_store_that_fails_is_a_miss_and_counted() -> None:
    shelf = Shelf()
    cache = AnswerCache(shelf, answering())
    recalled = await cache.recall(started(), planned(), ROUTE)
    shelf.fails = True
    assert await cache.recall(started(), planned(), ROUTE) is None
    assert not await cache.remember(started(), recalled, ended(), CALLS)
    assert cache.counts.failed == 2


async def test_an_embedder_that_fails_is_a_miss_and_counted() -> None:
    shelf = Shelf()
    await warm(AnswerCache(shelf, answering(), Embedding()))
    cache = AnswerCache(shelf, answering(), Embedding(fails=True))
    assert await cache.recall(started(ALIKE), planned(ALIKE), ROUTE) is None
    assert await found(cache, QUESTION)
    recalled = Recalled(CacheKey("acme", "f", "k", "m", "q", ()))
    assert not await cache.remember(started(), recalled, ended(), CALLS)
    assert cache.counts.failed == 2


async def test_what_came_from_the_cache_or_has_no_key_is_not_kept() -> None:
    shelf = Shelf()
    cache = AnswerCache(shelf, answering())
    key = CacheKey("acme", "f", "k", "m", "q", ())
    answer = CachedAnswer("t0", "m", "p", (), TEXT, Alignment(CitationStatus.NONE, (), (), None))
    assert not await cache.remember(started(), Recalled(key, answer), ended(), CALLS)
    assert not await cache.remember(started(), None, ended(), CALLS)
    assert not await cache.remember(started(), Recalled(key), replace(ended(), finish="length"), CALLS)
    assert shelf.kept == {}
