"""Replaying: the prompts of a kept answer are put to a model again, and what it says is made into an answer as it was then."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from assistant.conversation.answering import aligned
from assistant.conversation.concluding import cited_events, ending_of, status_of, usage_event
from assistant.conversation.pictures import MOST_IMAGES
from assistant.conversation.recording import RecordingModel
from assistant.conversation.turns import Stopwatch, Trace
from assistant.core.calls import ModelCall
from assistant.core.checking import check_draft, without
from assistant.core.conflicts import Conflict
from assistant.core.events import AnswerDelta, AnswerStarted, TurnEvent, TurnFinished, TurnPlanned
from assistant.core.evidence import Evidence
from assistant.core.marks import MarkScanner, strip_marks
from assistant.core.messages import Image, Message, Role
from assistant.core.modes import Mode, is_grounded, mode_named
from assistant.core.prompt import ModelRequest, PromptSet, Sampling, escape_text
from assistant.core.structured import read_json, write_json
from assistant.core.text import Span, without_unstorable
from assistant.core.turn import TurnMessage, fold
from assistant.errors import BadInput, Steer
from assistant.interfaces import ChatModel
from assistant.synthesis.calls import Reply, complete
from assistant.synthesis.opening import answer_of

WRITING: Final = frozenset({"answer", "refine", "summary", "verify", "repair", "generation"})
"""The purposes of the calls that an answer is made of; the others search, rewrite or take notes."""
_IMPROVING: Final = frozenset({"refine", "verify", "repair"})


@dataclass(frozen=True, slots=True)
class PastAnswer:
    """An answer as it is kept: its fold, its model calls, and the evidence and conflicts that it was made from.

    `images` are those that a multi-modal prompt showed, as far as they are still kept.
    """

    message: TurnMessage
    calls: tuple[ModelCall, ...]
    evidence: tuple[Evidence, ...]
    conflicts: tuple[Conflict, ...] = ()
    images: tuple[Image, ...] = ()


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A call of the turn that a replay does not make again, why, and what it cost then."""

    purpose: str
    model: str
    why: str
    tokens_in: int
    tokens_out: int
    cost: float | None


_WHY: Final = {
    "rewrite": "it made the question standalone; the prompts hold its result",
    "conflicts": "it looked for conflicts; those that were found then are in the prompts",
    "judge": "it judged sentences of the answer of then; sentences of the new one are checked by rule",
    "recap": "it wrote the notes of earlier turns; the prompts hold them as they were",
}


def left_out(past: PastAnswer) -> tuple[LeftOut, ...]:
    """The calls of the turn that wrote nothing of the answer, in order: a replay answers from what came of them."""
    other = "it wrote nothing of the answer"
    return tuple(
        LeftOut(
            call.purpose,
            call.model,
            _WHY.get(call.purpose, other),
            call.usage.tokens_in,
            call.usage.tokens_out,
            call.usage.cost,
        )
        for call in past.calls
        if call.purpose not in WRITING
    )


def lost_images(past: PastAnswer) -> int:
    """How many images the model was shown then that can no longer be sent: their document is gone, or has its images no more."""
    if past.message.plan is None or mode_named(past.message.plan.mode) is not Mode.MULTI_MODAL:
        return 0
    shown = {image.id for item in past.evidence for image in item.images}
    return min(len(shown), MOST_IMAGES) - len(past.images)


async def replay(past: PastAnswer, model: ChatModel, prompts: PromptSet, clock: Callable[[], float]) -> TurnMessage:
    """The answer that the model gives to the same prompts over the same evidence; nothing is searched or stored.

    Every prompt is sent as it was, one after the other, with its images and bound to its schema: in a mode of several steps each holds the
    drafts of then. Calls that wrote nothing of the answer are not made again (`left_out`). `prompts` are those of the answer's language; they serve to
    know a refusal. Raises BadInput with `reason` "erased" or "no_calls" where there is nothing to send, Steer where JSON is due
    and none comes, and what the model raises.
    """
    plan, calls = past.message.plan, [call for call in past.calls if call.purpose in WRITING]
    if plan is None:
        raise BadInput("the text of this answer is no longer kept", reason="erased")
    if not calls:
        raise BadInput("no call of a model is kept of this answer", reason="no_calls")
    trace, watch = Trace(past.evidence, past.conflicts), Stopwatch(clock)
    trace.grounded, trace.structured = is_grounded(mode_named(plan.mode)), plan.structured
    recording = RecordingModel(model, trace.calls, watch)
    requests = await asyncio.to_thread(requests_of, past, plan, calls, prompts)
    replies = [await complete(recording, request) for request in requests]
    said = _said(calls, replies, prompts.refusal)
    trace.ms_answer, trace.finish = watch.ms(), _finish(said, replies)
    text = await asyncio.to_thread(_written, past, plan, said, prompts.refusal)
    scanner = MarkScanner()
    text = scanner.feed(without_unstorable(text)) + scanner.close()
    trace.hints = scanner.hints
    started = AnswerStarted(model.name, past.message.prompt or "", past.message.parameters)
    message = fold([plan, started, AnswerDelta(0, text)], TurnMessage(question=past.message.question))
    return await _concluded(past, message, trace, (watch, prompts.refusal))


async def _concluded(
    past: PastAnswer, message: TurnMessage, trace: Trace, course: tuple[Stopwatch, str]
) -> TurnMessage:
    """The end of the new turn, as every turn ends; what both answers cite keeps its number."""
    watch, refusal = course
    items = past.message.citations.items if past.message.citations else ()
    numbers = {item.evidence: item.n for item in items}
    ending = ending_of(message, trace, refusal)
    alignment = await aligned(message.text, ending.finish, trace, numbers)
    events: list[TurnEvent] = [ending, *cited_events(alignment, trace, numbers), usage_event(trace, watch)]
    return fold([*events, TurnFinished(status_of(ending.finish))], message)


def requests_of(
    past: PastAnswer, plan: TurnPlanned, calls: Sequence[ModelCall], prompts: PromptSet
) -> list[ModelRequest]:
    """The requests behind these calls: their messages as they were, and beside them the values they were rendered from.

    Only a model without weights reads these values; they are told from the messages and from the replies before.
    """
    sampling, before = _sampling(past.message, plan), list[str]()
    requests: list[ModelRequest] = []
    for call in calls:
        values = _values(past, call, before)
        filtered = bool(prompts.filter) and prompts.filter in call.messages[0].text
        common: dict[str, Any] = {
            "sampling": sampling,
            "question": plan.standalone,
            "language": plan.language,
            "filtered": filtered,
        }
        common["schema"] = schema_in(call) if plan.structured else None
        messages = _pictured(call, past.images) if mode_named(plan.mode) is Mode.MULTI_MODAL else call.messages
        requests.append(ModelRequest(messages=messages, purpose=call.purpose, **common, **values))
        before += [part] if (part := _part(call.text, prompts.refusal)) else []
    return requests


def _pictured(call: ModelCall, images: tuple[Image, ...]) -> tuple[Message, ...]:
    """The messages of a call with the images that went with the question."""
    if call.purpose != "answer" or call.messages[-1].role is not Role.USER:
        return call.messages
    return (*call.messages[:-1], replace(call.messages[-1], images=images))


def schema_in(call: ModelCall) -> Mapping[str, Any] | None:
    """The JSON schema that a call was bound to, told from its instructions, which show it; None where they show none.

    It is looked for in the text and not by today's prompts: those may have been changed since.
    """
    text, decoder = call.messages[0].text, json.JSONDecoder()
    at = text.find("{")
    while at >= 0:
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            value, end = None, at + 1
        if isinstance(value, dict) and not _SCHEMA_WORDS.isdisjoint(value):
            return value
        at = text.find("{", max(end, at + 1))
    return None


_SCHEMA_WORDS: Final = frozenset({"type", "properties", "items", "enum", "const", "$ref", "anyOf", "oneOf", "allOf"})


def _sampling(message: TurnMessage, plan: TurnPlanned) -> Sampling:
    given: dict[str, Any] = {name: value for name, value in message.parameters if name in Sampling.__slots__}
    return Sampling(**given | {"max_tokens": int(given.get("max_tokens", plan.budget.output))})


def _values(past: PastAnswer, call: ModelCall, before: Sequence[str]) -> dict[str, Any]:
    prompt = "\n".join(message.text for message in call.messages)
    places = {item.id: prompt.find(f'<evidence id="{item.id}"') for item in past.evidence}
    ids = {id_ for id_, place in places.items() if place >= 0}
    shown = tuple(sorted((item for item in past.evidence if item.id in ids), key=lambda item: places[item.id]))
    conflicts = tuple(each for each in past.conflicts if all(side.evidence in ids for side in each.sides))
    draft = before[-1] if before and call.purpose in _IMPROVING else ""
    flagged = tuple(check_draft(draft, past.evidence).flagged()) if call.purpose == "verify" else ()
    partials = tuple(part for part in before if call.purpose == "summary" and escape_text(part) in prompt)
    return {"evidence": shown, "conflicts": conflicts, "draft": draft, "flagged": flagged, "partials": partials}


def _part(reply: str, refusal: str) -> str:
    """What a reply adds to an answer: without marks, empty when it refuses or finds its evidence irrelevant."""
    return answer_of(strip_marks(reply), refusal, filtered=True)


@dataclass(frozen=True, slots=True)
class _Said:
    """What a call said then (without marks) and says now (with them); empty where it refuses."""

    then: str
    now: str


def _said(calls: Sequence[ModelCall], replies: Sequence[Reply], refusal: str) -> list[_Said]:
    pairs = zip(calls, replies, strict=True)
    return [_Said(_part(call.text, refusal), answer_of(reply.text, refusal, filtered=True)) for call, reply in pairs]


def _finish(said: Sequence[_Said], replies: Sequence[Reply]) -> str:
    """How the last reply ended that is part of the answer; the last one when none is."""
    pairs = zip(reversed(said), reversed(replies), strict=True)
    return next((reply.reason for each, reply in pairs if each.now), replies[-1].reason)


def _written(past: PastAnswer, plan: TurnPlanned, said: Sequence[_Said], refusal: str) -> str:
    """The new answer, put together of the replies as the old one was."""
    text = _put_together(past.message.text, said, refusal)
    if plan.structured and text != refusal:
        return _as_json(text)
    if mode_named(plan.mode) is Mode.VERIFIED and text != refusal:
        text = strip_marks(text)
        return without(text, check_draft(text, past.evidence).flagged()) or refusal
    return text


def _put_together(old: str, said: Sequence[_Said], refusal: str) -> str:
    """Where replies stand in the old answer word for word, the new ones take their places; else the last one that says anything is it."""
    places = list(_places(old, said))
    if len(places) < 2 and (not places or places[0][0] == Span(0, len(old))):
        return next((each.now for each in reversed(said) if each.now), refusal)
    text, at = "", 0
    for span, now in sorted(places):
        text, at = text + old[at : span.start] + (now or refusal), span.end
    return text + old[at:]


def _places(old: str, said: Sequence[_Said]) -> Iterator[tuple[Span, str]]:
    """The spans of the old answer that one reply each wrote, the longest first, none within another."""
    taken: list[Span] = []
    for each in sorted(said, key=lambda each: -len(each.then)):
        start = old.find(each.then) if each.then else -1
        while start >= 0 and any(start < span.end and span.start < start + len(each.then) for span in taken):
            start = old.find(each.then, start + 1)
        if start >= 0:
            taken.append(Span(start, start + len(each.then)))
            yield taken[-1], each.now


def _as_json(text: str) -> str:
    try:
        return write_json(read_json(text))
    except (ValueError, RecursionError):
        raise Steer("the reply is not the JSON that was asked for", reason="not JSON") from None
