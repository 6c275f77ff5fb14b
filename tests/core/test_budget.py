from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.core.budget import Allocation, BudgetPolicy, Candidate, plan_budget
from assistant.errors import QuestionTooLong

WINDOWS = st.one_of(st.integers(512, 4096), st.integers(512, 1_000_000))


@st.composite
def candidates(draw: st.DrawFn, kind: str, units: bool = False) -> list[Candidate]:
    count = draw(st.integers(0, 30))
    made = []
    for index in range(count):
        sizes = sorted(draw(st.lists(st.integers(1, 900), min_size=1, max_size=3)))
        unit = str(draw(st.integers(0, index))) if units else str(index)
        made.append(Candidate(f"{kind}{index}", tuple(sizes), f"{kind}{unit}"))
    return made


def plan(window: int, history: list[Candidate], evidence: list[Candidate], question: int = 40) -> Allocation:
    return plan_budget(window, system=150, question=question, history=history, evidence=evidence, evidence_frame=8)


@given(WINDOWS, candidates("h"), candidates("e", units=True))
def test_a_plan_never_exceeds_the_window(window: int, history: list[Candidate], evidence: list[Candidate]) -> None:
    made = plan(window, history, evidence).plan
    assert made.total <= window
    assert min(made.history, made.evidence, made.output, made.margin) >= 0
    assert (made.system, made.question) == (150, 40)
    assert made.output >= min(BudgetPolicy().min_output, int(window * 0.25))


@given(WINDOWS, st.integers(1, 5000), candidates("h"), candidates("e", units=True))
def test_a_larger_window_never_drops_what_a_smaller_one_kept(
    window: int, more: int, history: list[Candidate], evidence: list[Candidate]
) -> None:
    small, large = plan(window, history, evidence), plan(window + more, history, evidence)
    for before, after in ((small.evidence, large.evidence), (small.history, large.history)):
        assert all(ref in after and after[ref] >= level for ref, level in before.items())


@given(candidates("h"), candidates("e", units=True))
def test_growing_token_by_token_never_drops(history: list[Candidate], evidence: list[Candidate]) -> None:
    plans = [plan(window, history, evidence) for window in range(1990, 2030)]
    for before, after in pairwise(plans):
        assert before.evidence.items() <= {
            (ref, min(level, before.evidence.get(ref, level))) for ref, level in after.evidence.items()
        }
        assert set(before.history) <= set(after.history)


@given(WINDOWS, candidates("h"), candidates("e", units=True))
def test_both_sides_of_a_conflict_stay_or_leave_together(
    window: int, history: list[Candidate], evidence: list[Candidate]
) -> None:
    got = plan(window, history, evidence).evidence
    for candidate in evidence:
        twins = [other.ref in got for other in evidence if other.unit == candidate.unit]
        assert len(set(twins)) == 1


@given(WINDOWS, candidates("h"), candidates("e", units=True))
def test_parts_are_what_their_members_cost(window: int, history: list[Candidate], evidence: list[Candidate]) -> None:
    made = plan(window, history, evidence)
    spent = sum(c.sizes[made.evidence[c.ref]] for c in evidence if c.ref in made.evidence)
    assert made.plan.evidence == spent + (8 if made.evidence else 0)
    assert made.plan.history == sum(c.sizes[made.history[c.ref]] for c in history if c.ref in made.history)


@given(WINDOWS, candidates("h"), candidates("e", units=True))
def test_what_is_missing_is_named_with_a_reason(
    window: int, history: list[Candidate], evidence: list[Candidate]
) -> None:
    made = plan(window, history, evidence)
    gone = {item.ref for item in made.plan.dropped if item.reason == "no_room"}
    assert gone == {c.ref for c in (*history, *evidence)} - set(made.evidence) - set(made.history)


def test_unused_history_is_lent_to_evidence_and_back() -> None:
    many = [Candidate(f"e{i}", (200,), f"e{i}") for i in range(40)]
    talk = [Candidate(f"h{i}", (200,), f"h{i}") for i in range(40)]
    alone, beside = plan(8000, [], many), plan(8000, talk, many)
    assert len(alone.evidence) > len(beside.evidence)
    assert len(plan(8000, talk, many[:2]).history) > len(beside.history)
    assert 0.15 * 8000 < beside.plan.history < 0.3 * 8000
    assert 0.5 * 8000 < beside.plan.evidence < 0.65 * 8000


def test_evidence_is_shortened_before_any_is_dropped() -> None:
    evidence = [Candidate(f"e{i}", (40, 120, 400), f"e{i}") for i in range(12)]
    made = plan(4096, [], evidence)
    assert len(made.evidence) == 12
    assert {item.reason for item in made.plan.dropped} == {"shortened"}


def test_the_best_evidence_is_kept_in_full_first() -> None:
    evidence = [Candidate(f"e{i}", (40, 120, 400), f"e{i}") for i in range(12)]
    made = plan(4096, [], evidence)
    assert made.evidence["e0"] == made.evidence["e1"] == 2
    assert made.evidence["e11"] < 2


@pytest.mark.parametrize("question", [400, 5000])
def test_a_question_that_cannot_fit_is_refused(question: int) -> None:
    with pytest.raises(QuestionTooLong) as refused:
        plan(512, [], [], question=question)
    assert refused.value.data["window"] == 512
