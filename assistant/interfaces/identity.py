"""Who is calling, and what is kept about people and service keys."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Final, Protocol

from assistant.core.access import Caller

SERVICE: Final = "service:"
"""User names of services begin like this; no token of a person may carry such a name."""


def service_user(key: str) -> str:
    """The user name of the service that holds the key with this id."""
    return SERVICE + key


@dataclass(frozen=True, slots=True)
class Identity:
    """A caller with what proved it. `token` is the id of the token or key, never the token itself.

    `claimed` are the groups of the token; those of `caller` may be others, where an administrator set them.
    `expires_at` None ends with the process, or when it is revoked.
    """

    caller: Caller
    token: str
    issued_at: datetime | None = None
    expires_at: datetime | None = None
    claimed: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class ServiceKey:
    """An API key of a service as it is kept: the SHA-256 of its secret, never the secret."""

    tenant: str
    id: str
    name: str
    digest: str = field(repr=False)
    groups: frozenset[str]
    roles: frozenset[str]
    made_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    last_used: date | None = None


@dataclass(frozen=True, slots=True)
class Person:
    """What an administrator said of a person or service.

    `groups`, where not None, stand in the place of those of every token; a token issued before `not_before` is refused.
    """

    tenant: str
    user: str
    groups: frozenset[str] | None
    not_before: datetime | None
    changed_at: datetime


class IdentityStore(Protocol):
    """People, service keys and spent tokens. Every name belongs to a tenant; the same name of another one is another."""

    async def spend(self, tenant: str, token: str, expires_at: datetime) -> bool:
        """Take a token once: True for the first who comes, False for all others, on every worker.

        `expires_at` says until when it must be remembered.
        """
        ...

    async def is_spent(self, tenant: str, token: str) -> bool:
        """Whether the token was taken."""
        ...

    async def add_key(self, key: ServiceKey) -> None:
        """Keep a new key. Raises BadInput for names that cannot be kept."""
        ...

    async def key_by_id(self, tenant: str, id_: str) -> ServiceKey | None:
        """The key with this id, revoked or expired too; None where the tenant has none."""
        ...

    async def keys(self, tenant: str) -> list[ServiceKey]:
        """All keys of a tenant, the oldest first."""
        ...

    async def use_key(self, key: ServiceKey, day: date) -> None:
        """Remember that the key was used on this day."""
        ...

    async def revoke_key(self, tenant: str, id_: str, at: datetime) -> None:
        """End a key; its service then counts as changed. Raises NotFound where the tenant has no such key."""
        ...

    async def person(self, tenant: str, user: str) -> Person | None:
        """What was said of this person; None for nothing."""
        ...

    async def put_groups(self, tenant: str, user: str, groups: frozenset[str] | None, at: datetime) -> None:
        """Set the groups of a person from now on; None takes those of the tokens again. Raises BadInput for bad names."""
        ...

    async def revoke_person(self, tenant: str, user: str, at: datetime) -> None:
        """Refuse every token of this person that was issued before then. Raises BadInput for a bad name."""
        ...

    async def changed_since(self, at: datetime) -> list[Person]:
        """The people of all tenants whose row changed then or later. Ask with some overlap: clocks of workers differ."""
        ...
