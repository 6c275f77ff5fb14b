"""Which answers may be given again, and to whom: the key of a turn that is planned, and what keeps an answer from it. Pure.

A plan says exactly what a model would see. An answer is given again only to a person of the same rights, by the same model
with the same words around the question, after the same talk, where the questions ask the same (`assistant.core.meaning`), and

- for the same passages of the same versions, or
- where other words found other passages: while no document of the library has changed since, and what the answer cites is
  among the passages of now.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from assistant.core.access import PRIVATE, Caller
from assistant.core.attachments import FILES, SHARED
from assistant.core.calls import ModelCall
from assistant.core.citations import Alignment, CitationStatus, CitedSource, Verdict
from assistant.core.events import AnswerDelta, AnswerStarted, TurnEvent
from assistant.core.evidence import Evidence
from assistant.core.meaning.same import meaning, normalised
from assistant.core.modes import Mode
from assistant.core.planning import TurnPlan
from assistant.core.prompt import Sampling, render_evidence
from assistant.core.text import Span
from assistant.core.turn import TurnMessage

LONGEST_ANSWER: Final = 50_000
"""Characters; a longer answer is not kept."""
_UNCACHED: Final = frozenset({Mode.GENERATION, Mode.NO_TEXT, Mode.CONTEXT_ONLY})
"""Modes without evidence, or without a model to save."""
_CARRIED: Final = frozenset({Verdict.SUPPORTED, Verdict.PARTIAL})
_ENDS: Final = frozenset({"stop", "no_answer"})


@dataclass(frozen=True, slots=True)
class CacheKey:
    """What must agree for an answer to be given again: `frame` (all but question and evidence) exactly, `question` in its meaning.

    `digest` is over the evidence, `meaning` over the form of the question, `documents` are the versions that the answer is made from:
    (document, version), ascending. `library` names the state of all documents, None while it is not at rest.
    """

    tenant: str
    frame: str
    digest: str
    meaning: str
    question: str
    documents: tuple[tuple[str, int], ...]
    library: str | None = None


@dataclass(frozen=True, slots=True)
class CachedAnswer:
    """An answer that may be given again: the turn it was made in, what made it, its text and what it rests on.

    The display numbers of the citations are those of the conversation of `origin`.
    """

    origin: str
    model: str
    prompt: str
    parameters: tuple[tuple[str, float], ...]
    text: str
    alignment: Alignment


@dataclass(frozen=True, slots=True)
class Recalled:
    """What the cache says of a planned turn: its key, and the answer where one was found."""

    key: CacheKey
    answer: CachedAnswer | None = None


@dataclass(frozen=True, slots=True)
class Asking:
    """Who asks what model how: what a key depends on beside the plan.

    `settings` are whatever else the answer depends on, in a fixed order (checks, rules, the version of the program).
    """

    caller: Caller
    collections: frozenset[str] | None
    model: str
    window: int
    sampling: Sampling
    schema: Mapping[str, Any] | None = None
    settings: tuple[str, ...] = ()


def cache_key(asking: Asking, plan: TurnPlan, declared: frozenset[str] = frozenset()) -> CacheKey | None:
    """The key of a planned turn; None when its answer may neither be given again nor kept.

    That is so without evidence, when the evidence disagrees, when a piece of it is one person's own, in modes that ask no
    model, and in custom modes that are not among `declared`.
    """
    mode = plan.choice.mode
    known = mode not in _UNCACHED if isinstance(mode, Mode) else mode in declared
    if not known or plan.conflicts or not plan.evidence or any(_is_private(item) for item in plan.evidence):
        return None
    parts = [
        *_of_asking(asking),
        str(mode),
        plan.prompts.language,
        plan.prompts.hash,
        plan.brief,
        [[message.role.value, message.text] for message in plan.history],
    ]
    question = normalised(plan.question)
    return CacheKey(
        tenant=asking.caller.tenant,
        frame=_digest(parts),
        digest=_digest(sorted(_of_evidence(item) for item in plan.evidence)),
        meaning=_digest(meaning(question)),
        question=question,
        documents=tuple(sorted({(item.source.document, item.source.number) for item in plan.evidence})),
    )


def _digest(parts: object) -> str:
    text = json.dumps(parts, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def may_stand(answer: CachedAnswer, made: CacheKey, now: CacheKey, evidence: Sequence[Evidence]) -> bool:
    """Whether a kept answer may be given for a turn with this key and evidence, if the questions ask the same.

    `made` is the key under which it was kept. All that it cites must be shown to the reader of now.
    """
    if made.frame != now.frame or made.tenant != now.tenant:
        return False
    if made.digest == now.digest:
        return True
    if made.library is None or made.library != now.library:
        return False
    shown = {item.id: item for item in evidence}
    return all(
        item.evidence in shown and _shows(shown[item.evidence], item.source) for item in answer.alignment.citations
    )


def _shows(item: Evidence, cited: CitedSource) -> bool:
    """Whether the piece shows the cited place, of the same version, without a gap."""
    same = (item.source.document, item.source.number, item.source.sha256) == (
        cited.document,
        cited.version,
        cited.sha256,
    )
    return same and any(span.start <= cited.start and cited.end <= span.end for span in _joined(item.kept))


def _joined(spans: Sequence[Span]) -> list[Span]:
    joined: list[Span] = []
    for span in spans:
        if joined and joined[-1].end == span.start:
            joined[-1] = Span(joined[-1].start, span.end)
        else:
            joined.append(span)
    return joined


def _of_asking(asking: Asking) -> Iterator[object]:
    """The most tokens of an answer are left out: they hang on the length of the question, and no answer that was cut is kept."""
    yield asking.caller.tenant
    yield sorted(group for group in asking.caller.groups if not group.startswith(PRIVATE))
    yield _scope(asking.collections)
    yield [asking.model, asking.window]
    sampling = asking.sampling
    yield [sampling.temperature, sampling.top_p, sampling.frequency_penalty, sampling.presence_penalty]
    yield asking.schema
    yield list(asking.settings)


def _scope(collections: frozenset[str] | None) -> list[str]:
    """Where was searched, but for the files of the session: what was found in them is in the evidence."""
    return sorted(name for name in (collections or {SHARED}) if not name.startswith(FILES))


def _of_evidence(item: Evidence) -> list[str]:
    """A piece as the model and the citations show it; where it stands in the prompt and its score are left out."""
    source = item.source
    shown = [
        [source.number, source.authority.value, source.collection, item.page, item.span.start, item.span.end],
        [[span.start, span.end] for span in item.kept],
        [[image.id, image.caption] for image in item.images],
    ]
    return [item.id, source.document, source.sha256, source.uri, render_evidence(item), item.section, json.dumps(shown)]


def _is_private(item: Evidence) -> bool:
    return all(group.startswith(PRIVATE) for group in item.source.access)


def kept_answer(turn: str, message: TurnMessage, calls: Sequence[ModelCall]) -> CachedAnswer | None:
    """The answer of an ended turn in the form in which it is given again; None when it must not be.

    It must have been completed by a model in this turn, without a step or call that failed or was cut, nothing withheld,
    with a source for what it states and no sentence that the evidence does not carry or contradicts.
    """
    cited = message.citations
    if cited is None or not _is_whole(message) or any(call.ended not in _ENDS for call in calls) or not calls:
        return None
    sound = cited.status is not CitationStatus.NONE and not cited.unsupported
    if not sound or message.conflicts is not None or any(item.verdict not in _CARRIED for item in cited.items):
        return None
    alignment = Alignment(cited.status, cited.items, (), cited.agreement)
    return CachedAnswer(turn, message.model or "", message.prompt or "", message.parameters, message.text, alignment)


def _is_whole(message: TurnMessage) -> bool:
    ended = message.status == "completed" and message.finish == "stop" and message.error is None
    own = message.from_cache is None and not message.attachments
    return ended and own and 0 < len(message.text) <= LONGEST_ANSWER and not _was_mended(message)


def _was_mended(message: TurnMessage) -> bool:
    """Whether a step failed, or a checked answer had sentences withheld (the text of its last step)."""
    if any(step.failed for step in message.steps):
        return True
    checked = message.plan is not None and message.plan.mode == Mode.VERIFIED
    return checked and any(step.text and step.done == step.total for step in message.steps)


def replayed(answer: CachedAnswer) -> tuple[TurnEvent, ...]:
    """The events of an answer that is given again."""
    started = AnswerStarted(answer.model, answer.prompt, answer.parameters, from_cache=answer.origin)
    return started, AnswerDelta(0, answer.text)
