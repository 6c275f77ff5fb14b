"""Telemetry: logs, traces and figures, each configured once at the start of a process."""

from __future__ import annotations

from assistant.telemetry.logs import configure_logging
from assistant.telemetry.tracing import configure_tracing, step, stepping

__all__ = ["configure_logging", "configure_tracing", "step", "stepping"]
