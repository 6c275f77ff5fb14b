"""Figures for Prometheus, of this process alone. Labels have few values: never people, sessions, questions or documents."""

from __future__ import annotations

import asyncio
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.gc_collector import GCCollector

REGISTRY: Final = CollectorRegistry(auto_describe=True)
MOST_VALUES: Final = 100
"""Different values of one label; what comes later is counted as `other`."""

_SECONDS: Final = (0.05, 0.1, 0.25, 0.5, 1, 2, 3, 5, 8, 13, 21, 34, 60, 120, 180)

ProcessCollector(registry=REGISTRY)
GCCollector(registry=REGISTRY)

TURNS: Final = Counter(
    "assistant_turns", "Turns that ended", ["mode", "status", "finish"], registry=REGISTRY
)  # fmt: skip
TURN_SECONDS: Final = Histogram(
    "assistant_turn_seconds", "From the start of a turn to its end", ["mode"], buckets=_SECONDS, registry=REGISTRY
)
FIRST_TOKEN_SECONDS: Final = Histogram(
    "assistant_first_token_seconds", "From the start of a turn to its first word", buckets=_SECONDS, registry=REGISTRY
)
RUNNING: Final = Gauge("assistant_running_turns", "Turns that run now", registry=REGISTRY)
WINDOW_SHARE: Final = Histogram(
    "assistant_window_share",
    "Share of the model's window that the plan of a turn uses",
    buckets=[n / 10 for n in range(1, 11)],
    registry=REGISTRY,
)
DROPPED: Final = Counter(
    "assistant_dropped", "Evidence and history left out or shortened for want of room", ["kind"], registry=REGISTRY
)
VERDICTS: Final = Counter("assistant_verdicts", "Sentences of answers by verdict", ["verdict"], registry=REGISTRY)
CONFLICTS: Final = Counter(
    "assistant_conflicts", "Conflicts of evidence, by what the answer followed", ["followed"], registry=REGISTRY
)
CACHE_HITS: Final = Counter("assistant_cache_hits", "Answers given again without asking a model", registry=REGISTRY)
ERRORS: Final = Counter(
    "assistant_errors", "Errors by code, of turns and at the doors", ["at", "code"], registry=REGISTRY
)
MODEL_CALLS: Final = Counter(
    "assistant_model_calls", "Calls of models", ["model", "purpose", "ended"], registry=REGISTRY
)
MODEL_SECONDS: Final = Histogram(
    "assistant_model_seconds", "Time of a model call", ["model"], buckets=_SECONDS, registry=REGISTRY
)
MODEL_TOKENS: Final = Counter(
    "assistant_model_tokens", "Tokens as providers count them", ["model", "kind"], registry=REGISTRY
)
MODEL_DOLLARS: Final = Counter(
    "assistant_model_dollars", "Cost of model calls in US dollars, where it is known", ["model"], registry=REGISTRY
)
SOCKETS: Final = Gauge("assistant_sockets", "Open websockets", registry=REGISTRY)
TASKS: Final = Gauge("assistant_tasks", "Tasks of the event loop that have not ended", registry=REGISTRY)
REQUESTS: Final = Counter(
    "assistant_requests", "Requests over HTTP by route", ["method", "route", "status"], registry=REGISTRY
)
REQUEST_SECONDS: Final = Histogram(
    "assistant_request_seconds", "Time of a request over HTTP", ["route"], buckets=_SECONDS, registry=REGISTRY
)
WAITING_APPENDS: Final = Gauge(
    "assistant_waiting_appends", "Appends of events that wait for a commit", registry=REGISTRY
)
COMMIT_SECONDS: Final = Histogram(
    "assistant_commit_seconds",
    "Time of a commit of events",
    buckets=(0.001, 0.002, 0.005, *_SECONDS),
    registry=REGISTRY,
)
JOBS: Final = Gauge(
    "assistant_jobs", "Jobs of all processes that are not done, as this one saw them last", ["job", "status"],
    registry=REGISTRY,
)  # fmt: skip
DOCUMENTS: Final = Counter(
    "assistant_documents", "Documents read in, by what became of them", ["outcome"], registry=REGISTRY
)

_seen: Final[dict[str, set[str]]] = {}


def bounded(label: str, value: str) -> str:
    """The value, or `other` when the label had too many different ones: a name from outside must not fill the memory."""
    seen = _seen.setdefault(label, set())
    if value in seen:
        return value
    if len(seen) >= MOST_VALUES:
        return "other"
    seen.add(value)
    return value


def count_tasks(loop: asyncio.AbstractEventLoop) -> None:
    """From now on the tasks of this loop are counted whenever the figures are read, also from another thread."""
    TASKS.set_function(lambda: len(asyncio.all_tasks(loop)))


def exposition() -> bytes:
    """All figures in the text format of Prometheus."""
    return generate_latest(REGISTRY)
