"""Make a follow-up standalone: the rules first, a language model only where the rules are unsure and one is given."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Final

import structlog

from assistant.core.followups import Standalone, standalone
from assistant.core.messages import Message, ModelDelta, Role
from assistant.core.prompt import ModelRequest, PromptSet, Sampling
from assistant.core.text import prompt_language, remove_invisible, terms
from assistant.errors import AssistantError
from assistant.interfaces import ChatModel
from assistant.prompts import Prompts

log = structlog.get_logger(__name__)

TIMEOUT_S: Final = 4.0
_TURNS: Final = 4
_CHARACTERS: Final = 300
_LONGEST: Final = 400
_LABEL: Final = re.compile(
    r"^\s*(?:(?:the )?(?:(?:standalone|rewritten|last) )?question(?: is)?|rewritten|改写后的问题|改写后?|独立问题|问题)"
    r"\s*[:：]\s*",
    re.IGNORECASE,
)
_ASKS: Final = re.compile(
    r"[?？]$|[吗呢]$|什么|怎么|如何|哪|多少|几|是否|能否|介绍|说明|比较"
    r"|^(?:what|which|who|when|where|why|how|is|are|do|does|did|can|could|should|may|tell|explain|list|describe"
    r"|compare)\b",
    re.IGNORECASE,
)
_ANSWERS: Final = re.compile(
    r"^(?:(?:yes|no|sorry|i'?m sorry|i can|i cannot|as an ai|according to|based on)\b|根据|抱歉|对不起|是的|不是|不，)",
    re.IGNORECASE,
)


_NAME: Final = re.compile(r"(?<=[^.?!:\s\"“] )[A-Z][\w’'-]+")
_CORRECTING: Final = (
    re.compile(
        r"^(?:(?:no|nope|sorry|not that)\b[\s,.!]*)?(?:i (?:only |just )?(?:meant?|was asking about)\b)?", re.IGNORECASE
    ),
    re.compile(r"^(?:(?:不是的?|不对|不|错了)[，,。！!\s]+)?(?:我(?:是说|的意思是|问的是|说的是|指的是|想问的是))?"),
)
"""What only says that a correction follows."""
_NOT: Final = re.compile(r"\b(?:not|never|without|cannot|except|unless)\b|n['’]t\b|[不没无非未]", re.IGNORECASE)
_TAG_QUESTION: Final = re.compile(r"([\u4e00-\u9fff])不\1|有没有|是否|能否")


@dataclass(frozen=True, slots=True)
class Rewriter:
    """The model that rewrites where the rules are unsure, its prompts, and how long it may take in seconds."""

    model: ChatModel
    prompts: Prompts
    timeout_s: float = TIMEOUT_S


async def make_standalone(
    question: str, history: Sequence[tuple[str, str]], rewriter: Rewriter | None = None
) -> Standalone:
    """The question made standalone from the past turns (standalone question, answer), oldest first.

    The model is asked only when the rules are unsure, and what it says is taken only when it passes `is_faithful`. A
    failure, a refusal or a timeout leaves the result of the rules.
    """
    ruled = standalone(question, history)
    if rewriter is None or ruled.sure or not history:
        return ruled
    try:
        async with asyncio.timeout(rewriter.timeout_s):
            reply = await _ask(rewriter, question, history)
    except (AssistantError, TimeoutError) as failure:
        log.info("rewrite left to the rules", reason=getattr(failure, "code", "timeout"))
        return ruled
    rewritten = first_question(reply)
    if not is_faithful(rewritten, question, history):
        log.info("rewrite left to the rules", reason="unfaithful")
        return ruled
    return replace(
        ruled,
        text=rewritten,
        searches=tuple(dict.fromkeys((rewritten, question.strip(), *ruled.searches[1:]))),
        changed=rewritten != question.strip(),
        rule=f"{ruled.rule}+model",
        sure=True,
    )


async def _ask(rewriter: Rewriter, question: str, history: Sequence[tuple[str, str]]) -> str:
    prompts = rewriter.prompts(prompt_language(question))
    parts: list[str] = []
    async with aclosing(rewriter.model.stream(rewrite_request(prompts, question, history))) as chunks:
        async for chunk in chunks:
            if isinstance(chunk, ModelDelta):
                parts.append(chunk.text)
                if sum(map(len, parts)) > 2 * _LONGEST:
                    break
    return "".join(parts)


def rewrite_request(prompts: PromptSet, question: str, history: Sequence[tuple[str, str]]) -> ModelRequest:
    """The request for a rewrite: the last turns as one text, so that the model does not go on with the conversation."""
    lines = []
    for before, answer in history[-_TURNS:]:
        lines += [f"User: {_clean(before)}", f"Assistant: {_clean(answer)}"]
    talk = "\n".join([*lines, f"User: {_clean(question, _LONGEST)}"])
    return ModelRequest(
        messages=(
            Message(Role.SYSTEM, prompts.rewrite),
            Message(Role.USER, f"<conversation>\n{talk}\n</conversation>"),
        ),
        sampling=Sampling(max_tokens=120, temperature=0.0, frequency_penalty=0.0, presence_penalty=0.0),
        question=question,
        evidence=(),
        conflicts=(),
        language=prompts.language,
        purpose="rewrite",
    )


def _clean(text: str, longest: int = _CHARACTERS) -> str:
    return " ".join(remove_invisible(text).replace("<", "&lt;").split())[:longest]


def first_question(reply: str) -> str:
    """The one line of a reply that holds the question, without label and quotation marks; "" when there is none."""
    line = next((line for line in reply.splitlines() if line.strip()), "")
    return _LABEL.sub("", line.replace("&lt;", "<")).strip().strip("\"“”'「」*").strip()


def is_faithful(rewritten: str, question: str, history: Sequence[tuple[str, str]]) -> bool:
    """Whether a rewrite is a question about the same thing: nothing answered, nothing invented, nothing lost.

    Nine tenths of its terms were said before, every number and every name of it too, it keeps at least half of the terms
    of the question as asked, it is in its language, and it denies when the question denies.
    """
    if not 2 <= len(rewritten) <= _LONGEST or not _ASKS.search(rewritten) or _ANSWERS.match(rewritten):
        return False
    if (_is_denied(question) and not _is_denied(rewritten)) or _has_changed_language(rewritten, question, history):
        return False
    asked, new = set(terms(_said_anew(question))), set(terms(rewritten))
    said = set(terms(question)).union(*(terms(f"{before}\n{answer}") for before, answer in history))
    invented = new - said
    named = {term for name in _NAME.findall(rewritten) for term in terms(name)}
    if invented & named or any(term[0].isdigit() for term in invented) or len(invented) > max(1, len(new) // 10):
        return False
    return len(asked & new) * 2 >= len(asked)


def _said_anew(question: str) -> str:
    for pattern in _CORRECTING:
        question = pattern.sub("", question.strip())
    return question


def _is_denied(text: str) -> bool:
    """Whether a text says "not", apart from a correction's first word and from Chinese questions of the form A-not-A."""
    return _NOT.search(_TAG_QUESTION.sub("", _said_anew(text))) is not None


def _has_changed_language(rewritten: str, question: str, history: Sequence[tuple[str, str]]) -> bool:
    """Whether a rewrite is in neither the language of the question nor that of the question before: a bare name has none."""
    known = {prompt_language(question), *(prompt_language(before) for before, _ in history[-1:] if before.strip())}
    return prompt_language(rewritten) not in known
