"""Sources of old answers: as they were, what became of them, and nothing of what may not be read now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date

import pytest

from assistant.core.access import Caller
from assistant.core.evidence import Authority, Evidence, SourceVersion
from assistant.core.past_sources import SourceState
from assistant.core.text import Span
from assistant.errors import NotFound
from assistant.store import Store
from assistant.store.past_sources import SqlPastSources
from tests.store.filling import ANN, BOB, EVE, answer_of, citation_of, draft, found_evidence, plan_of, put

OLD = "Visitors may borrow three bicycles. Helmets are free. 访客可借用三辆自行车。"
NEW = "Foreword. Visitors may borrow two bicycles. Helmets are free. 访客可借用两辆自行车。"


async def answered(store: Store, evidence: Sequence[Evidence] | None = None, turn: str = "t1") -> str:
    """A conversation of Ann with a finished turn that cites the evidence; what a search finds when none is given."""
    conversation = (await store.conversations.open(ANN, None)).id
    await store.conversations.begin_turn(ANN, conversation, turn=turn, client_id=turn, text="How many?", mode="auto")
    shown = await found_evidence(store, "bicycles") if evidence is None else list(evidence)
    await store.conversations.save_plan(turn, plan_of(shown), shown, [])
    await store.conversations.finish_turn(conversation, turn, answer_of(shown))
    return conversation


async def state(store: Store, conversation: str, caller: Caller = ANN) -> SourceState:
    return (await SqlPastSources(store.database).states(caller, conversation))["t1", 1]


async def test_an_unchanged_source_is_shown_in_its_version(store: Store) -> None:
    await put(store, draft(OLD, "bicycles.md", title="Bicycles", on=date(2030, 1, 2)))
    conversation = await answered(store)
    found = await SqlPastSources(store.database).source(ANN, conversation, "t1", 1)
    shown = found.as_json()
    assert (shown["title"], shown["uri"], shown["version"], shown["date"]) == (
        "Bicycles",
        "bicycles.md",
        1,
        "2030-01-02",
    )
    assert (shown["media_type"], shown["section"], shown["state"]) == ("text/markdown", "Section", "unchanged")
    assert shown["exact"] == "Visitors may borrow three bicycles."
    assert (shown["current"], shown["diff"]) == (None, None)
    assert await state(store, conversation) is SourceState.UNCHANGED


async def test_a_changed_source_shows_both_versions_and_the_words_that_differ(store: Store) -> None:
    await put(store, draft(OLD, on=date(2030, 1, 2)))
    conversation = await answered(store)
    await put(store, draft(NEW, on=date(2031, 3, 4)))
    shown = (await SqlPastSources(store.database).source(ANN, conversation, "t1", 1)).as_json()
    assert (shown["state"], shown["exact"], shown["date"]) == (
        "changed",
        "Visitors may borrow three bicycles.",
        "2030-01-02",
    )
    current = shown["current"]
    assert (current["version"], current["date"]) == (2, "2031-03-04")
    assert current["exact"] == "Visitors may borrow two bicycles."
    assert [(part["old"], part["new"]) for part in shown["diff"] if part["op"] == "replace"] == [("three", "two")]
    assert await state(store, conversation) is SourceState.CHANGED


async def test_text_that_only_moved_is_the_same(store: Store) -> None:
    await put(store, draft(OLD))
    conversation = await answered(store)
    await put(store, draft("A new first chapter. " * 50 + OLD))
    found = await SqlPastSources(store.database).source(ANN, conversation, "t1", 1)
    assert found.state is SourceState.SAME_TEXT
    assert found.current is not None
    assert found.current.quoted == found.quoted
    assert await state(store, conversation) is SourceState.SAME_TEXT


async def test_a_deleted_source_is_still_shown_as_it_was(store: Store) -> None:
    await put(store, draft(OLD))
    conversation = await answered(store)
    await put(store, draft(NEW))
    await store.documents.delete("acme", "handbook", "leave.md")
    found = await SqlPastSources(store.database).source(ANN, conversation, "t1", 1)
    assert (found.state, found.quoted.exact, found.current) == (
        SourceState.DELETED,
        "Visitors may borrow three bicycles.",
        None,
    )
    assert await state(store, conversation) is SourceState.DELETED


async def test_what_may_not_be_read_now_looks_like_what_was_never_there(store: Store) -> None:
    sources = SqlPastSources(store.database)
    await put(store, draft(OLD))
    conversation = await answered(store)
    refusals = []
    for change in ("withdrawn", "edited", "deleted"):
        text = OLD if change == "withdrawn" else NEW
        if change == "deleted":
            await store.documents.delete("acme", "handbook", "leave.md")
        else:
            await put(store, draft(text, access=["hr"]))
        assert await state(store, conversation) is SourceState.NOT_AVAILABLE
        for turn, n in (("t1", 1), ("t1", 99), ("t9", 1)):
            with pytest.raises(NotFound) as refused:
                await sources.source(ANN, conversation, turn, n)
            refusals.append((refused.value.code, refused.value.detail, refused.value.data))
    assert len({str(refusal) for refusal in refusals}) == 1
    readers = replace(ANN, groups=BOB.groups)
    assert await state(store, conversation, readers) is SourceState.DELETED


async def test_nobody_else_sees_sources_or_states(store: Store) -> None:
    sources = SqlPastSources(store.database)
    await put(store, draft(OLD))
    conversation = await answered(store)
    for stranger in (BOB, EVE, Caller("rival", "ann")):
        with pytest.raises(NotFound):
            await sources.source(stranger, conversation, "t1", 1)
        with pytest.raises(NotFound):
            await sources.states(stranger, conversation)


async def test_a_document_of_another_tenant_is_not_available(store: Store) -> None:
    await put(store, draft(OLD), tenant="rival")
    stolen = await found_evidence(store, "bicycles", EVE)
    conversation = await answered(store, stolen)
    assert await state(store, conversation) is SourceState.NOT_AVAILABLE
    with pytest.raises(NotFound):
        await SqlPastSources(store.database).source(ANN, conversation, "t1", 1)


async def test_a_source_from_outside_cannot_be_looked_at_again(store: Store) -> None:
    source = SourceVersion("wiki:7", 3, "s", "Wiki", "https://wiki", "wiki", None, Authority.LOW, "zh", "f", ANN.groups)
    conversation = await answered(store, [Evidence("e7", source, Span(10, 14), "两辆单车", (Span(10, 14),), score=0.5)])
    found = await SqlPastSources(store.database).source(ANN, conversation, "t1", 1)
    assert (found.state, found.quoted.exact, found.media_type) == (SourceState.UNKNOWN, "两辆单车", None)
    assert await state(store, conversation) is SourceState.UNKNOWN
    stranger = replace(ANN, groups=frozenset({"other", "o\x00", "\ud800"}))
    assert await state(store, conversation, stranger) is SourceState.NOT_AVAILABLE
    with pytest.raises(NotFound):
        await SqlPastSources(store.database).source(stranger, conversation, "t1", 1)


async def test_one_number_with_two_places_opens_each(store: Store) -> None:
    await put(store, draft("One bicycle 😀 is red. Another bicycle is blue.", "b.md"))
    (first, second) = await found_evidence(store, "bicycle")
    text = "One bicycle 😀 is red. Another bicycle is blue."
    whole = replace(first, span=Span(0, len(text)), exact=text, kept=(Span(0, len(text)),))
    conversation = (await store.conversations.open(ANN, None)).id
    await store.conversations.begin_turn(ANN, conversation, turn="t1", client_id="c", text="?", mode="auto")
    await store.conversations.save_plan("t1", plan_of([whole]), [whole], [])
    message = answer_of([whole])
    assert message.citations is not None
    places = (replace(citation_of(each, 1), evidence=whole.id) for each in (first, second))
    cited = replace(message.citations, items=tuple(sorted(places, key=lambda item: item.source.start)))
    await store.conversations.finish_turn(conversation, "t1", replace(message, citations=cited))
    sources = SqlPastSources(store.database)
    start = text.index("Another")
    one, other = (
        await sources.source(ANN, conversation, "t1", 1),
        await sources.source(ANN, conversation, "t1", 1, start),
    )
    assert (one.quoted.exact, other.quoted.exact) == ("One bicycle 😀 is red.", "Another bicycle is blue.")
    assert one.quoted.text == other.quoted.text == text
    await put(store, draft(text.replace("blue", "green"), "b.md"))
    assert await state(store, conversation) is SourceState.CHANGED
    assert (await sources.source(ANN, conversation, "t1", 1)).state is SourceState.SAME_TEXT


async def test_a_conversation_without_citations_has_no_states(store: Store) -> None:
    conversation = (await store.conversations.open(ANN, None)).id
    sources = SqlPastSources(store.database)
    assert await sources.states(ANN, conversation) == {}
    await store.conversations.begin_turn(ANN, conversation, turn="t1", client_id="c", text="?", mode="auto")
    assert await sources.states(ANN, conversation) == {}


async def test_hostile_ids_and_numbers_are_not_found(store: Store) -> None:
    sources = SqlPastSources(store.database)
    await put(store, draft(OLD))
    conversation = await answered(store)
    for hostile in ("a\x00b", "\ud800", "' OR 1=1 --", "x" * 100_000, ""):
        with pytest.raises(NotFound):
            await sources.states(ANN, hostile)
        for place in ((hostile, "t1"), (conversation, hostile)):
            with pytest.raises(NotFound):
                await sources.source(ANN, *place, 1)
    for number in (0, -1, 2**31, 10**30):
        with pytest.raises(NotFound):
            await sources.source(ANN, conversation, "t1", number)
    assert (await sources.source(ANN, conversation, "t1", 1, 10**30)).version == 1
