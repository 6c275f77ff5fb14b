"""Timelines: evidence that tells a course of events stands in the order of time, not of rank."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from functools import lru_cache
from typing import Final

from assistant.core.comparing.dates import moments
from assistant.core.evidence import Evidence

_ASKED: Final = re.compile(
    r"\b(?:time ?lines?|chronolog\w*|history of|sequence of events|in what order|over (?:time|the years)|evolved?|evolution of"
    r"|milestones?|step by step did|what happened (?:before|after|between|during|when|since))\b"
    r"|时间线|时间轴|时间顺序|大事记|沿革|演变|历程|经过|来龙去脉|先后|历史(?:发展|变化)|发展史|历年",
    re.IGNORECASE,
)
_LEAST_DATED: Final = 3
_SHARE_DATED: Final = 2 / 3
_MARKS: Final = re.compile(r"^[\s#>*_|\-–—•·\[(（【]*")
_OPENING: Final = 60


def is_timeline(question: str, evidence: Sequence[Evidence]) -> bool:
    """Whether the evidence should be read in the order of time.

    Either the question asks for a course of events and two pieces or more can be dated to different days, or at least
    three pieces, two thirds of all, open with a date of their own, as entries of a log or minutes do.
    """
    if _ASKED.search(question):
        return len({_day(item) for item in evidence} - {None}) > 1
    opened = [day for item in evidence if (day := opening_date(item)) is not None]
    return len(opened) >= max(_LEAST_DATED, _SHARE_DATED * len(evidence)) and len(set(opened)) > 1


def in_time_order(evidence: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """The pieces by their date, the earliest first; without one they come last. Ties: documents by their best piece, then place."""
    best = {item.source.document: place for place, item in reversed(list(enumerate(evidence)))}
    return tuple(
        sorted(evidence, key=lambda item: (_day(item) or date.max, best[item.source.document], item.span.start))
    )


def opening_date(item: Evidence) -> date | None:
    """The date with which the piece, or else its innermost heading, begins; None without one or without a year."""
    first = next((line for line in item.text.splitlines() if line.strip()), "")
    return _leading(first) or _leading(item.section.rsplit(" > ", 1)[-1])


def _day(item: Evidence) -> date | None:
    return opening_date(item) or item.source.date


@lru_cache(maxsize=4096)
def _leading(line: str) -> date | None:
    opening = _MARKS.sub("", line, count=1)[:_OPENING]
    found = next((moment for moment in moments(opening) if moment.start is not None), None)
    return found.start if found is not None and found.span.start == 0 else None
