"""The abstention suite on invented questions, some of which the passages answer."""

from __future__ import annotations

import json
from pathlib import Path

from assistant.eval.abstention import measure

HANDBOOK = (
    "Annual leave has to be requested in the portal. Full-time employees receive 25 days of annual leave per year."
)
HANDBOOK_ZH = "年假须在系统中申请。正式员工每年享有15天年假。"
QUESTIONS = [
    ("How is annual leave requested?", HANDBOOK, True, "answerable"),
    ("年假怎么申请？", HANDBOOK_ZH, True, "answerable"),
    ("Why was the marathon in Boston cancelled?", HANDBOOK, False, "unanswerable"),
    ("马拉松比赛为什么取消？", HANDBOOK_ZH, False, "unanswerable"),
    ("Is it allowed?", HANDBOOK, False, "underspecified"),
]


def test_questions_that_the_passages_answer_are_told_from_those_they_do_not(tmp_path: Path) -> None:
    lines = [
        {"question": question, "passages": [{"id": "p", "text": text}], "answerable": answerable, "kind": kind}
        for question, text, answerable, kind in QUESTIONS
    ]
    (tmp_path / "abstention.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    assert measure(tmp_path) == (5, {"auroc": 1.0, "auroc_plain": 1.0, "f1": 1.0})
