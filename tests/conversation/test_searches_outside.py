"""Turns over a search outside: its evidence is cited, kept and held to the rights of the reader; its failure is told."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from assistant.app import Parts, assemble
from assistant.config import Settings
from assistant.conversation.turns import Question
from assistant.core.access import Caller
from assistant.core.past_sources import SourceState
from assistant.core.turn import TurnMessage
from assistant.errors import NotFound
from tests.retrieval.outside import SECRET, answer, example, http, serving
from tests.store.filling import draft, put

ANN = Caller("default", "ann", frozenset({"everyone", "staff"}))
QUESTION = "How much is band 4 in a year?"


@asynccontextmanager
async def opened(database_url: str, folder: Path, url: str, *, builtin: bool = True) -> AsyncIterator[Parts]:
    settings = Settings.model_validate(
        {
            "database": {"url": database_url},
            "audit": {"secret": folder / "secret", "key": folder / "key.pem"},
            "retrieval": {
                "embedder": "none",
                "builtin": builtin,
                "external": [{"name": "wiki", "url": url, "secret": SECRET}],
            },
        }
    )
    async with assemble(settings) as parts:
        yield parts


async def asked(parts: Parts, text: str, caller: Caller = ANN) -> tuple[str, str, TurnMessage]:
    session = (await parts.store.conversations.open(caller, None)).id
    begun = await parts.live.start(caller, session, Question(client_id="c", text=text))
    return session, begun.turn, await parts.live.finished(session, begun.turn)


async def test_a_passage_outside_is_cited_kept_and_closed_with_the_right(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with example(monkeypatch) as url, opened(database_url, tmp_path, url, builtin=False) as parts:
        session, turn, message = await asked(parts, QUESTION)
        assert (message.status, message.error) == ("completed", None)
        assert message.citations is not None
        (cited, *_) = message.citations.items
        assert cited.source.document == "outside:wiki:salaries"
        assert "61,000 euros" in cited.source.exact
        past = await parts.store.sources.source(ANN, session, turn, cited.n)
        assert (past.state, past.title) == (SourceState.UNKNOWN, "Salary bands")
        demoted = replace(ANN, groups=frozenset({"everyone"}))
        with pytest.raises(NotFound):
            await parts.store.sources.source(demoted, session, turn, cited.n)
        assert await parts.store.rights.withheld(demoted, session) == {turn}


async def test_a_failure_beside_the_knowledge_base_is_told_and_nothing_more(database_url: str, tmp_path: Path) -> None:
    async with serving(http(b"", "500 Error")) as wiki, opened(database_url, tmp_path, wiki.url) as parts:
        await put(parts.store, draft("Band 4 begins at 61,000 euros in a year."), tenant="default")
        _, _, message = await asked(parts, QUESTION)
    assert (message.status, message.error) == ("completed", None)
    assert "61,000" in message.text
    assert [(step.text, step.failed) for step in message.steps if step.failed] == [("wiki", "search_unavailable")]


async def test_when_the_only_search_fails_the_turn_says_so(database_url: str, tmp_path: Path) -> None:
    async with (
        serving(http(b"", "500 Error")) as wiki,
        opened(database_url, tmp_path, wiki.url, builtin=False) as parts,
    ):
        _, _, message = await asked(parts, QUESTION)
        assert (message.status, message.error) == ("failed", "search_unavailable")
    async with serving(answer()) as wiki, opened(database_url, tmp_path, wiki.url, builtin=False) as parts:
        _, _, message = await asked(parts, QUESTION)
        assert message.status == "completed"  # it found nothing, which is an answer
