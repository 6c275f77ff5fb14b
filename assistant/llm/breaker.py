"""A circuit breaker: an endpoint that fails again and again is left alone for a while, so that nobody waits for it.

Source: M. Nygard, "Release It!", 2007, "Circuit Breaker".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic


@dataclass(slots=True)
class Breaker:
    """Opens after `most` failures without a success between them, for `rest_s` seconds, longer each time up to `longest_s`.

    When the rest is over one call may try (half-open). Its first word closes the breaker, its failure opens it again; the
    first failure after that opens it, too, until an answer was whole.
    """

    most: int = 5
    rest_s: float = 5.0
    longest_s: float = 120.0
    clock: Callable[[], float] = monotonic
    _failures: int = field(default=0, init=False)
    _opened: int = field(default=0, init=False)
    _until: float = field(default=0.0, init=False)
    _open: bool = field(default=False, init=False)
    _probing: bool = field(default=False, init=False)

    def wait_ms(self) -> int:
        """Milliseconds until a call may go, 0 when it may go now; while one tries, the length of a rest."""
        if not self._open:
            return 0
        if self._probing:
            return int(self.rest_s * 1000)
        return max(0, int((self._until - self.clock()) * 1000 + 0.999))

    def enter(self) -> bool:
        """Whether a call may go. One that goes must report `answered`, `failed` or `left`."""
        if self.wait_ms() > 0:
            return False
        self._probing = self._open
        return True

    def answered(self) -> None:
        """A call has its first word: the endpoint is there."""
        self._open = self._probing = False

    def succeeded(self) -> None:
        """A call came to its end: what went before is forgotten."""
        self.answered()
        self._failures = self._opened = 0

    def failed(self, rest_s: float | None = None) -> None:
        """A call failed; with `rest_s` the endpoint itself said for how long it wants to be left alone."""
        self._failures += 1
        if rest_s is None and self._failures < self.most and not self._probing:
            return
        if self._open and not self._probing:
            return  # a call from before the opening says nothing new
        doubled = self.rest_s * 2 ** min(self._opened, 10)
        self._until = self.clock() + min(self.longest_s, rest_s if rest_s is not None else doubled)
        self._opened += 1
        self._open, self._probing = True, False

    def left(self) -> None:
        """A call ended without a verdict: its reader went."""
        self._probing = False
