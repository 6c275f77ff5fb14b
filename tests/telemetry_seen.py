"""Looking at what telemetry tells: spans in memory, and figures as differences."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from assistant.telemetry.figures import REGISTRY
from assistant.telemetry.tracing import trace_with


@contextmanager
def tracing(*, content: bool = False) -> Iterator[InMemorySpanExporter]:
    """Record spans in memory until the block ends."""
    provider, exporter = TracerProvider(), InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace_with(provider, content=content)
    try:
        yield exporter
    finally:
        trace_with(None)


def figure(name: str, **labels: str) -> float:
    """A figure as it is now; 0 before it was ever counted."""
    found = (sample for metric in REGISTRY.restricted_registry([name]).collect() for sample in metric.samples)
    return next((sample.value for sample in found if (sample.name, sample.labels) == (name, labels)), 0.0)


def tree(spans: tuple[ReadableSpan, ...]) -> list[tuple[str, str]]:
    """Each span as (name of its parent, its name), in the order of their beginnings."""
    names = {span.context.span_id: span.name for span in spans if span.context}
    ordered = sorted(spans, key=lambda span: span.start_time or 0)
    return [(names.get(span.parent.span_id, "outside") if span.parent else "", span.name) for span in ordered]
