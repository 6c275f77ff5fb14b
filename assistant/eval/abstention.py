"""Suite abstention: does the support score tell questions that the passages answer from those they do not?"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from assistant.core.grounding.support import answerability
from assistant.eval.data import read_items
from assistant.eval.making import passages_of
from assistant.eval.metrics import auroc, best_f1

PLAIN: Final = ("answerable", "unanswerable")


def measure(folder: Path) -> tuple[int, dict[str, float]]:
    """AUROC of the score over all items, and over the plain kinds alone; the best F1 of abstaining."""
    items = read_items(folder, "abstention")
    scores = [answerability(item["question"], passages_of(item)) for item in items]
    truth = [bool(item["answerable"]) for item in items]
    plain = [(score, label) for score, label, item in zip(scores, truth, items, strict=True) if item["kind"] in PLAIN]
    return len(items), {
        "auroc": auroc(scores, truth),
        "auroc_plain": auroc([score for score, _ in plain], [label for _, label in plain]),
        "f1": best_f1([1 - score for score in scores], [not label for label in truth]),
    }
