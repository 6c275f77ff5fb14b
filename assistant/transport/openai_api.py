"""The OpenAI-compatible door: any OpenAI client can use the assistant as a model; citations come as `url_citation` annotations."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from typing import Annotated, Any, Final, Literal

import orjson
from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

from assistant.conversation.turns import Question
from assistant.core.citations import Citation
from assistant.core.events import AnswerDelta, AnswerFinished, CitationsAdded, TurnFinished, UsageReported
from assistant.core.history import PastTurn
from assistant.core.turn import TurnMessage, apply
from assistant.errors import AssistantError, BadInput, StoreUnavailable
from assistant.interfaces import Identity
from assistant.synthesis.registry import read_mode
from assistant.transport.doors import Doors, read_schema
from assistant.transport.errors import retry_after
from assistant.transport.http import DoorsHere, Who, WhoWith
from assistant.transport.protocol import MAX_QUESTION_CHARS
from assistant.transport.stream import BEAT, allowed

router = APIRouter(prefix="/v1")

NAME: Final = "assistant"
"""The name of the model; `assistant/<mode>` asks for a mode."""
_LONGEST: Final = 200_000
Json = dict[str, Any]


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore")

    type: str
    text: str = Field("", max_length=_LONGEST)


class _Message(BaseModel):
    model_config = ConfigDict(extra="ignore")

    role: Literal["system", "developer", "user", "assistant", "tool"]
    content: Annotated[str, Field(max_length=_LONGEST)] | list[_Part] | None = None

    @property
    def text(self) -> str:
        """The text of the message; parts that are not text are left out."""
        if isinstance(self.content, list):
            return "\n".join(part.text for part in self.content if part.type == "text")
        return self.content or ""


class _Completion(BaseModel):
    model_config = ConfigDict(extra="ignore")

    model: str = Field(NAME, max_length=100)
    messages: list[_Message] = Field(min_length=1, max_length=200)
    stream: bool = False
    stream_options: dict[str, Any] | None = None
    response_format: dict[str, Any] | None = None


@router.get("/models")
async def models(doors: DoorsHere, who: Who) -> Json:
    """The assistant, and the assistant in each of its modes."""
    names = [NAME, *(f"{NAME}/{mode}" for mode in doors.page.get("modes", ()) if mode != "auto")]
    return {
        "object": "list",
        "data": [{"id": name, "object": "model", "created": 0, "owned_by": NAME} for name in names],
    }


@router.post("/chat/completions")
async def completions(doors: DoorsHere, identity: WhoWith, body: _Completion, request: Request) -> Response:
    """Answer the last user message in a session of its own; earlier messages are its history.

    Messages of the system are not followed: what the assistant may say is the operator's to set. Closing a stream stops the
    answer.
    """
    who = identity.caller
    question, past = _asked(body.messages)
    mode, schema = read_mode(_mode(body.model)), read_schema(_schema(body.response_format))
    doors.limiter.take(who)
    opened = await doors.store.open(who, None)
    begun = await doors.live.start(
        who, opened.id, Question(client_id=doors.new_id(), text=question, mode=mode, schema=schema, past=past)
    )
    told = _Told(body.model, opened.id, begun.turn, str(request.base_url), int(doors.now().timestamp()))
    if body.stream:
        wanted = bool((body.stream_options or {}).get("include_usage"))
        return StreamingResponse(_stream(doors, identity, told, usage=wanted), media_type="text/event-stream")
    message = await doors.live.finished(opened.id, begun.turn)
    await doors.authenticator.recheck(identity)  # who was sent away meanwhile is not told
    if message.status == "failed":
        return _failed(message)
    return JSONResponse(told.whole(message))


def _asked(messages: Sequence[_Message]) -> tuple[str, tuple[PastTurn, ...]]:
    """The question, and the pairs of question and answer before it. Raises BadInput when the last message asks nothing."""
    last = messages[-1]
    if last.role != "user" or not last.text.strip():
        raise BadInput("the last message must be of the user and hold text", reason="messages")
    if len(last.text) > MAX_QUESTION_CHARS:
        raise BadInput("the question is too long", reason="messages", limit=MAX_QUESTION_CHARS)
    past: list[PastTurn] = []
    question = ""
    for message in messages[:-1]:
        if message.role == "user":
            question = message.text
        elif message.role == "assistant" and question:
            number = len(past) + 1
            past.append(PastTurn(f"m{number}", question, question, message.text, number))
            question = ""
    return last.text, tuple(past)


def _mode(model: str) -> str:
    name, _, mode = model.partition("/")
    if name != NAME:
        raise BadInput("there is no such model", reason="model", known=[NAME])
    return mode or "auto"


def _schema(form: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """The schema of a `response_format`; any object for `json_object`, None for text."""
    kind = (form or {}).get("type", "text")
    if form is None or kind == "text":
        return None
    if kind == "json_object":
        return {"type": "object"}
    named = form.get("json_schema")
    schema = named.get("schema") if isinstance(named, Mapping) else None
    if kind != "json_schema" or not isinstance(schema, Mapping):
        raise BadInput("a response_format of this form is not known", reason="response_format")
    return schema


class _Told:
    """What is said of one completion, whole or in chunks."""

    def __init__(self, model: str, session: str, turn: str, base: str, created: int) -> None:
        self._head = {"id": f"chatcmpl-{turn}", "created": created, "model": model}
        self.session = session
        self.turn = turn
        self._base = base.rstrip("/")

    def whole(self, message: TurnMessage) -> Json:
        """The finished answer as one object."""
        items = message.citations.items if message.citations else ()
        said = {"role": "assistant", "content": message.text, "refusal": None, "annotations": self.annotations(items)}
        choice = {"index": 0, "message": said, "finish_reason": _reason(message.finish), "logprobs": None}
        usage = _usage(message.usage)
        return {**self._head, "object": "chat.completion", "choices": [choice], "usage": usage, **self._more(message)}

    def chunk(self, delta: Json, finish: str | None = None, **more: Any) -> bytes:
        """One chunk of a stream."""
        choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
        return _sse({**self._head, "object": "chat.completion.chunk", "choices": [choice], **more})

    def spent(self, usage: UsageReported | None) -> bytes:
        """The last chunk of a stream that asked for usage."""
        return _sse({**self._head, "object": "chat.completion.chunk", "choices": [], "usage": _usage(usage)})

    def annotations(self, items: Sequence[Citation]) -> list[Json]:
        """The citations in OpenAI's form; offsets are code points of the answer."""
        return [{"type": "url_citation", "url_citation": self._place(item)} for item in items]

    def _place(self, item: Citation) -> Json:
        uri = item.source.uri
        here = f"{self._base}/api/sessions/{self.session}/turns/{self.turn}/citations/{item.n}/source"
        url = uri if uri.startswith(("http://", "https://")) else here
        return {"start_index": item.start, "end_index": item.end, "title": item.source.title, "url": url}

    def _more(self, message: TurnMessage) -> Json:
        plan = message.plan
        mode = {"mode": plan.mode, "reason": plan.reason, "asked_as": plan.standalone} if plan else {}
        return {NAME: {"session": self.session, "turn": self.turn, "agreement": _agreement(message), **mode}}


async def _stream(doors: Doors, who: Identity, told: _Told, *, usage: bool) -> AsyncGenerator[bytes, None]:
    """The answer as server-sent events: text as it is written, then the citations, then the end.

    It breaks off when the person is sent away. When a source of it may no longer be read the turn itself fails.
    """
    message, ended = TurnMessage(), False
    try:
        yield told.chunk({"role": "assistant", "content": ""})
        async with aclosing(allowed(doors, who, told.session, 0, _is_known)) as events:
            async for numbered in events:
                if numbered is None:
                    yield BEAT
                    continue
                event = numbered.event
                message = apply(message, event)
                match event:
                    case AnswerDelta():
                        yield told.chunk({"content": event.text})
                    case AnswerFinished():
                        ended = True
                    case CitationsAdded() if event.items:
                        yield told.chunk({"annotations": told.annotations(event.items)})
                    case TurnFinished():
                        ended = True
                        break
        if not ended:
            return
        if message.status == "failed":
            yield _sse(_error(message.error or "turn_failed"))
        else:
            yield told.chunk({}, _reason(message.finish))
        if usage:
            yield told.spent(message.usage)
        yield b"data: [DONE]\n\n"
    except StoreUnavailable as error:
        yield _sse(_error(error.code))
    finally:
        if not ended:
            stopping = asyncio.ensure_future(doors.live.cancel(who.caller, told.session, told.turn))
            await asyncio.shield(stopping)  # a client that went cancels this, too, and the answer would go on


async def _is_known(doors: Doors, who: Identity, session: str) -> bool:
    """Whether the person may be here; a server that stops lets the answer end, as this door cannot resume it."""
    try:
        await doors.authenticator.recheck(who)
    except StoreUnavailable:
        raise
    except AssistantError:
        return False
    return True


def _sse(value: Json) -> bytes:
    return b"data: " + orjson.dumps(value) + b"\n\n"


def _reason(finish: str | None) -> str:
    return "length" if finish == "length" else "stop"


def _usage(usage: UsageReported | None) -> Json:
    tokens_in, tokens_out = (usage.tokens_in, usage.tokens_out) if usage else (0, 0)
    return {"prompt_tokens": tokens_in, "completion_tokens": tokens_out, "total_tokens": tokens_in + tokens_out}


def _agreement(message: TurnMessage) -> int | None:
    return message.citations.agreement if message.citations else None


def _failed(message: TurnMessage) -> Response:
    """A turn that failed as a response: 503 where coming back may help, with the time when it is known."""
    again = message.retry_after_ms is not None or message.error == StoreUnavailable.code
    status = 503 if again else 502
    return JSONResponse(_error(message.error or "turn_failed"), status, retry_after(message.retry_after_ms))


def _error(code: str) -> Json:
    return {"error": {"message": f"the answer failed: {code}", "type": "server_error", "code": code, "param": None}}
