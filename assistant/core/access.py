"""Who asks, and what that lets them read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

EVERYONE: Final = "everyone"
"""The group that every authenticated person of a tenant belongs to."""


@dataclass(frozen=True, slots=True)
class Caller:
    """An authenticated person or service at the time of one request.

    `groups` always holds `EVERYONE`; a document is readable when it carries at least one of the caller's groups.
    """

    tenant: str
    user: str
    groups: frozenset[str] = frozenset({EVERYONE})
    roles: frozenset[str] = frozenset({"user"})

    def may_read(self, access: frozenset[str]) -> bool:
        """Say whether a document with these access groups may be shown to this caller."""
        return not self.groups.isdisjoint(access)
