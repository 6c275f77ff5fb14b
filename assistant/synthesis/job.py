"""What a synthesizer gets and what it yields."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from assistant.core.conflicts import Conflict
from assistant.core.evidence import Evidence
from assistant.core.messages import Image, Message, ModelDelta, ModelFinish
from assistant.core.planning import TurnPlan
from assistant.core.prompt import ModelRequest, PromptSet, Sampling, answer_request, summary_request
from assistant.core.text import Span
from assistant.interfaces import ChatModel, TokenCounter

PARALLEL: Final = 8
"""Calls of a model that may run at once, unless a gate says otherwise."""


@dataclass(frozen=True, slots=True)
class Job:
    """One answer to be made.

    `evidence` stands in prompt order; `group_tokens` is how many tokens of evidence one prompt may hold,
    `draft_tokens` how many of a checked draft; `history` goes
    to the model as it is; `brief` asks for the short instructions of a small window, `filtered` for a first line that says
    whether the evidence is relevant; `schema` is the JSON schema of a structured answer; `gate` limits parallel calls, of
    all turns that share it; `rules` may forbid sentences; `images` belong to the evidence, for a model
    that sees; `judged` lets the model have a say in what a check doubts.
    """

    question: str
    evidence: tuple[Evidence, ...]
    conflicts: tuple[Conflict, ...]
    history: tuple[Message, ...]
    prompts: PromptSet
    sampling: Sampling
    counter: TokenCounter
    group_tokens: int
    draft_tokens: int = 0
    brief: bool = False
    filtered: bool = False
    schema: Mapping[str, Any] | None = None
    gate: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(PARALLEL))
    rules: tuple[SentenceRule, ...] = ()
    images: tuple[Image, ...] = ()
    judged: bool = False

    @classmethod
    def of_plan(cls, plan: TurnPlan, *, sampling: Sampling, counter: TokenCounter, **more: Any) -> Job:
        """The job that a plan asks for; `more` are the fields that no plan knows."""
        return cls(
            question=plan.question,
            evidence=plan.evidence,
            conflicts=plan.conflicts,
            history=plan.history,
            prompts=plan.prompts,
            sampling=sampling,
            counter=counter,
            group_tokens=plan.group_tokens,
            draft_tokens=plan.draft_tokens,
            brief=plan.brief,
            **more,
        )

    def request(
        self,
        evidence: tuple[Evidence, ...] | None = None,
        *,
        draft: str = "",
        flagged: tuple[Span, ...] = (),
        filtered: bool = False,
        final: bool = True,
        images: tuple[Image, ...] = (),
    ) -> ModelRequest:
        """The request to answer from this evidence (all of it by default), to improve a draft, or to correct it.

        Only the `final` call of a structured answer is bound to the schema.
        """
        shown = self.evidence if evidence is None else evidence
        return answer_request(
            prompts=self.prompts,
            question=self.question,
            evidence=shown,
            conflicts=self.conflicts,
            history=self.history,
            sampling=self.sampling,
            draft=draft,
            brief=self.brief or self._needs_little(shown),
            filtered=filtered,
            flagged=flagged,
            schema=self.schema if final else None,
            images=images,
        )

    def _needs_little(self, shown: tuple[Evidence, ...]) -> bool:
        """Whether the short instructions do: one of many prompts, in which nothing conflicts."""
        return len(shown) < len(self.evidence) and not any(item.conflicts for item in shown)

    def summary(self, partials: Sequence[str], *, final: bool = True) -> ModelRequest:
        """The request to combine partial answers."""
        return summary_request(
            prompts=self.prompts,
            question=self.question,
            partials=partials,
            conflicts=self.conflicts,
            history=self.history,
            sampling=self.sampling,
            schema=self.schema if final else None,
        )


@dataclass(frozen=True, slots=True)
class StepDone:
    """Intermediate work: `done` of `total` steps are finished.

    `text` is what the last one wrote; `failed` the code of the error when it failed and the rest goes on without it.
    """

    done: int
    total: int
    text: str = ""
    failed: str | None = None


Step = ModelDelta | StepDone | ModelFinish
Synthesizer = Callable[[ChatModel, Job], AsyncGenerator[Step, None]]
"""An async generator: deltas and steps, then exactly one ModelFinish with the usage of all calls."""
SentenceRule = Callable[[str], str | None]
"""A rule of compliance: why a sentence must not be said, None when it may."""
