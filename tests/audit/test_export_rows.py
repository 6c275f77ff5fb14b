from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.audit.export_files import csv_rows
from assistant.audit.export_rows import (
    COLUMNS,
    answer_row,
    passage_lines,
    record_line,
    safe_cell,
    texts_line,
    verdict_counts,
)
from assistant.core.audit import RECORD_FIELDS, AuditKind, AuditRecord, hash_of
from tests.audit.export_cases import ANSWER, Log, a_log

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(st.characters(codec="utf-8")),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner, max_size=3)
    ),
    max_leaves=12,
)


def row_of(log: Log, at: int = 0) -> dict[str, str]:
    record = log.records[at]
    row = answer_row(record, log.texts[record.id])
    assert row is not None
    return dict(zip(COLUMNS, row, strict=True))


def test_a_line_holds_every_field_and_hashes_to_its_hash() -> None:
    record = a_log(1).records[0]
    read = json.loads(record_line(record))
    assert set(read) == set(RECORD_FIELDS)
    assert hash_of(AuditRecord(**read)) == record.hash


def test_the_row_of_an_answer() -> None:
    row = row_of(a_log(1))
    assert row["question"] == "How often are lamps tested?"
    assert row["answer"] == ANSWER
    assert (row["supported"], row["unsupported"], row["contradicted"]) == ("1", "1", "0")
    assert (row["conflicts"], row["agreement"], row["cited"]) == ("1", "3", "[1] lamps")
    assert (row["person"], row["session"], row["turn"], row["seq"], row["erased"]) == ("p-1", "c1", "t1", "1", "")


def test_only_turns_have_rows() -> None:
    log = Log()
    log.add({}, kind=AuditKind.VIEW)
    assert answer_row(log.records[0], None) is None


def test_an_erased_answer_keeps_its_row_without_its_text() -> None:
    log = Log()
    log.add({"mode": "brief"}, erased=True)
    row = row_of(log)
    assert (row["erased"], row["question"], row["answer"], row["mode"]) == ("yes", "", "", "brief")
    line = texts_line(log.records[0], None)
    assert json.loads(line or "") == {"record": "r1", "seq": 1, "erased": True}


def test_a_person_erased_before_has_no_sealed_text_and_is_told_as_erased() -> None:
    log = Log()
    record = log.add({"erased": True})
    assert record.sealed_sha256 is None
    assert json.loads(texts_line(record, None) or "")["erased"] is True


def test_a_record_without_personal_text_has_no_line_of_text() -> None:
    log = Log()
    assert texts_line(log.add({}, kind=AuditKind.HOLD), None) is None


def test_text_that_was_tampered_with_is_told_as_unreadable() -> None:
    log = Log()
    record = log.add({}, {"answer": "x"})
    assert json.loads(texts_line(record, None, unreadable=True) or "") == {"record": "r1", "seq": 1, "unreadable": True}


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"])
def test_no_cell_begins_like_a_formula(start: str) -> None:
    log = Log()
    log.turn(question=f"{start}cmd|' /C calc'!A0", answer=f"{start}1+1")
    row = row_of(log)
    assert row["question"] == f"'{start}cmd|' /C calc'!A0"
    assert row["answer"] == f"'{start}1+1"


@given(st.lists(st.lists(st.text(st.characters(codec="utf-8")), min_size=2, max_size=4), min_size=1))
def test_rows_read_back_as_they_were(rows: list[list[str]]) -> None:
    safe = [[safe_cell(cell) for cell in row] for row in rows]
    written = csv_rows(safe).decode()
    assert list(csv.reader(io.StringIO(written, newline=""))) == safe
    assert written.endswith("\r\n")


@given(st.text(st.characters(codec="utf-8")))
def test_a_safe_cell_loses_nothing(text: str) -> None:
    cell = safe_cell(text)
    assert cell in (text, f"'{text}")
    assert cell[:1] not in tuple("=+-@\t\r\n＝＋－＠")


@given(
    JSON, st.none() | st.dictionaries(st.sampled_from(["question", "answer"]), st.text(st.characters(codec="utf-8")))
)
def test_a_body_of_any_form_is_exported(held: Any, texts: dict[str, str] | None) -> None:
    log = Log()
    body = {"citations": held, "conflicts": held, "agreement": held, "mode": held, "unsupported": held}
    items = {
        "citations": {
            "items": [{"source": held}, {"source": {"start": held, "exact": held}, "n": held}],
            "unsupported": held,
        }
    }
    for each in (body, items):
        record = log.add(each, texts)
        assert json.loads(record_line(record))["body"] == each
        assert len(answer_row(record, texts) or ()) == len(COLUMNS)
        assert all(json.loads(line)["record"] == record.id for line in passage_lines(record, []))


def test_a_sentence_with_two_sources_counts_once() -> None:
    log = Log()
    said = {"start": 0, "end": 9, "verdict": "supported"}
    record = log.add(
        {"citations": {"items": [said, said], "unsupported": [{"start": 9, "end": 12, "verdict": "unsupported"}]}}
    )
    assert verdict_counts(record) == {"supported": 1, "partial": 0, "unsupported": 1, "contradicted": 0}


def test_a_passage_holds_the_cited_text_at_its_place() -> None:
    log = a_log(1)
    (line,) = passage_lines(log.records[0], log.shown["t1"])
    passage = json.loads(line)
    assert passage["whole"] is True
    assert passage["exact"] == log.shown["t1"][0].exact
    ((start, end),) = passage["cited"]
    cited = passage["exact"][start - passage["start"] : end - passage["start"]]
    assert cited == log.records[0].body["citations"]["items"][0]["source"]["exact"]
    assert (passage["document"], passage["version"], passage["numbers"]) == ("lamps", 1, [1])


def test_the_cited_text_stands_for_a_passage_that_is_gone() -> None:
    log = a_log(1)
    (line,) = passage_lines(log.records[0], [])
    passage = json.loads(line)
    assert passage["whole"] is False
    assert passage["exact"] == "😀 Every lamp must be tested twice a year."
    assert passage["cited"] == [[passage["start"], passage["end"]]]
