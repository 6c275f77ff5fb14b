"""The error tree: stable codes and data; no HTTP, no text for people.

Three families, by what the program does with them: a `Refusal` answers the caller, a `Steer` is told to the
model, a `TurnFailed` ends the turn. Doors translate codes into statuses; the interface translates them into words.
"""

from __future__ import annotations

from typing import ClassVar


class AssistantError(Exception):
    """Base of every error of this package.

    `code` is stable and part of the interface; `data` holds plain JSON values that explain the case and never
    carry document text. `detail` is for logs.
    """

    code: ClassVar[str] = "internal"
    retryable: ClassVar[bool] = False

    def __init__(self, detail: str = "", **data: str | int | float | bool | list[str] | None) -> None:
        super().__init__(detail or self.code)
        self.detail = detail or self.code
        self.data = data

    @property
    def retry_after_ms(self) -> int | None:
        """After how many milliseconds it may be tried again, where that is known."""
        wait = self.data.get("retry_after_ms")
        return wait if isinstance(wait, int) else None


class Refusal(AssistantError):
    """The caller asked for something that cannot be done; nothing was changed."""

    code = "refused"


class BadInput(Refusal):
    """A value from outside does not have the promised form."""

    code = "bad_input"


class BadSetting(Refusal):
    """A setting is unknown, malformed or contradicts another one."""

    code = "bad_setting"


class BadDocument(Refusal):
    """A document cannot be read; `data["reason"]` says why (encrypted, corrupt, too_large, unsupported, empty, ...)."""

    code = "bad_document"


class QuestionTooLong(Refusal):
    """The question does not fit the window of the model beside the system text and the least output."""

    code = "question_too_long"


class NotAuthenticated(Refusal):
    """The caller's identity is missing or not valid."""

    code = "not_authenticated"


class TokenExpired(NotAuthenticated):
    """The token was good and has ended; the same person may come back with a newer one."""

    code = "token_expired"


class OtherUser(Refusal):
    """The newer token is of another person than the one it is to replace."""

    code = "other_user"


class NotFound(Refusal):
    """There is no such thing, or it is not the caller's; both look the same on purpose."""

    code = "not_found"


class IdempotencyMismatch(Refusal):
    """The same idempotency key came with other content."""

    code = "idempotency_mismatch"


class Busy(Refusal):
    """A limit is reached; come back after `data["retry_after_ms"]`."""

    code = "busy"
    retryable = True


class StoreUnavailable(AssistantError):
    """The database cannot be reached, or broke off; come back after `data["retry_after_ms"]`.

    What was being committed may have been committed, so only what bears being done twice is done again.
    """

    code = "unavailable"
    retryable = True


class Steer(AssistantError):
    """The model's output cannot be used as it is and may be asked for again."""

    code = "model_output_invalid"


class TurnFailed(AssistantError):
    """The turn cannot go on; what was written is kept."""

    code = "turn_failed"


class ModelUnavailable(TurnFailed):
    """The model's endpoint refuses, times out or breaks off."""

    code = "model_unavailable"
    retryable = True


class AccessRevoked(TurnFailed):
    """A source of the answer may no longer be read by the person who asked."""

    code = "access_revoked"


class ContextOverflow(TurnFailed):
    """The provider says the prompt is longer than its window."""

    code = "context_overflow"


class ModelMisconfigured(TurnFailed):
    """The model does not exist, or the key is not accepted."""

    code = "model_misconfigured"
