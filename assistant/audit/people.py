"""Changes of people and service keys, each on the record before it is made."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, Final, Protocol

from assistant.codec import storable
from assistant.core.access import PRIVATE, Caller
from assistant.core.audit import AuditDraft, AuditKind, AuditRecord
from assistant.errors import BadInput, NotFound
from assistant.interfaces import IdentityStore, KnownPeople, PersonView, ServiceKey, service_user

LONGEST_NAME: Final = 200
"""Code points of a user name, a group, the name of a key."""


class Log(Protocol):
    """What the desk needs of an audit log."""

    async def append_one(self, draft: AuditDraft) -> AuditRecord:
        """Add a record."""
        ...


class IdentityDesk:
    """The PeopleDesk over an identity store. `pseudonym` names people on the record."""

    def __init__(
        self,
        identity: IdentityStore,
        known: KnownPeople,
        log: Log,
        *,
        pseudonym: Callable[[Caller], str],
        clock: Callable[[], datetime],
    ) -> None:
        self._identity = identity
        self._known = known
        self._log = log
        self._pseudonym = pseudonym
        self._clock = clock

    async def find(self, who: Caller, query: str, after: str | None, limit: int) -> list[PersonView]:
        """People of the tenant by name, from behind `after`. Raises BadInput for names that no database holds."""
        return await self._known.find(who.tenant, storable(query), None if after is None else storable(after), limit)

    async def put_groups(self, who: Caller, user: str, groups: frozenset[str] | None, reason: str) -> None:
        """Set the groups of a person from now on; None takes those of their tokens again. Raises BadInput for bad names."""
        for name in (user, *(groups or ())):
            _check_name(name)
        if any(group.startswith(PRIVATE) for group in groups or ()):
            raise BadInput("a private group cannot be given", reason="groups")
        listed = None if groups is None else sorted(groups)
        await self._note(who, reason, about=user, what="groups", groups=listed)
        await self._identity.put_groups(who.tenant, user, groups, self._clock())

    async def revoke(self, who: Caller, user: str, reason: str) -> None:
        """Refuse every token that a person has now; they may come back with a newer one. Raises BadInput for a bad name."""
        _check_name(user)
        await self._note(who, reason, about=user, what="revoked")
        await self._identity.revoke_person(who.tenant, user, self._clock())

    async def keys(self, who: Caller) -> list[ServiceKey]:
        """The service keys of the tenant, the oldest first."""
        return await self._identity.keys(who.tenant)

    async def add_key(self, who: Caller, key: ServiceKey, reason: str) -> None:
        """Keep a new key of the caller's tenant. Raises BadInput for bad names and for a key of another tenant."""
        if key.tenant != who.tenant:
            raise BadInput("a key is for one's own tenant", reason="tenant")
        for name in (key.name, *key.groups):
            _check_name(name)
        if any(group.startswith(PRIVATE) for group in key.groups):
            raise BadInput("a private group cannot be given", reason="groups")
        given = {"groups": sorted(key.groups), "roles": sorted(key.roles)}
        await self._note(who, reason, about=service_user(key.id), what="key_added", key=key.id, **given)
        await self._identity.add_key(key)

    async def revoke_key(self, who: Caller, id_: str, reason: str) -> None:
        """End a key. Raises NotFound where the tenant has none such."""
        try:
            known = await self._identity.key_by_id(who.tenant, storable(id_))
        except BadInput:
            known = None
        if known is None:
            raise NotFound("no such key")
        await self._note(who, reason, about=service_user(id_), what="key_revoked", key=id_)
        await self._identity.revoke_key(who.tenant, id_, self._clock())

    async def _note(self, who: Caller, reason: str, *, about: str, **told: Any) -> None:
        subject = self._pseudonym(Caller(who.tenant, about))
        body = {**told, "reason": reason}
        draft = AuditDraft(who.tenant, AuditKind.IDENTITY, self._pseudonym(who), self._clock(), subject, body=body)
        await self._log.append_one(draft)


def _check_name(name: str) -> None:
    """Raises BadInput for a name that is empty, long, or holds what no line of text does."""
    if not storable(name).strip() or len(name) > LONGEST_NAME or not name.isprintable():
        raise BadInput("a name is one short line of text", reason="name")
