"""The usual figures of retrieval and classification, as small pure functions."""

from __future__ import annotations

import math
from collections.abc import Sequence


def mean(values: Sequence[float]) -> float:
    """The arithmetic mean; 0 for none."""
    return sum(values) / len(values) if values else 0.0


def recall_at(ranked: Sequence[str], relevant: Sequence[str], k: int) -> float:
    """The share of the relevant ids among the first k."""
    return len(set(ranked[:k]) & set(relevant)) / len(set(relevant))


def ndcg_at(ranked: Sequence[str], relevant: Sequence[str], k: int) -> float:
    """Normalised discounted cumulative gain with binary relevance (Järvelin and Kekäläinen 2002)."""
    wanted = set(relevant)
    gain = sum(1 / math.log2(place + 2) for place, item in enumerate(ranked[:k]) if item in wanted)
    best = sum(1 / math.log2(place + 2) for place in range(min(k, len(wanted))))
    return gain / best


def mrr_at(ranked: Sequence[str], relevant: Sequence[str], k: int) -> float:
    """The reciprocal rank of the first relevant id among the first k, 0 when there is none."""
    wanted = set(relevant)
    return next((1 / (place + 1) for place, item in enumerate(ranked[:k]) if item in wanted), 0.0)


def precision_recall_f1(predicted: Sequence[bool], truth: Sequence[bool]) -> tuple[float, float, float]:
    """Precision, recall and F1 of the positive class; 0 where nothing is predicted or true."""
    hits = sum(p and t for p, t in zip(predicted, truth, strict=True))
    precision = hits / sum(predicted) if any(predicted) else 0.0
    recall = hits / sum(truth) if any(truth) else 0.0
    return precision, recall, f1_of(precision, recall)


def f1_of(precision: float, recall: float) -> float:
    """The harmonic mean."""
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def auroc(scores: Sequence[float], truth: Sequence[bool]) -> float:
    """The chance that a positive has a higher score than a negative, ties counting half (Mann and Whitney 1947)."""
    pairs = sorted(zip(scores, truth, strict=True))
    positives = sum(truth)
    negatives = len(truth) - positives
    if not positives or not negatives:
        return 0.5
    total, place = 0.0, 0
    while place < len(pairs):
        end = place
        while end < len(pairs) and pairs[end][0] == pairs[place][0]:
            end += 1
        rank = (place + 1 + end) / 2
        total += rank * sum(label for _, label in pairs[place:end])
        place = end
    return (total - positives * (positives + 1) / 2) / (positives * negatives)


def best_f1(scores: Sequence[float], truth: Sequence[bool]) -> float:
    """The best F1 over all thresholds on the score."""
    ordered = sorted(zip(scores, truth, strict=True), key=lambda pair: -pair[0])
    positives, hits, best = sum(truth), 0, 0.0
    for place, (score, label) in enumerate(ordered, start=1):
        hits += label
        if place == len(ordered) or ordered[place][0] != score:
            best = max(best, f1_of(hits / place, hits / positives if positives else 0.0))
    return best
