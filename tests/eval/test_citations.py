"""The citation suites on invented items whose figures can be worked out by hand."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from assistant.errors import AssistantError
from assistant.eval.citations import expert, unsupported, wice

LEAVE = "Full-time employees receive 25 days of annual leave per year."
BONUS = "Contractors are not eligible for the bonus scheme."
CANTEEN = "食堂中午十二点开放。"


def written(folder: Path, name: str, *items: Mapping[str, Any]) -> Path:
    (folder / f"{name}.jsonl").write_text("".join(json.dumps(item) + "\n" for item in items), encoding="utf-8")
    return folder


def passages(*texts: str) -> list[dict[str, str]]:
    return [{"id": f"p{at}", "text": text} for at, text in enumerate(texts)]


def answered(sentences: list[str], gold: list[list[str]], status: list[str]) -> dict[str, Any]:
    shown = passages(LEAVE, BONUS, CANTEEN)
    return {"answer_sentences": sentences, "passages": shown, "gold": gold, "sentence_status": status}


def test_only_supported_sentences_count_for_the_place_and_only_judged_ones_for_the_score(tmp_path: Path) -> None:
    sentences = [LEAVE, "食堂十二点开放。", "Cheese grows on trees.", "Nobody judged this one."]
    status = ["supported", "supported", "unsupported", "unknown"]
    item = answered(sentences, [["p0"], ["p2"], [], []], status)
    count, figures = expert(written(tmp_path, "citation_alignment", item))
    assert count == 1
    assert figures == {"top1": 1.0, "precision": 1.0, "recall": 1.0, "auroc": 1.0}


def test_a_sentence_tied_to_another_passage_than_the_experts_named_is_wrong(tmp_path: Path) -> None:
    item = answered([LEAVE, BONUS], [["p1"], ["p1", "p2"]], ["supported", "supported"])
    _, figures = expert(written(tmp_path, "citation_alignment", item))
    assert figures["top1"] == 0.5
    assert figures["precision"] == 0.5
    assert figures["recall"] == 0.25


def test_a_page_is_measured_by_its_sentences(tmp_path: Path) -> None:
    shown = passages(
        "The house was built in 1890 by a baker.", "Visitors pay at the door.", "A fire closed it in 1931."
    )
    right = {
        "answer_sentences": ["A baker built the house in 1890."],
        "gold_alternatives": [[["p0"]]],
        "passages": shown,
    }
    wrong = {
        "answer_sentences": ["Visitors pay at the door."],
        "gold_alternatives": [[["p0", "p2"]]],
        "passages": shown,
    }
    none = {"answer_sentences": ["Nothing carries this."], "gold_alternatives": [[[]]], "passages": shown}
    count, figures = wice(written(tmp_path, "citation_wice", right, wrong, none))
    assert count == 3
    assert figures == {"top1": 0.5, "f1": 0.5}


def test_unsupported_sentences_are_told_by_a_low_score_and_marked_whole(tmp_path: Path) -> None:
    answer = f"{LEAVE} Managers sing on Fridays."
    start = len(LEAVE) + 1
    item = {
        "answer": answer,
        "passages": passages(LEAVE, BONUS),
        "sentence_spans": [[0, len(LEAVE)], [start, len(answer)]],
        "sentence_status": ["supported", "unsupported"],
        "unsupported_spans": [{"start": start, "end": len(answer)}],
    }
    _, figures = unsupported(written(tmp_path, "unsupported_claims", item))
    assert figures == {"auroc": 1.0, "f1": 1.0, "span_f1": 1.0}


def test_a_folder_without_the_file_is_a_typed_error(tmp_path: Path) -> None:
    with pytest.raises(AssistantError):
        expert(tmp_path)
