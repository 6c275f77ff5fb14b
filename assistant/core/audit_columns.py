"""The columns beside an audit record that filters look at: what they must be, told from the record alone. Pure.

No hash covers them: they repeat what the hashed body says, so that verification can compute them again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from assistant.core.audit import AuditKind, AuditRecord
from assistant.core.audit_filter import cited_versions, facets_of

LONGEST_TERM: Final = 200
"""Code points of a value that is searched as it is; an index of PostgreSQL takes 2.7 kB for all columns of a row."""

FACETS: Final = ("model", "mode", "status", "finish", "verdict", "has_conflict")
"""The columns that follow from the body of their own record. `rating` does not: of an answer it is the last one given."""


@dataclass(frozen=True, slots=True)
class StoredColumns:
    """What stands beside the record `seq`, as it is stored: values of any type, as somebody may have changed them.

    `facets` are the columns FACETS by name, `cited` the rows (document, version, at) of what its answer cites, sorted. `rated` is the body of the last
    feedback or correction behind an answer's record, None where there is none.
    """

    seq: Any
    facets: Mapping[str, Any]
    rating: Any
    rated: Mapping[str, Any] | None
    cited: tuple[tuple[Any, Any, Any], ...]


def term(value: str) -> str:
    """A value as the columns for filters hold it: itself, or its hash when it is very long."""
    if len(value) <= LONGEST_TERM:
        return value
    return "sha256:" + hashlib.sha256(value.encode(errors="surrogatepass")).hexdigest()


def facet_columns(body: Mapping[str, Any]) -> dict[str, Any]:
    """The columns FACETS, and the `rating` that the body itself gives, as they are stored."""
    facets = facets_of(body)
    named = {name: getattr(facets, name) for name in ("model", "mode", "status", "finish", "rating")}
    values: dict[str, Any] = {name: None if value is None else term(value) for name, value in named.items()}
    verdict = None if facets.verdict is None else facets.verdict.value
    return values | {"verdict": verdict, "has_conflict": facets.has_conflict}


def cited_rows(record: AuditRecord) -> list[tuple[str, int, str]]:
    """The (document, version, at) of everything that the answer of a record cites, as they are stored, sorted."""
    found = {(term(document), version) for document, version in cited_versions(record.body)}
    return [(document, version, record.at) for document, version in sorted(found)]


def columns_fit(record: AuditRecord, stored: StoredColumns) -> bool:
    """Whether the stored columns and the list of what is cited are what the record says; `rating` is left out."""
    expected = facet_columns(record.body)
    if stored.seq != record.seq or any(stored.facets[name] != expected[name] for name in FACETS):
        return False
    return list(stored.cited) == cited_rows(record)


def rating_fits(record: AuditRecord, stored: StoredColumns) -> bool:
    """Whether the stored rating is the last one that was given: of an answer by a later record, else by the record itself."""
    rated = stored.rated if record.kind == AuditKind.TURN and stored.rated is not None else record.body
    return bool(stored.rating == facet_columns(rated)["rating"])
