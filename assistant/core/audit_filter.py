"""What audit records are found by: the filter of an auditor, and the facets of a record that it looks at. Pure.

The facets are taken from the body of a record, where its events have the form of their frames: `mode`, `model`, `status`, `finish`,
`rating`, `citations` (the event, or a list of citations) and `conflicts` (likewise). What is absent or of another form is no facet.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from assistant.core.audit import AuditKind
from assistant.core.citations import Verdict

_WORST_FIRST: Final = (Verdict.CONTRADICTED, Verdict.UNSUPPORTED, Verdict.PARTIAL, Verdict.SUPPORTED)

_MOST_VERSIONS: Final = 2**31 - 1  # of an integer column


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Which records are wanted; None asks for nothing. All that is given must hold.

    `since` is included, `until` is not. `person` and `actor` are pseudonyms;
    `former` is another one of the same person, from before there was a secret, and has no meaning alone. `verdict` is the worst of the answer. `source_changed`
    says whether a cited document has another version now, or is gone. `feedback` is the last rating of an answer, or the one
    that a record of feedback gives.
    """

    kind: AuditKind | None = None
    since: datetime | None = None
    until: datetime | None = None
    person: str | None = None
    former: str | None = None
    actor: str | None = None
    session: str | None = None
    turn: str | None = None
    document: str | None = None
    model: str | None = None
    mode: str | None = None
    status: str | None = None
    verdict: Verdict | None = None
    conflict: bool | None = None
    source_changed: bool | None = None
    feedback: str | None = None


@dataclass(frozen=True, slots=True)
class AuditFacets:
    """What a record can be found by; `verdict` is the worst of its sentences, None without any."""

    model: str | None
    mode: str | None
    status: str | None
    finish: str | None
    rating: str | None
    verdict: Verdict | None
    has_conflict: bool


def facets_of(body: Mapping[str, Any]) -> AuditFacets:
    """The facets of a record with this body, whatever form it has."""
    named = {name: _text(body.get(name)) for name in ("model", "mode", "status", "finish", "rating")}
    return AuditFacets(**named, verdict=_worst(body), has_conflict=any(_items(body.get("conflicts"))))


def cited_versions(body: Mapping[str, Any]) -> list[tuple[str, int]]:
    """(document, version) of everything that the answer of a record cites, each once, sorted."""
    found: set[tuple[str, int]] = set()
    for citation in _items(body.get("citations")):
        source = citation.get("source", citation)
        if isinstance(source, Mapping):
            document, version = source.get("document"), source.get("version")
            if isinstance(document, str) and type(version) is int and 0 <= version <= _MOST_VERSIONS:
                found.add((document, version))
    return sorted(found)


def _worst(body: Mapping[str, Any]) -> Verdict | None:
    citations = body.get("citations")
    uncited = citations.get("unsupported") if isinstance(citations, Mapping) else body.get("unsupported")
    given = [item.get("verdict") for held in (citations, uncited) for item in _items(held)]
    return next((verdict for verdict in _WORST_FIRST if verdict in given), None)


def _items(value: Any) -> Iterator[Mapping[str, Any]]:
    """The items of a list, or of an event that holds a list, that have fields."""
    held = value.get("items") if isinstance(value, Mapping) else value
    if isinstance(held, Sequence):
        yield from (item for item in held if isinstance(item, Mapping))


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
