"""Opinions: a second look raises verdicts, cites its place, and changes nothing else."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.core.citations import CitationStatus, Verdict, align
from assistant.core.evidence import Evidence
from assistant.core.grounding.alignment import Place
from assistant.core.grounding.indexing import index_evidence
from assistant.core.opinions import Opinion, doubts, seconded
from assistant.core.structured import align_fields
from assistant.core.text import Span
from tests.core.citing import EVIDENCE, HOSTILE, made

LEAVE = made("Full-time employees receive 25 days of annual leave. Unused leave expires.", name="leave", at=50)
CANTEEN = made("Lunch is served at noon.", name="canteen")
INDEX = index_evidence([LEAVE, CANTEEN])
ANSWER = "午餐中午供应。 Unused leave expires. 全职员工有25天年假。"


def test_a_raised_sentence_is_cited_and_numbers_follow_the_answer() -> None:
    found = align(ANSWER, [LEAVE, CANTEEN])
    assert found.status is CitationStatus.PARTIAL
    first, last = doubts(ANSWER, found, (Verdict.UNSUPPORTED,))
    opinions = {
        last.span: Opinion(Place(0, 0, 0, 0.8), Verdict.SUPPORTED, 0.8),
        first.span: Opinion(Place(2, 2, 2, 0.6), Verdict.PARTIAL, 0.36),
    }
    raised = seconded(found, opinions, INDEX, {})
    assert [(each.source.document, each.n, each.verdict) for each in raised.citations] == [
        ("canteen", 1, Verdict.PARTIAL),
        ("leave", 2, Verdict.SUPPORTED),
        ("leave", 2, Verdict.SUPPORTED),
    ]
    assert raised.citations[2].source.exact == "Full-time employees receive 25 days of annual leave."
    assert raised.citations[2].source.start == 50
    assert (raised.status, raised.agreement) == (CitationStatus.COMPLETE, 4)
    assert all(each.nearest is None for each in raised.sentences)
    numbered = seconded(found, opinions, INDEX, {LEAVE.id: 3})
    assert [each.n for each in numbered.citations] == [4, 3, 3]


def test_nothing_is_lowered_and_what_is_contradicted_stays() -> None:
    answer = "Full-time employees receive 30 days of annual leave. Unused leave expires."
    found = align(answer, [LEAVE])
    assert [each.verdict for each in found.sentences] == [Verdict.CONTRADICTED, Verdict.SUPPORTED]
    place = Place(0, 0, 0, 1.0)
    opinions = {Span(each.start, each.end): Opinion(place, Verdict.PARTIAL, 0.3) for each in found.sentences}
    opinions[Span(found.sentences[0].start, found.sentences[0].end)] = Opinion(place, Verdict.SUPPORTED, 1.0)
    assert seconded(found, opinions, INDEX, {}) == found


def test_what_a_structured_answer_says_is_read_from_its_json() -> None:
    document = '{"a": "\\u5348\\u9910 \\"\\u514d\\u8d39\\"", "b": 1}'
    (doubt,) = doubts(document, align_fields(document, [LEAVE]), (Verdict.UNSUPPORTED,), structured=True)
    assert doubt.claim == '午餐 "免费"'
    assert document[doubt.span.start : doubt.span.end].startswith("\\u5348")


@settings(max_examples=40)
@given(HOSTILE, EVIDENCE, st.data())
def test_laws(answer: str, evidence: list[Evidence], data: st.DataObject) -> None:
    """Whatever is thought, the spans stay, verdicts never fall, and each citation quotes its document."""
    index = index_evidence(evidence)
    found = align(answer, evidence)
    opinions = {
        Span(each.start, each.end): Opinion(
            Place(at, at, at, 0.5), data.draw(st.sampled_from([Verdict.PARTIAL, Verdict.SUPPORTED])), 0.5
        )
        for each in found.sentences
        if index.units and (at := data.draw(st.integers(-1, len(index.units) - 1))) >= 0
    }
    raised = seconded(found, opinions, index, {})
    order = [Verdict.UNSUPPORTED, Verdict.PARTIAL, Verdict.SUPPORTED]
    assert [(each.start, each.end) for each in raised.sentences] == [(each.start, each.end) for each in found.sentences]
    for before, after in zip(found.sentences, raised.sentences, strict=True):
        if before.verdict is Verdict.CONTRADICTED:
            assert after == before
        else:
            assert order.index(after.verdict) >= order.index(before.verdict)
    by_id = {item.id: item for item in evidence}
    verdicts = {(each.start, each.end): each.verdict for each in raised.sentences}
    for item in raised.citations:
        assert item.source.exact == by_id[item.evidence].quote(Span(item.source.start, item.source.end))
        assert verdicts[item.start, item.end] is item.verdict is not Verdict.UNSUPPORTED
    numbers = list(dict.fromkeys(item.n for item in raised.citations))
    assert numbers == list(range(1, len(numbers) + 1))
    assert seconded(found, {}, index, {}) == found
