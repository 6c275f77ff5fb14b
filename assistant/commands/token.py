"""assistant token: access tokens for trying things out, API keys of services, and what an administrator says of people."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Annotated, Final

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from ulid import ULID

from assistant.app.policies import reach_of
from assistant.commands.beginning import check_migrated, command_settings
from assistant.config import Settings
from assistant.core.access import EVERYONE, Caller
from assistant.errors import BadInput
from assistant.interfaces import ServiceKey
from assistant.interfaces.identity import SERVICE
from assistant.store.engine import open_database
from assistant.store.identity import SqlIdentity
from assistant.transport.auth import USER
from assistant.transport.auth.claims import is_user
from assistant.transport.auth.own import open_own_tokens
from assistant.transport.auth.service_keys import check_roles, new_key

app = typer.Typer(
    help="Access tokens, API keys of services, and the groups and tokens of people.",
    no_args_is_help=True,
    add_completion=False,
)
key = typer.Typer(help="API keys of services.", no_args_is_help=True)
app.add_typer(key, name="key")
console = Console(highlight=False, soft_wrap=True)

_MOST_MINUTES: Final = 60 * 24 * 30

Groups = Annotated[list[str] | None, typer.Option("--group", help="Group; may be repeated.")]
Roles = Annotated[list[str] | None, typer.Option("--role", help="user, auditor, exporter or admin; may be repeated.")]


def _now() -> datetime:
    return datetime.now(UTC)


@asynccontextmanager
async def _identities(settings: Settings) -> AsyncIterator[SqlIdentity]:
    await check_migrated(settings)
    database = open_database(settings.database.url, reach=reach_of(settings.database))
    try:
        yield SqlIdentity(database)
    finally:
        await database.close()


@app.command()
def make(
    user: Annotated[str, typer.Option(help="Name of the person.")],
    group: Groups = None,
    role: Roles = None,
    minutes: Annotated[
        float | None, typer.Option(min=0.1, max=_MOST_MINUTES, help="Life; default as the server gives.")
    ] = None,
) -> None:
    """Print an access token of this server for a person. Whoever can read the file of auth.key can do this."""
    settings = command_settings()
    if not is_user(user) or user.startswith(SERVICE):
        raise BadInput("this cannot be the name of a person", reason="user")
    caller = Caller(settings.tenant, user, frozenset({EVERYONE, *(group or ())}), check_roles(role or (USER,)))
    life = timedelta(minutes=settings.auth.access_minutes if minutes is None else minutes)
    own = asyncio.run(open_own_tokens(settings, now=_now, new_id=lambda: str(ULID())))
    sys.stdout.write(own.access(caller, life).token + "\n")


@app.command()
def revoke(user: Annotated[str, typer.Argument(help="Name of the person.")]) -> None:
    """Refuse every token of a person that was issued until now; open sockets close within seconds."""

    async def work(settings: Settings) -> None:
        async with _identities(settings) as identities:
            await identities.revoke_person(settings.tenant, user, _now())

    asyncio.run(work(command_settings()))
    console.print(f"tokens of {user} issued until now are refused", markup=False)


@app.command()
def groups(
    user: Annotated[str, typer.Argument(help="Name of the person.")],
    group: Groups = None,
    from_token: Annotated[bool, typer.Option("--from-token", help="Take the groups of the tokens again.")] = False,
) -> None:
    """Set the groups of a person, whatever the tokens say; without any --group only that of everyone is left."""
    if group and from_token:
        raise BadInput("give groups or --from-token", reason="groups")
    chosen = None if from_token else frozenset(group or ())

    async def work(settings: Settings) -> None:
        async with _identities(settings) as identities:
            await identities.put_groups(settings.tenant, user, chosen, _now())

    asyncio.run(work(command_settings()))
    said = "as the tokens say" if chosen is None else ", ".join(sorted({EVERYONE, *chosen}))
    console.print(f"groups of {user}: {said}", markup=False)


@key.command()
def add(
    name: Annotated[str, typer.Argument(help="What the key is for.")],
    group: Groups = None,
    role: Roles = None,
    days: Annotated[int | None, typer.Option(min=1, max=3650, help="Life in days; default: until revoked.")] = None,
) -> None:
    """Make a key and print it, this once: only its hash is kept."""
    settings = command_settings()
    life = timedelta(days=days) if days else None
    made, secret = new_key(settings.tenant, name, group or (), role or (USER,), now=_now(), life=life)

    async def work() -> None:
        async with _identities(settings) as identities:
            await identities.add_key(made)

    asyncio.run(work())
    sys.stdout.write(secret + "\n")


@key.command(name="list")
def list_() -> None:
    """List the keys, the oldest first."""

    async def work(settings: Settings) -> list[ServiceKey]:
        async with _identities(settings) as identities:
            return await identities.keys(settings.tenant)

    table = Table("id", "name", "groups", "roles", "made", "ends", "last used", "state", box=None)
    for each in asyncio.run(work(command_settings())):
        ends = each.expires_at.date().isoformat() if each.expires_at else ""
        used = each.last_used.isoformat() if each.last_used else "never"
        lists = (", ".join(sorted(each.groups)), ", ".join(sorted(each.roles)))
        shown = (each.id, each.name, *lists, each.made_at.date().isoformat(), ends, used, _state(each))
        table.add_row(*(escape(text) for text in shown))
    # A table fits itself to the terminal and would cut ids that are to be copied.
    Console(highlight=False, width=max(console.width, 200)).print(table)


def _state(each: ServiceKey) -> str:
    if each.revoked_at is not None:
        return "revoked"
    return "ended" if each.expires_at is not None and each.expires_at <= _now() else "good"


@key.command(name="revoke")
def revoke_key(id: Annotated[str, typer.Argument(help="Id of the key.")]) -> None:  # noqa: A002
    """End a key at once; open sockets of its service close within seconds."""

    async def work(settings: Settings) -> None:
        async with _identities(settings) as identities:
            await identities.revoke_key(settings.tenant, id, _now())

    asyncio.run(work(command_settings()))
    console.print(f"key {id} is revoked", markup=False)
