"""What a socket and a stream of events say first: where the session stands, and what the server takes."""

from __future__ import annotations

from assistant.interfaces import Identity, OpenedConversation
from assistant.transport.doors import Doors
from assistant.transport.protocol import SessionReady


def ready_of(doors: Doors, who: Identity, opened: OpenedConversation, after: int, *, recovered: bool) -> SessionReady:
    """The session as it was opened; events after the number `after` follow."""
    return SessionReady(
        session_id=opened.id,
        epoch=opened.epoch,
        head_seq=opened.head_seq,
        recovered=recovered,
        replay_count=opened.head_seq - after,
        heartbeat_ms=int(doors.heartbeat_s * 1000),
        auth_expires_at=who.expires_at,
        limits=doors.limits,
    )
