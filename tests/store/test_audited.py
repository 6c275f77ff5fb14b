"""Kept answers as an auditor reads them: whoever asked, whatever was withdrawn since, and nothing of another tenant."""

from __future__ import annotations

import pytest

from assistant.core.past_sources import SourceState
from assistant.errors import NotFound
from assistant.llm.scripted import ScriptedModel
from assistant.store import Store
from tests.conversation.answering import LEAVE, Desk, sit_down
from tests.store.filling import draft, put

ANSWER = "Employees get 20 days of annual leave."


async def answered(store: Store) -> tuple[Desk, str]:
    """A desk with one answer, and its turn."""
    desk = await sit_down(store, ScriptedModel([ANSWER]))
    await desk.answer("How many days of annual leave are there?")
    return desk, (await desk.events())[0].turn


@pytest.mark.parametrize(
    ("text", "access", "state"),
    [
        (LEAVE, ["everyone"], SourceState.UNCHANGED),
        (LEAVE, ["board"], SourceState.UNCHANGED),
        (f"News. {LEAVE}", ["board"], SourceState.SAME_TEXT),
        (LEAVE.replace("20", "30"), ["everyone"], SourceState.CHANGED),
    ],
)
async def test_sources_are_shown_whoever_may_read_them_today(
    store: Store, text: str, access: list[str], state: SourceState
) -> None:
    _, turn = await answered(store)
    await put(store, draft(text, "leave.md", access=access))
    ((n, source),) = await store.audited.sources("acme", turn)
    assert (n, source.quoted.exact, source.state) == (1, ANSWER, state)
    assert any(ANSWER in each.exact for each in await store.audited.evidence("acme", turn))
    (call,) = await store.audited.calls("acme", turn)
    assert call.text == ANSWER
    assert "20 days" in call.messages[-1].text


async def test_a_deleted_document_is_shown_as_it_was(store: Store) -> None:
    _, turn = await answered(store)
    await store.documents.delete("acme", "handbook", "leave.md")
    ((_, source),) = await store.audited.sources("acme", turn)
    assert (source.quoted.exact, source.state) == (ANSWER, SourceState.DELETED)


async def test_the_owner_is_found_and_holds_every_group_of_the_sources(store: Store) -> None:
    desk, turn = await answered(store)
    await put(store, draft(LEAVE, "leave.md", access=["hr", "everyone"]))
    owner, conversation = await store.audited.owner("acme", turn)
    assert (owner.tenant, owner.user, conversation) == ("acme", "ann", desk.conversation)
    assert owner.groups == {"everyone", "hr"}


@pytest.mark.parametrize(("tenant", "turn"), [("rival", ""), ("acme", "nothing"), ("acme", "\x00"), ("\ud800", "")])
async def test_nothing_is_told_of_what_is_not_there(store: Store, tenant: str, turn: str) -> None:
    _, mine = await answered(store)
    turn = turn or mine
    assert await store.audited.evidence(tenant, turn) == []
    assert await store.audited.sources(tenant, turn) == []
    for read in (store.audited.owner, store.audited.calls, store.audited.conflicts):
        with pytest.raises(NotFound):
            await read(tenant, turn)
