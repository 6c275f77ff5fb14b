"""What a person and a whole tenant may use in a day of UTC, and whether that is used up."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Final

_KINDS: Final = ("turns", "tokens", "cost")
_MILLISECOND: Final = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True)
class DayLimits:
    """The most turns, tokens (in and out) and US dollars of one day; 0: any."""

    user_turns: int = 0
    user_tokens: int = 0
    user_cost: float = 0.0
    tenant_turns: int = 0
    tenant_tokens: int = 0
    tenant_cost: float = 0.0

    @property
    def for_users(self) -> bool:
        """Whether there is any limit for a person."""
        return bool(self.user_turns or self.user_tokens or self.user_cost)

    @property
    def for_tenants(self) -> bool:
        """Whether there is any limit for a tenant."""
        return bool(self.tenant_turns or self.tenant_tokens or self.tenant_cost)


@dataclass(frozen=True, slots=True)
class Used:
    """What was used in a day: turns begun, tokens and dollars of turns ended."""

    turns: int = 0
    tokens: int = 0
    cost: float = 0.0


@dataclass(frozen=True, slots=True)
class UsageToday:
    """What a person has used today and may use; `reached` is the name of the limit that refuses the next turn.

    What others of the tenant have used is not told, only whether it is too much.
    """

    day: date
    used: Used
    limits: DayLimits
    reached: str | None
    resets_in_ms: int


def reached(limits: DayLimits, own: Used, whole: Used) -> str | None:
    """The first limit that is used up (`user_turns`, `user_tokens`, ... `tenant_cost`); None when another turn may begin.

    Tokens and cost are known when a turn has ended, so the last turn of a day may go beyond them.
    """
    for who, used in (("user", own), ("tenant", whole)):
        for kind in _KINDS:
            limit = getattr(limits, f"{who}_{kind}")
            if limit and getattr(used, kind) >= limit:
                return f"{who}_{kind}"
    return None


def day_of(at: datetime) -> date:
    """The day of UTC."""
    return at.astimezone(UTC).date()


def ms_of_day_left(at: datetime) -> int:
    """Milliseconds until the next day of UTC begins, rounded up; at least 1."""
    utc = at.astimezone(UTC)
    midnight = datetime(utc.year, utc.month, utc.day, tzinfo=UTC) + timedelta(days=1)
    return -((utc - midnight) // _MILLISECOND)
