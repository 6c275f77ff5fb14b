"""What every door needs: identity, store, log, live turns, limits, clock and ids."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from assistant.conversation.running import LiveTurns
from assistant.core.access import Caller
from assistant.core.audit_filter import AuditFilter
from assistant.errors import Busy
from assistant.interfaces import (
    ConversationStore,
    DocumentDesk,
    EventLog,
    ImageSource,
    Library,
    PastSources,
    PeopleDesk,
    Rights,
    SessionFiles,
)
from assistant.interfaces.jobs import Jobs
from assistant.interfaces.sessions import Sessions, UsageReport
from assistant.synthesis.structured import check_schema
from assistant.transport.auth import Authenticator
from assistant.transport.auth.sign_in import SignIn
from assistant.transport.presence import Presence
from assistant.transport.protocol import Limits


@dataclass(slots=True)
class StartLimiter:
    """At most `per_minute` starts in any 60 seconds for each user, by a monotonic clock."""

    per_minute: int
    clock: Callable[[], float]
    _starts: dict[tuple[str, str], deque[float]] = field(default_factory=dict)

    def take(self, caller: Caller) -> None:
        """Count one start; raises Busy with `retry_after_ms` when the minute is full."""
        now = self.clock()
        starts = self._starts.setdefault((caller.tenant, caller.user), deque())
        while starts and now - starts[0] >= 60:
            starts.popleft()
        if len(starts) >= self.per_minute:
            raise Busy("too many questions", retry_after_ms=int((60 - (now - starts[0])) * 1000) + 1)
        starts.append(now)


class Auditing(Protocol):
    """What auditors do. It checks no roles; every look and every export is on the record before it is given."""

    async def find(
        self, who: Caller, filters: AuditFilter, before: int | None = None, limit: int = 50
    ) -> list[dict[str, Any]]:
        """The records that fit in short, the latest first, from behind the number `before`."""
        ...

    async def open(self, who: Caller, id_: str, reason: str) -> dict[str, Any]:
        """A record with everything that belongs to it. Raises NotFound, and BadInput without a reason."""
        ...

    async def verified(self, who: Caller) -> dict[str, Any]:
        """Whether the log is what was written, or the first record that does not fit. Raises Busy while another runs."""
        ...

    async def export(self, who: Caller, filters: AuditFilter, target: Path, reason: str) -> object:
        """Write a package of the records that fit to `target`. Raises BadInput without a reason."""
        ...

    async def figures(self, who: Caller, filters: AuditFilter) -> dict[str, Any]:
        """What the answers that fit came to day by day. Raises BadInput for too long a time."""
        ...

    async def replay(self, who: Caller, id_: str, reason: str, model: str | None = None) -> dict[str, Any]:
        """Answer again and compare. Raises NotFound, BadInput without a reason, Busy while another one runs."""
        ...

    async def would_go(self, who: Caller, reason: str) -> list[dict[str, Any]]:
        """What each retention policy would take now. Raises BadInput without a reason."""
        ...

    async def adopt(self, who: Caller, correction: str, reason: str) -> dict[str, Any]:
        """Make a correction the answer of record to its question. Raises NotFound, and BadInput where that cannot be."""
        ...

    async def revoke(self, who: Caller, id_: str, reason: str) -> dict[str, Any]:
        """Give an answer of record no more. Raises NotFound, and BadInput without a reason."""
        ...

    async def adopted(self, who: Caller) -> list[dict[str, Any]]:
        """The answers of record in force, the latest first."""
        ...


@dataclass(frozen=True, slots=True)
class Doors:
    """The shared insides of all doors; made once by the app."""

    authenticator: Authenticator
    store: ConversationStore
    events: EventLog
    images: ImageSource
    sources: PastSources
    audit: Auditing
    library: Library
    files: SessionFiles
    desk: DocumentDesk
    people: PeopleDesk
    upload_bytes: int
    sessions: Sessions
    usage: UsageReport
    jobs: Jobs
    live: LiveTurns
    rights: Rights
    presence: Presence
    limiter: StartLimiter
    limits: Limits
    heartbeat_s: float
    origins: tuple[str, ...]
    now: Callable[[], datetime]
    new_id: Callable[[], str]
    page: Mapping[str, Any]
    sign_in: SignIn | None = None


def read_schema(schema: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """The JSON schema of a structured answer. Raises BadInput when it is none that can be used."""
    if schema is not None:
        check_schema(schema)
    return schema
