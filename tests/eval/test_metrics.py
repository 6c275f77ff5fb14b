from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.eval.metrics import auroc, best_f1, mrr_at, ndcg_at, precision_recall_f1, recall_at


def test_ranking_figures_by_hand() -> None:
    ranked = ["a", "x", "b", "y"]
    assert recall_at(ranked, ["a", "b", "c"], 3) == pytest.approx(2 / 3)
    assert mrr_at(["x", "a"], ["a"], 10) == 0.5
    assert ndcg_at(ranked, ["a", "b"], 10) == pytest.approx((1 + 0.5) / (1 + 0.63093), abs=1e-4)
    assert ndcg_at(["a", "b"], ["b", "a"], 10) == 1


def test_classification_figures_by_hand() -> None:
    precision, recall, f1 = precision_recall_f1([True, True, False], [True, False, True])
    assert (precision, recall, f1) == (0.5, 0.5, 0.5)
    assert precision_recall_f1([False], [True]) == (0, 0, 0)


def test_auroc_is_half_without_knowledge_and_one_with_it() -> None:
    assert auroc([1, 1, 1, 1], [True, False, True, False]) == 0.5
    assert auroc([0.9, 0.8, 0.2], [True, True, False]) == 1
    assert auroc([0.1, 0.8, 0.2], [True, False, False]) == 0


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=2, max_size=40))
def test_auroc_equals_its_definition(pairs: list[tuple[int, bool]]) -> None:
    scores, truth = [float(s) for s, _ in pairs], [t for _, t in pairs]
    wins = [
        1.0 if a > b else 0.5 if a == b else 0.0
        for a, x in zip(scores, truth, strict=True)
        if x
        for b, y in zip(scores, truth, strict=True)
        if not y
    ]
    assert auroc(scores, truth) == pytest.approx(sum(wins) / len(wins) if wins else 0.5)


def test_the_best_threshold_is_found() -> None:
    assert best_f1([0.9, 0.8, 0.1], [True, True, False]) == 1
    assert best_f1([0.5, 0.5], [True, False]) == pytest.approx(2 / 3)
