"""People and service keys as administrators see and change them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from assistant.core.access import Caller
from assistant.interfaces.identity import ServiceKey


@dataclass(frozen=True, slots=True)
class PersonView:
    """Somebody who asked, or of whom something was said. `groups` None: those of their tokens."""

    user: str
    groups: frozenset[str] | None = None
    not_before: datetime | None = None


class KnownPeople(Protocol):
    """Who is known in a tenant."""

    async def find(self, tenant: str, query: str, after: str | None, limit: int) -> list[PersonView]:
        """People by name from behind `after` whose name holds `query` in any case. Raises BadInput for names that cannot be."""
        ...


class PeopleDesk(Protocol):
    """What is done about people. It checks no roles: that is for the door. Every change is on the record before it is made."""

    async def find(self, who: Caller, query: str, after: str | None, limit: int) -> list[PersonView]:
        """People of the tenant by name, from behind `after`."""
        ...

    async def put_groups(self, who: Caller, user: str, groups: frozenset[str] | None, reason: str) -> None:
        """Set the groups of a person from now on; None takes those of their tokens again. Raises BadInput."""
        ...

    async def revoke(self, who: Caller, user: str, reason: str) -> None:
        """Refuse every token that a person has now. Raises BadInput."""
        ...

    async def keys(self, who: Caller) -> list[ServiceKey]:
        """The service keys of the tenant, the oldest first."""
        ...

    async def add_key(self, who: Caller, key: ServiceKey, reason: str) -> None:
        """Keep a new key. Raises BadInput."""
        ...

    async def revoke_key(self, who: Caller, id_: str, reason: str) -> None:
        """End a key. Raises NotFound."""
        ...
