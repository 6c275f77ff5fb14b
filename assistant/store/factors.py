"""How far each model's real token counts are from the counter's, learnt from reported usage."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from sqlalchemy import select

from assistant.store.engine import Database
from assistant.store.tables import model_factors
from assistant.store.upsert import upsert


class ModelFactors:
    """Token factors by model name; what is learnt by one process serves the next."""

    def __init__(self, database: Database, *, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._database = database
        self._clock = clock

    async def get(self, model: str) -> tuple[float, int] | None:
        """The factor and the number of samples behind it; None for a model that was never measured."""
        query = select(model_factors).where(model_factors.c.model == model)
        async with self._database.read() as connection:
            row = (await connection.execute(query)).one_or_none()
        return None if row is None else (row.factor, row.samples)

    async def put(self, model: str, factor: float, samples: int) -> None:
        """Store the factor and the number of samples behind it."""
        row = {"model": model, "factor": factor, "samples": samples, "updated_at": self._clock()}
        async with self._database.write() as connection:
            await upsert(connection, model_factors, [row])
