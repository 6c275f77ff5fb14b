"""The job that keeps the partitions by month: those to come are made, those that retention has emptied go."""

from __future__ import annotations

from typing import Final

from assistant.app.values import now
from assistant.interfaces.jobs import Payload
from assistant.store.engine import Database
from assistant.store.partitions import drop_empty, prepare

MONTHS: Final = "months"


class KeepMonths:
    """Keeps the partitions of a database; without any, as in SQLite, there is nothing to do. What cannot be done now is done the next time."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def __call__(self, _: Payload) -> None:
        """Make the months to come, then drop the empty ones of before."""
        await prepare(self._database, now())
        await drop_empty(self._database, now())
