"""Turns of every kind from the real manager over a real store, with scripted models: what a demonstration does not show."""

from __future__ import annotations

import asyncio
import json
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Final

from assistant.app.values import new_id
from assistant.conversation.answering import Answering, Route, TurnPolicy
from assistant.conversation.caching import AnswerCache
from assistant.conversation.manager import ConversationManager
from assistant.conversation.running import LiveTurns
from assistant.conversation.turns import Question
from assistant.core.access import Caller
from assistant.core.events import AnswerDelta
from assistant.core.modes import Mode
from assistant.core.prompt import ModelRequest
from assistant.errors import ModelUnavailable
from assistant.llm.scripted import ScriptedModel
from assistant.prompts import LANGUAGES, load_prompts
from assistant.retrieval.hybrid import HybridRetriever
from assistant.store import Store
from assistant.store.answer_cache import SqlAnswerCache
from assistant.store.migrations import migrate
from assistant.transport.protocol import encode_numbered
from tests.knowledge.desks import desk_of
from tests.store.filling import ANN, draft, put
from tests.transcripts.fixing import Frame

LEAVE: Final = (
    "Employees get 20 days of annual leave. Unused days may be carried over until March. Sick leave is unlimited."
)
OLD: Final = "Employees get 15 days of annual leave. Unused days may be carried over until March."
TRAVEL: Final = "Your supervisor approves travel. Flights over six hours may be booked in premium economy."
LEAVE_ASKED: Final = "How many days of annual leave do employees get?"
LEAVE_SAID: Final = "Employees get 20 days of annual leave."
TRAVEL_SAID: Final = "Your supervisor approves travel."


@dataclass(slots=True)
class Table:
    """A conversation of Ann's, and the model that answers in it."""

    store: Store
    live: LiveTurns
    conversation: str
    model: ScriptedModel

    async def ask(self, asked: Question) -> str:
        """Ask, and the turn when it has ended."""
        begun = await self.live.start(ANN, self.conversation, asked)
        await self.live.wait(begun.turn)
        return begun.turn

    async def frames(self) -> list[Frame]:
        """What a client of Ann's would be sent now."""
        withheld = await self.store.rights.withheld(ANN, self.conversation)
        events = await self.store.events.read(self.conversation)
        return [json.loads(encode_numbered(self.conversation, event, withheld)) for event in events]


def question(text: str, **more: object) -> Question:
    return Question(new_id(), text, **more)  # type: ignore[arg-type]


async def sit(store: Store, model: ScriptedModel, caller: Caller = ANN) -> Table:
    """A new conversation whose pieces of answers are committed as they come."""
    answering = Answering(main=Route(model), prompts=load_prompts, policy=TurnPolicy())
    manager = ConversationManager(
        store=store.conversations,
        retriever=HybridRetriever(store.index),
        answering=answering,
        clock=time.monotonic,
        cache=AnswerCache(SqlAnswerCache(store.database), answering),
        files=store.files,
        rights=store.rights,
    )
    live = LiveTurns(manager, store.conversations, store.events, new_id, interval=1e-9)
    return Table(store, live, (await store.conversations.open(caller, None)).id, model)


def says(*texts: str, **more: object) -> ScriptedModel:
    """A model that says these texts, slowly enough that each piece is an event of its own."""
    return ScriptedModel(texts, **{"piece": 16, "delay": 0.02, **more})  # type: ignore[arg-type]


async def cancelled(store: Store) -> list[Frame]:
    """Stopped after the first piece; what was written is cited."""
    table = await sit(store, says(f"{TRAVEL_SAID} " + "And so on. " * 200, piece=32, delay=0.1))
    begun = await table.live.start(ANN, table.conversation, question("Who approves travel?"))
    async with aclosing(table.live.follow(table.conversation, 0)) as events:
        async for item in events:
            if isinstance(item.event, AnswerDelta):
                break
    await table.live.cancel(ANN, table.conversation, begun.turn)
    await table.live.wait(begun.turn)
    return await table.frames()


async def failed(store: Store) -> list[Frame]:
    """The model breaks off in the middle, then before its first word."""
    table = await sit(store, says(f"{TRAVEL_SAID} And more.", fail_with=ModelUnavailable("gone"), fail_after=32))
    await table.ask(question("Who approves travel?"))
    table.model.fail_after = 0
    await table.ask(question("Which flights may be booked in premium economy?"))
    return await table.frames()


async def structured(store: Store) -> list[Frame]:
    """JSON of a schema, whose strings are cited."""
    schema = {"type": "object", "properties": {"rule": {"type": "string"}}, "required": ["rule"]}
    table = await sit(store, says('{"rule": "Sick leave is unlimited."}'))
    await table.ask(question("What of sick leave?", schema=schema))
    return await table.frames()


async def refined(store: Store) -> list[Frame]:
    """Every piece of evidence read in turn, with drafts."""
    table = await sit(store, ScriptedModel(_drafts))
    await table.ask(question("What is said of leave and travel?", mode=Mode.REFINE))
    return await table.frames()


def _drafts(request: ModelRequest) -> str:
    return f"{LEAVE_SAID} {TRAVEL_SAID}"


async def several_turns(store: Store) -> list[Frame]:
    """Follow-ups, small talk and characters of more than one UTF-16 unit; the documents disagree on the first."""
    table = await sit(
        store, says(LEAVE_SAID, "Until March 😀: unused days may be carried over until March.", "你好！👋🏽 您好。")
    )
    for asked in (LEAVE_ASKED, "And until when may unused days be carried over?", "你好"):
        await table.ask(question(asked))
    return await table.frames()


async def from_cache(store: Store) -> list[Frame]:
    """A question that was answered before, in another conversation."""
    model = says(TRAVEL_SAID)
    before = await sit(store, model)
    await before.ask(question("Who approves travel?"))
    table = await sit(store, model)
    await table.ask(question("Who approves travel?"))
    return await table.frames()


async def source_changed(store: Store) -> list[Frame]:
    """A cited document has a newer version, then is gone."""
    table = await sit(store, says(TRAVEL_SAID))
    since = datetime.now(UTC) - timedelta(minutes=1)
    await table.ask(question("Who approves travel?"))
    await put(store, draft(TRAVEL.replace("supervisor", "manager"), "travel.md", title="Travel"))
    await store.tell_changes(since)
    await store.documents.delete("acme", "handbook", "travel.md")
    await store.tell_changes(since)
    return await table.frames()


async def withheld(store: Store) -> list[Frame]:
    """A cited document may no longer be read by who asked; what rests on no document stays."""
    table = await sit(store, says(TRAVEL_SAID, "Hello! 👋"))
    since = datetime.now(UTC) - timedelta(minutes=1)
    await table.ask(question("Who approves travel?"))
    await table.ask(question("Hello!"))
    await put(store, draft(TRAVEL, "travel.md", title="Travel", access=("board",)))
    await store.tell_changes(since)
    return await table.frames()


async def attachments(store: Store) -> list[Frame]:
    """A file that came with the question."""
    table = await sit(store, says("The zebra code is 4711."))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "body"
        await asyncio.to_thread(file.write_bytes, b"# Codes\n\nThe zebra code is 4711.")
        view = await desk_of(store).attach(ANN, table.conversation, "codes.md", file, "text/markdown")
    await table.ask(question("What is the zebra code?", attachments={view.id: view.title}))
    return await table.frames()


SCENES: Final[Sequence[Callable[[Store], Awaitable[list[Frame]]]]] = (
    cancelled,
    failed,
    structured,
    refined,
    several_turns,
    from_cache,
    source_changed,
    withheld,
    attachments,
)


async def record_all() -> dict[str, list[Frame]]:
    """The frames of every scene by its name, each over a new database with the same small handbook."""
    for language in LANGUAGES:
        load_prompts(language)
    with tempfile.TemporaryDirectory() as folder:
        template = Path(folder) / "template.db"
        await migrate(f"sqlite:///{template}")
        recorded = {}
        for scene in SCENES:
            database = Path(shutil.copyfile(template, Path(folder) / f"{scene.__name__}.db"))
            async with filled(database) as store:
                recorded[scene.__name__.replace("_", "-")] = await scene(store)
        return recorded


@asynccontextmanager
async def filled(database: Path) -> AsyncIterator[Store]:
    """A store with the small handbook."""
    async with Store(f"sqlite:///{database}") as store:
        await put(store, draft(LEAVE, "leave.md", on=date(2025, 2, 1)))
        await put(store, draft(OLD, "leave-2020.md", on=date(2020, 1, 1), title="Leave 2020"))
        await put(store, draft(TRAVEL, "travel.md", title="Travel"))
        yield store
