"""Traces by OpenTelemetry: one span per step of a turn. Without OTEL_* variables nothing is recorded, and next to nothing is spent."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import AbstractContextManager, aclosing, contextmanager, nullcontext
from functools import wraps
from inspect import isasyncgenfunction
from typing import Any, Final, TypeVar, cast

from opentelemetry import propagate, trace
from opentelemetry.context import Context, attach, detach
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, Tracer, TracerProvider

from assistant.errors import AssistantError, BadSetting

Value = str | int | float | bool
Work = TypeVar("Work", bound=Callable[..., Any])

SCOPE: Final = "assistant"
_OFF: Final = nullcontext()
_WISHES: Final = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_TRACES_EXPORTER")


class _Telling:
    """Where spans go (None: nowhere), and whether they may hold prompts and answers."""

    tracer: Tracer | None = None
    content: bool = False


def configure_tracing(*, content: bool = False) -> bool:
    """Send spans where the OTEL_* variables say; whether they say anything. Call it once, before anything runs.

    OTEL_EXPORTER_OTLP_ENDPOINT (HTTP) or OTEL_TRACES_EXPORTER=otlp|console turn traces on, OTEL_SDK_DISABLED=true or
    OTEL_TRACES_EXPORTER=none off; name, sampler, headers and batches are those of the SDK's own variables. Prompts and answers
    are in spans only with `content`. Raises BadSetting where the extra `telemetry` is not installed, and for another exporter.
    """
    if not is_wished(os.environ):
        return False
    provider = trace.get_tracer_provider()
    if isinstance(provider, trace.ProxyTracerProvider):  # nobody, as opentelemetry-instrument does, came before
        provider = _provider(os.environ)  # ours alone: FastAPI writes paths and queries into spans of the global one
    trace_with(provider, content=content)
    return True


def is_wished(environment: Mapping[str, str]) -> bool:
    """Whether the variables ask for traces."""
    if environment.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return False
    return environment.get("OTEL_TRACES_EXPORTER") != "none" and any(environment.get(name) for name in _WISHES)


def _provider(environment: Mapping[str, str]) -> TracerProvider:
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider as Provider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor, ConsoleSpanExporter
    except ImportError as error:
        raise BadSetting("traces need the extra: pip install assistant[telemetry]", setting="OTEL_*") from error
    kind = environment.get("OTEL_TRACES_EXPORTER") or "otlp"
    if kind not in ("otlp", "console"):
        raise BadSetting("spans go to otlp (over HTTP), console or none", setting="OTEL_TRACES_EXPORTER", given=kind)
    named = "OTEL_SERVICE_NAME" in environment or "service.name" in environment.get("OTEL_RESOURCE_ATTRIBUTES", "")
    provider = Provider(resource=Resource.create({} if named else {"service.name": SCOPE}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter() if kind == "otlp" else ConsoleSpanExporter()))
    return provider


def trace_with(provider: TracerProvider | None, *, content: bool = False) -> None:
    """Record spans with this provider; with None no more."""
    _Telling.tracer = provider.get_tracer(SCOPE) if provider is not None else None
    _Telling.content = content and provider is not None


def tells_content() -> bool:
    """Whether prompts and answers may be written into spans."""
    return _Telling.content


def is_tracing() -> bool:
    """Whether spans are recorded."""
    return _Telling.tracer is not None


def begin(name: str, kind: SpanKind = SpanKind.INTERNAL, **attributes: Value) -> Span | None:
    """A span that its caller ends, beneath the present one but not present itself; None when nothing is recorded."""
    tracer = _Telling.tracer
    return tracer.start_span(name, kind=kind, attributes=attributes) if tracer is not None else None


def present(attributes: Mapping[str, Value]) -> None:
    """Put attributes on the present span, where there is one."""
    if _Telling.tracer is not None:
        trace.get_current_span().set_attributes(attributes)


def fail(span: Span, error: BaseException) -> None:
    """Mark a span as failed by the code of the error. Its text may hold what was asked, so it is left out."""
    _mark(span, error.code if isinstance(error, AssistantError) else type(error).__name__)


def fail_present(code: str) -> None:
    """Mark the present span, where there is one, as failed by a code."""
    if _Telling.tracer is not None:
        _mark(trace.get_current_span(), code)


def _mark(span: Span, code: str) -> None:
    span.set_attribute("error.type", code)
    span.set_status(Status(StatusCode.ERROR, code))


def step(name: str, **attributes: Value) -> AbstractContextManager[object]:
    """A span around a block that awaits but does not yield; what is begun inside is beneath it."""
    return _OFF if _Telling.tracer is None else _recorded(name, attributes)


@contextmanager
def _recorded(name: str, attributes: Mapping[str, Value]) -> Iterator[Span]:
    tracer = cast("Tracer", _Telling.tracer)
    with tracer.start_as_current_span(
        name, attributes=attributes, record_exception=False, set_status_on_exception=False
    ) as span:
        try:
            yield span
        except Exception as error:
            fail(span, error)
            raise


def stepping(name: str) -> Callable[[Work], Work]:
    """Make every call of an async function, or every run of an async generator, one step of this name."""

    def around(work: Work) -> Work:
        @wraps(work)
        def generator(*given: Any, **named: Any) -> AsyncGenerator[Any, None]:
            source: AsyncGenerator[Any, None] = work(*given, **named)
            return source if _Telling.tracer is None else _stepped(name, source)

        @wraps(work)
        async def function(*given: Any, **named: Any) -> Any:
            with step(name):
                return await work(*given, **named)

        return cast("Work", generator if isasyncgenfunction(work) else function)

    return around


async def _stepped(name: str, source: AsyncGenerator[Any, None]) -> AsyncGenerator[Any, None]:
    """The items of a generator. Its span is the present one only while the generator itself works, never while others do."""
    span = begin(name)
    assert span is not None  # noqa: S101 - asked before
    inside = trace.set_span_in_context(span)
    try:
        async with aclosing(source):
            while True:
                token = attach(inside)
                try:
                    item = await anext(source)
                except StopAsyncIteration:
                    return
                finally:
                    detach(token)
                yield item
    except Exception as error:
        fail(span, error)
        raise
    finally:
        span.end()


def beneath(headers: Mapping[str, str]) -> AbstractContextManager[object]:
    """Let what is begun inside, and in tasks made inside, belong to the trace that the `traceparent` of these headers names."""
    if (
        _Telling.tracer is None or trace.get_current_span().get_span_context().is_valid
    ):  # one of the server's own goes before
        return _OFF
    return _attached(propagate.extract(headers))


@contextmanager
def _attached(context: Context) -> Iterator[None]:
    token = attach(context)
    try:
        yield
    finally:
        detach(token)
