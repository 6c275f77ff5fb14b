"""`assistant ask --server`: the answer of a server, printed as it comes."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest

from assistant.client import Reloaded
from assistant.commands.ask import _print_reloaded, ask_there
from assistant.config import load_settings
from assistant.core.events import CitationsAdded
from assistant.core.turn import TurnMessage, fold
from assistant.errors import NotAuthenticated
from tests.client.speaking import speaks
from tests.transport.house import House
from tests.transport.test_transcripts import FOLDER, turns_of

pytestmark = pytest.mark.asyncio(loop_scope="package")


async def test_it_prints_the_answer_and_goes_on_with_a_session(
    house: House, capsys: pytest.CaptureFixture[str]
) -> None:
    speaks(house, "Good day!", "Bye!")
    async with asyncio.timeout(60):
        assert await ask_there(house.url, "Hello!", token="t", verbose=True) == "completed"
        printed = capsys.readouterr().out
        assert "Good day!" in printed
        assert "call 1 of 1" in printed
        (session,) = re.findall(r"session (\w+)", printed)
        assert await ask_there(house.url, "Bye!", token="t", session=session, as_json=True) == "completed"
    lines: list[dict[str, Any]] = [
        json.loads(line)
        for line in capsys.readouterr().out.splitlines()
        if line.startswith("{")  # the server of this process says what it does, too
    ]
    assert [line["type"] for line in lines][0 :: len(lines) - 1] == ["turn.accepted", "turn.done"]
    assert [line["seq"] for line in lines] == list(range(lines[0]["seq"], lines[0]["seq"] + len(lines)))


async def test_what_the_server_refuses_with_is_raised(house: House) -> None:
    with pytest.raises(NotAuthenticated):
        await ask_there(house.url, "Hello!", token="bad")


async def test_after_a_reload_only_what_is_missing_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    message = fold(next(iter(turns_of(FOLDER / "from-cache.jsonl").values())))
    assert isinstance(message.citations, CitationsAdded)
    _print_reloaded(message.text[:5], Reloaded(message))
    assert capsys.readouterr().out.startswith(message.text[5:] + "\n\n[1] Travel")
    _print_reloaded("Something else", Reloaded(TurnMessage(text="Yes.")))
    assert capsys.readouterr().out == "\n\nYes."


async def test_the_token_in_the_environment_is_no_unknown_setting(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert load_settings({"ASSISTANT_TOKEN": "t"}) == load_settings({})


async def test_the_examples_of_the_documentation_run(house: House) -> None:
    page = await asyncio.to_thread(Path("docs/client.md").read_text, "utf-8")
    speaks(house, "Employees get 20 days.", "Word. " * 300, delay=0.01)
    module: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        exec(block, module)
    async with asyncio.timeout(60):
        assert await module["ask"](house.url, "t") == "Employees get 20 days."
        assert await module["stop_and_rate"](house.url, module["newest_token"]) == "cancelled"
