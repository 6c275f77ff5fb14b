"""Back up a SQLite database in use, and make a restored database ready to serve."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from assistant.app.storing import bring_up
from assistant.config import Settings, load_settings
from assistant.store.backup import back_up, renew_epochs

console = Console(soft_wrap=True)


def backup(
    target: Annotated[Path, typer.Argument(help="File that is made; it must not be there.")],
) -> None:
    """Copy the SQLite database to a file while servers use it. Keys lie beside it and are backed up apart."""
    settings = load_settings()
    copied = asyncio.run(back_up(settings.database.url, target))
    console.print(f"{target}: {copied.bytes:,} bytes, {'whole' if copied.whole else 'DAMAGED'}.", highlight=False)
    console.print(f"Back up these as well, elsewhere: {', '.join(map(str, keys_of(settings)))}.", highlight=False)
    raise typer.Exit(0 if copied.whole else 1)


def restored() -> None:
    """Make a restored database ready: newest form, new epochs. Before a server starts on it."""
    console.print(
        f"{asyncio.run(ready(load_settings()))} sessions will be loaded anew by their clients.", highlight=False
    )
    console.print(
        "Now run `assistant audit verify`: it names what outside checkpoints know and this database does not."
    )


async def ready(settings: Settings) -> int:
    """Migrate and renew the epochs; the number of conversations."""
    return await renew_epochs(await bring_up(settings))


def keys_of(settings: Settings) -> list[Path]:
    """Files without which a restored database cannot be used as before."""
    return [settings.audit.secret, settings.audit.key.parent, settings.auth.key]
