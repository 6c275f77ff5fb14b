"""Alembic's environment. `assistant.store.migrations` hands over a connection that holds the lock."""

from __future__ import annotations

from alembic import context
from sqlalchemy import Connection

from assistant.store.migrations import in_both_databases
from assistant.store.tables import metadata


def run(connection: Connection) -> None:
    context.configure(
        connection=connection,
        target_metadata=metadata,
        include_object=in_both_databases,
        compare_type=True,
        render_as_batch=connection.dialect.name == "sqlite",
    )
    with context.begin_transaction():
        context.run_migrations()


run(context.config.attributes["connection"])
