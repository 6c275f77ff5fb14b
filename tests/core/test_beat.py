"""The beat of all streams."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assistant.core.beat import BEAT_S, until_beat


@given(st.floats(0, 1e7), st.floats(0.001, 1))
def test_the_next_beat_is_ahead_and_near(now: float, interval: float) -> None:
    assert 0 < until_beat(now, interval) <= interval


@given(st.integers(0, 10**6), st.lists(st.floats(0.05, 0.95), min_size=2, max_size=5))
def test_all_who_wait_between_two_beats_wake_together(beat: int, parts: list[float]) -> None:
    woken = [now + until_beat(now) for now in ((beat + part) * BEAT_S for part in parts)]
    assert max(woken) - min(woken) < 1e-6
