from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from assistant.llm.scripted_http import Behaviour, Provider, running_provider
from tests.e2e.serving import Client, of, serving

pytestmark = pytest.mark.e2e
ANSWER = "You are expected to bill at least 32 hours to project work. " * 40
QUESTION = "How many hours must be billable in a week?"


@pytest.fixture
def provider() -> Iterator[Provider]:
    with running_provider() as running:
        yield running


def settings(provider: Provider) -> dict[str, str]:
    return {
        "model__kind": "openai",
        "model__name": "test-model",
        "model__base_url": provider.url,
        "model__api_key": "k",
    }


async def test_kill_9_in_mid_answer_loses_nothing_committed(folder: Path, provider: Provider) -> None:
    provider.behave(Behaviour(text=ANSWER, piece=12, delay=0.02))
    with serving(folder, **settings(provider)) as server:
        page = Client(server.url)
        await page.open()
        await page.send("turn.start", {"text": QUESTION})
        for _ in range(6):
            await page.until("answer.delta")
        server.kill()
        shown, turn = dict(page.texts), page.frames[0]["turn"]
        assert 0 < len(shown[turn]) < len(ANSWER)

        server.start()
        ready = await page.open()
        assert ready["d"]["recovered"] is True
        done = await page.until("turn.done")
        assert (done["d"]["status"], done["d"]["error"]) == ("failed", "interrupted")
        assert page.texts[turn].startswith(shown[turn])
        assert ANSWER.startswith(page.texts[turn])
        assert [frame["seq"] for frame in page.frames] == list(range(1, page.seq + 1))
        assert [frame["type"] for frame in page.frames].count("turn.done") == 1
        assert of(page.frames, "citations")["items"]

        frames = await page.ask("Who can answer questions about billing?")
        assert of(frames, "turn.done")["status"] == "completed"
        await page.close()


async def test_stop_reaches_the_provider(folder: Path, provider: Provider) -> None:
    provider.behave(Behaviour(text="Begin. ", endless=True, delay=0.01))
    with serving(folder, **settings(provider)) as server:
        page = Client(server.url)
        await page.open()
        await page.send("turn.start", {"text": QUESTION})
        turn = (await page.until("answer.delta"))["turn"]
        while len(page.texts[turn]) < len("Begin."):
            await page.until("answer.delta")
        await page.send("turn.cancel", {"turn": turn})
        done = await page.until("turn.done")
        assert done["d"]["status"] == "cancelled"
        assert page.texts[turn].startswith("Begin.")
        await asyncio.to_thread(provider.cancelled.wait, 10)
        assert provider.cancelled.is_set()
        await page.close()


@pytest.mark.parametrize("kind", ["openai", "litellm"])
async def test_the_prompt_over_the_wire(folder: Path, provider: Provider, kind: str) -> None:
    provider.behave(Behaviour(text="You are expected to bill at least 32 hours to project work [1].", piece=5))
    name = "test-model" if kind == "openai" else "openai/test-model"
    for window in ("1024", "4096", "131072"):
        chosen = settings(provider) | {"model__kind": kind, "model__name": name, "model__window": window}
        with serving(folder, **chosen) as server:
            page = Client(server.url)
            await page.open()
            frames = await page.ask(QUESTION)
            await page.close()
        budget = of(frames, "turn.plan")["budget"]
        assert sum(budget[part] for part in ("system", "history", "evidence", "question", "output", "margin")) <= int(
            window
        )
        body = provider.bodies[-1]
        assert body["stream"] is True
        assert body["max_tokens"] == budget["output"]
        asked = body["messages"][-1]["content"]
        assert (
            asked.index("<evidence-list>")
            < asked.index('conflicts-with="')
            < asked.index("</evidence-list>")
            < asked.index("<question>")
        )
        assert body["messages"][0]["role"] == "system"
        assert page.texts[frames[0]["turn"]] == "You are expected to bill at least 32 hours to project work."
        (cited, *_) = of(frames, "citations")["items"]
        assert cited["verdict"] == "supported"
        assert of(frames, "conflicts")["items"][0]["followed"] == "preferred"
