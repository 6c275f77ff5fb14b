"""People and service keys over REST, for the role admin. For everybody else there is nothing here."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request
from pydantic import BaseModel, ConfigDict, Field

from assistant.interfaces import PeopleDesk, PersonView, ServiceKey
from assistant.transport.admin import Admin, Why, json_body, json_of
from assistant.transport.auth.service_keys import new_key

router = APIRouter(prefix="/api/admin")

Name = Annotated[str, Field(min_length=1, max_length=200)]


class _Groups(BaseModel):
    """The groups of a person; null takes those of their tokens again."""

    model_config = ConfigDict(extra="forbid")

    groups: list[Name] | None = Field(max_length=500)


class _NewKey(BaseModel):
    """A key for a service."""

    model_config = ConfigDict(extra="forbid")

    name: Name
    groups: list[Name] = Field(default_factory=list, max_length=500)
    roles: list[Name] = Field(default_factory=lambda: ["user"], max_length=10)
    days: int | None = Field(None, ge=1, le=3650)


def _people(request: Request) -> PeopleDesk:
    people: PeopleDesk = request.app.state.doors.people
    return people


async def _groups(_: Admin, request: Request) -> _Groups:
    return await json_of(request, _Groups)


async def _new_key(_: Admin, request: Request) -> _NewKey:
    return await json_of(request, _NewKey)


People = Annotated[PeopleDesk, Depends(_people)]
User = Annotated[str, Path(min_length=1, max_length=200)]


@router.get("/people")
async def people(
    who: Admin,
    desk: People,
    query: Annotated[str, Query(max_length=200)] = "",
    after: Annotated[str | None, Query(max_length=200)] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> dict[str, Any]:
    """Who asked, and of whom something was said, by name; `next` is the `after` of the following page."""
    found = await desk.find(who, query, after, limit)
    following = found[-1].user if len(found) == limit else None
    return {"people": [_shown(person) for person in found], "next": following}


@router.put("/people/{user:path}/groups", status_code=204, openapi_extra=json_body(_Groups))
async def put_groups(
    who: Admin, desk: People, why: Why, user: User, given: Annotated[_Groups, Depends(_groups)]
) -> None:
    """Set the groups of a person, whatever their tokens say, from the next turn on; null takes those of the tokens again."""
    await desk.put_groups(who, user, None if given.groups is None else frozenset(given.groups), why)


@router.post("/people/{user:path}/revoke", status_code=204)
async def revoke(who: Admin, desk: People, why: Why, user: User) -> None:
    """Refuse every token that a person has now; open sockets close."""
    await desk.revoke(who, user, why)


@router.get("/keys")
async def keys(who: Admin, desk: People) -> dict[str, Any]:
    """The service keys, the oldest first; secrets are not kept and cannot be shown."""
    return {"keys": [_key(key) for key in await desk.keys(who)]}


@router.post("/keys", status_code=201, openapi_extra=json_body(_NewKey))
async def add_key(
    who: Admin, request: Request, desk: People, why: Why, given: Annotated[_NewKey, Depends(_new_key)]
) -> dict[str, Any]:
    """Make a key; `secret` is what its service sends, shown this once."""
    life = None if given.days is None else timedelta(days=given.days)
    now = request.app.state.doors.now()
    key, secret = new_key(who.tenant, given.name, given.groups, given.roles, now=now, life=life)
    await desk.add_key(who, key, why)
    return {**_key(key), "secret": secret}


@router.delete("/keys/{key}", status_code=204)
async def revoke_key(
    who: Admin, desk: People, why: Why, key: Annotated[str, Path(min_length=1, max_length=64)]
) -> None:
    """End a key."""
    await desk.revoke_key(who, key, why)


def _shown(person: PersonView) -> dict[str, Any]:
    return {
        "user": person.user,
        "groups": None if person.groups is None else sorted(person.groups),
        "not_before": person.not_before.isoformat() if person.not_before else None,
    }


def _key(key: ServiceKey) -> dict[str, Any]:
    times = {name: getattr(key, name) for name in ("made_at", "expires_at", "revoked_at", "last_used")}
    return {
        "id": key.id,
        "name": key.name,
        "groups": sorted(key.groups),
        "roles": sorted(key.roles),
        **{name: at.isoformat() if at else None for name, at in times.items()},
    }
