"""Calibration of the score floor: what it keeps and removes, and the suites it is measured on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.errors import BadInput, BadSetting
from assistant.eval.calibration import LOSS, MINIMUM, calibrate, choose_floor, measure, recall_behind, shares
from assistant.eval.retrieval import Searched
from tests.making import passage, source

RANKINGS = st.lists(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=8), min_size=1, max_size=8)


def searched(*scored: tuple[float, bool]) -> Searched:
    """A question with passages of these scores, each of a document of its own; True: it is right."""
    ranked = sorted(scored, key=lambda each: -each[0])
    found = tuple(replace(passage("text", version=source(f"d{n}")), score=score) for n, (score, _) in enumerate(ranked))
    right = frozenset(found[n].source.uri for n, (_, is_right) in enumerate(ranked) if is_right)
    return Searched(right or frozenset({"elsewhere.md"}), found)


def test_the_floor_keeps_the_wanted_share_and_removes_what_lies_below() -> None:
    questions = [searched((0.1 * n, True), (0.05, False), (0.01, False), (0.9, False)) for n in range(1, 11)]
    assert choose_floor({"s": questions}, 1.0) == pytest.approx(0.1)
    result = measure("words", {"s": questions}, 0.9)
    assert result.floor <= 0.2
    assert result.kept >= 0.9
    assert result.removed == pytest.approx(2 / 3)


def test_a_floor_that_would_cost_the_first_five_gives_way() -> None:
    """Scores of right passages that lie far apart from question to question: one share of them is no promise."""
    weak = [searched((0.3, False), (0.28, False), (0.2, True))] * 5
    strong = [searched((0.9, True), (0.8, False))] * 95
    result = measure("words", {"s": [*weak, *strong]}, 0.9)
    assert result.floor == pytest.approx(0.2)
    assert result.suites[0].after == result.suites[0].before


def test_the_best_two_stay_whatever_the_floor_says() -> None:
    each = searched((0.2, False), (0.1, True), (0.05, False))
    assert recall_behind([each], 0.99) == recall_behind([each], 0.0) == 1
    assert MINIMUM == 2


def test_each_suite_has_its_say() -> None:
    long = [searched((0.9, True), (0.5, False))] * 90
    short = [searched((0.5, False), (0.4, False), (0.3, True))] * 10
    result = measure("words", {"long": long, "short": short, "none": []}, 0.9)
    assert result.floor == pytest.approx(0.3)
    assert [each.suite for each in result.suites] == ["long", "short"]


@pytest.mark.parametrize("found", [{}, {"s": []}, {"s": [searched((0.5, False))]}])
def test_nothing_right_is_no_measurement(found: dict[str, Sequence[Searched]]) -> None:
    with pytest.raises(BadInput, match="no question has a right passage"):
        measure("words", found, 0.9)


@given(RANKINGS, st.floats(0.01, 1))
def test_a_floor_keeps_its_promises(rankings: list[list[tuple[float, bool]]], recall: float) -> None:
    questions = [searched(*ranking) for ranking in rankings]
    if not any(right for ranking in rankings for _, right in ranking):
        return
    floor = choose_floor({"s": questions}, recall)
    kept, removed = shares(questions, floor)
    assert 0 <= floor <= 1
    assert kept >= recall - 1e-9
    assert 0 <= removed <= 1
    allowed = max(LOSS, 1 / len(questions))
    assert recall_behind(questions, floor) >= recall_behind(questions, 0.0) - allowed - 1e-9


def item(
    number: int, domain: str, question: str, relevant: str, history: Sequence[dict[str, str]] = ()
) -> dict[str, object]:
    return {
        "id": f"q{number}",
        "domain": domain,
        "question": question,
        "history": list(history),
        "relevant_ids": [relevant],
    }


def document(ident: str, domain: str, title: str, text: str) -> dict[str, object]:
    return {"id": ident, "domain": domain, "title": title, "text": text}


def lines(path: Path, items: Sequence[object]) -> None:
    path.write_bytes(b"\n".join(map(orjson.dumps, items)))


@pytest.fixture
def company(tmp_path: Path) -> Path:
    """A company's own questions in the format of the suites: a corpus of its own name, a conversation, two languages."""
    folder = tmp_path / "own"
    folder.mkdir()
    told = [{"role": "user", "text": "How are travel costs paid back?"}, {"role": "agent", "text": "By bank transfer."}]
    asked = [
        item(1, "staff", "How many days of parental leave are there?", "leave"),
        item(2, "staff", "And within how many days?", "travel", told),
    ]
    lines(folder / "retrieval_multiturn.jsonl", asked)
    texts = [
        document("leave", "staff", "Leave", "Parental leave lasts sixty days."),
        document("travel", "staff", "Travel", "Travel costs are paid back within thirty days."),
        document("pets", "staff", "Pets", "Dogs stay in the garden."),
    ]
    lines(folder / "retrieval_corpus_company.jsonl", texts)
    lines(folder / "retrieval_multiturn_zh.jsonl", [item(1, "假期", "育儿假有多少天？", "育儿")])
    chinese = [document("育儿", "假期", "育儿假", "育儿假为六十天。"), document("年", "假期", "年假", "年假为二十天。")]
    lines(folder / "retrieval_corpus_zh.jsonl", chinese)
    return folder


@pytest.mark.parametrize("embedder", ["none", "hashing"])
def test_a_companys_own_questions_make_its_own_floor(company: Path, tmp_path: Path, embedder: str) -> None:
    file = tmp_path / "floors.json"
    file.write_text('{"other": {"floor": 0.5}}')
    result = calibrate(company, None, embedder, 0.9, file)
    name = "words" if embedder == "none" else "hashing-256-1"
    written = orjson.loads(file.read_bytes())
    assert written == {"other": {"floor": 0.5}, name: result.entry()}
    assert result.questions == 3
    assert [each.suite for each in result.suites] == ["retrieval", "retrieval-zh"]
    assert 0 < result.floor <= 1
    assert all(each.after == 1 for each in result.suites)
    assert orjson.loads(result.as_json())["suites"]["retrieval"]["recall@5 before"] == 1
    assert result.as_text().splitlines()[0].startswith(f"floor {result.floor:.4f} of {name}")


def test_one_of_the_two_files_is_enough(company: Path) -> None:
    (company / "retrieval_multiturn.jsonl").unlink()
    assert [each.suite for each in calibrate(company, None, "none").suites] == ["retrieval-zh"]


def test_the_index_is_kept_between_runs(company: Path, tmp_path: Path) -> None:
    index = tmp_path / "index"
    index.mkdir()
    first = calibrate(company, index, "hashing")
    assert (index / "retrieval_corpus_company.db").is_file()
    assert calibrate(company, index, "hashing") == first


@pytest.mark.parametrize("recall", [0.0, -1.0, 1.1, float("nan")])
def test_a_recall_that_is_none_is_refused(company: Path, recall: float) -> None:
    with pytest.raises(BadInput, match="recall"):
        calibrate(company, None, "none", recall)


@pytest.mark.parametrize(
    "broken",
    [
        {"id": "q"},
        {"question": "q", "domain": 3, "history": [], "relevant_ids": []},
        {"question": "q", "domain": "staff", "history": [3], "relevant_ids": []},
        {"question": "q", "domain": "staff", "history": [{"role": "user"}], "relevant_ids": []},
        {"question": "q", "domain": "staff", "history": [], "relevant_ids": [["leave"]]},
        {"question": "q", "domain": "staff", "history": {}, "relevant_ids": "leave"},
    ],
)
def test_a_broken_question_is_named(company: Path, broken: dict[str, object]) -> None:
    lines(company / "retrieval_multiturn.jsonl", [item(1, "staff", "Leave?", "leave"), broken])
    with pytest.raises(BadInput, match="item 2 lacks"):
        calibrate(company, None, "none")


def test_missing_files_are_named(company: Path, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="holds none"):
        calibrate(tmp_path, None, "none")
    (company / "retrieval_corpus_company.jsonl").unlink()
    with pytest.raises(BadInput, match="no corpus file"):
        calibrate(company, None, "none")
    with pytest.raises(BadSetting):
        calibrate(company, None, "no such embedder")
