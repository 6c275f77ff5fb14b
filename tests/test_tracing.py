from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import aclosing

import pytest
from opentelemetry import trace

from assistant.errors import BadSetting, ModelUnavailable
from assistant.telemetry import tracing as module
from assistant.telemetry.tracing import beneath, is_tracing, is_wished, step, stepping
from tests.telemetry_seen import tracing, tree

TRACE = "0af7651916cd43dd8448eb211c80319c"


@stepping("work")
async def work(value: int) -> int:
    with step("inner"):
        await asyncio.sleep(0)
    return value


@stepping("words")
async def words(number: int) -> AsyncGenerator[str, None]:
    for n in range(number):
        with step("word"):
            await asyncio.sleep(0)
        yield str(n)


async def test_without_a_provider_nothing_is_recorded_and_everything_works() -> None:
    assert not is_tracing()
    assert await work(3) == 3
    async with aclosing(words(2)) as said:
        assert [word async for word in said] == ["0", "1"]
    assert step("a") is step("b")


async def test_steps_are_beneath_each_other() -> None:
    with tracing() as seen, step("outer"):
        assert await work(3) == 3
    assert tree(seen.get_finished_spans()) == [("", "outer"), ("outer", "work"), ("work", "inner")]


async def test_a_generator_is_the_present_span_only_while_it_works() -> None:
    with tracing() as seen, step("outer"):
        async with aclosing(words(2)) as said:
            async for _ in said:
                with step("reader"):
                    pass
    assert tree(seen.get_finished_spans()) == [
        ("", "outer"), ("outer", "words"), ("words", "word"), ("outer", "reader"), ("words", "word"), ("outer", "reader"),
    ]  # fmt: skip


async def test_a_generator_that_is_closed_in_another_task_ends_its_span() -> None:
    with tracing() as seen:
        said = words(5)
        assert await anext(said) == "0"
        await asyncio.create_task(said.aclose())
    assert [span.name for span in seen.get_finished_spans()] == ["word", "words"]


async def test_a_failure_is_told_by_its_code_and_not_by_its_text() -> None:
    @stepping("fails")
    async def fails() -> None:
        raise ModelUnavailable("the secret question")

    with tracing() as seen, pytest.raises(ModelUnavailable):
        await fails()
    (span,) = seen.get_finished_spans()
    assert (span.attributes or {})["error.type"] == "model_unavailable"
    assert not span.status.is_ok
    assert "secret" not in span.to_json()


async def test_tasks_that_are_made_inside_belong_to_the_trace_of_the_caller() -> None:
    with tracing() as seen:
        with beneath({"traceparent": f"00-{TRACE}-b7ad6b7169203331-01"}):
            task = asyncio.create_task(work(1))
        await task
    spans = seen.get_finished_spans()
    assert {trace.format_trace_id(span.context.trace_id) for span in spans if span.context} == {TRACE}
    assert tree(spans) == [("outside", "work"), ("work", "inner")]


@pytest.mark.parametrize("given", ["", "00-zz-yy-01", "00-" + "0" * 32 + "-" + "0" * 16 + "-01", "é" * 5000])
async def test_a_hostile_traceparent_begins_a_trace_of_its_own(given: str) -> None:
    with tracing() as seen, beneath({"traceparent": given}):
        await work(1)
    assert tree(seen.get_finished_spans()) == [("", "work"), ("work", "inner")]


@pytest.mark.parametrize(
    ("environment", "wished"),
    [
        ({}, False),
        ({"OTEL_SERVICE_NAME": "x"}, False),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"}, True),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:4318/v1/traces"}, True),
        ({"OTEL_TRACES_EXPORTER": "console"}, True),
        ({"OTEL_TRACES_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"}, False),
        ({"OTEL_SDK_DISABLED": "true", "OTEL_TRACES_EXPORTER": "otlp"}, False),
    ],
)
def test_the_variables_of_opentelemetry_turn_it_on(environment: dict[str, str], wished: bool) -> None:
    assert is_wished(environment) is wished


def test_an_exporter_that_is_not_there_is_refused() -> None:
    with pytest.raises(BadSetting):
        module._provider({"OTEL_TRACES_EXPORTER": "zipkin"})


CONSOLE = """
from assistant.telemetry import configure_tracing, step
assert configure_tracing()
with step("outer"):
    pass
"""


def test_a_process_sends_its_spans_where_the_variables_say() -> None:
    env = {**os.environ, "OTEL_TRACES_EXPORTER": "console", "OTEL_RESOURCE_ATTRIBUTES": "service.name=desk"}
    ran = subprocess.run(
        [sys.executable, "-c", CONSOLE], env=env, capture_output=True, text=True, timeout=60, check=True
    )
    assert '"name": "outer"' in ran.stdout
    assert '"service.name": "desk"' in ran.stdout
