"""The second look: across languages by meaning, and by a model whose word counts as far as it quotes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from assistant.conversation.aligning import CitationJudge, SecondLook
from assistant.conversation.turns import Stopwatch, Trace
from assistant.core.citations import Alignment, CitationStatus, Verdict, align
from assistant.core.evidence import Evidence
from assistant.core.structured import align_fields
from assistant.core.text import Span
from assistant.errors import ModelUnavailable
from assistant.interfaces import Embedder, Vectors
from assistant.llm.scripted import ScriptedModel
from assistant.prompts import LANGUAGES, load_prompts
from assistant.retrieval.embedders import HashingEmbedder, choose_embedder
from tests.core.citing import made
from tests.core.grounding.bilingual import PAIRS, WRONG_CHINESE, WRONG_ENGLISH

for tongue in LANGUAGES:
    load_prompts(tongue)  # as the app does at start-up: files are never read inside a turn

WATCH = Stopwatch(lambda: 0.0)
ENGLISH, CHINESE = (tuple(side) for side in zip(*PAIRS, strict=True))


class Fixed:
    """An embedder with the name of a measured one that gives what it was told to, and counts what it was asked."""

    name = "usem3-0-0"
    dimension = 2

    def __init__(self, fail: Exception | None = None) -> None:
        self.asked: list[list[str]] = []
        self._fail = fail

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self.asked.append(list(texts))
        if self._fail is not None:
            raise self._fail
        return np.asarray([[1.0, 0.0]] * len(texts), dtype=np.float32)

    async def embed_query(self, text: str) -> Vectors:
        raise NotImplementedError


async def reviewed(
    answer: str, evidence: Sequence[Evidence], second: SecondLook, trace: Trace | None = None
) -> Alignment:
    trace = trace or Trace()
    trace.evidence = tuple(evidence)
    found = (align_fields if trace.structured else align)(answer, evidence)
    return await second.review(answer, found, trace, {}, WATCH)


def built_in() -> Embedder:
    embedder = choose_embedder("use")
    assert embedder is not None
    return embedder


@pytest.fixture(scope="module")
def across() -> SecondLook:
    return SecondLook(built_in())


@pytest.mark.parametrize(("claims", "evidence"), [(CHINESE, ENGLISH), (ENGLISH, CHINESE)], ids=["zh to en", "en to zh"])
async def test_most_sentences_are_cited_across_languages_and_to_the_right_place(
    claims: Sequence[str], evidence: Sequence[str], across: SecondLook
) -> None:
    document = made("\n".join(evidence))
    cited: list[bool] = []
    for at in range(0, len(claims), 20):
        answer = "\n".join(claims[at : at + 20])
        found = await reviewed(answer, [document], across)
        for item in found.citations:
            cited.append(item.source.exact == evidence[claims.index(answer[item.start : item.end])])
    assert all(cited)
    assert len(cited) >= 0.8 * len(claims)


@pytest.mark.parametrize(
    ("claims", "evidence"), [(WRONG_CHINESE, ENGLISH), (WRONG_ENGLISH, CHINESE)], ids=["zh to en", "en to zh"]
)
async def test_a_near_sentence_that_says_something_else_is_not_cited(
    claims: Sequence[str], evidence: Sequence[str], across: SecondLook
) -> None:
    document = made("\n".join(evidence))
    for at in range(0, len(claims), 20):
        answer = "\n".join(claims[at : at + 20])
        found = await reviewed(answer, [document], across)
        assert [(answer[item.start : item.end], item.source.exact) for item in found.citations] == []


async def test_a_structured_answer_is_cited_across_languages_too(across: SecondLook) -> None:
    document = json.dumps({"days": "母亲享有14周产假。", "note": "未经许可不得安装软件。"}, ensure_ascii=True)
    found = await reviewed(document, [made("\n".join(ENGLISH))], across, Trace(structured=True))
    assert [item.source.exact for item in found.citations] == [ENGLISH[10], ENGLISH[27]]
    assert found.status is CitationStatus.COMPLETE


@pytest.mark.parametrize(
    ("answer", "evidence"),
    [
        ("Mothers receive 14 weeks of maternity leave.", "Mothers receive 14 weeks of maternity leave."),
        ("The moon is made of cheese.", "Mothers receive 14 weeks of maternity leave."),
        ("母亲享有14周产假。", "食堂中午开放。"),
        ("您好！", "Mothers receive 14 weeks of maternity leave."),
    ],
)
async def test_nothing_is_embedded_where_words_decide_or_one_language_is_spoken(answer: str, evidence: str) -> None:
    embedder = Fixed()
    await reviewed(answer, [made(evidence)], SecondLook(embedder))
    assert embedder.asked == []


async def test_much_text_is_embedded_in_one_bounded_go() -> None:
    embedder = Fixed()
    answer = "\n".join(f"母亲享有{at}周产假。" for at in range(200))
    await reviewed(answer, [made("Mothers receive 14 weeks of leave. " * 500)], SecondLook(embedder))
    assert [len(texts) for texts in embedder.asked] == [24 + 120]


@pytest.mark.parametrize("failure", [ModelUnavailable(), RuntimeError("x"), TimeoutError()])
async def test_an_embedder_that_fails_leaves_the_alignment(failure: Exception) -> None:
    answer, evidence = "母亲享有14周产假。", [made(ENGLISH[10])]
    assert await reviewed(answer, evidence, SecondLook(Fixed(failure))) == align(answer, evidence)


async def test_an_embedder_whose_scale_is_unknown_is_not_asked() -> None:
    answer, evidence = "母亲享有14周产假。", [made(ENGLISH[10])]
    assert await reviewed(answer, evidence, SecondLook(HashingEmbedder())) == align(answer, evidence)


PETS = made("Guide animals are welcome on all floors. Cats stay outside for 2 days.", name="pets")
OTHER = made("Lunch is served at noon.", name="lunch")
SAID = "Dogs that lead blind people can enter everywhere. Kittens wait 3 weeks beyond the doors."


def reply(**more: Any) -> str:
    found = {"sentence": 1, "evidence": PETS.id, "quote": PETS.exact[:40], "verdict": "supported"}
    return json.dumps({"found": [{**found, **more}]})


async def judged(text: str, trace: Trace | None = None, **more: Any) -> Alignment:
    judge = CitationJudge(ScriptedModel([text], **more), load_prompts)
    return await reviewed(SAID, [OTHER, PETS], SecondLook(judge=judge), trace)


async def test_a_judge_that_quotes_is_believed_and_its_call_is_kept() -> None:
    trace = Trace()
    found = await judged(f"```json\n{reply()}\n```", trace)
    (citation,) = found.citations
    assert (citation.start, citation.verdict) == (0, Verdict.SUPPORTED)
    assert citation.source.exact == "Guide animals are welcome on all floors."
    assert (found.status, found.agreement) == (CitationStatus.PARTIAL, 3)
    (call,) = trace.calls
    assert (call.purpose, call.ended) == ("citations", "stop")
    assert "1. Dogs that lead blind people can enter everywhere." in call.messages[1].text


@pytest.mark.parametrize(
    "text",
    [
        reply(quote="Guide animals are welcome in all gardens."),
        reply(evidence=OTHER.id),
        reply(evidence="e0000000000"),
        reply(sentence=0),
        reply(sentence=3),
        reply(sentence=-1),
        reply(sentence=2, quote="Cats stay outside for 2 days."),
        reply(quote="are"),
        reply(verdict="contradicted"),
        reply(verdict="unsupported"),
        '{"found": "all"}',
        "Everything is supported.",
        "",
        "[" * 5000,
    ],
)
async def test_what_is_not_quoted_or_has_other_figures_does_not_count(text: str) -> None:
    assert await judged(text) == align(SAID, [OTHER, PETS])


async def test_what_was_not_shown_cannot_be_quoted_to_the_judge() -> None:
    shown = replace(PETS, kept=(Span(41, len(PETS.exact)),))
    second = SecondLook(judge=CitationJudge(ScriptedModel([reply()]), load_prompts))
    assert (await reviewed(SAID, [OTHER, shown], second)).citations == ()


async def test_a_judge_that_fails_or_is_slow_leaves_the_alignment_and_its_call_is_kept() -> None:
    trace = Trace()
    assert await judged(reply(), trace, fail_with=ModelUnavailable()) == align(SAID, [OTHER, PETS])
    slow = CitationJudge(ScriptedModel([reply()], delay=30), load_prompts, timeout_s=0.02)
    assert (await reviewed(SAID, [OTHER, PETS], SecondLook(judge=slow), trace)).citations == ()
    assert [call.ended for call in trace.calls] == ["model_unavailable", "cancelled"]


@pytest.mark.parametrize("trace", [Trace(finish="cancelled"), Trace(error="model_unavailable")])
async def test_no_model_is_asked_after_an_answer_that_was_cut_off(trace: Trace) -> None:
    assert await judged(reply(), trace) == align(SAID, [OTHER, PETS])
    assert trace.calls == []


async def test_a_judge_is_asked_only_about_what_is_doubtful_and_raises_what_was_partial() -> None:
    evidence = [made("Managers sign the form. Managers approve annual leave per year.", name="leave")]
    answer = "Managers sign the form. Holidays have to be approved by managers first."
    assert [each.verdict for each in align(answer, evidence).sentences] == [Verdict.SUPPORTED, Verdict.PARTIAL]
    quote = "Managers approve annual leave per year."
    model = ScriptedModel([reply(evidence=evidence[0].id, quote=quote)])
    found = await reviewed(answer, evidence, SecondLook(judge=CitationJudge(model, load_prompts)))
    assert [each.verdict for each in found.sentences] == [Verdict.SUPPORTED, Verdict.SUPPORTED]
    (call,) = model.calls
    asked = call.request.messages[1].text.partition("<sentences>")[2]
    assert asked == "\n1. Holidays have to be approved by managers first.\n</sentences>\n"
    unasked = ScriptedModel([reply()])
    await reviewed("Managers sign the form.", evidence, SecondLook(judge=CitationJudge(unasked, load_prompts)))
    assert unasked.calls == []


async def test_the_judge_gets_no_more_evidence_than_its_window_holds() -> None:
    model = ScriptedModel([reply()], window=1200)
    pieces = [replace(made(f"Room {at} is closed. " * 40, name=f"r{at}"), score=at / 10) for at in range(8)]
    await reviewed(SAID, pieces, SecondLook(judge=CitationJudge(model, load_prompts)))
    (call,) = model.calls
    assert 0 < len(call.request.evidence) < 8
    assert call.request.evidence[-1].id == pieces[-1].id
    assert sum(model.counter.count(message.text) for message in call.request.messages) < 1200
