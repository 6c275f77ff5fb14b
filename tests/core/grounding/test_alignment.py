"""Alignment: which piece of evidence a sentence rests on, and which sentences of it, by kinds of hard cases."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given, settings

from assistant.core.evidence import Evidence
from assistant.core.grounding.alignment import NOWHERE, ground
from assistant.core.grounding.indexing import index_evidence
from tests.core.citing import EVIDENCE, HOSTILE, made

DEPOT = (
    "The training for forklifts takes a day. The training is repeated each year. A driver who missed it may not touch a "
    "forklift. Every forklift has a log."
)
GATE = "Drivers in need of the warehouse wait outside. Parcels are handed over there. The gate closes at ten."
DEPOT_ZH = "叉车培训为期一天。培训每年重复一次。没有参加的司机不得使用叉车。每辆叉车都有日志。"
GATE_ZH = "需要进入仓库的司机在外面等候。包裹在那里交接。大门十点关闭。"


def place(claim: str, *texts: str) -> tuple[int, str]:
    """The piece of the best place of a claim, and what stands there."""
    evidence = [made(text, name=f"d{at}") for at, text in enumerate(texts)]
    index = index_evidence(evidence)
    best = ground(claim, index).places[0]
    units = index.units[best.first : best.last + 1]
    return units[0].piece, " ".join(unit.text for unit in units)


@pytest.mark.parametrize(
    ("claim", "right", "wrong"),
    [
        ("Forklift drivers in the warehouse need training.", DEPOT, GATE),
        ("仓库的叉车司机需要培训。", DEPOT_ZH, GATE_ZH),
    ],
)
def test_the_passage_on_the_matter_goes_before_one_sentence_that_shares_more_words(
    claim: str, right: str, wrong: str
) -> None:
    assert place(claim, right, wrong)[0] == 0
    assert place(claim, wrong, right)[0] == 1


@pytest.mark.parametrize(
    ("claim", "texts", "right"),
    [
        (
            "Employees of the office in Lisbon may ask for a parking card.",
            (
                "Employees of the office may ask for a locker. The office keeps a list of employees who ask.",
                "Employees of the office may bring a guest. Ask the office in advance.",
                "Lisbon: the office hands out a parking card to those who come by car.",
            ),
            2,
        ),
        (
            "里斯本办事处的员工可以申请停车卡。",
            (
                "办事处的员工可以申请门禁。员工向办事处申请。",
                "办事处的员工可以带访客。请提前申请。",
                "里斯本：办事处向开车的人发放停车卡。",
            ),
            2,
        ),
    ],
)
def test_a_word_that_one_passage_holds_tells_more_than_those_of_all(
    claim: str, texts: tuple[str, ...], right: int
) -> None:
    for order in permutations(range(len(texts))):
        assert order[place(claim, *(texts[at] for at in order))[0]] == right


def test_a_word_for_word_sentence_goes_before_a_passage_that_keeps_coming_back_to_the_topic() -> None:
    said = "The workshop signs the log of each van on Friday."
    elsewhere = "Lunch is served at noon. " * 60
    topic = "The workshop repairs each van. The log of the workshop lists each van. A van has a log. " * 6
    for texts in ((f"{elsewhere}{said} {elsewhere}", topic), (topic, f"{elsewhere}{said} {elsewhere}")):
        assert place(said, *texts)[1] == said


def test_forms_of_a_word_count_for_the_passage() -> None:
    claim = "Reimbursement needs the signature of the controller."
    piece, _ = place(
        claim,
        "The controller has an office on the second floor. The controller is in on Mondays.",
        "Costs are reimbursed once the controllers have signed. Reimbursements take a week.",
    )
    assert piece == 1


def test_a_longer_chinese_word_and_the_word_inside_it_are_one_matter() -> None:
    index = index_evidence([made("加班须提前批准。")])
    assert index.related("加班费") == ("加班",)
    assert index_evidence([made("加班费按小时计算。")]).related("加班") == ("加班费",)
    assert place("加班费已经支付。", "食堂中午开放。打印机在二楼。", "加班须提前批准。") == (1, "加班须提前批准。")


def test_where_two_passages_are_the_same_the_first_is_taken() -> None:
    assert place("The training is repeated each year.", DEPOT, DEPOT)[0] == 0


def test_the_widest_place_is_taken_only_inside_the_passage_that_is_meant() -> None:
    piece, found = place(
        "Unused leave expires on 31 March.",
        "Leave is granted by the manager. Unused leave expires. The last day is 31 March. Lunch is free.",
        "The shop closes on 31 March.",
    )
    assert piece == 0
    assert found == "Unused leave expires. The last day is 31 March."


def test_nothing_said_and_nothing_shown_rest_nowhere() -> None:
    assert ground("", index_evidence([made(DEPOT)])) == NOWHERE
    assert ground("Forklifts are driven.", index_evidence([])) == NOWHERE
    assert ground("Forklifts are driven.", index_evidence([made("  \n --- \n")])) == NOWHERE
    assert ground("Purple elephants sing.", index_evidence([made(DEPOT)])).places == ()


def test_units_that_are_avoided_stay_out() -> None:
    index = index_evidence([made("The depot opens at six. The depot opens at six on Monday.")])
    first = ground("The depot opens at six.", index).places[0].first
    again = ground("The depot opens at six.", index, avoided=frozenset({first}))
    assert first not in {at for each in again.places for at in range(each.first, each.last + 1)}


@settings(max_examples=60)
@given(HOSTILE, EVIDENCE)
def test_laws(claim: str, evidence: list[Evidence]) -> None:
    index = index_evidence(evidence)
    found = ground(claim, index)
    assert found == ground(claim, index_evidence(evidence))
    assert 0.0 <= found.covered <= 1.0 + 1e-9
    assert 0.0 <= found.order <= 1.0 + 1e-9
    for each in found.places:
        assert each.first <= each.anchor <= each.last
        assert 0.0 <= each.fit <= 1.0 + 1e-9
        assert len({(unit.piece, unit.part) for unit in index.units[each.first : each.last + 1]}) == 1
    for term in found.terms:
        told = index.tells(term)
        assert told.weight > 0.0
        assert all(0.0 < taken <= told.weight * 2.2 for taken in told.pieces.values())
        assert bool(told.pieces) == (index.holds(term) or bool(index.related(term)))
