"""Where a call may go: endpoints with their breakers, and the rules by which one stands in for another. Pure."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Final

from assistant.config import FAILURES, Failure
from assistant.core.prompt import ModelRequest
from assistant.core.reading import MESSAGE_OVERHEAD
from assistant.errors import AssistantError, ContextOverflow, ModelUnavailable
from assistant.interfaces import ChatModel
from assistant.llm.breaker import Breaker

MOST_OPEN: Final = 128
FULL_MS: Final = 1_000
"""When to come back to an endpoint that has as many calls open as it may, in milliseconds."""


@dataclass(slots=True)
class Endpoint:
    """A model that calls may go to: its breaker, the most calls that may be open at once, the failures it stands in for."""

    model: ChatModel
    breaker: Breaker = field(default_factory=Breaker)
    most_open: int = MOST_OPEN
    on: Collection[Failure] = FAILURES
    open: int = field(default=0, init=False)

    def wait_ms(self) -> int:
        """Milliseconds until a call may go, 0 when it may go now."""
        return self.breaker.wait_ms() or (FULL_MS if self.open >= self.most_open else 0)

    def enter(self) -> None:
        """Count a call that begins; who enters must leave. Raises ModelUnavailable with `retry_after_ms` when it must not."""
        if wait := self.wait_ms():
            full = not self.breaker.wait_ms()
            detail = "as many calls are open as may be" if full else "the endpoint failed again and again, and rests"
            raise ModelUnavailable(detail, reason="overloaded" if full else "resting", retry_after_ms=wait)
        self.breaker.enter()
        self.open += 1

    def leave(self) -> None:
        """Count a call that has ended, however it ended."""
        self.open -= 1
        self.breaker.left()

    def stands_in(self, failure: Failure, for_model: ChatModel) -> bool:
        """Whether a call that failed like this at `for_model` may go here."""
        return failure in self.on and (failure != "overflow" or self.model.window > for_model.window)

    def holds(self, request: ModelRequest) -> bool:
        """Whether prompt and answer fit the window here, by the counter of this model. Takes milliseconds: call it in a thread."""
        prompt = sum(self.model.counter.count(message.text) + MESSAGE_OVERHEAD for message in request.messages)
        return prompt + request.sampling.max_tokens <= self.model.window


def failure_kind(error: AssistantError) -> Failure | None:
    """What an error means for the choice of an endpoint; None when another endpoint would not help."""
    if isinstance(error, ContextOverflow):
        return "overflow"
    if not isinstance(error, ModelUnavailable):
        return None
    asked = error.retry_after_ms is not None
    busy = error.data.get("status") in (429, 529) or (error.data.get("status") == 503 and asked)
    return "overloaded" if busy or error.data.get("reason") == "overloaded" else "unavailable"
