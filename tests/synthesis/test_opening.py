"""The opening of a reply: refusals and irrelevant evidence are held back, whatever the chunks."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.core.modes import Mode
from assistant.prompts import load_prompts
from assistant.synthesis.opening import Opening, answer_of
from tests.synthesis.making import job_of, passages, planned, run, scripted, with_filter

REFUSAL = "The documents do not answer this."


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("20 days.", "20 days."),
        (REFUSAL, ""),
        (" The documents do not answer this\n", ""),
        (
            "The documents do not answer this. But the handbook says 20 days.",
            "The documents do not answer this. But the handbook says 20 days.",
        ),
        ("The documents", "The documents"),
        ("", ""),
        ("  \n", ""),
    ],
)
def test_a_refusal_is_no_answer(reply: str, answer: str) -> None:
    assert answer_of(reply, REFUSAL) == answer


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("RELEVANT\n20 days.", "20 days."),
        ("**Relevant:**\n20 days.", "20 days."),
        ("IRRELEVANT", ""),
        ("Irrelevant.\nBut I like to talk.", ""),
        ("\nRELEVANT\n" + REFUSAL, ""),
        ("20 days, says the handbook of the whole company.", "20 days, says the handbook of the whole company."),
        ("Relevant passages say 20 days.", "Relevant passages say 20 days."),
        ("RELEVANT", ""),
    ],
)
def test_the_first_line_says_whether_the_evidence_is_relevant(reply: str, answer: str) -> None:
    assert answer_of(reply, REFUSAL, filtered=True) == answer


@given(
    st.sampled_from(["RELEVANT\n", "IRRELEVANT\n", "relevant", "", REFUSAL[:12], REFUSAL]),
    st.text(alphabet="aT\n .这IR", max_size=40),
    st.lists(st.integers(0, 60), max_size=6),
    st.booleans(),
)
def test_any_chunking_gives_the_same(head: str, tail: str, cuts: list[int], filtered: bool) -> None:
    reply = head + tail
    opening = Opening(REFUSAL, filtered=filtered)
    places = [0, *sorted(min(cut, len(reply)) for cut in cuts), len(reply)]
    text = "".join(opening.feed(reply[a:b]) for a, b in itertools.pairwise(places)) + opening.close()
    whole = Opening(REFUSAL, filtered=filtered)
    assert text == whole.feed(reply) + whole.close()
    assert opening.answered == bool(text)
    assert opening.irrelevant == whole.irrelevant


def test_a_flood_of_white_space_is_not_held_for_ever() -> None:
    opening = Opening(REFUSAL)
    for _ in range(10_000):
        opening.feed(" ")
    assert len(opening._held) <= 1000
    assert opening.feed("20 days.") + opening.close() == "20 days."


@pytest.mark.parametrize("mode", [Mode.REFINE, Mode.COMPACT])
@pytest.mark.parametrize("piece", [1, 500])
async def test_an_irrelevant_piece_cannot_spoil_the_answer(mode: Mode, piece: int) -> None:
    plan = planned(passages(9, 18), mode, 2000, filtered=True)

    def answer(call: object) -> str:
        shown = [item.source.document for item in call.evidence]  # type: ignore[attr-defined]
        return "RELEVANT\nRack 100." if "page01" in shown else "IRRELEVANT\nBananas are yellow."

    model = scripted(answer, piece=piece)
    text, _, finish = await run(mode, model, with_filter(job_of(plan)))
    assert (text, finish.reason) == ("Rack 100.", "stop")
    assert all(load_prompts("en").filter in call.request.messages[0].text for call in model.calls)
    assert len(model.calls) > 2


@pytest.mark.parametrize("mode", [Mode.REFINE, Mode.COMPACT])
async def test_when_nothing_is_relevant_it_is_a_refusal_and_the_last_call_is_stopped(mode: Mode) -> None:
    plan = planned(passages(9, 18), mode, 2000, filtered=True)
    model = scripted(lambda _: "IRRELEVANT\n" + "Bananas are yellow. " * 50, piece=5)
    text, _, finish = await run(mode, model, with_filter(job_of(plan)))
    assert (text, finish.reason) == (plan.prompts.refusal, "no_answer")
    assert model.calls[-1].ended == "cancelled"
