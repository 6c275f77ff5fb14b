"""The list of one's own sessions: order, pages, search, titles, deletion, and that nobody else's are touched."""

from __future__ import annotations

import asyncio
import base64
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import func, select, text, update

from assistant.core.access import Caller
from assistant.errors import BadInput, Busy, NotFound
from assistant.store import Store
from assistant.store.conversations import SqlConversationStore
from assistant.store.conversations_list import SqlSessions
from assistant.store.tables import conversations, events, messages, turns
from tests.store.filling import ANN, BOB, EVE, answer_of, draft, found_evidence, plan_of, put

_numbers = count(1)
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def sessions(store: Store) -> SqlSessions:
    return SqlSessions(store.database)


async def asked(
    store: Store, question: str = "How many days?", caller: Caller = ANN, at: datetime | None = None
) -> str:
    """A session with one running turn."""
    kept = store.conversations if at is None else SqlConversationStore(store.database, clock=lambda: at)
    id_ = (await kept.open(caller, None)).id
    n = next(_numbers)
    await kept.begin_turn(caller, id_, turn=f"t{n}", client_id=f"c{n}", text=question, mode="auto", limit=9999)
    return id_


async def turn_of(store: Store, session: str) -> str:
    async with store.database.read() as connection:
        return str(await connection.scalar(select(turns.c.id).where(turns.c.conversation == session)))


async def answered(store: Store, question: str, answer: str, caller: Caller = ANN, about: str = "") -> str:
    """A session with an answer; it was shown what a search for `about` finds."""
    session = await asked(store, question, caller)
    turn = await turn_of(store, session)
    evidence = await found_evidence(store, about, caller) if about else []
    await store.conversations.save_plan(turn, plan_of(evidence), evidence, [])
    await store.conversations.finish_turn(session, turn, answer_of(evidence, question=question, text=answer))
    return session


async def found(sessions: SqlSessions, query: str, caller: Caller = ANN) -> list[str]:
    return [item.id for item in (await sessions.page(caller, query=query)).items]


async def test_the_latest_comes_first_and_nobody_elses(store: Store, sessions: SqlSessions) -> None:
    first, second = await asked(store, at=NOON), await asked(store, at=NOON + timedelta(seconds=1))
    await asked(store, caller=BOB)
    await asked(store, caller=EVE)
    await store.conversations.open(ANN, None)  # never used: not listed
    page = await sessions.page(ANN)
    assert [item.id for item in page.items] == [second, first]
    assert page.next is None
    assert page.items[0].title == "How many days?"
    assert page.items[0].updated_at == NOON + timedelta(seconds=1)


async def test_pages_of_sessions_of_one_moment_miss_none(store: Store, sessions: SqlSessions) -> None:
    made = {await asked(store, at=NOON) for _ in range(7)}
    seen: list[str] = []
    cursor: str | None = None
    for size in (2, 2, 2, 1):
        page = await sessions.page(ANN, limit=2, cursor=cursor)
        assert len(page.items) == size
        seen += [item.id for item in page.items]
        cursor = page.next
    assert cursor is None
    assert (set(seen), len(seen)) == (made, 7)


@pytest.fixture(scope="module")
def paging_url(migrated_file: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("paging") / "assistant.db"
    path.write_bytes(migrated_file.read_bytes())
    return f"sqlite:///{path}"


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    ages=st.lists(st.integers(0, 5), max_size=9),
    arrivals=st.lists(st.integers(0, 2), max_size=6),
    limit=st.integers(1, 5),
)
def test_every_session_comes_once_while_new_ones_arrive(
    paging_url: str, ages: list[int], arrivals: list[int], limit: int
) -> None:
    asyncio.run(_page_through(paging_url, ages, arrivals, limit))


async def _page_through(url: str, ages: list[int], arrivals: list[int], limit: int) -> None:
    caller = Caller("acme", f"reader{next(_numbers)}")
    async with Store(url) as store:
        sessions = SqlSessions(store.database)
        made = {await asked(store, caller=caller, at=NOON - timedelta(seconds=age)) for age in ages}
        seen: list[str] = []
        cursor, more = None, iter(arrivals)
        while True:
            page = await sessions.page(caller, limit=limit, cursor=cursor)
            assert len(page.items) <= limit
            seen += [item.id for item in page.items]
            for _ in range(next(more, 0)):
                await asked(store, caller=caller, at=NOON + timedelta(seconds=next(_numbers)))
            if (cursor := page.next) is None:
                break
    assert len(seen) == len(set(seen))
    assert made <= set(seen)
    assert set(seen) == made or not made  # what came later is in front of the first page


@pytest.mark.parametrize(
    "cursor",
    [
        "",
        "x",
        "é",
        "\x00",
        "\ud800",
        "A" * 401,
        *(
            base64.urlsafe_b64encode(text).decode().rstrip("=")
            for text in (b"1", b"1.", b".x", b"-1.x", "٣.x".encode(), b"9" * 30 + b".x", b"1.\x00", b"1.\xff", b"1e3.x")
        ),
    ],
)
async def test_a_cursor_that_no_page_gave_is_refused(sessions: SqlSessions, cursor: str) -> None:
    with pytest.raises(BadInput) as refused:
        await sessions.page(ANN, cursor=cursor)
    assert refused.value.data["reason"] == "cursor"


@pytest.mark.parametrize(
    ("query", "hit"),
    [
        ("ANNUAL leave", True),  # words, whatever their order, in whatever case
        ("leave annual", True),
        ("zwanzig", True),  # of the answer
        ("ÜBERTRAG", True),  # case beyond ASCII
        ("年假", True),
        ("年 假", True),
        ("年度", False),
        ("twenty", False),
        ("annual twenty", False),  # all words
        ("  ", True),
        ("100%_", True),
        ("10%0", False),
        ("%", True),
        ("_", True),
        ("a\\b", True),
        ("a\\\\b", False),
        ("n*l", False),
        ("annu?l", False),
        ("[a]", True),
        ("[ab]", False),
        ("^annual", False),
        ("annual.", False),
        (".", True),
        ("(", False),
        ("|", False),
        ("😀", True),
    ],
)
async def test_a_query_is_found_as_it_stands(store: Store, sessions: SqlSessions, query: str, hit: bool) -> None:
    session = await answered(store, "Annual leave 年假 😀 a\\b [a]", "Zwanzig Tage. Übertrag: 100%_ möglich.")
    await asked(store, "annual leave twenty ÜBERTRAG 年度", caller=BOB)
    assert await found(sessions, query) == ([session] if hit else [])


async def test_every_printable_character_finds_itself_and_nothing_else(store: Store, sessions: SqlSessions) -> None:
    session = await asked(store, "".join(chr(code) for code in range(33, 127)))
    plain = await asked(store, "plain words")
    for code in (*range(33, 48), *range(58, 65), *range(91, 97), *range(123, 127)):
        assert await found(sessions, f"{chr(code)}") == [session], chr(code)
    assert set(await found(sessions, "w")) == {session, plain}
    assert await found(sessions, "0123456789:;<=>?@ABC") == [session]


async def test_a_new_title_is_found_and_the_old_question_still_is(store: Store, sessions: SqlSessions) -> None:
    session = await asked(store, "How many days?")
    await sessions.rename(ANN, session, "Holidays of Zoë")
    assert await found(sessions, "ZOË") == [session]
    assert await found(sessions, "how MANY") == [session]


async def test_the_ninth_word_and_what_follows_are_one(store: Store, sessions: SqlSessions) -> None:
    session = await asked(store, "a b c d e f g h i j")
    assert await found(sessions, "j a b c d e f h i") == [session]
    assert await found(sessions, "a b c d e f g i h") == []


@pytest.mark.parametrize(
    ("query", "reason"), [("x" * 201, "query"), ("x" * 100_000, "query"), ("a\x00", "nul"), ("\ud800", "surrogate")]
)
async def test_a_query_that_cannot_be_is_refused(sessions: SqlSessions, query: str, reason: str) -> None:
    with pytest.raises(BadInput) as refused:
        await sessions.page(ANN, query=query)
    assert refused.value.data["reason"] == reason


async def test_a_long_query_of_signs_is_answered(store: Store, sessions: SqlSessions) -> None:
    await answered(store, "a" * 8000, "[" * 100_000)
    for query in ("*" * 200, "[" * 199 + "x", "a" * 199 + "b", "ä" * 200, "(a+)+" * 40, "]^-[" * 50):
        assert await found(sessions, query) == []


async def test_an_answer_whose_source_is_hidden_now_is_not_searched(store: Store, sessions: SqlSessions) -> None:
    await put(store, draft("The secret bonus is 900 euros."))
    session = await answered(store, "What do I get?", "You get 900 euros.", about="secret bonus")
    assert await found(sessions, "900") == [session]
    await put(store, draft("The secret bonus is 900 euros.", access=["hr"]))
    assert await found(sessions, "900") == []
    assert await found(sessions, "get") == [session]  # one's own question is


async def test_a_title_is_trimmed(store: Store, sessions: SqlSessions) -> None:
    session = await asked(store, at=NOON)
    renamed = await sessions.rename(ANN, session, " \n Leave\t of  %_\\' 年假 ")
    assert renamed.title == "Leave of %_\\' 年假"
    assert (renamed.id, renamed.updated_at, renamed.turns) == (session, NOON, 1)
    assert (await sessions.view(ANN, session)) == renamed
    assert (await sessions.rename(ANN, session, "年" * 120)).title == "年" * 120


@pytest.mark.parametrize(
    ("title", "reason"),
    [
        ("", "title"),
        (" \n\t　", "title"),
        ("x" * 121, "title"),
        ("x" * 100_000, "title"),
        ("\u200b\u202e", "title"),
        ("a\x00b", "nul"),
        ("\udfff", "surrogate"),
    ],
)
async def test_a_title_that_cannot_be_is_refused_and_the_old_one_stays(
    store: Store, sessions: SqlSessions, title: str, reason: str
) -> None:
    session = await asked(store)
    with pytest.raises(BadInput) as refused:
        await sessions.rename(ANN, session, title)
    assert refused.value.data["reason"] == reason
    assert (await sessions.view(ANN, session)).title == "How many days?"


@pytest.mark.parametrize("stranger", [BOB, EVE, Caller("rival", "ann")])
async def test_sessions_of_others_are_not_found(store: Store, sessions: SqlSessions, stranger: Caller) -> None:
    session = await asked(store)
    for call in (
        sessions.view(stranger, session),
        sessions.rename(stranger, session, "mine"),
        sessions.delete(stranger, session),
    ):
        with pytest.raises(NotFound):
            await call
    assert (await sessions.view(ANN, session)).title == "How many days?"
    assert await turn_of(store, session) not in await _asked_to_stop(store)


@pytest.mark.parametrize("id_", ["", "nobody", "a\x00b", "\ud800", "%", "x" * 100_000])
async def test_ids_that_are_none_are_not_found(sessions: SqlSessions, id_: str) -> None:
    for call in (sessions.view(ANN, id_), sessions.rename(ANN, id_, "x"), sessions.delete(ANN, id_)):
        with pytest.raises(NotFound):
            await call


async def test_a_deleted_session_is_gone_for_its_owner_and_kept(store: Store, sessions: SqlSessions) -> None:
    await put(store, draft("Annual leave is 20 days."))
    session = await answered(store, "How many?", "20 days.", about="annual leave")
    other = await asked(store)
    turn = await turn_of(store, session)
    kept = store.conversations
    assert await sessions.delete(ANN, session) == []
    for call in (
        kept.open(ANN, session),
        kept.messages(ANN, session),
        kept.cited_passage(ANN, session, turn, 1),
        kept.calls_of(ANN, session, turn),
        kept.begin_turn(ANN, session, turn="x", client_id="x", text="?", mode="auto"),
        store.sources.source(ANN, session, turn, 1),
        store.sources.states(ANN, session),
        sessions.view(ANN, session),
        sessions.rename(ANN, session, "x"),
        sessions.delete(ANN, session),
    ):
        with pytest.raises(NotFound):
            await call
    assert await found(sessions, "") == [other]
    assert await found(sessions, "20") == []
    assert [item.id for item in await kept.conversations(ANN)] == [other]
    async with store.database.read() as connection:
        for table in (messages, events):
            query = select(func.count()).select_from(table).where(table.c.conversation == session)
            assert await connection.scalar(query)
        row = (await connection.execute(select(conversations).where(conversations.c.id == session))).one()
    assert (row.title, row.user_id) == ("How many?", "ann")
    assert row.deleted_at is not None
    assert [record.turn for record in await store.audit.records("acme")] == [turn]


async def _asked_to_stop(store: Store) -> set[str]:
    async with store.database.read() as connection:
        return set(await connection.scalars(select(turns.c.id).where(turns.c.cancel_asked_at.is_not(None))))


async def test_running_turns_of_a_deleted_session_are_to_be_stopped(store: Store, sessions: SqlSessions) -> None:
    session, other = await asked(store), await asked(store)
    turn = await turn_of(store, session)
    assert await sessions.delete(ANN, session) == [turn]
    assert await _asked_to_stop(store) == {turn}
    # It runs until it has ended, and counts as long.
    with pytest.raises(Busy):
        await store.conversations.begin_turn(ANN, other, turn="n", client_id="n", text="?", mode="auto", limit=2)
    # Its end is stored and on the record all the same.
    receipt = await store.conversations.finish_turn(session, turn, answer_of([]))
    assert receipt is not None
    assert await store.conversations.open_turns() != []


async def test_the_end_of_a_turn_and_a_deletion_never_wait_for_each_other(postgresql_url: str) -> None:
    """The end of a turn locks the turn, then its conversation; a deletion that waits for the turn must not hold the other."""
    async with Store(postgresql_url) as store:
        session = await asked(store)
        async with asyncio.timeout(10), asyncio.TaskGroup() as group, store.database.write() as ending:
            await ending.execute(update(turns).where(turns.c.conversation == session).values(status="completed"))
            deletion = group.create_task(SqlSessions(store.database).delete(ANN, session))
            await _somebody_waits(store)
            moved = update(conversations).where(conversations.c.id == session).values(updated_at=NOON)
            await ending.execute(moved)
        assert deletion.result() == [await turn_of(store, session)]


async def _somebody_waits(store: Store) -> None:
    waiting = text("SELECT count(*) FROM pg_locks WHERE NOT granted")
    async with store.database.read() as connection:
        while not await connection.scalar(waiting):
            await asyncio.sleep(0.01)


async def test_no_turn_begins_in_a_session_that_is_deleted_meanwhile(store: Store, sessions: SqlSessions) -> None:
    for n in range(5):
        session = await asked(store)
        start = store.conversations.begin_turn(
            ANN, session, turn=f"late{n}", client_id="late", text="?", mode="auto", limit=9999
        )
        stopped, begun = await asyncio.gather(sessions.delete(ANN, session), start, return_exceptions=True)
        assert isinstance(stopped, list)
        assert isinstance(begun, NotFound) or f"late{n}" in stopped
