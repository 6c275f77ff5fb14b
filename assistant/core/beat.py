"""The beat: moments that all streams of a process share, so that what they say between two is read, stored and sent together."""

from __future__ import annotations

from typing import Final

BEAT_S: Final = 0.04
"""Seconds from one beat to the next: often enough to read along, seldom enough to cost little."""


def until_beat(now: float, interval: float = BEAT_S) -> float:
    """Seconds from `now`, by any monotonic clock, to the next beat; more than 0 and at most `interval`."""
    return interval - now % interval
