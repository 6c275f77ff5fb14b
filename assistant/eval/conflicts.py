"""Suites conflicts-policy and conflicts-web: does the pair contradict, and which side is current?"""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

from assistant.core.conflicts import Conflict, disagreement
from assistant.core.evidence import Evidence
from assistant.eval.data import Item, read_items
from assistant.eval.making import evidence_of
from assistant.eval.metrics import mean, precision_recall_f1

Figures = dict[str, float]


def policy(folder: Path) -> tuple[int, Figures]:
    """Two versions of a paragraph: precision, recall and F1 of `contradict`, and whether the newer side is preferred."""
    items = read_items(folder, "conflict_pairs_policy")
    found = [_compared(item) for item in items]
    right = [
        float(conflict is not None and conflict.preferred == sides[item["newer"]].id)
        for item, (conflict, sides) in zip(items, found, strict=True)
        if item["label"] == "contradict" and item.get("newer") and conflict is not None
    ]
    return len(items), {**_figures(items, [conflict for conflict, _ in found]), "newer_accuracy": mean(right)}


def web(folder: Path) -> tuple[int, Figures]:
    """Web passages for one question: precision, recall and F1 of `contradict`."""
    items = read_items(folder, "conflict_pairs")
    return len(items), _figures(items, [_compared(item)[0] for item in items])


def _compared(item: Item) -> tuple[Conflict | None, dict[str, Evidence]]:
    """The pair as two dated documents; the newer side has the date of the revision, the other one of a year before."""
    dates = _dates(item)
    sides = {side: evidence_of(side, item[f"passage_{side}"], on=dates.get(side)) for side in ("a", "b")}
    return disagreement(sides["a"], sides["b"], item.get("question", "")), sides


def _dates(item: Item) -> dict[str, date]:
    if not item.get("newer") or not item.get("revised_on"):
        return {}
    revised = date.fromisoformat(item["revised_on"])
    older = "a" if item["newer"] == "b" else "b"
    return {item["newer"]: revised, older: revised - timedelta(days=365)}


def _figures(items: list[Item], found: list[Conflict | None]) -> Figures:
    truth = [item["label"] == "contradict" for item in items]
    precision, recall, f1 = precision_recall_f1([conflict is not None for conflict in found], truth)
    return {"precision": precision, "recall": recall, "f1": f1}
