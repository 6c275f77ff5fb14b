"""What a token claims as the groups and roles of here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from assistant.config import AuthSettings
from assistant.core.access import EVERYONE
from assistant.core.text import without_unstorable
from assistant.transport.auth.refusing import malformed
from assistant.transport.auth.roles import ROLES, USER

MOST_NAMES: Final = 500
LONGEST_NAME: Final = 255

Names = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class ClaimsMap:
    """Which claims hold groups and roles, and what their values are here; an empty map takes the same names."""

    groups_claim: str = "groups"
    roles_claim: str = "roles"
    groups: Names = field(default_factory=dict)
    roles: Names = field(default_factory=dict)

    @classmethod
    def of(cls, auth: AuthSettings) -> ClaimsMap:
        """The map of these settings."""
        return cls(auth.groups_claim, auth.roles_claim, auth.groups, auth.roles)

    def read(self, claims: Mapping[str, Any]) -> tuple[frozenset[str], frozenset[str]]:
        """Groups, always with everyone, and roles. Raises NotAuthenticated for lists that are none.

        A token that says nothing of roles, where no map of them is set, is of a user. Unknown roles are dropped.
        """
        groups = _names(claim(claims, self.groups_claim))
        said = claim(claims, self.roles_claim)
        roles = _names(said)
        here = _mapped(groups, self.groups) if self.groups else groups
        if self.roles:
            roles = _mapped((*roles, *groups), self.roles)
        elif said is None:
            roles = (USER,)
        return frozenset({EVERYONE, *here}), ROLES.intersection(roles)


def claim(claims: Mapping[str, Any], name: str) -> Any:
    """The claim of this name; else, as providers nest them, the one at the end of a path of names with dots. None: none."""
    if name in claims:
        return claims[name]
    value: Any = claims
    for part in name.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def _names(value: Any) -> tuple[str, ...]:
    if value is None:
        return ()
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, list) or len(names) > MOST_NAMES or not all(map(_is_name, names)):
        raise malformed()
    return tuple(names)


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= LONGEST_NAME and without_unstorable(value) == value


def _mapped(names: Iterable[str], known: Names) -> tuple[str, ...]:
    return tuple(here for name in names for here in known.get(name, ()))
