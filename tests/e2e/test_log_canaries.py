"""What a server writes while it answers, refuses and fails, with its log as loud as it goes: never a word of documents or people."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import httpx
import pytest

from tests.e2e.serving import client, run, serving

pytestmark = pytest.mark.e2e
CANARIES = ("qztext", "qztitle", "qzfile", "qzquestion", "qzsearch", "qztoken", "qzframe")
PAGE = "# Lamps qztitle\n\nThe harbour lamps are tested every 3 weeks, says qztext.\n"
QUESTION = "How often are the harbour lamps tested, qzquestion?"


async def test_no_word_of_a_document_a_question_or_an_answer_is_in_the_log(tmp_path: Path) -> None:
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    (shelf / "qzfile.md").write_text(PAGE)
    (shelf / "broken-qzfile.pdf").write_bytes(b"%PDF-1.7 qztext")
    loud = {"server__log_level": "debug", "server__log_format": "json"}
    with serving(tmp_path, **loud) as server:
        read = await asyncio.to_thread(run, tmp_path, "ingest", str(shelf), "--collection", "shelf", **loud)
        assert "1 added" in read.stdout
        async with client(server) as socket:
            said = await socket.ask(QUESTION)
            assert "qztext" in json.dumps(said)
            await socket.send("turn.start", {"text": 5, "qzframe": "qzframe"})
            assert (await socket.until("error"))["d"]["code"] == "bad_input"
        with httpx.Client(base_url=server.url, headers={"Authorization": "Bearer qztoken"}) as http:
            assert http.get("/api/sessions", params={"query": "qzsearch"}).status_code < 500
            assert http.get("/api/sessions/qzsearch").status_code >= 400
            assert http.post("/api/sessions", json={"qzquestion": 1}).status_code < 500
            assert http.post("/api/sessions/x/turns", json={"text": QUESTION, "qzframe": 1}).status_code == 422
    log = server.log()
    assert [word for word in CANARIES if word in log] == []
    lines = [json.loads(line) for line in log.splitlines() if line.startswith("{")]
    assert len(lines) > 3
