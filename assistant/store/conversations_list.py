"""The sessions of a person: a list in pages, searched, renamed, deleted."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from sqlalchemy import ColumnElement, and_, exists, func, literal, or_, select, tuple_, update
from sqlalchemy.ext.asyncio import AsyncConnection

from assistant.codec import storable
from assistant.core.access import Caller
from assistant.core.messages import Role
from assistant.core.text import remove_invisible, without_unstorable
from assistant.errors import BadInput, NotFound
from assistant.interfaces import ConversationView
from assistant.interfaces.sessions import SessionPage
from assistant.store.answer_cache import forget_turns
from assistant.store.containing import contains
from assistant.store.engine import Database
from assistant.store.rows import AnyRow
from assistant.store.signals import tell_cancel
from assistant.store.starting import owned_by
from assistant.store.tables import conversations, document_access, documents, evidence, messages, turns
from assistant.store.types import Instant

LONGEST_QUERY: Final = 200
"""Code points of a query."""

LONGEST_TITLE: Final = 120
"""Code points of a title that a person gives."""

MOST_SESSIONS: Final = 200
"""Sessions of one page."""

_MOST_WORDS: Final = 8
_LONGEST_CURSOR: Final = 400
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_VIEW: Final = (
    conversations.c.id,
    conversations.c.title,
    conversations.c.created_at,
    conversations.c.updated_at,
    conversations.c.turn_count,
)


class SqlSessions:
    """The Sessions in SQL, in short transactions."""

    def __init__(self, database: Database, *, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._database = database
        self._clock = clock

    async def page(self, caller: Caller, *, query: str = "", limit: int = 50, cursor: str | None = None) -> SessionPage:
        """The caller's sessions with all words of `query` in title, questions or answers, the latest first.

        Beyond eight words the rest is looked for as it stands. An answer is not searched while the caller may not read all of
        its sources. A session that gets a turn moves to the front; all others come once, whatever is added meanwhile.
        Raises BadInput with `reason` "query" or "cursor".
        """
        limit = max(1, min(limit, MOST_SESSIONS))
        listed = select(*_VIEW).where(owned_by(caller), conversations.c.turn_count > 0)
        listed = listed.where(*(self._holds(caller, word) for word in _words(query)))
        if cursor is not None:
            at, id_ = _place(cursor)
            place = tuple_(conversations.c.updated_at, conversations.c.id)
            listed = listed.where(place < tuple_(literal(at, Instant()), literal(id_)))
        listed = listed.order_by(conversations.c.updated_at.desc(), conversations.c.id.desc()).limit(limit + 1)
        async with self._database.read() as connection:
            rows = (await connection.execute(listed)).all()
        return SessionPage(tuple(map(_view, rows[:limit])), _cursor(rows[limit - 1]) if len(rows) > limit else None)

    def _holds(self, caller: Caller, word: str) -> ColumnElement[bool]:
        """Whether the title of a session or a text in it holds the word."""
        dialect = self._database.dialect
        open_ = or_(messages.c.role == Role.USER.value, ~_rests_on_hidden(dialect, caller))
        said = exists().where(
            messages.c.conversation == conversations.c.id, contains(dialect, messages.c.text, word), open_
        )
        return or_(contains(dialect, conversations.c.title, word), said)

    async def view(self, caller: Caller, session: str) -> ConversationView:
        """One of the caller's sessions; NotFound otherwise."""
        query = select(*_VIEW).where(_is(caller, session))
        async with self._database.read() as connection:
            return _found((await connection.execute(query)).one_or_none())

    async def rename(self, caller: Caller, session: str, title: str) -> ConversationView:
        """Give a session another title, 1 to LONGEST_TITLE code points after runs of white space became blanks.

        Its place in the list stays. Raises NotFound, and BadInput with `reason` "title" (or what `storable` says).
        """
        renamed = update(conversations).where(_is(caller, session)).values(title=_title(title)).returning(*_VIEW)
        async with self._database.write() as connection:
            return _found((await connection.execute(renamed)).one_or_none())

    async def delete(self, caller: Caller, session: str) -> list[str]:
        """Make a session gone for its owner; everything of it is kept until retention or erasure takes it.

        Returns its turns that still run; all workers are told to stop them. Raises NotFound, also the second time.
        """
        now = self._clock()
        deleted = update(conversations).where(_is(caller, session)).values(deleted_at=now)
        async with self._database.write() as connection:
            if (await connection.execute(deleted)).rowcount == 0:
                raise NotFound("no such session")
            await forget_turns(connection, select(turns.c.id).where(turns.c.conversation == session))
        # A transaction of its own: the end of a turn locks the turn before its conversation. No turn begins any more.
        async with self._database.write() as connection:
            return await _ask_to_stop(connection, session, now)


async def _ask_to_stop(connection: AsyncConnection, session: str, now: datetime) -> list[str]:
    running = update(turns).where(turns.c.conversation == session, turns.c.ended_at.is_(None))
    running = running.values(cancel_asked_at=func.coalesce(turns.c.cancel_asked_at, literal(now, Instant())))
    stopped = list(await connection.scalars(running.returning(turns.c.id)))
    if stopped:
        await tell_cancel(connection, None)
    return sorted(stopped)


def _is(caller: Caller, session: str) -> ColumnElement[bool]:
    """Whether it is this session and the caller's. Ids come from outside; what no database can hold is not there."""
    if without_unstorable(session) != session:
        raise NotFound("no such session")
    return and_(conversations.c.id == session, owned_by(caller))


def _found(row: AnyRow | None) -> ConversationView:
    if row is None:
        raise NotFound("no such session")
    return _view(row)


def _view(row: AnyRow) -> ConversationView:
    return ConversationView(row.id, row.title, row.created_at, row.updated_at, row.turn_count)


def _title(given: str) -> str:
    title = " ".join(storable(given).split())
    if not 1 <= len(title) <= LONGEST_TITLE or not remove_invisible(title).strip():
        raise BadInput("a title has 1 to 120 characters", reason="title", most=LONGEST_TITLE)
    return title


def _words(query: str) -> list[str]:
    if len(query) > LONGEST_QUERY:
        raise BadInput("the query is too long", reason="query", most=LONGEST_QUERY)
    return storable(query).strip().split(maxsplit=_MOST_WORDS - 1)


def _cursor(row: AnyRow) -> str:
    """The place of a row in the list, in letters that a URL takes as they are."""
    micros = (row.updated_at - _EPOCH) // timedelta(microseconds=1)
    return base64.urlsafe_b64encode(f"{micros}.{row.id}".encode()).decode().rstrip("=")


def _place(cursor: str) -> tuple[datetime, str]:
    """The place that a cursor names; BadInput for what no page gave."""
    try:
        if len(cursor) > _LONGEST_CURSOR:
            raise ValueError
        padded = cursor + "=" * (-len(cursor) % 4)
        micros, _, id_ = base64.b64decode(padded, b"-_", validate=True).decode().partition(".")
        if not (micros.isascii() and micros.isdigit() and id_ and "\x00" not in id_):
            raise ValueError
        return _EPOCH + timedelta(microseconds=int(micros)), id_
    except (ValueError, OverflowError, binascii.Error):
        raise BadInput("this is no place in the list", reason="cursor") from None


def _rests_on_hidden(dialect: str, caller: Caller) -> ColumnElement[bool]:
    """Whether the turn of a message was shown something that the caller may not read now.

    A source outside the knowledge base has the groups it was found with.
    """
    groups = [group for group in caller.holds if without_unstorable(group) == group]
    listed = func.json_array_elements_text if dialect == "postgresql" else func.json_each
    then: Any = listed(evidence.c.access).table_valued("value")
    now = exists().where(document_access.c.document == documents.c.id, document_access.c.group_name.in_(groups))
    known = and_(documents.c.tenant == caller.tenant, now)
    outside = select(then.c.value).where(then.c.value.in_(groups)).correlate(evidence).exists()
    readable = or_(and_(documents.c.id.is_not(None), known), and_(documents.c.id.is_(None), outside))
    shown = select(evidence.c.turn).outerjoin(documents, documents.c.id == evidence.c.document)
    return shown.where(evidence.c.turn == messages.c.turn, ~readable).correlate(messages).exists()
