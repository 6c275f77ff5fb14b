"""The roles that this server knows."""

from __future__ import annotations

from typing import Final

USER: Final = "user"
AUDITOR: Final = "auditor"
"""May look for audit records, open them (each look on the record) and have the log verified."""
EXPORTER: Final = "exporter"
"""May take audit records out of the house."""
ADMIN: Final = "admin"
"""May manage collections, documents, people and keys."""
ROLES: Final = frozenset({USER, AUDITOR, EXPORTER, ADMIN})
