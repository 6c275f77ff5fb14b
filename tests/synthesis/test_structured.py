"""Structured answers: checked against their schema, mended once, cited in their texts."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from assistant.core.modes import Mode
from assistant.core.structured import align_fields, read_json, text_fields, write_json
from assistant.core.text import Span
from assistant.errors import BadInput, Steer
from assistant.synthesis.structured import check_schema
from tests.making import passage
from tests.synthesis.making import job_of, passages, planned, run, scripted

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"days": {"type": "integer"}, "basis": {"type": "string"}},
    "required": ["days", "basis"],
    "additionalProperties": False,
}
GOOD = '{"days": 20, "basis": "Employees get 20 days of annual leave."}'


@pytest.mark.parametrize("mode", [Mode.SIMPLE_SUMMARIZE, Mode.REFINE, Mode.COMPACT, Mode.TREE_SUMMARIZE])
async def test_only_the_last_call_is_bound_to_the_schema_and_its_answer_is_checked(mode: Mode) -> None:
    plan = planned(passages(12, 8), mode, 2600, schema=SCHEMA)
    model = scripted(lambda call: GOOD if call.schema else "A partial answer.", piece=9)
    text, _, _ = await run(mode, model, job_of(plan, schema=SCHEMA))
    assert json.loads(text) == json.loads(GOOD)
    assert [call.request.schema is not None for call in model.calls] == [False] * (len(model.calls) - 1) + [True]
    assert '"required":["days","basis"]' in model.calls[-1].request.messages[0].text


@pytest.mark.parametrize(
    "bad", ["not json", '{"days": "many", "basis": ""}', "{}", "[1]", '{"days": NaN, "basis": ""}']
)
async def test_a_wrong_answer_is_mended_once(bad: str) -> None:
    plan = planned(passages(2), Mode.SIMPLE_SUMMARIZE, schema=SCHEMA)
    model = scripted([bad, f"```json\n{GOOD}\n```"])
    text, steps, finish = await run(Mode.SIMPLE_SUMMARIZE, model, job_of(plan, schema=SCHEMA))
    assert json.loads(text) == json.loads(GOOD)
    assert [call.request.purpose for call in model.calls] == ["answer", "repair"]
    assert (steps[0].failed, finish.usage.calls) == ("model_output_invalid", 2)


async def test_an_answer_that_cannot_be_mended_is_a_typed_error() -> None:
    plan = planned(passages(2), Mode.SIMPLE_SUMMARIZE, schema=SCHEMA)
    with pytest.raises(Steer) as caught:
        await run(Mode.SIMPLE_SUMMARIZE, scripted(lambda _: '{"days": "secret"}'), job_of(plan, schema=SCHEMA))
    assert "secret" not in json.dumps(caught.value.data)


async def test_a_refusal_stays_a_refusal() -> None:
    plan = planned(passages(2), Mode.SIMPLE_SUMMARIZE, schema=SCHEMA)
    text, _, _ = await run(Mode.SIMPLE_SUMMARIZE, scripted(lambda _: plan.prompts.refusal), job_of(plan, schema=SCHEMA))
    assert text == plan.prompts.refusal


@pytest.mark.parametrize("mode", [Mode.ACCUMULATE, Mode.COMPACT_ACCUMULATE, Mode.CONTEXT_ONLY])
async def test_modes_that_only_collect_refuse_a_schema(mode: Mode) -> None:
    plan = planned(passages(2), mode, schema=SCHEMA)
    with pytest.raises(BadInput):
        await run(mode, scripted(lambda _: GOOD), job_of(plan, schema=SCHEMA))


def deep(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"a": schema}}
    return schema


def multiplying(levels: int) -> dict[str, Any]:
    """Few lines that check a value in 2 ** levels ways."""
    both = {f"a{n}": {"anyOf": [{"$ref": f"#/$defs/a{n - 1}"}] * 2} for n in range(1, levels)}
    return {"$defs": {"a0": {"type": "string"}, **both}, "$ref": f"#/$defs/a{levels - 1}"}


@pytest.mark.parametrize(
    "schema",
    [
        multiplying(40),
        {"$ref": "#"},
        {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"},
        {"$ref": "#/$defs/nothing"},
        {"$defs": {"a": {"$id": "http://example.org/x"}}, "$ref": "#/$defs/a"},
        {"type": "nonsense"},
        {"type": "object", "properties": 3},
        {"$ref": "http://example.org/schema"},
        {"properties": {"a": {"$ref": "file:///etc/passwd"}}},
        {"type": "string", "pattern": "(a+)+$"},
        {"patternProperties": {"(a+)+$": {}}},
        {"description": "x" * 30_000},
        deep(2_000),
    ],
)
def test_schemas_that_cannot_be_used_are_refused(schema: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        check_schema(schema)


def test_schemas_of_pydantic_with_models_inside_may_be_used() -> None:
    class Rule(BaseModel):
        text: str

    class Report(BaseModel):
        conclusion: str
        basis: list[Rule]
        risks: list[Rule] = []

    check_schema(Report.model_json_schema())


def test_a_member_may_be_called_pattern() -> None:
    check_schema({"type": "object", "properties": {"pattern": {"type": "string"}}})


@given(
    st.recursive(
        st.text() | st.integers() | st.none() | st.booleans(),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
        max_leaves=12,
    )
)
def test_the_texts_of_a_document_and_their_places(value: Any) -> None:
    document = write_json(value)

    def texts(part: Any) -> list[str]:
        if isinstance(part, str):
            return [part]
        inner = part.values() if isinstance(part, dict) else part if isinstance(part, list) else []
        return [text for each in inner for text in texts(each)]

    fields = list(text_fields(document))
    assert [field.text for field in fields] == texts(value)
    for field in fields:
        for place in range(len(field.text)):
            span = field.place(Span(place, place + 1))
            assert json.loads(f'"{document[span.start : span.end]}"') == field.text[place]
    assert read_json(document) == value


def test_citations_of_a_structured_answer_lie_in_its_texts() -> None:
    shown = planned(
        [passage('Employees get 20 days of "annual" leave.\nIt is paid.', "leave")], Mode.SIMPLE_SUMMARIZE
    ).evidence
    document = write_json(
        {"days": 20, "basis": 'Employees get 20 days of "annual" leave.', "note": "Cars are red and free for all."}
    )
    found = align_fields(document, shown)
    (citation,) = found.citations
    assert json.loads(f'"{document[citation.start : citation.end]}"') == 'Employees get 20 days of "annual" leave.'
    wrong = [item for item in found.sentences if item.verdict.value == "unsupported"]
    assert [document[item.start : item.end] for item in wrong] == ["Cars are red and free for all."]
