"""Reading all of the evidence in several prompts: how much each holds, and in which form each piece is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from assistant.core.budget import Allocation, BudgetPlan, Dropped
from assistant.core.evidence import Evidence
from assistant.core.forms import conflict_units
from assistant.core.modes import Mode
from assistant.core.prompt import EVIDENCE_CLOSE, EVIDENCE_OPEN, PromptSet, render_draft

Count = Callable[[str], int]
MESSAGE_OVERHEAD: Final = 4
"""Tokens that chat formats spend on each message beside its text (OpenAI cookbook, "How to count tokens")."""
Forms = Mapping[str, tuple[Evidence, ...]]
Sizes = Mapping[str, tuple[int, ...]]
"""By evidence id: the forms a piece may take, shortest first, and their tokens."""
_LEAST_CORRECTION: Final = 64
"""A corrected draft needs so many tokens."""


@dataclass(frozen=True, slots=True)
class Shown:
    """The evidence in the form it gets, the budget it makes, and what one prompt may hold of it
    and of a checked draft, in tokens."""

    evidence: list[Evidence]
    budget: BudgetPlan
    group_tokens: int
    draft_tokens: int = 0


def trimmed(marked: Sequence[Evidence], forms: Forms, allocation: Allocation) -> Shown:
    """What the budget lets into one prompt."""
    got = allocation.evidence
    shown = [forms[item.id][got[item.id]] for item in marked if item.id in got]
    return Shown(shown, allocation.plan, allocation.evidence_limit)


def checked(shown: Shown, count: Count, prompts: PromptSet) -> Shown:
    """Room for a draft beside its evidence in the call that corrects it; where there is little, nothing is corrected."""
    plan = shown.budget
    system = max(plan.system, count(prompts.instructions("verify")) + MESSAGE_OVERHEAD)
    frame = count(render_draft(" "))
    left = plan.window - plan.margin - system - plan.history - plan.evidence - plan.question - frame
    output = min(plan.output, left // 2)
    if output < _LEAST_CORRECTION:
        return shown
    return replace(shown, budget=replace(plan, system=system, output=output), draft_tokens=left - output)


@dataclass(frozen=True, slots=True)
class GroupRoom:
    """How one of several prompts is divided, in tokens: `frame` are the tags around evidence and draft."""

    instructions: int
    frame: int
    output: int
    evidence: int


def group_room(
    plan: BudgetPlan,
    count: Count,
    prompts: PromptSet,
    most: int,
    *,
    drafts: bool,
    schema: Mapping[str, Any] | None = None,
) -> GroupRoom:
    """Divide a prompt of a mode that reads all; `most` is the longest output.

    The output and, where prompts hold one, the draft have a quarter of the room at most, evidence the rest.
    """
    frame = count(EVIDENCE_OPEN) + count(EVIDENCE_CLOSE) + (count(render_draft(" ")) if drafts else 0)
    longest = max(count(prompts.instructions(purpose, schema=schema)) for purpose in ("answer", "refine", "summary"))
    instructions = max(plan.system, longest + MESSAGE_OVERHEAD)
    room = max(0, plan.window - plan.margin - instructions - plan.question - plan.history - frame)
    output = min(most, room // 4)
    return GroupRoom(instructions, frame, output, room - output * (2 if drafts else 1))


def in_groups(
    marked: Sequence[Evidence],
    forms: Forms,
    sizes: Sizes,
    plan: BudgetPlan,
    room: GroupRoom,
    mode: Mode,
) -> Shown:
    """All of the evidence, to be read in several prompts.

    A unit of conflicting evidence is never parted: one that is larger than a group is shortened, and left out only when
    even its core is too large. A single piece that is too large is cut at sentence ends when the groups are packed.
    """
    group = room.evidence
    shown: list[Evidence] = []
    dropped = [item for item in plan.dropped if item.kind != "evidence"]
    for unit in conflict_units(marked):
        level = _level(unit, sizes, group)
        shown += [] if level is None else [forms[item.id][min(level, len(forms[item.id]) - 1)] for item in unit]
        dropped += _left_out(unit, sizes, level)
    read = sum(sizes[item.id][forms[item.id].index(item)] for item in shown)
    dropped += [Dropped("evidence", "*", max(0, read - group), "in_groups")] if read > group or mode.one_each else []
    budget = replace(
        plan,
        system=room.instructions,
        evidence=min(read, group) + room.frame,
        output=room.output,
        dropped=tuple(dropped),
    )
    return Shown(shown, budget, group)


def _level(unit: Sequence[Evidence], sizes: Sizes, group: int) -> int | None:
    """The longest form in which a unit fits a group; a piece that stands alone is always read in full."""
    levels = range(max(len(sizes[item.id]) for item in unit) - 1, -1, -1)
    if len(unit) == 1 and group > 0:
        return levels[0]
    return next((level for level in levels if sum(_size(sizes[item.id], level) for item in unit) <= group), None)


def _size(sizes: Sequence[int], level: int) -> int:
    return sizes[min(level, len(sizes) - 1)]


def _left_out(unit: Sequence[Evidence], sizes: Sizes, level: int | None) -> list[Dropped]:
    lost = {item.id: sizes[item.id][-1] - (0 if level is None else _size(sizes[item.id], level)) for item in unit}
    reason = "no_room" if level is None else "shortened"
    return [Dropped("evidence", key, tokens, reason) for key, tokens in lost.items() if tokens]
