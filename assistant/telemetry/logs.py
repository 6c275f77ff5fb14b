"""Logging, configured once. Structured events without document text; one line each."""

from __future__ import annotations

import logging
import sys
from typing import Literal

import structlog

TRACEBACKS = structlog.tracebacks.ExceptionDictTransformer(show_locals=False)
"""Tracebacks without local variables, which hold questions, answers and document text."""


def configure_logging(form: Literal["console", "json"] = "console", level: str = "info") -> None:
    """Send structlog and standard library records through one renderer to standard error.

    `level` is that of the assistant. Libraries say nothing below info: at debug they write what they carry, which is frames with
    questions, answers and tokens, and prompts with the text of documents.
    """
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    renderer: list[structlog.typing.Processor] = (
        [structlog.processors.ExceptionRenderer(TRACEBACKS), structlog.processors.JSONRenderer()]
        if form == "json"
        else [
            structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback)
        ]
    )
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *renderer],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(max(logging.INFO, logging.getLevelNamesMapping()[level.upper()]))
    logging.getLogger("assistant").setLevel(level.upper())
    for noisy in ("httpx", "httpcore", "LiteLLM", "aiosqlite", "uvicorn.access", "alembic"):
        logging.getLogger(noisy).setLevel(max(logging.WARNING, root.level))
