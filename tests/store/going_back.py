"""Migrations backwards, for tests: the program itself only goes forward."""

from __future__ import annotations

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection

from assistant.store.migrations import script_location


def downgrade(connection: Connection, revision: str) -> None:
    """Bring the database of the connection back to the form of this revision, in its transaction."""
    config = Config()
    config.set_main_option("script_location", str(script_location()).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.downgrade(config, revision)
