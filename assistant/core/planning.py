"""The plan of a turn: conflicts, mode, budget and order, made from the selected evidence. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from assistant.core.budget import Allocation, BudgetPlan, BudgetPolicy, Candidate, Dropped, plan_budget
from assistant.core.conflicts import Conflict, find_conflicts, mark_conflicts
from assistant.core.evidence import Evidence
from assistant.core.forms import conflict_units, evidence_forms
from assistant.core.history import PastTurn, Recollection, in_order, recollect
from assistant.core.messages import Message
from assistant.core.modes import Mode, ModeChoice, QuestionKind, TurnFacts, choose_mode, question_kind
from assistant.core.prompt import (
    EVIDENCE_CLOSE,
    EVIDENCE_OPEN,
    PromptSet,
    render_draft,
    render_evidence,
    render_question,
)
from assistant.core.selection import order_by_attention

Count = Callable[[str], int]
Forms = Mapping[str, tuple[Evidence, ...]]
Sizes = Mapping[str, tuple[int, ...]]
"""By evidence id: the forms a piece may take, shortest first, and their tokens."""
MESSAGE_OVERHEAD: Final = 4
"""Tokens that chat formats spend on each message beside its text (OpenAI cookbook, "How to count tokens")."""
SMALL_WINDOW: Final = 2048
"""Below this many tokens the brief instructions are used."""


@dataclass(frozen=True, slots=True)
class TurnRequest:
    """What a plan is made from: the question, what was found for it (selected, best first), what was said before."""

    question: str
    evidence: tuple[Evidence, ...] = ()
    past: tuple[PastTurn, ...] = ()
    requested: Mode | None = None
    topic_change: bool = False


@dataclass(frozen=True, slots=True)
class TurnPlan:
    """What will be asked of the model, and why. `evidence` is in prompt order and in the form it will have there."""

    kind: QuestionKind
    choice: ModeChoice
    budget: BudgetPlan
    evidence: tuple[Evidence, ...]
    tokens: tuple[int, ...]
    conflicts: tuple[Conflict, ...]
    history: tuple[Message, ...]
    group_tokens: int
    brief: bool


def plan_turn(
    request: TurnRequest,
    *,
    window: int,
    count: Count,
    prompts: PromptSet,
    policy: BudgetPolicy | None = None,
    window_days: int = 30,
) -> TurnPlan:
    """Plan a turn for a model with a window of `window` tokens, counted by `count`.

    Raises QuestionTooLong when the question cannot fit.
    """
    kind = question_kind(request.question)
    evidence = () if _without_evidence(kind, request.requested) else request.evidence
    conflicts = find_conflicts(evidence, question=request.question, window_days=window_days)
    marked = mark_conflicts(evidence, conflicts)
    brief = window < SMALL_WINDOW
    past = recollect(request.question, request.past, topic_change=request.topic_change)
    forms: Forms = {item.id: (item,) for item in marked}
    allocation, sizes = _allocate(request, marked, forms, past, conflicts, window, count, prompts, brief, policy)
    fits = not any(dropped.kind == "evidence" for dropped in allocation.plan.dropped)
    if not fits:  # only now are shorter forms worth making
        forms = {item.id: evidence_forms(request.question, item, conflicts) for item in marked}
        allocation, sizes = _allocate(request, marked, forms, past, conflicts, window, count, prompts, brief, policy)
    choice = choose_mode(TurnFacts(kind, len(marked), len(conflicts), fits, request.requested))
    if choice.mode is Mode.COMPACT:
        most = (policy or BudgetPolicy()).max_output
        made = _in_groups(marked, forms, sizes, allocation.plan, count, prompts, most)
    else:
        made = _trimmed(marked, forms, allocation)
    ordered = order_by_attention(made.evidence, keep_order=kind is QuestionKind.PROCEDURE)
    return TurnPlan(
        kind=kind,
        choice=choice,
        budget=made.budget,
        evidence=ordered,
        tokens=tuple(sizes[item.id][forms[item.id].index(item)] for item in ordered),
        conflicts=_among(conflicts, made.evidence),
        history=_history_messages(past, allocation.history, request.past),
        group_tokens=made.group_tokens,
        brief=brief,
    )


def _without_evidence(kind: QuestionKind, requested: Mode | None) -> bool:
    return requested is Mode.GENERATION or (requested is None and kind is QuestionKind.SMALL_TALK)


def _allocate(
    request: TurnRequest,
    marked: Sequence[Evidence],
    forms: Forms,
    past: Sequence[Recollection],
    conflicts: Sequence[Conflict],
    window: int,
    count: Count,
    prompts: PromptSet,
    brief: bool,
    policy: BudgetPolicy | None,
) -> tuple[Allocation, dict[str, tuple[int, ...]]]:
    """Count every text once and divide the window."""
    sizes = {key: _ascending([count(render_evidence(form)) for form in shapes]) for key, shapes in forms.items()}
    units = {item.id: unit[0].id for unit in conflict_units(marked) for item in unit}
    instructions = prompts.brief if brief else prompts.system
    allocation = plan_budget(
        window,
        system=count(instructions) + MESSAGE_OVERHEAD,
        question=count(render_question(request.question, conflicts, prompts)) + MESSAGE_OVERHEAD,
        history=[Candidate(item.turn, _history_sizes(item, count), item.turn) for item in past],
        evidence=[Candidate(item.id, sizes[item.id], units[item.id]) for item in marked],
        evidence_frame=count(EVIDENCE_OPEN) + count(EVIDENCE_CLOSE),
        policy=policy,
    )
    return allocation, sizes


def _ascending(sizes: Sequence[int]) -> tuple[int, ...]:
    """Sizes that never fall: a shorter text may, by its gap marks, count a token more than a longer one."""
    return tuple(max(sizes[: place + 1]) for place in range(len(sizes)))


def _history_sizes(item: Recollection, count: Count) -> tuple[int, ...]:
    return _ascending(
        [sum(count(message.text) + MESSAGE_OVERHEAD for message in pair) for pair in (item.brief, item.full)]
    )


@dataclass(frozen=True, slots=True)
class _Shown:
    """The evidence in the form it gets, the budget it makes, and what one prompt may hold of it."""

    evidence: list[Evidence]
    budget: BudgetPlan
    group_tokens: int


def _trimmed(marked: Sequence[Evidence], forms: Forms, allocation: Allocation) -> _Shown:
    """What the budget lets into the one prompt."""
    got = allocation.evidence
    shown = [forms[item.id][got[item.id]] for item in marked if item.id in got]
    return _Shown(shown, allocation.plan, allocation.evidence_limit)


def _in_groups(
    marked: Sequence[Evidence],
    forms: Forms,
    sizes: Sizes,
    plan: BudgetPlan,
    count: Count,
    prompts: PromptSet,
    most: int,
) -> _Shown:
    """All of the evidence, to be read in several prompts, each with the draft of the one before.

    Draft and output each have a quarter of the room at most, evidence the rest. A unit of conflicting evidence is never
    parted: one that is larger than a group is shortened, and left out only when even its core is too large.
    """
    frame = count(EVIDENCE_OPEN) + count(EVIDENCE_CLOSE) + count(render_draft(" "))
    instructions = max(plan.system, count(prompts.refine) + MESSAGE_OVERHEAD)
    room = max(0, plan.window - plan.margin - instructions - plan.question - plan.history - frame)
    output = min(most, room // 4)
    group = room - 2 * output
    shown: list[Evidence] = []
    dropped = [item for item in plan.dropped if item.kind != "evidence"]
    for unit in conflict_units(marked):
        levels = range(max(len(sizes[item.id]) for item in unit) - 1, -1, -1)
        fitting = (level for level in levels if sum(_size(sizes[item.id], level) for item in unit) <= group)
        level = next(fitting, None)
        shown += [] if level is None else [forms[item.id][min(level, len(forms[item.id]) - 1)] for item in unit]
        dropped += _left_out(unit, sizes, level)
    read = sum(sizes[item.id][forms[item.id].index(item)] for item in shown)
    dropped += [Dropped("evidence", "*", read - group, "in_groups")] if read > group else []
    evidence = min(read, group) + frame
    budget = replace(plan, system=instructions, evidence=evidence, output=output, dropped=tuple(dropped))
    return _Shown(shown, budget, group)


def _size(sizes: Sequence[int], level: int) -> int:
    return sizes[min(level, len(sizes) - 1)]


def _left_out(unit: Sequence[Evidence], sizes: Sizes, level: int | None) -> list[Dropped]:
    lost = {item.id: sizes[item.id][-1] - (0 if level is None else _size(sizes[item.id], level)) for item in unit}
    reason = "no_room" if level is None else "shortened"
    return [Dropped("evidence", key, tokens, reason) for key, tokens in lost.items() if tokens]


def _among(conflicts: Sequence[Conflict], shown: Sequence[Evidence]) -> tuple[Conflict, ...]:
    ids = {item.id for item in shown}
    return tuple(conflict for conflict in conflicts if {side.evidence for side in conflict.sides} <= ids)


def _history_messages(
    past: Sequence[Recollection], got: dict[str, int], turns: Sequence[PastTurn]
) -> tuple[Message, ...]:
    chosen = in_order([item for item in past if item.turn in got], turns)
    return tuple(message for item in chosen for message in (item.full if got[item.turn] else item.brief))
