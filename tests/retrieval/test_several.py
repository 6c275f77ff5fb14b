"""Several searches as one: rank, failures, scopes, and searches of other packages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.metadata import EntryPoint

import pytest

from assistant.config import ExternalSettings, RetrievalSettings
from assistant.core.access import Caller
from assistant.core.evidence import Passage, Place, SourceVersion
from assistant.core.text import Span
from assistant.errors import BadSetting
from assistant.interfaces import Retriever
from assistant.interfaces.outside import SearchFailure, SearchUnavailable, listening
from assistant.retrieval import registered as registering
from assistant.retrieval.opening import open_retriever
from assistant.retrieval.registered import LawfulRetriever, registered
from assistant.retrieval.several import BUILTIN, SeveralRetrievers, WeightedSearch, fuse_ranks
from tests.retrieval.outside import SECRET, answer, passage, serving

ANN = Caller("acme", "ann", frozenset({"everyone", "staff"}))


def made(name: str, score: float = 0.0, access: str = "everyone") -> Passage:
    source = SourceVersion(name, 1, "s", name, name, "c", access=frozenset({access}))
    return Passage(name, name, source, Span(0, len(name)), score=score)


class Fixed:
    """Finds what it was given, or fails, and notes where it was asked to search."""

    def __init__(self, found: Sequence[Passage] = (), error: Exception | None = None) -> None:
        self.found = list(found)
        self.error = error
        self.asked: list[frozenset[str] | None] = []
        self.earlier: Sequence[Place] = ()

    async def search(
        self,
        queries: Sequence[str],
        caller: Caller,
        *,
        collections: frozenset[str] | None = None,
        limit: int = 24,
        earlier: Sequence[Place] = (),
    ) -> list[Passage]:
        self.asked.append(collections)
        self.earlier = earlier
        if self.error is not None:
            raise self.error
        return self.found[:limit]


def several(builtin: Retriever, wiki: Retriever, weight: float = 1.0, *, enough: bool = True) -> SeveralRetrievers:
    return SeveralRetrievers([WeightedSearch(BUILTIN, builtin, enough=enough), WeightedSearch("wiki", wiki, weight)])


OWN = [made("a", 0.8), made("b", 0.4), made("c", 0.2)]


def test_the_built_in_scores_stay_and_those_outside_are_by_rank() -> None:
    outside = [made("x", 99.0), made("y"), made("z"), made("zz")]
    fused = fuse_ranks([(WeightedSearch(BUILTIN, Fixed()), OWN), (WeightedSearch("wiki", Fixed()), outside)])
    scores = {item.id: item.score for item in fused}
    assert [item.id for item in fused] == ["a", "x", "b", "y", "c", "z", "zz"]
    assert (scores["a"], scores["x"], scores["y"], scores["z"]) == (0.8, 0.8, 0.4, 0.2)
    assert 0.19 < scores["zz"] < 0.2


def test_the_weight_moves_all_passages_of_a_search() -> None:
    fused = fuse_ranks([(WeightedSearch(BUILTIN, Fixed()), OWN), (WeightedSearch("wiki", Fixed(), 0.6), [made("x")])])
    assert [(item.id, round(item.score, 2)) for item in fused][:2] == [("a", 0.8), ("x", 0.48)]
    heavy = fuse_ranks([(WeightedSearch(BUILTIN, Fixed()), OWN), (WeightedSearch("wiki", Fixed(), 9), [made("x")])])
    assert (heavy[0].id, heavy[0].score) == ("x", 1.0)


def test_without_the_built_in_search_scores_fade_with_the_rank() -> None:
    fused = fuse_ranks([(WeightedSearch("wiki", Fixed()), [made("x"), made("y")])])
    assert [(item.id, round(item.score, 3)) for item in fused] == [("x", 1.0), ("y", 0.984)]


async def test_one_failure_leaves_the_others_and_is_told() -> None:
    told: list[SearchFailure] = []
    broken = several(Fixed(OWN), Fixed(error=SearchUnavailable("away", search="wiki", reason="away")))
    found = await listening(broken, told.append).search(["q"], ANN)
    assert [item.id for item in found] == ["a", "b", "c"]
    assert told == [SearchFailure("wiki", "search_unavailable")]
    told.clear()
    other = several(Fixed(error=RuntimeError("the database is away")), Fixed([made("x")]))
    assert [item.id for item in await listening(other, told.append).search(["q"], ANN)] == ["x"]
    assert told == [SearchFailure(BUILTIN, "internal")]


async def test_when_none_is_left_the_turn_hears_of_it() -> None:
    first, second = RuntimeError("one"), SearchUnavailable("two")
    with pytest.raises(RuntimeError, match="one"):
        await several(Fixed(error=first), Fixed(error=second)).search(["q"], ANN)
    with pytest.raises(SearchUnavailable):  # the files of a session are not the knowledge base
        await several(Fixed(), Fixed(error=second), enough=False).search(["q"], ANN)


async def test_a_search_that_is_not_in_the_scope_hides_no_failure() -> None:
    wiki = Fixed([made("x")])
    with pytest.raises(RuntimeError):
        await several(Fixed(error=RuntimeError()), wiki).search(["q"], ANN, collections=frozenset({"files:s"}))
    assert wiki.asked == []


async def test_at_most_the_limit_comes_back() -> None:
    found = await several(Fixed(OWN), Fixed([made("x"), made("y")])).search(["q"], ANN, limit=3)
    assert [item.id for item in found] == ["a", "x", "b"]


def test_a_retriever_that_cannot_tell_is_taken_as_it_is() -> None:
    alone = Fixed()
    assert listening(alone, lambda _: None) is alone


async def opened(settings: RetrievalSettings, builtin: Fixed, scope: frozenset[str] | None = None) -> list[str]:
    async with open_retriever(settings, builtin, lambda _: "p") as retriever:
        return [item.text for item in await retriever.search(["q"], ANN, collections=scope)]


def outside(url: str = "", name: str = "wiki", secret: str = SECRET) -> ExternalSettings:
    return ExternalSettings.model_validate({"name": name, "url": url, "secret": secret})


async def test_beside_the_built_in_search_and_instead_of_it() -> None:
    async with serving(answer(passage())) as server:
        beside = RetrievalSettings(external=[outside(server.url)])
        instead = RetrievalSettings(external=[outside(server.url)], builtin=False)
        assert await opened(beside, Fixed(OWN)) == ["a", "31 days.", "b", "c"]
        builtin = Fixed(OWN)
        assert await opened(instead, builtin) == ["31 days."]
        assert builtin.asked == []
        assert await opened(instead, builtin, frozenset({"*", "files:s"})) == ["a", "31 days.", "b", "c"]
        assert builtin.asked == [frozenset({"files:s"})]


async def test_without_external_searches_nothing_changes() -> None:
    builtin = Fixed(OWN)
    async with open_retriever(RetrievalSettings(), builtin, lambda _: "p") as retriever:
        assert retriever is builtin


@pytest.mark.parametrize(
    "settings",
    [
        RetrievalSettings(builtin=False),
        RetrievalSettings(external=[outside("https://a.example"), outside("https://b.example")]),
        RetrievalSettings(external=[outside("https://a.example", name="builtin")]),
        RetrievalSettings(external=[outside("http://a.example")]),
        RetrievalSettings(external=[outside("https://a.example", secret="short")]),
        RetrievalSettings(external=[outside("", name="nobody")]),
    ],
)
async def test_settings_that_cannot_be_used_are_refused(settings: RetrievalSettings) -> None:
    with pytest.raises(BadSetting):
        await opened(settings, Fixed())


def entry(monkeypatch: pytest.MonkeyPatch, make: Callable[[], Retriever]) -> None:
    class Entry(EntryPoint):
        def load(self) -> Callable[[], Retriever]:
            return make

    found = [Entry("intranet", "nowhere:make", registering.GROUP)]
    monkeypatch.setattr(registering, "entry_points", lambda group: found if group == registering.GROUP else [])


async def test_a_search_in_python_is_held_to_the_same_laws(monkeypatch: pytest.MonkeyPatch) -> None:
    inner = Fixed([replace(made("x"), score=7.0)])
    entry(monkeypatch, lambda: inner)
    place = Place("outside:intranet:d1", 1, Span(0, 1))
    (only,) = await registered("intranet").search(["q"], ANN, earlier=[place, Place("d2", 1, Span(0, 1))])
    assert (only.source.document, only.source.collection) == ("outside:intranet:x", "intranet")
    assert [one.document for one in inner.earlier] == ["d1"]
    assert await registered("intranet").search(["q"], ANN, collections=frozenset({"handbook"})) == []


@pytest.mark.parametrize(
    "bad", [made("x", access="board"), made("x", access=ANN.private_group), replace(made("x"), text="other")]
)
async def test_a_passage_in_python_that_breaks_a_law_fails_the_search(bad: Passage) -> None:
    with pytest.raises(SearchUnavailable):
        await LawfulRetriever("intranet", Fixed([made("y"), bad])).search(["q"], ANN)


def test_a_factory_that_fails_is_a_bad_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    entry(monkeypatch, lambda: Fixed(error=1 / 0))  # type: ignore[arg-type]
    with pytest.raises(BadSetting):
        registered("intranet")
