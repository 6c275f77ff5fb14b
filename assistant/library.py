"""The assistant as a library: answers from one's own passages, without server or database.

It plans, writes and cites with the very code that a turn of a conversation runs.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, Final

from pydantic import BaseModel

from assistant.conversation.answering import Answering, Route, TurnPolicy, aligned
from assistant.conversation.concluding import cited_events, ending_of, planned_event, usage_event
from assistant.conversation.turns import Stopwatch, Trace
from assistant.core.calls import ModelCall
from assistant.core.events import TurnEvent
from assistant.core.evidence import Authority, Passage, SourceVersion
from assistant.core.history import PastTurn
from assistant.core.messages import Image
from assistant.core.modes import is_grounded
from assistant.core.planning import TurnRequest
from assistant.core.preparation import Preparation
from assistant.core.selection import SelectionPolicy, select
from assistant.core.structured import read_json
from assistant.core.text import Span, language, prompt_language
from assistant.core.turn import TurnMessage, apply
from assistant.errors import BadInput
from assistant.interfaces import ChatModel
from assistant.llm.extractive import ExtractiveModel
from assistant.prompts import Prompts, load_prompts
from assistant.synthesis.job import PARALLEL, SentenceRule
from assistant.synthesis.registry import get_preparation, get_synthesizer, read_mode
from assistant.synthesis.structured import check_schema

__all__ = ["Answer", "answer_events", "get_synthesizer", "passage", "synthesize"]

Schema = Mapping[str, Any] | type[BaseModel]
_ALL: Final = 10_000


@dataclass(frozen=True, slots=True)
class Answer:
    """A finished answer: its message (text, plan, citations, conflicts, usage), every model call, the parsed value.

    `value` is the instance of the pydantic model, or the JSON value, of a structured answer; None otherwise and when the
    documents do not answer.
    """

    message: TurnMessage
    calls: tuple[ModelCall, ...]
    value: Any = None

    @property
    def text(self) -> str:
        """The text of the answer."""
        return self.message.text


def passage(
    text: str,
    title: str = "",
    *,
    on: date | None = None,
    authority: Authority = Authority.MEDIUM,
    score: float = 0.5,
    family: str | None = None,
    uri: str = "",
) -> Passage:
    """A passage of one's own: the whole text of a document, dated where it has a date, `score` 0..1 best first.

    Passages of one `family` are editions of one document. Raises BadInput for an empty text.
    """
    if not text.strip():
        raise BadInput("a passage needs a text", reason="empty")
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    source = SourceVersion(
        document=f"p{hashlib.sha256(f'{uri}|{title}|{digest}'.encode()).hexdigest()[:16]}",
        number=1,
        sha256=digest,
        title=title or text.strip().splitlines()[0][:60],
        uri=uri or title,
        collection="library",
        date=on,
        authority=authority,
        language=language(text),
        family=family,
    )
    return Passage(id=source.document, text=text, source=source, span=Span(0, len(text)), score=score)


async def synthesize(
    question: str,
    passages: Sequence[Passage | str],
    *,
    mode: str = "auto",
    model: ChatModel | None = None,
    schema: Schema | None = None,
    prompts: Prompts = load_prompts,
    policy: TurnPolicy | None = None,
    prepare: Sequence[str | Preparation] = (),
    history: Sequence[PastTurn] = (),
    rules: Sequence[SentenceRule] = (),
    images: Sequence[Image] = (),
    parallel: int = PARALLEL,
    on_event: Callable[[TurnEvent], None] = lambda _: None,
) -> Answer:
    """Answer a question from passages; `on_event` sees every step as it happens.

    `mode` is auto or the name of a mode, built in or registered; `model` by default the extractive one, which needs
    nothing; `schema` a JSON schema or a pydantic model for a structured answer; `prepare` steps by name or as functions.
    Raises BadInput for what cannot be asked, QuestionTooLong, and what the model raises.
    """
    calls: list[ModelCall] = []
    message = TurnMessage(question=question)
    events = answer_events(
        question,
        passages,
        mode=mode,
        model=model,
        schema=schema,
        prompts=prompts,
        policy=policy,
        prepare=prepare,
        history=history,
        rules=rules,
        images=images,
        parallel=parallel,
        calls=calls,
    )
    async with aclosing(events) as source:
        async for event in source:
            message = apply(message, event)
            on_event(event)
    return Answer(message, tuple(calls), _value(message, schema))


async def answer_events(
    question: str,
    passages: Sequence[Passage | str],
    *,
    mode: str = "auto",
    model: ChatModel | None = None,
    schema: Schema | None = None,
    prompts: Prompts = load_prompts,
    policy: TurnPolicy | None = None,
    prepare: Sequence[str | Preparation] = (),
    history: Sequence[PastTurn] = (),
    rules: Sequence[SentenceRule] = (),
    images: Sequence[Image] = (),
    parallel: int = PARALLEL,
    calls: list[ModelCall] | None = None,
) -> AsyncGenerator[TurnEvent, None]:
    """The same as a stream: the plan, the answer as it is written, its end, citations, conflicts, usage.

    Closing the generator stops the model. Model calls are added to `calls` as they end.
    """
    asked = await asyncio.to_thread(read_mode, mode)  # the first look at what is registered reads files
    form = _schema(schema)
    watch, trace = Stopwatch(time.monotonic), Trace(structured=form is not None)
    trace.calls = [] if calls is None else calls
    chosen = await asyncio.to_thread(ExtractiveModel) if model is None else model
    answering = Answering(
        main=Route(chosen, sees=bool(images)),
        prompts=prompts,
        policy=_with_steps(policy or TurnPolicy(selection=SelectionPolicy(limit=_ALL)), prepare),
        rules=tuple(rules),
        gate=asyncio.Semaphore(parallel),
    )
    found = [item if isinstance(item, Passage) else passage(item) for item in passages]
    evidence = await asyncio.to_thread(select, found, answering.policy.selection)
    request = TurnRequest(question, evidence, tuple(history), asked, schema=form)
    plan, route = await asyncio.to_thread(answering.plan, request, prompt_language(question))
    trace.evidence, trace.conflicts, trace.grounded = plan.evidence, plan.conflicts, is_grounded(plan.choice.mode)
    message = TurnMessage(question=question)
    planned = planned_event(plan, {}, structured=trace.structured)
    message = apply(message, planned)
    yield planned
    writing = answering.write(
        plan, route, trace=trace, watch=watch, cancelled=asyncio.Event(), schema=form, images=tuple(images)
    )
    async with aclosing(writing) as events:
        async for event in events:
            message = apply(message, event)
            yield event
    trace.ms_answer = watch.ms()
    ending = ending_of(message, trace, plan.prompts.refusal)
    yield ending
    for event in cited_events(await aligned(message.text, ending.finish, trace, {}), trace, {}):
        yield event
    yield usage_event(trace, watch)


def _schema(schema: Schema | None) -> Mapping[str, Any] | None:
    if schema is None:
        return None
    form = schema.model_json_schema() if isinstance(schema, type) else schema
    check_schema(form)
    return form


def _with_steps(policy: TurnPolicy, steps: Sequence[str | Preparation]) -> TurnPolicy:
    found = tuple(get_preparation(step) if isinstance(step, str) else step for step in steps)
    return replace(policy, preparations=found or policy.preparations)


def _value(message: TurnMessage, schema: Schema | None) -> Any:
    if schema is None or message.finish == "no_answer":
        return None
    return schema.model_validate_json(message.text) if isinstance(schema, type) else read_json(message.text)
