from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.e2e.conftest import copy_pages
from tests.e2e.serving import run, run_in_own_python

pytestmark = pytest.mark.e2e
QUESTION = "How many hours must be billable in a week?"


def test_ask_prints_answer_sources_and_conflict(folder: Path) -> None:
    done = run_in_own_python(folder, "ask", QUESTION)
    assert done.returncode == 0, done.stderr
    assert "32" in done.stdout
    assert "Tock" in done.stdout
    assert "2025-02-27" in done.stdout
    assert "The documents disagree" in done.stdout


def test_ask_prints_events_as_json_lines(folder: Path) -> None:
    done = run(folder, "ask", QUESTION, "--json")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert events[0]["type"] == "turn.accepted"
    assert events[-1]["type"] == "turn.done"
    deltas = [event["d"]["text"] for event in events if event["type"] == "answer.delta"]
    (cited,) = [event["d"] for event in events if event["type"] == "citations"]
    answer = "".join(deltas)
    for item in cited["items"]:
        assert 0 <= item["start"] < item["end"] <= len(answer)


def test_ask_shows_the_budget_and_goes_on_with_a_session(folder: Path) -> None:
    first = run(folder, "ask", QUESTION, "--plan")
    assert "window of" in first.stdout
    for part in ("system", "history", "evidence", "question", "output", "margin"):
        assert part in first.stdout
    session = first.stdout.rsplit("session ", 1)[1].split()[0]
    second = run(folder, "ask", "And for a four day week?", "--session", session, "--plan")
    assert second.returncode == 0, second.stderr
    assert "bill" in second.stdout.split("asked as:")[1].splitlines()[0].lower()


def test_ask_shows_every_call_with_its_prompt(folder: Path) -> None:
    done = run(folder, "ask", QUESTION, "--verbose", "--mode", "refine")
    assert done.returncode == 0, done.stderr
    calls = done.stdout.count("\nreply\n")
    assert calls > 1
    assert f"call {calls} of {calls}: refine" in done.stdout
    assert "Answer only from the evidence" in done.stdout
    assert "Improve the draft with the evidence" in done.stdout
    assert f"read 1/{calls}" in done.stdout


def test_ask_without_a_database_says_what_to_do(tmp_path: Path) -> None:
    done = run(tmp_path, "ask", "Hi")
    assert done.returncode == 2
    assert "assistant migrate" in done.stderr
    assert "Traceback" not in done.stderr


def test_refusals_of_the_command_line_are_one_clear_line(folder: Path) -> None:
    for arguments in (
        ["ask", "Hi", "--mode", "warp"],
        ["ask", "Hi", "--session", "nobody"],
        ["eval", "nothing", "--data", "."],
    ):
        done = run(folder, *arguments)
        assert done.returncode == 2
        assert "Traceback" not in done.stderr
        assert len(done.stderr.strip().splitlines()) == 1
        assert ": " in done.stderr


def test_ingest_again_reads_nothing_and_follows_changes(folder: Path) -> None:
    again = run(folder, "ingest", "18f-handbook", "--collection", "18f-handbook")
    assert "0 added, 0 updated, 1 unchanged, 0 deleted" in again.stdout
    page = folder / "18f-handbook" / "tools" / "tock.md"
    page.write_text(page.read_text("utf-8").replace("32 hours", "33 hours"), "utf-8")
    (folder / "18f-handbook" / "empty.md").write_bytes(b"\0" * 5000)
    changed = run(folder, "ingest", "18f-handbook", "--collection", "18f-handbook")
    assert "1 updated" in changed.stdout
    assert "1 skipped" in changed.stdout
    assert "empty.md" in changed.stderr
    assert "33 hours" in run(folder, "ask", QUESTION).stdout


def test_documents_of_a_group_stay_with_the_group(tmp_path: Path) -> None:
    copy_pages(tmp_path)
    assert run(tmp_path, "migrate").returncode == 0
    assert run(tmp_path, "ingest", "18f-handbook", "--collection", "h", "--access", "staff").returncode == 0
    assert "do not answer" in run(tmp_path, "ask", QUESTION).stdout
    assert "32" in run(tmp_path, "ask", QUESTION, auth__development_groups='["staff"]').stdout


def test_doctor_says_what_is_well_and_what_to_do(tmp_path: Path, folder: Path) -> None:
    sick = run(tmp_path, "doctor")
    assert sick.returncode == 1
    assert "run `assistant migrate`" in sick.stdout
    well = run(folder, "doctor", auth__development_user="ann")
    assert "2 documents" in well.stdout
    assert "extractive answers" in well.stdout


def test_unknown_settings_are_named(tmp_path: Path) -> None:
    done = run(tmp_path, "doctor", model__naem="x")
    assert done.returncode == 2
    assert "did you mean ASSISTANT_MODEL__NAME" in done.stderr.replace("\n", " ")
