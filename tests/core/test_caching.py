"""What a cached answer hangs on, and which answers are never kept."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import Any

import pytest

from assistant.core.access import EVERYONE, PRIVATE, Caller
from assistant.core.attachments import SHARED, files_of
from assistant.core.caching import Asking, CacheKey, cache_key, kept_answer, replayed
from assistant.core.calls import ModelCall
from assistant.core.citations import Alignment, CitationStatus, SentenceVerdict, Verdict, align
from assistant.core.events import AnswerDelta, AnswerStarted, CitationsAdded, ConflictsFound, TurnPlanned, TurnProgress
from assistant.core.evidence import Authority, Evidence, ImageRef
from assistant.core.messages import Message, Role
from assistant.core.modes import Mode
from assistant.core.planning import Limits, TurnPlan, TurnRequest, plan_turn
from assistant.core.prompt import Sampling
from assistant.core.text import Span
from assistant.core.turn import TurnMessage, fold
from assistant.llm.tokens import NaiveCounter
from assistant.prompts import load_prompts
from tests.making import evidence, past

ANN = Caller("acme", "ann")
QUESTION = "How many days of annual leave do employees get?"
LEAVE = evidence("Employees get 20 days of annual leave. Ask your manager first.", "leave")
TRAVEL = evidence("Travel must be approved by the supervisor.", "travel")
TEXT = "Employees get 20 days of annual leave."


def planned(*pieces: Evidence, question: str = QUESTION, **more: Any) -> TurnPlan:
    request = TurnRequest(question, pieces or (LEAVE, TRAVEL), **more)
    return plan_turn(request, Limits(8192, NaiveCounter().count, load_prompts("en")))


def asking(caller: Caller = ANN, **more: Any) -> Asking:
    given: dict[str, Any] = {"collections": None, "model": "m", "window": 8192, "sampling": Sampling(500)} | more
    return Asking(caller, **given)


def key(plan: TurnPlan | None = None, given: Asking | None = None, declared: frozenset[str] = frozenset()) -> CacheKey:
    made = cache_key(given or asking(), plan or planned(), declared)
    assert made is not None
    return made


def other_version(item: Evidence, **more: Any) -> Evidence:
    return replace(item, source=replace(item.source, **more))


def agree(one: CacheKey, other: CacheKey) -> bool:
    """Whether frame and evidence agree."""
    return (one.frame, one.digest) == (other.frame, other.digest)


def test_another_person_of_the_same_rights_has_the_same_key() -> None:
    bob = Caller("acme", "bob", frozenset({EVERYONE, PRIVATE + "b"}), frozenset({"user", "auditor"}))
    assert key(given=asking(bob)) == key()


def test_only_the_meaning_of_the_question_the_order_of_evidence_and_the_room_for_the_answer_may_differ() -> None:
    again = planned(TRAVEL, replace(LEAVE, score=0.9), question="How many vacation days do we get?")
    other = key(again, asking(sampling=Sampling(77)))
    assert agree(other, key())
    assert other.question != key().question


@pytest.mark.parametrize(
    "given",
    [
        asking(Caller("acme", "ann", frozenset({EVERYONE, "hr"}))),
        asking(Caller("rival", "ann")),
        asking(collections=frozenset({"handbook"})),
        asking(model="n"),
        asking(window=4096),
        asking(sampling=Sampling(500, temperature=0.9)),
        asking(sampling=Sampling(500, top_p=0.1)),
        asking(sampling=Sampling(500, frequency_penalty=0)),
        asking(sampling=Sampling(500, presence_penalty=1)),
        asking(schema={"type": "object"}),
        asking(settings=("filtered=True",)),
    ],
)
def test_who_asks_and_how_the_model_is_asked_is_in_the_key(given: Asking) -> None:
    assert not agree(key(given=given), key())


@pytest.mark.parametrize(
    "changed",
    [
        evidence("Employees get 25 days of annual leave. Ask your manager first.", "leave"),
        other_version(LEAVE, number=2),
        other_version(LEAVE, sha256="0" * 64),
        other_version(LEAVE, title="Leave, edited"),
        other_version(LEAVE, date=date(2024, 1, 1)),
        other_version(LEAVE, authority=Authority.HIGH),
        other_version(LEAVE, uri="moved.md"),
        replace(LEAVE, section="Annual"),
        replace(LEAVE, page=2),
        replace(LEAVE, flags=("instruction",)),
        replace(LEAVE, kept=(Span(0, 38),)),
        replace(LEAVE, images=(ImageRef("i1", "image/png", "A chart", Span(0, 5)),)),
    ],
)
def test_evidence_is_in_the_key_as_it_is_shown(changed: Evidence) -> None:
    assert not agree(key(planned(changed, TRAVEL)), key())


def test_more_or_less_evidence_is_another_key() -> None:
    digests = {key(planned(*pieces)).digest for pieces in [(LEAVE,), (TRAVEL,), (LEAVE, TRAVEL)]}
    assert len(digests) == 3


@pytest.mark.parametrize(
    "changed",
    [
        {"history": (Message(Role.USER, "Before?"), Message(Role.ASSISTANT, "Yes."))},
        {"brief": True},
        {"prompts": replace(load_prompts("en"), hash="other")},
        {"prompts": replace(load_prompts("en"), language="zh")},
        {"choice": replace(planned().choice, mode=Mode.VERIFIED)},
    ],
    ids=["history", "brief", "prompts", "language", "mode"],
)
def test_what_else_the_model_sees_is_in_the_key(changed: dict[str, Any]) -> None:
    assert not agree(key(replace(planned(), **changed)), key())


def test_a_follow_up_only_matches_one_after_the_same_talk() -> None:
    talks = [
        (past("Is leave paid?", "Annual leave is paid."),),
        (past("Is leave paid?", "Annual leave is not paid."),),
        (),
    ]
    keys = [key(planned(LEAVE, past=talk)) for talk in talks]
    assert len({item.frame for item in keys}) == 3
    assert key(planned(LEAVE, past=talks[0])) == keys[0]


def test_files_of_a_session_do_not_part_the_scope_where_they_gave_no_evidence() -> None:
    assert key(given=asking(collections=frozenset({SHARED, files_of("s1")}))) == key()
    within = asking(collections=frozenset({"handbook", files_of("s1")}))
    assert key(given=within) == key(given=asking(collections=frozenset({"handbook"})))


def test_documents_of_the_key_are_all_that_was_shown() -> None:
    assert key().documents == (("leave", 1), ("travel", 1))


@pytest.mark.parametrize(
    "plan",
    [
        planned(evidence("Employees get 20 days of leave.", "a", on=date(2020, 1, 1)), evidence("Employees get 25 days of leave.", "b", on=date(2025, 1, 1))),
        replace(planned(), evidence=()),
        planned(other_version(LEAVE, access=frozenset({PRIVATE + "a"}))),
        planned(requested=Mode.GENERATION),
        planned(requested=Mode.NO_TEXT),
        planned(requested=Mode.CONTEXT_ONLY),
        planned(requested="custom"),
    ],
    ids=["conflict", "nothing found", "private file", "generation", "no text", "context only", "custom mode"],
)  # fmt: skip
def test_some_turns_have_no_key(plan: TurnPlan) -> None:
    assert cache_key(asking(), plan) is None


def test_a_declared_custom_mode_has_a_key_and_a_shared_file_is_not_private() -> None:
    assert not agree(key(planned(requested="custom"), declared=frozenset({"custom"})), key())
    key(planned(other_version(LEAVE, access=frozenset({PRIVATE + "a", EVERYONE}))))


def ended(**more: Any) -> TurnMessage:
    """A completed turn that may be kept, with changes."""
    found = align(TEXT, [LEAVE])
    cited = CitationsAdded(found.status, found.citations, (), found.agreement)
    message = TurnMessage(
        question=QUESTION, text=TEXT, status="completed", stage="done", finish="stop", citations=cited
    )
    return replace(message, model="m", prompt="p", parameters=(("top_p", 0.9),), **more)


def call(ended_: str = "stop") -> ModelCall:
    return ModelCall("answer", "m", (), TEXT, ended_)


def in_mode(mode: Mode) -> TurnPlanned:
    return TurnPlanned(QUESTION, str(mode), "", "", planned().budget)


def test_an_answer_that_is_kept_is_told_again_as_it_was() -> None:
    answer = kept_answer("t1", ended(), [call("no_answer"), call()])
    assert answer is not None
    assert answer.alignment.citations[0].verdict is Verdict.SUPPORTED
    assert replayed(answer) == (AnswerStarted("m", "p", (("top_p", 0.9),), from_cache="t1"), AnswerDelta(0, TEXT))
    assert fold(replayed(answer)).from_cache == "t1"


def cited(**more: Any) -> CitationsAdded:
    base = ended().citations
    assert base is not None
    return replace(base, **more)


DOUBTFUL = SentenceVerdict(0, 5, Verdict.UNSUPPORTED, 0.1)


@pytest.mark.parametrize(
    "message",
    [
        ended(finish="no_answer"),
        ended(finish="length"),
        ended(finish="cancelled", status="cancelled"),
        ended(finish="error", status="failed", error="model_unavailable"),
        ended(error="access_revoked"),
        ended(status="running"),
        ended(text=""),
        ended(text="x" * 50_001),
        ended(from_cache="t0"),
        ended(attachments=("salary.pdf",)),
        ended(conflicts=ConflictsFound(())),
        replace(ended(), citations=None),
        replace(ended(), citations=CitationsAdded(CitationStatus.NONE)),
        replace(ended(), citations=cited(unsupported=(DOUBTFUL,))),
        replace(ended(), citations=cited(items=tuple(replace(item, verdict=Verdict.CONTRADICTED) for item in cited().items))),
        ended(steps=(TurnProgress("read", 1, 2, "{", "model_output_invalid"),)),
        ended(plan=in_mode(Mode.VERIFIED), steps=(TurnProgress("read", 3, 3, "Everyone gets a unicorn."),)),
    ],
)  # fmt: skip
def test_what_is_never_kept(message: TurnMessage) -> None:
    assert kept_answer("t1", message, [call()]) is None


def test_an_answer_without_a_call_or_with_one_that_was_cut_is_not_kept() -> None:
    assert kept_answer("t1", ended(), []) is None
    for reason in ("length", "cancelled", "model_unavailable"):
        assert kept_answer("t1", ended(), [call(), call(reason)]) is None


def test_a_checked_answer_that_lost_nothing_is_kept() -> None:
    steps = (TurnProgress("read", 1, 3, "A draft."), TurnProgress("read", 3, 3))
    assert kept_answer("t1", ended(plan=in_mode(Mode.VERIFIED), steps=steps), [call()]) is not None
    drafts = (TurnProgress("read", 2, 2, "A partial answer."),)
    assert kept_answer("t1", ended(plan=in_mode(Mode.COMPACT), steps=drafts), [call()]) is not None


def test_partly_supported_sentences_may_be_kept() -> None:
    partly = cited(items=tuple(replace(item, verdict=Verdict.PARTIAL) for item in cited().items))
    answer = kept_answer("t1", replace(ended(), citations=partly), [call()])
    assert answer is not None
    assert isinstance(answer.alignment, Alignment)
