"""Conflicts: find evidence that disagrees, say how, and which side to prefer."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from enum import StrEnum
from typing import Final

from assistant.core.comparing.comparison import Finding, compare
from assistant.core.comparing.pairing import Statement, statements
from assistant.core.evidence import Authority, Evidence
from assistant.core.text import Span


class ConflictKind(StrEnum):
    """What the two claims disagree in."""

    NUMBER = "number"
    MONEY = "money"
    PERCENT = "percent"
    DATE = "date"
    DURATION = "duration"
    POLARITY = "polarity"
    OPTION = "option"
    SUPERSEDED = "superseded"
    STATEMENT = "statement"


class Resolution(StrEnum):
    """The rule that prefers one side; unresolved means that the answer has to give both."""

    NEWER = "newer"
    AUTHORITY = "authority"
    UNRESOLVED = "unresolved"


@dataclass(frozen=True, slots=True)
class Claim:
    """One side of a conflict: `quote` is the stored text at `span` (document offsets) of the evidence."""

    evidence: str
    span: Span
    quote: str
    date: date | None = None
    authority: Authority = Authority.MEDIUM


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two claims that cannot both hold.

    `preferred` is the evidence id of the preferred side, None when unresolved; `why` says in plain words what differs
    (for example "90 % / 80 %"), `topic` what it is about.
    """

    id: str
    kind: ConflictKind
    topic: str
    sides: tuple[Claim, Claim]
    resolution: Resolution
    preferred: str | None
    why: str


_KINDS: Final = {"name": ConflictKind.OPTION, "phrase": ConflictKind.OPTION}
_LIMIT: Final = 5


def find_conflicts(evidence: Sequence[Evidence], *, question: str = "", window_days: int = 30) -> tuple[Conflict, ...]:
    """Find the conflicts among the evidence that will be shown; the result does not depend on its order.

    At most five, the strongest first, each disagreement once; with a question, only those that bear on it. Passages of
    one version of a document are not compared with each other.
    """
    versions: dict[tuple[str, int, str], list[Evidence]] = {}
    for item in sorted({item.id: item for item in evidence}.values(), key=lambda item: item.id):
        versions.setdefault((item.source.document, item.source.number, item.source.sha256), []).append(item)
    return _conflicts([versions[key] for key in sorted(versions)], question, window_days)[:_LIMIT]


def disagreement(a: Evidence, b: Evidence, question: str = "", *, window_days: int = 30) -> Conflict | None:
    """The strongest conflict between two pieces of evidence, the same whichever comes first; None when they agree."""
    sides = [[item] for item in sorted((a, b), key=lambda item: item.id)]
    return next(iter(_conflicts(sides, question, window_days)), None)


def _conflicts(documents: Sequence[Sequence[Evidence]], question: str, window_days: int) -> tuple[Conflict, ...]:
    linked = [[_linked(one[0], other[0]) for other in documents] for one in documents]
    findings = compare([statements(items) for items in documents], linked, question)
    return tuple(_conflict(finding, window_days) for finding in _strongest(findings))


def _linked(one: Evidence, other: Evidence) -> bool:
    """Whether two passages come from two versions or editions of one document."""
    first, second = one.source, other.source
    if first.document == second.document:
        return (first.number, first.sha256) != (second.number, second.sha256)
    return first.family is not None and first.family == second.family


def _strongest(findings: Sequence[Finding]) -> list[Finding]:
    """The strongest findings, each disagreement once, never two about one statement."""
    ranked = sorted(findings, key=lambda found: (-found.weight, *_place(found.one), *_place(found.other)))
    kept: list[Finding] = []
    for finding in ranked:
        if not any(finding.repeats(earlier) for earlier in kept):
            kept.append(finding)
    return kept


def _place(statement: Statement) -> tuple[str, Span]:
    return statement.evidence.id, statement.span


def _conflict(finding: Finding, window_days: int) -> Conflict:
    sides = (_claim(finding.one), _claim(finding.other))
    resolution, preferred = _resolve(finding.one.evidence, finding.other.evidence, window_days)
    key = "\0".join(f"{side.evidence}:{side.span.start}:{side.span.end}" for side in sides)
    return Conflict(
        id="c" + hashlib.sha256(key.encode()).hexdigest()[:10],
        kind=_kind(finding),
        topic=finding.topic,
        sides=sides,
        resolution=resolution,
        preferred=preferred,
        why=finding.why,
    )


def _kind(finding: Finding) -> ConflictKind:
    kind = finding.differences[0].kind.value
    if kind in _KINDS:
        return ConflictKind.SUPERSEDED if finding.linked else _KINDS[kind]
    return ConflictKind(kind)


def _claim(statement: Statement) -> Claim:
    source = statement.evidence.source
    return Claim(statement.evidence.id, statement.span, statement.text, source.date, source.authority)


def _resolve(one: Evidence, other: Evidence, window_days: int) -> tuple[Resolution, str | None]:
    """A later version of one document wins; then the later date; within the window the higher authority; else open.

    The window is for documents that stand beside each other: of two editions of one document and of equal authority
    the later one wins by any number of days.
    """
    first, second = one.source, other.source
    if first.document == second.document and first.number != second.number:
        return Resolution.NEWER, (one if first.number > second.number else other).id
    if first.date and second.date and abs((first.date - second.date).days) >= max(window_days, 1):
        return Resolution.NEWER, (one if first.date > second.date else other).id
    if first.authority is not second.authority:
        return Resolution.AUTHORITY, (one if first.authority.rank > second.authority.rank else other).id
    if _linked(one, other) and first.date and second.date and first.date != second.date:
        return Resolution.NEWER, (one if first.date > second.date else other).id
    return Resolution.UNRESOLVED, None


def mark_conflicts(evidence: Sequence[Evidence], conflicts: Sequence[Conflict]) -> tuple[Evidence, ...]:
    """Write `conflicts` and `preferred` onto each piece of evidence.

    A piece that loses any conflict is not preferred; one that wins all that are decided is; otherwise it stays open.
    """
    return tuple(_marked(item, conflicts) for item in evidence)


def _marked(item: Evidence, conflicts: Sequence[Conflict]) -> Evidence:
    mine = [conflict for conflict in conflicts if item.id in (conflict.sides[0].evidence, conflict.sides[1].evidence)]
    against = {side.evidence for conflict in mine for side in conflict.sides} - {item.id}
    decided = [conflict.preferred == item.id for conflict in mine if conflict.preferred is not None]
    return replace(item, conflicts=tuple(sorted(against)), preferred=all(decided) if decided else None)


def judged_conflict(
    one: tuple[Evidence, Span], other: tuple[Evidence, Span], *, topic: str, window_days: int = 30
) -> Conflict:
    """A conflict that something else than the rules has found: two pieces, each with the span of its statement.

    It is resolved by the same rules as any other and does not depend on the order of the two.
    """
    (first, here), (second, there) = sorted((one, other), key=lambda side: (side[0].id, side[1]))
    resolution, preferred = _resolve(first, second, window_days)
    sides = (_quoted(first, here), _quoted(second, there))
    key = "\0".join(f"{side.evidence}:{side.span.start}:{side.span.end}" for side in sides)
    return Conflict(
        id="c" + hashlib.sha256(key.encode()).hexdigest()[:10],
        kind=ConflictKind.STATEMENT,
        topic=" ".join(topic.split()) or first.section or first.source.title,
        sides=sides,
        resolution=resolution,
        preferred=preferred,
        why=" / ".join(" ".join(side.quote.split())[:80] for side in sides),
    )


def _quoted(evidence: Evidence, span: Span) -> Claim:
    source = evidence.source
    return Claim(evidence.id, span, evidence.quote(span), source.date, source.authority)
