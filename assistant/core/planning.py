"""The plan of a turn: conflicts, mode, budget and order, made from the selected evidence. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from assistant.core.budget import Allocation, BudgetPlan, BudgetPolicy, Candidate, plan_budget
from assistant.core.conflicts import Conflict, find_conflicts, mark_conflicts
from assistant.core.evidence import Evidence
from assistant.core.forms import conflict_units, evidence_forms
from assistant.core.history import Notes, PastTurn, Recollection, in_order, recollect
from assistant.core.messages import Message
from assistant.core.modes import Mode, ModeChoice, TurnFacts, choose_mode
from assistant.core.prompt import EVIDENCE_CLOSE, EVIDENCE_OPEN, PromptSet, render_evidence, render_question
from assistant.core.questions import QuestionKind, asks_for_a_picture, question_kind
from assistant.core.reading import (
    MESSAGE_OVERHEAD,
    Count,
    Forms,
    GroupRoom,
    Shown,
    Sizes,
    checked,
    group_room,
    in_groups,
    trimmed,
)
from assistant.core.selection import order_by_attention
from assistant.core.timeline import in_time_order, is_timeline

IMAGE_TOKENS: Final = 1100
"""What an image of 1568 pixels at most costs about in the prompts of the usual vision models."""
SMALL_WINDOW: Final = 2048
"""Below this many tokens the brief instructions are used."""


@dataclass(frozen=True, slots=True)
class TurnRequest:
    """What a plan is made from.

    The question; what was found for it (selected, best first); what was said before, and notes of what was said long
    before; conflicts that something else than the rules found. `requested` is the mode that was asked for, `preferred` the
    operator's; `images` says that the model can see, `filtered` that each prompt asks first whether its evidence is relevant,
    `prepared` that the order of the evidence is meant and must stay (its value is its score then).
    """

    question: str
    evidence: tuple[Evidence, ...] = ()
    past: tuple[PastTurn, ...] = ()
    requested: Mode | str | None = None
    topic_change: bool = False
    notes: Notes | None = None
    judged: tuple[Conflict, ...] = ()
    preferred: Mode | str | None = None
    images: bool = False
    filtered: bool = False
    afforded: int = 32
    schema: Mapping[str, Any] | None = None
    prepared: bool = False


@dataclass(frozen=True, slots=True)
class Limits:
    """What a plan has to keep to: the model's window and counter, the prompts, the division, the days of `conflicts`."""

    window: int
    count: Count
    prompts: PromptSet
    policy: BudgetPolicy = BudgetPolicy()
    window_days: int = 30


@dataclass(frozen=True, slots=True)
class TurnPlan:
    """What will be asked of the model, and why. `evidence` is in prompt order and in the form it will have there."""

    question: str
    kind: QuestionKind
    choice: ModeChoice
    budget: BudgetPlan
    evidence: tuple[Evidence, ...]
    tokens: tuple[int, ...]
    conflicts: tuple[Conflict, ...]
    history: tuple[Message, ...]
    group_tokens: int
    draft_tokens: int
    brief: bool
    prompts: PromptSet


def plan_turn(request: TurnRequest, limits: Limits) -> TurnPlan:
    """Plan a turn for a model with a window of `limits.window` tokens, counted by `limits.count`.

    Raises QuestionTooLong when the question cannot fit.
    """
    kind = question_kind(request.question)
    evidence = () if _without_evidence(kind, request.requested) else request.evidence
    conflicts = _conflicts(request, evidence, limits.window_days)
    marked = mark_conflicts(evidence, conflicts)
    past = recollect(
        request.question,
        request.past,
        topic_change=request.topic_change,
        notes=request.notes,
        recall=limits.prompts.recall,
    )
    weighed = _weigh(request, limits, marked, past, conflicts, {item.id: (item,) for item in marked})
    fits = weighed.fits
    choice = choose_mode(_facts(request, limits, kind, weighed, conflicts))
    if not fits:  # only now are shorter forms worth making, and only of what may be read shorter
        shorter = _may_be_short(request, limits, choice.mode, weighed)
        made_shorter = {item.id: evidence_forms(request.question, item, conflicts) for item in shorter}
        weighed = _weigh(request, limits, marked, past, conflicts, {**weighed.forms, **made_shorter})
    made = _read(request, limits, choice.mode, weighed, fits=fits)
    ordered = _ordered(request, kind, made.evidence)
    return TurnPlan(
        question=request.question,
        kind=kind,
        choice=choice,
        budget=made.budget,
        evidence=ordered,
        tokens=tuple(weighed.sizes[item.id][weighed.forms[item.id].index(item)] for item in ordered),
        conflicts=_among(conflicts, made.evidence),
        history=_history_messages(past, weighed.allocation.history, request.past),
        group_tokens=made.group_tokens,
        draft_tokens=made.draft_tokens,
        brief=limits.window < SMALL_WINDOW,
        prompts=limits.prompts,
    )


def _pictured(question: str, marked: Sequence[Evidence]) -> bool:
    """Whether images should be looked at: the best piece holds one, or the question speaks of pictures and any does."""
    holders = marked if asks_for_a_picture(question) else marked[:1]
    return any(item.images for item in holders)


def _ordered(request: TurnRequest, kind: QuestionKind, shown: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """The evidence in the order of the prompt: as prepared, as steps and lists stand in their documents, in time, or by attention."""
    if request.prepared:
        return tuple(shown)
    if kind is QuestionKind.PROCEDURE or kind is QuestionKind.PER_SOURCE:
        return order_by_attention(shown, keep_order=True)
    return in_time_order(shown) if is_timeline(request.question, shown) else order_by_attention(shown)


def _by_value(request: TurnRequest, marked: Sequence[Evidence]) -> Sequence[Evidence]:
    return sorted(marked, key=lambda item: -item.score) if request.prepared else marked


def _without_evidence(kind: QuestionKind, requested: Mode | str | None) -> bool:
    return requested is Mode.GENERATION or (requested is None and kind is QuestionKind.SMALL_TALK)


def _conflicts(request: TurnRequest, evidence: Sequence[Evidence], window_days: int) -> tuple[Conflict, ...]:
    """The conflicts that the rules find, then those that something else found between other pieces."""
    ruled = find_conflicts(evidence, question=request.question, window_days=window_days)
    known = {frozenset(side.evidence for side in conflict.sides) for conflict in ruled}
    more = [item for item in request.judged if frozenset(side.evidence for side in item.sides) not in known]
    return (*ruled, *_among(more, evidence))


@dataclass(frozen=True, slots=True)
class _Weighed:
    """The evidence, the forms that each piece may take, their tokens, and what the budget gives them."""

    marked: Sequence[Evidence]
    forms: Forms
    sizes: Sizes
    allocation: Allocation

    @property
    def fits(self) -> bool:
        """Whether one prompt holds all of it in full."""
        return not any(dropped.kind == "evidence" for dropped in self.allocation.plan.dropped)


def _weigh(
    request: TurnRequest,
    limits: Limits,
    marked: Sequence[Evidence],
    past: Sequence[Recollection],
    conflicts: Sequence[Conflict],
    forms: Forms,
) -> _Weighed:
    """Count every text once and divide the window."""
    count, prompts = limits.count, limits.prompts
    extra = IMAGE_TOKENS if request.images and _pictured(request.question, marked) else 0
    sizes = {
        key: _ascending([count(render_evidence(form)) + extra * len(form.images) for form in shapes])
        for key, shapes in forms.items()
    }
    units = {item.id: unit[0].id for unit in conflict_units(marked) for item in unit}
    instructions = prompts.instructions(
        "answer", brief=limits.window < SMALL_WINDOW, filtered=request.filtered, schema=request.schema
    )
    allocation = plan_budget(
        limits.window,
        system=count(instructions) + MESSAGE_OVERHEAD,
        question=count(render_question(request.question, conflicts, prompts)) + MESSAGE_OVERHEAD,
        history=[Candidate(item.turn, _history_sizes(item, count), item.turn) for item in past],
        evidence=[Candidate(item.id, sizes[item.id], units[item.id]) for item in _by_value(request, marked)],
        evidence_frame=count(EVIDENCE_OPEN) + count(EVIDENCE_CLOSE),
        policy=limits.policy,
    )
    return _Weighed(marked, forms, sizes, allocation)


def _facts(
    request: TurnRequest, limits: Limits, kind: QuestionKind, weighed: _Weighed, conflicts: Sequence[Conflict]
) -> TurnFacts:
    """What the policy of modes measures."""
    marked = weighed.marked
    read = sum(weighed.sizes[item.id][-1] for item in marked)
    return TurnFacts(
        kind=kind,
        pieces=len(marked),
        conflicts=len(conflicts),
        fits=weighed.fits,
        requested=request.requested,
        preferred=request.preferred,
        sources=len({item.source.document for item in marked}),
        groups=-(-read // max(1, _room(request, limits, weighed, drafts=True).evidence)),
        afforded=request.afforded,
        images=request.images and _pictured(request.question, marked),
    )


def _room(request: TurnRequest, limits: Limits, weighed: _Weighed, *, drafts: bool) -> GroupRoom:
    plan, most = weighed.allocation.plan, limits.policy.max_output
    return group_room(plan, limits.count, limits.prompts, most, drafts=drafts, schema=request.schema)


def _may_be_short(request: TurnRequest, limits: Limits, mode: Mode | str, weighed: _Weighed) -> list[Evidence]:
    """What may have to be shortened: in modes that read all, only conflicting pieces that are too large together."""
    if not isinstance(mode, Mode) or not mode.reads_all:
        return list(weighed.marked)
    room = _room(request, limits, weighed, drafts=mode.drafts).evidence
    units = [unit for unit in conflict_units(weighed.marked) if len(unit) > 1]
    large = [unit for unit in units if sum(weighed.sizes[item.id][-1] for item in unit) > room]
    return [item for unit in large for item in unit]


def _read(request: TurnRequest, limits: Limits, mode: Mode | str, weighed: _Weighed, *, fits: bool) -> Shown:
    """The evidence as the mode reads it: what fits one prompt, or all of it in several."""
    if not isinstance(mode, Mode) or not mode.reads_all or (fits and not mode.one_each):
        shown = trimmed(weighed.marked, weighed.forms, weighed.allocation)
        return checked(shown, limits.count, limits.prompts) if mode is Mode.VERIFIED else shown
    room = _room(request, limits, weighed, drafts=mode.drafts)
    return in_groups(weighed.marked, weighed.forms, weighed.sizes, weighed.allocation.plan, room, mode)


def _ascending(sizes: Sequence[int]) -> tuple[int, ...]:
    """Sizes that never fall: a shorter text may, by its gap marks, count a token more than a longer one."""
    return tuple(max(sizes[: place + 1]) for place in range(len(sizes)))


def _history_sizes(item: Recollection, count: Count) -> tuple[int, ...]:
    return _ascending(
        [sum(count(message.text) + MESSAGE_OVERHEAD for message in pair) for pair in (item.brief, item.full)]
    )


def _among(conflicts: Sequence[Conflict], shown: Sequence[Evidence]) -> tuple[Conflict, ...]:
    ids = {item.id for item in shown}
    return tuple(conflict for conflict in conflicts if {side.evidence for side in conflict.sides} <= ids)


def _history_messages(
    past: Sequence[Recollection], got: dict[str, int], turns: Sequence[PastTurn]
) -> tuple[Message, ...]:
    chosen = in_order([item for item in past if item.turn in got], turns)
    return tuple(message for item in chosen for message in (item.full if got[item.turn] else item.brief))
