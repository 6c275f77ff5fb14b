"""What became of the sources of old answers: the passage as it was, and the place it has in the document of today."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from datetime import date
from enum import StrEnum
from typing import Any, Final

from assistant.core.access import EVERYONE
from assistant.core.evidence import Region
from assistant.core.relocating import relocate
from assistant.core.text import Span
from assistant.core.worddiff import rendered, word_diff


class SourceState(StrEnum):
    """What became of a cited passage since it was cited.

    `SAME_TEXT`: the document has a newer version, which holds the cited text word for word. `CHANGED`: it has one that
    does not. `UNKNOWN`: the source lies outside the knowledge base and cannot be looked at. `NOT_AVAILABLE`: the reader
    may not see it now; whether it still exists, and in which version, is then never told.
    """

    UNCHANGED = "unchanged"
    SAME_TEXT = "same_text"
    CHANGED = "changed"
    DELETED = "deleted"
    UNKNOWN = "unknown"
    NOT_AVAILABLE = "not_available"


@dataclass(frozen=True, slots=True)
class Quoted:
    """A passage with the cited part of it marked: before + exact + after is its text."""

    before: str
    exact: str
    after: str

    @property
    def text(self) -> str:
        """The whole passage."""
        return self.before + self.exact + self.after


@dataclass(frozen=True, slots=True)
class CurrentVersion:
    """The version of the document that is read today, and what stands there for the passage.

    `quoted` is None when nothing in it is like the passage.
    """

    version: int
    date: date | None
    quoted: Quoted | None


@dataclass(frozen=True, slots=True)
class PastSource:
    """A cited passage as it was, in its version of the document, and what became of it.

    `start` is where `quoted.exact` begins in the stored text of the version (code points). `media_type` is None for a source
    outside the knowledge base. `current` is given where there is a newer version.
    """

    title: str
    uri: str
    version: int
    date: date | None
    media_type: str | None
    section: str
    page: int | None
    region: Region | None
    image: str | None
    start: int
    quoted: Quoted
    state: SourceState
    current: CurrentVersion | None = None

    def as_json(self) -> dict[str, Any]:
        """Plain JSON values; `diff` leads from the whole old passage to the whole current one, null where there is none."""
        plain = ("title", "uri", "version", "media_type", "section", "page", "image")
        return {
            **{name: getattr(self, name) for name in plain},
            "date": _iso(self.date),
            "region": None if self.region is None else list(self.region),
            "before": self.quoted.before,
            "exact": self.quoted.exact,
            "after": self.quoted.after,
            "state": self.state.value,
            "current": self._current(),
            "diff": self._diff(),
        }

    def _current(self) -> dict[str, Any] | None:
        if self.current is None:
            return None
        found = self.current.quoted
        texts = {name: getattr(found, name) if found else None for name in ("before", "exact", "after")}
        return {"version": self.current.version, "date": _iso(self.current.date), **texts}

    def _diff(self) -> list[dict[str, str]] | None:
        found = self.current.quoted if self.current else None
        if found is None:
            return None
        return rendered(self.quoted.text, found.text, word_diff(self.quoted.text, found.text))


def _iso(day: date | None) -> str | None:
    return day.isoformat() if day else None


def compared(past: PastSource, number: int, day: date | None, text: str) -> PastSource:
    """The same source beside the current version of its document, whose stored text is `text`."""
    old = past.quoted
    cited = Span(len(old.before), len(old.before) + len(old.exact))
    found = relocate(old.text, cited, text, past.start - len(old.before))
    same = old.exact in text
    if found is None:
        return replace(past, state=SourceState.CHANGED, current=CurrentVersion(number, day, None))
    place = text[found.passage.start : found.exact.start], text[found.exact.start : found.exact.end]
    quoted = Quoted(*place, text[found.exact.end : found.passage.end])
    state = SourceState.SAME_TEXT if same else SourceState.CHANGED
    return replace(past, state=state, current=CurrentVersion(number, day, quoted))


UPDATED: Final = "updated"
DELETED: Final = "deleted"
ACCESS_REVOKED: Final = "access_revoked"


def change_to_tell(
    shown_to: AbstractSet[str], access: AbstractSet[str], *, cited: int, current: int, deleted: bool
) -> str | None:
    """What the person behind an old answer is to be told of its source: updated, deleted, access_revoked or nothing.

    `shown_to` are the groups that could read the document when it was cited (the person was in one of them), `access` those
    that can now; `cited` and `current` are version numbers. Who is in which group today is not known here, so a person is
    told of a document's fate only where everyone who could read it then still can, and of lost access only where none of
    the old groups can; in between nothing is told, because it might reach somebody who may not know.
    """
    if EVERYONE in access or shown_to <= access:
        return DELETED if deleted else UPDATED if current != cited else None
    return None if shown_to & access else ACCESS_REVOKED
