"""What became of records after they were written, and what the answers of a day came to. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Aftermath:
    """What came after a record: the last rating of its answer, and whether a source that it cites is no longer as it was."""

    rating: str | None = None
    source_changed: bool = False


@dataclass(frozen=True, slots=True)
class DayFigures:
    """The answers of one day (UTC, `YYYY-MM-DD`).

    `refusals` are answers that said that the documents do not hold it, `conflicts` those whose evidence disagreed, `up` and `down`
    those whose last feedback was that. Tokens and cost are of the `kept` answers, whose turns are still stored; `priced` of them have a
    known cost. `verdicts` count the worst verdict of each answer that has one, `modes` how the answers were made.
    """

    day: str
    answers: int
    refusals: int = 0
    conflicts: int = 0
    up: int = 0
    down: int = 0
    kept: int = 0
    priced: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0
    verdicts: Mapping[str, int] = field(default_factory=dict)
    modes: Mapping[str, int] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Plain JSON values; the cost is null where none is known."""
        return {**asdict(self), "cost": self.cost if self.priced else None}
