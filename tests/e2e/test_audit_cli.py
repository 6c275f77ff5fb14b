"""The audit from the command line, against real files: what an auditor is shown, and what is gone when it is erased."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import time
import zipfile
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.e2e.conftest import DEMO
from tests.e2e.serving import run, serving

pytestmark = pytest.mark.e2e
QUESTION = "How many hours must be billable in a week?"
SECRET = "Quillfeather"
PERSON = "zebediah"


@dataclass(frozen=True, slots=True)
class Office:
    """A folder with a database; commands are run in it."""

    folder: Path

    def __truediv__(self, name: str) -> Path:
        return self.folder / name

    def run(self, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
        return run(self.folder, *arguments, **settings)


@pytest.fixture
def office(tmp_path: Path) -> Office:
    """A migrated database that holds the edition of 2021 as collection h."""
    made = Office(tmp_path)
    assert made.run("migrate").returncode == 0
    ingest(made, "18f-handbook-2021", "1 added")
    return made


def ingest(folder: Office, edition: str, told: str) -> None:
    (folder / "h").mkdir(exist_ok=True)
    shutil.copy(DEMO / edition / "tools" / "tock.md", folder / "h" / "tock.md")
    done = folder.run("ingest", "h", "--collection", "h")
    assert told in done.stdout, done.stderr


def audit(folder: Office, *arguments: str, code: int = 0, **settings: str) -> str:
    """Run `assistant audit`; what it prints. Errors are never a stack."""
    done = folder.run("audit", *arguments, **settings)
    assert done.returncode == code, (arguments, done.stdout, done.stderr)
    assert "Traceback" not in done.stderr
    return done.stdout if code in (0, 1) else done.stderr


def listed(folder: Office, *filters: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(audit(folder, "list", "--json", *filters))
    return found


def shown(folder: Office, id_: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(audit(folder, "show", id_, "--reason", "review", "--json"))
    return found


def ask(folder: Office, question: str = QUESTION, person: str = PERSON) -> str:
    """Ask in a new session; the id of the record."""
    done = folder.run("ask", question, auth__development_user=person)
    assert done.returncode == 0, done.stderr
    return str(listed(folder, "--kind", "turn")[0]["id"])


def test_an_old_answer_opens_with_its_old_passage_after_its_source_changed(office: Office) -> None:
    old = ask(office)
    ingest(office, "18f-handbook", "1 updated")
    new = ask(office)
    opened, newer = shown(office, old), shown(office, new)
    assert "36 hours" in opened["texts"]["answer"]
    assert "32 hours" in newer["texts"]["answer"]
    assert opened["texts"]["answer"] != newer["texts"]["answer"]
    assert any("at least 36 hours to project work" in each["exact"] for each in opened["evidence"])
    assert {each["version"] for each in opened["evidence"]} == {1}
    assert {each["version"] for each in newer["evidence"]} == {2}
    changed = [source for source in opened["sources"] if source["state"] == "changed"]
    assert changed
    assert "36 hours" in changed[0]["exact"]
    assert changed[0]["current"]["version"] == 2
    assert "".join(part["old"] for part in changed[0]["diff"]) == (
        changed[0]["before"] + changed[0]["exact"] + changed[0]["after"]
    )
    assert "32 hours" in "".join(part["new"] for part in changed[0]["diff"])
    assert {source["state"] for source in newer["sources"]} == {"unchanged"}
    assert [each["id"] for each in listed(office, "--changed", "--kind", "turn")] == [old]
    assert [each["id"] for each in listed(office, "--no-changed", "--kind", "turn")] == [new]
    assert "ok: 4 records fit" in audit(office, "verify")
    text = audit(office, "show", old, "--reason", "review")
    for part in ("36 hours", f"question: {QUESTION}", "supported", "budget: ", "changed", "now version 2"):
        assert part in text


def test_an_erased_person_is_gone_from_every_file_and_a_hold_forbids_it(office: Office) -> None:
    id_ = ask(office, f"How many hours must {SECRET} bill in a week? {QUESTION}")
    others = ask(office, person="ann")
    assert holding(office, SECRET, PERSON)
    placed = audit(office, "hold", "place", "person", PERSON, "--reason", "case 12")
    hold = placed.split()[1]
    assert hold in audit(office, "hold", "list")
    assert "forbidden" in office.run("audit", "erase", PERSON, "--reason", "asked for", "--dry-run").stderr
    assert "hold" in audit(office, "erase", PERSON, "--reason", "asked for", code=2)
    assert "1 held" in audit(office, "retention", "--before", "2999-01-01", "--collection", "h", "--dry-run")
    assert SECRET in shown(office, id_)["texts"]["question"]
    audit(office, "hold", "lift", hold, "--reason", "closed")
    assert audit(office, "hold", "list").strip() == "no holds"
    assert "would erase" in audit(office, "erase", PERSON, "--reason", "asked for", "--dry-run")
    assert holding(office, SECRET)
    assert "erased u" in audit(office, "erase", PERSON, "--reason", "asked for")
    assert holding(office, SECRET, PERSON) == []
    assert "ok: " in audit(office, "verify")
    opened = shown(office, id_)
    assert (opened["texts"], opened["erased"]) == (None, True)
    assert opened["evidence"]
    assert shown(office, others)["texts"]["question"] == QUESTION
    assert "1 of them with erased text" in audit(office, "export", "out.zip", "--reason", "review", "--kind", "turn")
    with zipfile.ZipFile(office / "out.zip") as package:
        texts = [json.loads(line) for line in package.read("texts.jsonl").splitlines()]
        assert all(SECRET.encode() not in package.read(name) for name in package.namelist())
    assert {"record": id_, "seq": opened["record"]["seq"], "erased": True} in texts
    assert "the manifest is signed" in audit(office, "verify", "--package", "out.zip")


def holding(folder: Office, *words: str) -> list[str]:
    """The files of the database that hold one of the words, byte by byte."""
    files = [path for path in (folder / "var").iterdir() if path.name.startswith("assistant.db")]
    assert files
    return [path.name for path in files if any(word.encode() in path.read_bytes() for word in words)]


def test_a_changed_row_and_a_changed_package_are_found(office: Office) -> None:
    outside: Any = {"audit__targets": '["kept/checkpoints.jsonl"]'}
    first, second = ask(office), ask(office)
    audit(office, "export", "out", "--reason", "review", **outside)
    assert (office / "kept" / "checkpoints.jsonl").read_bytes().count(b"\n") == 1
    public = next((office / "var").glob("audit-*.pub"))
    assert "1 checkpoints of 1 targets" in audit(office, "verify", "--key", str(public), **outside)
    audit(office, "verify", "--package", "out", "--key", str(public))
    records = office / "out" / "records.jsonl"
    records.write_text(records.read_text("utf-8").replace('"status":"completed"', '"status":"cancelled"', 1), "utf-8")
    assert "record 1: wrong_hash" in audit(office, "verify", "--package", "out", code=1)
    with closing(sqlite3.connect(office / "var" / "assistant.db")) as database, database:
        database.execute("UPDATE audit_records SET actor = 'nobody' WHERE id = ?", [second])
    assert "record 2: wrong_hash (1 records before it fit)" in audit(office, "verify", code=1)
    with closing(sqlite3.connect(office / "var" / "assistant.db")) as database, database:
        database.execute("DELETE FROM audit_records WHERE seq >= 2")
    assert "record 2 to 3: truncated" in audit(office, "verify", code=1, **outside)
    assert shown(office, first)["texts"]["question"] == QUESTION


def test_records_are_found_by_what_is_known_of_them(office: Office) -> None:
    record, other = ask(office), ask(office, "你好", "ann")
    (found,) = listed(office, "--person", PERSON)
    assert found["id"] == record
    assert [each["id"] for each in listed(office, "--person", found["subject"])] == [record]
    assert [each["id"] for each in listed(office, "--session", found["conversation"])] == [record]
    assert [each["id"] for each in listed(office, "--verdict", found["verdict"], "--no-conflict")] == [record]
    assert [each["id"] for each in listed(office, "--mode", "generation")] == [other]
    assert [each["id"] for each in listed(office, "--limit", "1", "--before", "2")] == [record]
    assert listed(office, "--since", "2999-01-01") == listed(office, "--conflict") == []
    table = audit(office, "list")
    assert record in table
    assert other in table


def test_a_replay_is_compared_and_kept_without_its_text_in_the_open(office: Office) -> None:
    record = ask(office)
    told = json.loads(audit(office, "replay", record, "--reason", "review", "--json"))
    assert told["same"] is True
    assert told["citations"]["kept"] > 0
    assert "the answers say the same" in audit(office, "replay", record, "--reason", "review")
    (last, _) = listed(office, "--kind", "replay")
    opened = shown(office, last["id"])
    assert opened["record"]["body"]["difference"]["same"] is True
    assert "36 hours" not in json.dumps({**opened["record"]["body"], "difference": None})
    assert "36 hours" in opened["texts"]["answer"]
    assert "model.kind" in audit(office, "replay", record, "--model", "gpt-4o", "--reason", "r", code=2)
    assert "not of an answer" in audit(office, "replay", last["id"], "--reason", "r", code=2)
    audit(office, "erase", PERSON, "--reason", "asked for")
    assert "no longer kept" in audit(office, "replay", record, "--reason", "r", code=2)


def test_retention_says_what_goes_and_takes_it(office: Office) -> None:
    record = ask(office)
    ingest(office, "18f-handbook", "1 updated")
    assert "would remove 1 conversations" in audit(office, "retention", "--before", "2999-01-01", "--dry-run")
    assert "removed nothing" in audit(office, "retention", "--before", "2999-01-01", "--collection", "other")
    told = audit(office, "retention", "--before", "2999-01-01", "--sealed")
    assert "removed 1 conversations" in told
    assert "1 sealed texts" in told
    assert "removed 1 document versions" in told
    opened = shown(office, record)
    assert (opened["texts"], opened["evidence"], opened["sources"]) == (None, [], [])
    assert "36 hours" in opened["record"]["body"]["citations"]["items"][0]["source"]["exact"]
    assert "ok: " in audit(office, "verify")


def test_what_cannot_be_done_is_one_clear_line(office: Office) -> None:
    record = ask(office)
    for arguments in (
        ["show", record, "--reason", " "],
        ["show", "nobody", "--reason", "r"],
        ["list", "--before", "99"],
        ["export", "var", "--reason", "r"],
        ["export", "nowhere/out", "--reason", "r"],
        ["erase", "nobody", "--reason", "r"],
        ["hold", "lift", "nothing", "--reason", "r"],
        ["verify", "--package", "h"],
        ["verify", "--key", "h/tock.md"],
        ["replay", "nobody", "--reason", "r"],
    ):
        error = audit(office, *arguments, code=2)
        assert len(error.strip().splitlines()) == 1, error
    for arguments in (["show", record], ["erase", PERSON], ["hold", "place", "person", PERSON], ["export", "out"]):
        assert "--reason" in audit(office, *arguments, code=2)
    (office / "var" / "audit.pem").write_text("no key", "utf-8")
    (office / "var" / "audit.pem").chmod(0o600)
    assert "audit.pem" in audit(office, "export", "out", "--reason", "r", code=2)
    bare = Office(office / "bare")
    bare.folder.mkdir()
    assert "assistant migrate" in audit(bare, "list", code=2)


def test_the_server_signs_while_it_runs_and_lets_auditors_in(office: Office) -> None:
    record = ask(office)
    with serving(office.folder, auth__development_roles='["user","auditor"]', audit__every_records="1") as server:
        audits = f"{server.url}/api/audit"
        found = httpx.get(f"{audits}/records", params={"kind": "turn"}).json()["records"]
        assert [each["id"] for each in found] == [record]
        assert httpx.get(f"{audits}/export", headers={"X-Audit-Reason": "r"}).status_code == 404
        opened = httpx.get(f"{audits}/records/{record}", headers={"X-Audit-Reason": "review"})
        assert opened.json()["texts"]["question"] == QUESTION
        while not (verified := httpx.get(f"{audits}/verify").json())["covered"]:
            time.sleep(0.1)
        assert verified["ok"] is True
    assert "signatures reach over the first 2" in audit(office, "verify")  # that of the look was made at the end


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({}, "audit.pem of the audit log: it holds no private key"),
        ({"audit__key": "h"}, "h of the audit log: it is not a file"),
        ({"audit__targets": '["nosuch://bucket/x"]'}, "no file system serves this URL"),
        ({"audit__every_records": "0"}, "audit.every_records"),
    ],
)
def test_a_server_that_cannot_sign_does_not_start_and_says_why(
    tmp_path: Path, settings: dict[str, str], told: str
) -> None:
    (tmp_path / "var").mkdir()
    (tmp_path / "h").mkdir()
    (tmp_path / "var" / "audit.pem").touch(0o600)
    if "audit__targets" in settings:
        settings = settings | {"audit__key": "var/other.pem"}
    done = run(tmp_path, "serve", "--port", "0", **settings)
    assert done.returncode == 2
    assert told in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_policies_of_the_settings_are_applied_and_a_lost_secret_is_told(office: Office) -> None:
    ask(office)
    policies = '[{"what": "conversations", "keep_days": 1}, {"what": "texts", "keep_days": 1, "collection": "h"}]'
    told = audit(office, "retention", "--dry-run", "--json", retention__policies=policies)
    assert [(each["what"], each["gone"], each["collection"]) for each in json.loads(told)] == [
        ("conversations", 0, None), ("texts", 0, "h"),
    ]  # fmt: skip
    assert len(listed(office)) == 1
    assert "removed 0 conversations" in audit(office, "retention", retention__policies=policies)
    (run_, _) = listed(office)
    assert (run_["kind"], run_["actor"] != "") == ("retention", True)
    assert "no answers of record" in audit(office, "answers", "list")
    assert "bad_input" in audit(
        office, "adopt", str(listed(office, "--kind", "turn")[0]["id"]), "--reason", "x", code=2
    )
    (office / "var" / "audit.secret").rename(office / "kept")
    told = audit(office, "list", code=2)
    assert "bad_setting" in told
    assert "put the file back" in told
