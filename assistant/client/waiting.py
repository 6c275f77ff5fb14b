"""How long a client waits before it comes back."""

from __future__ import annotations

import random
from typing import Final

SHORTEST_S: Final = 0.5
LONGEST_S: Final = 20.0


def back_off(attempt: int) -> float:
    """Seconds before attempt 0, 1, 2...: anywhere from half a second to a bound that doubles up to 20 s."""
    bound = min(LONGEST_S, SHORTEST_S * 2 ** (min(attempt, 10) + 1))
    return random.uniform(SHORTEST_S, bound)  # noqa: S311 - it spreads load and guards nothing
