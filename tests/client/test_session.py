"""The client against a real server: asking, cuts of the line, tokens that end, a server that stops, refusals."""

from __future__ import annotations

import asyncio
import socket
from dataclasses import replace
from datetime import timedelta
from itertools import count
from typing import Any

import pytest
from ulid import ULID

from assistant.app import now
from assistant.client import Ended, Reloaded, Unreachable, connect
from assistant.client.asked import Item
from assistant.core.access import EVERYONE
from assistant.core.events import AnswerDelta
from assistant.errors import BadInput, Busy, IdempotencyMismatch, NotAuthenticated, NotFound, TokenExpired
from assistant.store import Store
from tests.client.cutting import cutting
from tests.client.speaking import speaks
from tests.store.filling import draft, put
from tests.transport.house import House

LONG = " ".join(f"Sentence {number} 😀 says 你好." for number in range(60))


pytestmark = pytest.mark.asyncio(loop_scope="package")


def at_once(_: int) -> float:
    return 0.0


def text_of(items: list[Item]) -> str:
    """What somebody would read who appends deltas and believes a reload."""
    text = ""
    for item in items:
        if isinstance(item, Reloaded):
            text = item.message.text
        elif isinstance(item, AnswerDelta):
            assert item.off == len(text)
            text += item.text
    return text


async def test_a_question_is_answered_event_by_event(house: House) -> None:
    model = speaks(house, LONG)
    async with asyncio.timeout(60), connect(house.url, token="t") as session:
        asked = session.ask("Hello!")
        numbered = [each async for each in asked.numbered()]
        assert [seq for seq, _ in numbered] == list(range(1, len(numbered) + 1))
        assert [item.type for _, item in numbered][0 :: len(numbered) - 1] == ["turn.accepted", "turn.done"]
        assert text_of([item for _, item in numbered]) == asked.message.text == LONG
        assert session.turns == {asked.turn: asked.message}
        assert session.limits is not None
        assert [item async for item in asked] == []
        again = await session.answer("Hello!", id_=asked.id)
        assert again == replace(asked.message, parameters=again.parameters)
    assert len(model.calls) == 1
    async with connect(house.url, token="t", session=session.id) as later:
        assert {turn: replace(each, parameters=()) for turn, each in session.turns.items()} == later.turns


async def test_cuts_at_many_places_lose_and_repeat_nothing(house: House) -> None:
    model = speaks(house, LONG, delay=0.002, piece=16)
    async with asyncio.timeout(60), cutting(house.port, lambda n: 1000 + 300 * n if n < 12 else None) as proxy:  # noqa: SIM117
        async with connect(proxy.url, token="t", wait=at_once) as session:
            asked = session.ask("Hello!")
            items = [item async for item in asked]
            assert proxy.connections > 5
            assert not any(isinstance(item, Reloaded) for item in items)
            assert text_of(items) == asked.message.text == LONG
            assert [item.type for item in items].count("turn.done") == 1
    assert len(model.calls) == 1


async def test_a_command_is_sent_until_it_is_acknowledged(house: House) -> None:
    model = speaks(house, "Yes.")
    async with asyncio.timeout(60), cutting(house.port) as proxy:  # noqa: SIM117
        async with connect(proxy.url, token="t", wait=at_once) as session:
            for number in range(5):
                asked = session.ask("Hello" + "!" * number)
                proxy.cut()
                assert (await asked.finished()).text == "Yes."
            assert [each.question for each in session.turns.values()] == ["Hello" + "!" * number for number in range(5)]
    assert len(model.calls) == 5


async def test_what_cannot_be_resumed_is_loaded_anew(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    speaks(house, LONG, delay=0.005, piece=16)
    opened, epochs = house.doors.store.open, count()

    async def restored(*given: Any) -> Any:
        return replace(await opened(*given), epoch=f"life-{lives[0]}")

    lives = [0]
    monkeypatch.setattr(type(house.doors.store), "open", lambda _, *given: restored(*given))
    async with asyncio.timeout(60), cutting(house.port) as proxy:  # noqa: SIM117
        async with connect(proxy.url, token="t", wait=at_once) as session:
            items: list[Item] = []
            async for item in session.ask("Hello!"):
                items.append(item)
                if isinstance(item, AnswerDelta) and next(epochs) == 3:
                    lives[0] += 1
                    proxy.cut()
            reloads = [item for item in items if isinstance(item, Reloaded)]
            assert len(reloads) == 1
            assert LONG.startswith(reloads[0].message.text)
            assert text_of(items) == LONG


async def test_a_turn_that_ended_meanwhile_is_told_whole(house: House) -> None:
    speaks(house, "Yes.")
    async with asyncio.timeout(60), connect(house.url, token="t") as session:
        await session.answer("Hello!", id_=(key := str(ULID())))
        async with connect(house.url, token="t", session=session.id) as other:
            items = [item async for item in other.ask("Hello!", id_=key)]
        (told,) = items
        assert isinstance(told, Reloaded)
        assert (told.message.text, told.message.status) == ("Yes.", "completed")


async def test_a_turn_is_stopped_and_rated(house: House) -> None:
    speaks(house, "Word. " * 500, delay=0.02)
    async with asyncio.timeout(60), connect(house.url, token="t") as session:
        asked = session.ask("Hello!")
        async for item in asked:
            if isinstance(item, AnswerDelta) and item.off == 0:
                await session.cancel(asked.turn or "")
        assert (asked.message.status, asked.message.finish) == ("cancelled", "cancelled")
        await session.feedback(asked.turn or "", "down", reason="too short", correction="All of it.")
        with pytest.raises(NotFound):
            await session.feedback("no-such-turn", "up")
        assert [call.ended for call in await session.calls(asked.turn or "")] == ["cancelled"]


async def test_refusals_have_their_types_and_end_nothing(house: House) -> None:
    speaks(house, "Word. " * 300, delay=0.01)
    async with asyncio.timeout(60), connect(house.url, token="t") as session:
        running = [session.ask("Hello!"), session.ask("Hi!")]
        for each in running:
            await anext(aiter(each))
        with pytest.raises(Busy):
            await session.answer("And now?")
        with pytest.raises(IdempotencyMismatch):
            async with connect(house.url, token="t", session=session.id) as other:
                await other.answer("Something else", id_=running[0].id)
        with pytest.raises(BadInput):
            await session.answer("Hello!", mode="nonsense")
        with pytest.raises(BadInput, match="take"):
            session.ask("x" * 8001)
        with pytest.raises(BadInput):
            session.ask("Hello!", id_="no ulid")
        for each in running:
            await session.cancel(each.turn or "")
            assert (await each.finished()).status == "cancelled"


async def test_who_may_not_come_in_is_told_so(house: House) -> None:
    async with asyncio.timeout(60):
        for token, session, error in (
            ("bad", None, NotAuthenticated),
            ("expired", None, TokenExpired),
            ("t", "x", NotFound),
        ):
            with pytest.raises(error):
                async with connect(house.url, token=token, session=session):
                    pass
        with socket.socket() as nobody:
            nobody.bind(("127.0.0.1", 0))
            with pytest.raises(Unreachable):
                async with connect(f"http://127.0.0.1:{nobody.getsockname()[1]}", token="t"):
                    pass
        with pytest.raises(BadInput):
            async with connect("127.0.0.1"):
                pass


async def test_a_token_that_ends_is_renewed_while_a_turn_runs(house: House) -> None:
    speaks(house, "Word. " * 100, delay=0.02)
    house.portal.minutes = 0.5 / 60
    given: list[str] = []

    async def newer() -> str:
        given.append(f"t{len(given)}")
        return given[-1]

    async with asyncio.timeout(60), connect(house.url, get_token=newer, wait=at_once) as session:
        assert (await session.answer("Hello!")).status == "completed"
    assert len(given) > 2


async def test_a_token_that_ends_for_good_ends_the_client_and_not_the_turn(house: House) -> None:
    speaks(house, "Word. " * 100, delay=0.02)
    house.portal.minutes = 0.5 / 60
    async with asyncio.timeout(60), connect(house.url, token="t", wait=at_once) as session:
        with pytest.raises(TokenExpired):
            await session.answer("Hello!")
        with pytest.raises(TokenExpired):
            session.ask("And now?")
    house.portal.minutes = None
    async with connect(house.url, token="t", session=session.id) as later:
        assert [each.question for each in later.turns.values()] == ["Hello!"]


async def test_a_server_that_stops_is_come_back_to(house: House) -> None:
    speaks(house, "Word. " * 40, delay=0.02)
    waits: list[int] = []

    def back_again(attempt: int) -> float:
        house.doors.presence.draining = False
        waits.append(attempt)
        return 0.0

    async with asyncio.timeout(60), connect(house.url, token="t", wait=back_again) as session:
        asked = session.ask("Hello!")
        await anext(aiter(asked))
        await house.doors.presence.drain(5)
        assert (await asked.finished()).text == "Word. " * 40
    assert waits == [0]


async def test_who_leaves_is_told_so_and_the_turn_goes_on(house: House) -> None:
    speaks(house, "Word. " * 20, delay=0.01)
    async with asyncio.timeout(60):
        async with connect(house.url, token="t") as session:
            asked = session.ask("Hello!")
            await anext(aiter(asked))
        with pytest.raises(Ended):
            await asked.finished()
        with pytest.raises(Ended):
            session.ask("And now?")
        message = await house.doors.live.finished(session.id, asked.turn or "")
    assert message.status == "completed"


async def test_what_may_no_longer_be_read_is_taken_back(house: House) -> None:
    secret = "The board met in secret in May about leave."
    house.portal.caller = replace(house.portal.caller, groups=frozenset({EVERYONE, "board"}))
    await put_board_page(house, secret, "board")
    speaks(house, secret, "Hello!")
    async with asyncio.timeout(60), connect(house.url, token="t", wait=at_once) as session:
        asked = session.ask("What did the board meet about in May?")
        assert (await asked.finished()).citations is not None
        kept = session.ask("Hello!")
        await kept.finished()
        await put_board_page(house, secret, "nobody")
        while session.turns[asked.turn or ""].text:
            await asyncio.sleep(0.01)
        assert session.turns[asked.turn or ""].citations is None
        assert session.turns[asked.turn or ""].question == "What did the board meet about in May?"
        assert session.turns[kept.turn or ""].text == "Hello!"


async def put_board_page(house: House, text: str, access: str) -> None:
    url = house.doors.store._database.engine.url.render_as_string()  # type: ignore[attr-defined]
    async with Store(url) as store:
        await put(store, draft(text, "board.md", title="Board", access=(access,)))
        await store.tell_changes(now() - timedelta(minutes=1))
    house.doors.live.stir()


async def test_patience_has_an_end(house: House) -> None:
    async with asyncio.timeout(60), cutting(house.port) as proxy:  # noqa: SIM117
        async with connect(proxy.url, token="t", patience_s=0.3, wait=lambda _: 0.1) as session:
            asked = session.ask("Hello!")
            await anext(aiter(asked))
            proxy.target = 1
            proxy.cut()
            with pytest.raises(Unreachable):
                await session.feedback(asked.turn or "", "up")
