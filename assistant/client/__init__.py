"""A client of a running server: one conversation over `assistant.v1`, which goes on whatever happens to the line."""

from __future__ import annotations

from assistant.client.asked import Asked, Item, Reloaded
from assistant.client.errors import Ended, OriginRefused, SocketRefused, Unreachable, WrongVersion
from assistant.client.frames import Told, Withheld
from assistant.client.session import Session, connect

__all__ = [
    "Asked",
    "Ended",
    "Item",
    "OriginRefused",
    "Reloaded",
    "Session",
    "SocketRefused",
    "Told",
    "Unreachable",
    "Withheld",
    "WrongVersion",
    "connect",
]
