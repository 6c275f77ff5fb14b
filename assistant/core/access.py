"""Who asks, and what that lets them read."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Final

EVERYONE: Final = "everyone"
"""The group that every authenticated person of a tenant belongs to."""

PRIVATE: Final = "person:"
"""Groups that begin like this have one person each as their only member, whatever a token says."""


@dataclass(frozen=True, slots=True)
class Caller:
    """An authenticated person or service at the time of one request.

    `groups` always holds `EVERYONE`; a document is readable when it carries at least one of the groups that the caller `holds`.
    """

    tenant: str
    user: str
    groups: frozenset[str] = frozenset({EVERYONE})
    roles: frozenset[str] = frozenset({"user"})

    @property
    def private_group(self) -> str:
        """The group of this person alone, for what they bring themselves. It does not tell who it is."""
        name = f"{self.tenant}\0{self.user}".encode(errors="surrogatepass")
        return PRIVATE + hashlib.sha256(name).hexdigest()[:32]

    @property
    def holds(self) -> frozenset[str]:
        """The groups that count: `groups` and the private one. Private groups of others count for nothing, wherever they came from."""
        return frozenset(group for group in self.groups if not group.startswith(PRIVATE)) | {self.private_group}

    def may_read(self, access: frozenset[str]) -> bool:
        """Say whether a document with these access groups may be shown to this caller."""
        return not self.holds.isdisjoint(access)
