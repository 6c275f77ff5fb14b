"""The only door to litellm: imported once, in a thread, never at start-up's expense, and never over the network."""

from __future__ import annotations

import asyncio
import importlib
import os
from concurrent.futures import Future
from functools import cache
from threading import Thread
from typing import Any

from assistant.errors import ContextOverflow, ModelMisconfigured, ModelUnavailable, TurnFailed
from assistant.llm.failures import failure, retry_after_ms


@cache
def begin_import() -> Future[Any]:
    """Start importing litellm in a background thread (seconds of work); later calls give the same future."""
    future: Future[Any] = Future()
    Thread(target=_import, args=(future,), name="import-litellm", daemon=True).start()
    return future


def _import(future: Future[Any]) -> None:
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    try:
        litellm: Any = importlib.import_module("litellm")
        litellm.suppress_debug_info = True
        litellm.telemetry = False
        litellm.drop_params = True
        future.set_result(litellm)
    except BaseException as error:  # the thread must hand over whatever happened
        future.set_exception(error)


async def litellm_module() -> Any:
    """The litellm module, when its import is through. Raises ModelMisconfigured when it cannot be imported."""
    try:
        return await asyncio.wrap_future(begin_import())
    except ImportError as error:
        raise ModelMisconfigured(f"litellm cannot be imported: {error}") from error


def failure_of(litellm: Any, error: Exception) -> TurnFailed:
    """What an exception of litellm means to this program."""
    if isinstance(error, litellm.ContextWindowExceededError):
        return ContextOverflow("the prompt is longer than the model's window", status=400)
    status = getattr(error, "status_code", None)
    if isinstance(error, litellm.Timeout | TimeoutError):
        return ModelUnavailable("no word in time", reason="timeout")
    if isinstance(error, litellm.APIConnectionError) or not isinstance(status, int):
        return ModelUnavailable(f"connection broke: {type(error).__name__}", reason="broken")
    response = getattr(error, "response", None)
    headers = getattr(response, "headers", None) or {}
    return failure(status, str(getattr(error, "message", error)), retry_after_ms(headers.get("retry-after")))
