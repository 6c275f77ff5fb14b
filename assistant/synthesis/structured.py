"""Structured answers: whatever the mode, the reply is JSON of the schema; one repair, then a typed error."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any, Final

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, best_match

from assistant.core.messages import ModelDelta, ModelFinish, Usage
from assistant.core.outcome import is_refusal
from assistant.core.prompt import repair_request
from assistant.core.structured import read_json, write_json
from assistant.errors import BadInput, Steer
from assistant.interfaces import ChatModel
from assistant.synthesis.calls import complete
from assistant.synthesis.job import Job, Step, StepDone, Synthesizer

MOST_SCHEMA_CHARACTERS: Final = 20_000
MOST_SCHEMA_PARTS: Final = 5_000
"""Parts of a schema when every reference is replaced by what it points to: what checking a value may cost."""
_ASIDE: Final = frozenset({"$defs", "definitions", "enum", "const", "default", "examples"})


def check_schema(schema: Mapping[str, Any]) -> None:
    """BadInput when the schema is too long, is no JSON schema (2020-12), or points outside of itself."""
    try:
        if len(write_json(schema)) > MOST_SCHEMA_CHARACTERS:
            raise BadInput("the schema is too long", reason="schema", limit=MOST_SCHEMA_CHARACTERS)
        Draft202012Validator.check_schema(schema)
        _check_reach(schema)
    except SchemaError as error:
        raise BadInput(f"not a JSON schema: {error.message[:200]}", reason="schema") from None
    except (RecursionError, TypeError, ValueError):
        raise BadInput("not a JSON schema", reason="schema") from None


def _check_reach(schema: Mapping[str, Any]) -> None:
    """Refuse what could run for ever or reach outside: patterns, other documents, references in a circle or that multiply."""
    if any(_texts_at(schema, key) for key in ("pattern", "patternProperties", "$dynamicRef", "$id")):
        raise BadInput("a schema may hold no patterns, ids or dynamic references", reason="schema")
    if _spelled_out(schema, schema, {}) > MOST_SCHEMA_PARTS:
        raise BadInput("a schema with all references in place is too large", reason="schema", limit=MOST_SCHEMA_PARTS)


def _spelled_out(part: Any, root: Mapping[str, Any], known: dict[str, int | None]) -> int:
    """The number of parts of a schema when every reference is replaced by what it points to.

    Each target is counted once (`known`; None while it is being counted). Raises BadInput for a circle and for a reference
    that points to nothing inside.
    """
    if isinstance(part, Mapping):
        target = part.get("$ref")
        own = _target(target, root, known) if isinstance(target, str) else 0
        return 1 + own + sum(_spelled_out(inner, root, known) for key, inner in part.items() if key not in _ASIDE)
    return 1 + sum(_spelled_out(inner, root, known) for inner in part) if isinstance(part, list) else 1


def _target(target: str, root: Mapping[str, Any], known: dict[str, int | None]) -> int:
    if target in known:
        size = known[target]
        if size is None:
            raise BadInput("a schema may not refer to itself", reason="schema")
        return size
    known[target] = None
    found: Any = root if target.startswith("#/") else None
    for step in target.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        found = found.get(name) if isinstance(found, Mapping) else None
    if found is None:
        raise BadInput("a schema may refer to nothing outside of itself", reason="schema")
    known[target] = size = _spelled_out(found, root, known)
    return size


def _texts_at(value: Any, key: str) -> list[str]:
    """The texts, or the names of members, that stand under this key anywhere inside."""
    if isinstance(value, Mapping):
        own = value.get(key)
        found = [own] if isinstance(own, str) else list(own) if key == "patternProperties" and own else []
        return found + [text for inner in value.values() for text in _texts_at(inner, key)]
    return [text for inner in value for text in _texts_at(inner, key)] if isinstance(value, list) else []


async def structured(synthesizer: Synthesizer, model: ChatModel, job: Job) -> AsyncGenerator[Step, None]:
    """Run the mode, check its reply against the schema, have it mended once; nothing is shown before it is right.

    A refusal stays a refusal. Raises Steer (model_output_invalid) when the mended reply is not right either.
    """
    parts: list[str] = []
    finish = ModelFinish()
    async with aclosing(synthesizer(model, job)) as steps:
        async for step in steps:
            if isinstance(step, ModelDelta):
                parts.append(step.text)
            elif isinstance(step, ModelFinish):
                finish = step
            else:
                yield step
    text, spent = "".join(parts), finish.usage
    if finish.reason != "no_answer" and not is_refusal(text, job.prompts.refusal):
        value, error = checked(text, job.schema or {})
        if error:
            yield StepDone(1, 2, text, "model_output_invalid")
            value, usage = await _mended(model, job, text, error)
            spent += usage
        text = write_json(value)
    yield ModelDelta(text)
    yield ModelFinish(finish.reason, spent)


async def _mended(model: ChatModel, job: Job, text: str, error: str) -> tuple[Any, Usage]:
    request = repair_request(
        prompts=job.prompts,
        question=job.question,
        draft=text,
        error=error,
        schema=job.schema or {},
        sampling=job.sampling,
    )
    reply = await complete(model, request)
    value, again = checked(reply.text, job.schema or {})
    if again:
        raise Steer("the reply does not match the schema", reason=again)
    return value, reply.usage


def checked(text: str, schema: Mapping[str, Any]) -> tuple[Any, str]:
    """The value of a reply and "", or None and what is wrong with it (never more than the place and the rule)."""
    try:
        value = read_json(text)
    except (ValueError, RecursionError):
        return None, "not JSON"
    worst = best_match(Draft202012Validator(schema).iter_errors(value))
    if worst is None:
        return value, ""
    where = "/".join(str(part) for part in worst.absolute_path) or "the whole"
    return None, f"{where}: {worst.validator}"
