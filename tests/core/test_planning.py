from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.core.evidence import Evidence
from assistant.core.forms import conflict_units, evidence_forms
from assistant.core.messages import Role
from assistant.core.modes import Mode
from assistant.core.planning import Limits, TurnPlan, TurnRequest, plan_turn
from assistant.core.prompt import Sampling, answer_request
from assistant.core.reading import MESSAGE_OVERHEAD
from assistant.core.selection import select
from assistant.errors import QuestionTooLong
from assistant.llm.scripted import ScriptedModel
from assistant.llm.tokens import counter_for
from assistant.prompts import load_prompts
from assistant.synthesis.job import Job, StepDone
from assistant.synthesis.summarize import compact
from tests.making import evidence, passage, past, source

COUNTERS = {name: counter_for(name) for name in ("gpt-4o", "gpt-4", "some-local-model")}
RULES = {
    "en": "Employees may claim {n} days of remote work each month when their manager agrees in writing. ",
    "zh": "员工经主管书面同意，每月可以申请{n}天远程办公。部门应当在三个工作日内答复，并记录在案。",
}
QUESTIONS = {"en": "How many days of remote work may employees claim?", "zh": "员工每月可以申请多少天远程办公？"}


def corpus(language: str, pages: int, length: int) -> tuple[Evidence, ...]:
    """Pages that partly disagree, each as long as `length` repetitions of a rule among other text."""
    made = []
    for page in range(pages):
        rule = RULES[language].format(n=page % 3 + 2)
        other = "".join(f"Section {page}.{n} speaks of item {page * 100 + n} on shelf {n}. " for n in range(length))
        made.append(passage(rule + other, f"page{page}", score=1 - page / 100, on=date(2020 + page % 4, 1, 1)))
    return select(made)


def plan(
    language: str, window: int, evidence: tuple[Evidence, ...], counter: str = "gpt-4o", **more: object
) -> TurnPlan:
    request = TurnRequest(question=QUESTIONS[language], evidence=evidence, **more)  # type: ignore[arg-type]
    return plan_turn(request, Limits(window, COUNTERS[counter].count, load_prompts(language)))


def prompt_tokens(made: TurnPlan, language: str, counter: str) -> dict[str, int]:
    """The tokens of the request as it is sent, counted part by part with the model's tokenizer."""
    request = answer_request(
        prompts=load_prompts(language),
        question=QUESTIONS[language],
        evidence=made.evidence,
        conflicts=made.conflicts,
        history=made.history,
        sampling=Sampling(made.budget.output),
        brief=made.brief,
    )
    count = COUNTERS[counter].count
    parts = {"system": 0, "history": 0, "asked": 0}
    for place, message in enumerate(request.messages):
        last = place == len(request.messages) - 1
        part = "system" if message.role is Role.SYSTEM else "asked" if last else "history"
        parts[part] += count(message.text) + MESSAGE_OVERHEAD
    return parts


@pytest.mark.parametrize("counter", COUNTERS)
@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("window", [512, 1024, 2048, 4096, 8192, 32768, 131072, 1_000_000])
def test_the_prompt_fits_the_window_and_the_parts_are_what_is_sent(window: int, language: str, counter: str) -> None:
    talk = tuple(past(f"Question {n}?", "An answer about remote work. " * 20, f"t{n}") for n in range(12))
    made = plan(language, window, corpus(language, 12, 20), counter, past=talk)
    sent, budget = prompt_tokens(made, language, counter), made.budget
    assert budget.total <= window
    assert sent["system"] == budget.system
    assert sent["history"] == budget.history
    assert sent["asked"] <= budget.evidence + budget.question
    assert sum(sent.values()) + budget.output + budget.margin <= window
    assert made.evidence


@settings(max_examples=40)
@given(
    st.integers(512, 20000), st.integers(1, 4000), st.sampled_from(["en", "zh"]), st.integers(1, 10), st.integers(0, 30)
)
def test_a_larger_window_keeps_every_sentence_that_a_smaller_one_kept(
    window: int, more: int, language: str, pages: int, length: int
) -> None:
    found = corpus(language, pages, length)
    small, large = plan(language, window, found), plan(language, window + more, found)
    if small.brief is large.brief:
        larger = {item.id: item for item in large.evidence}
        for item in small.evidence:
            kept = larger[item.id].kept
            assert all(any(other.start <= span.start and span.end <= other.end for other in kept) for span in item.kept)


@settings(max_examples=40)
@given(st.integers(512, 20000), st.sampled_from(["en", "zh"]), st.integers(2, 10))
def test_both_sides_of_a_conflict_are_shown_or_none(window: int, language: str, pages: int) -> None:
    made = plan(language, window, corpus(language, pages, 15))
    shown = {item.id for item in made.evidence}
    for item in made.evidence:
        assert set(item.conflicts) <= shown
    for conflict in made.conflicts:
        for side in conflict.sides:
            (holder,) = [item for item in made.evidence if item.id == side.evidence]
            assert any(part.start <= side.span.start and side.span.end <= part.end for part in holder.kept)


def test_a_question_longer_than_the_window_is_refused() -> None:
    request = TurnRequest(question="Why is that so? " * 400)
    with pytest.raises(QuestionTooLong):
        plan_turn(request, Limits(1024, COUNTERS["gpt-4o"].count, load_prompts("en")))


def test_a_summary_of_more_than_fits_is_read_in_groups() -> None:
    request = TurnRequest(question="Summarize the rules of remote work.", evidence=corpus("en", 12, 60))
    made = plan_turn(request, Limits(4096, COUNTERS["gpt-4o"].count, load_prompts("en")))
    assert made.choice.mode is Mode.TREE_SUMMARIZE
    assert len(made.evidence) == len(request.evidence)
    assert "in_groups" in [item.reason for item in made.budget.dropped if item.kind == "evidence"]


@pytest.mark.parametrize("window", [1024, 2048, 4096, 8192])
@pytest.mark.parametrize("language", ["en", "zh"])
async def test_every_prompt_of_compact_fits_the_window_with_its_draft(window: int, language: str) -> None:
    """The worst model: it uses all the tokens it may have, in every step."""
    counter = COUNTERS["gpt-4o"]
    request = TurnRequest(
        question="Summarize the rules. 总结规定。", evidence=corpus(language, 12, 60), requested=Mode.COMPACT
    )
    made = plan_turn(request, Limits(window, counter.count, load_prompts(language)))
    model = ScriptedModel(lambda call: " word" * call.sampling.max_tokens, counter=counter, window=window, piece=4000)
    job = Job.of_plan(made, sampling=Sampling(made.budget.output), counter=counter)
    steps = [step async for step in compact(model, job)]
    assert len(model.calls) > 1
    assert len([step for step in steps if isinstance(step, StepDone)]) == len(model.calls) - 1
    for call in model.calls:
        sent = sum(counter.count(message.text) + MESSAGE_OVERHEAD for message in call.request.messages)
        assert sent + call.request.sampling.max_tokens <= window
    assert made.budget.total <= window


def test_shorter_forms_keep_the_claims_of_conflicts() -> None:
    made = plan("en", 100_000, corpus("en", 4, 30))
    assert made.conflicts
    for item in made.evidence:
        forms = evidence_forms(QUESTIONS["en"], replace(item, kept=(item.span,)), made.conflicts)
        sizes = [sum(len(span) for span in form.kept) for form in forms]
        assert sizes == sorted(sizes)
        assert "days of remote work" in forms[0].text


def test_units_follow_chains_of_conflicts() -> None:
    a, b, c, d = (evidence(f"Text {name}.", name) for name in "abcd")
    chain = [replace(a, conflicts=(b.id,)), d, replace(b, conflicts=(a.id, c.id)), replace(c, conflicts=(b.id,))]
    assert [[item.source.document for item in unit] for unit in conflict_units(chain)] == [["a", "b", "c"], ["d"]]


def test_evidence_without_any_match_still_has_forms() -> None:
    item = evidence("   \n\n  ", version=source("blank"))
    assert evidence_forms("Anything?", item, ())[-1] == item
