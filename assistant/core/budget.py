"""The context budget: divide a model's window between system, history, evidence, question and output.

Two laws shape the method. A larger window never drops what a smaller one kept: so each pool takes the longest fitting
*prefix* of a fixed sequence of steps (admit, lengthen), and the limits of both pools never fall as the window grows. Both
sides of a conflict stay or leave together: so evidence is admitted in units, one per group of conflicting evidence.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from assistant.errors import QuestionTooLong

HISTORY_SHARE: Final = 0.25
"""Share of the free tokens that history may keep while evidence overflows; the rest belongs to evidence."""


@dataclass(frozen=True, slots=True)
class Dropped:
    """Something that was left out of the prompt or shortened.

    kind is history or evidence; ref is a turn or evidence id; tokens is what was saved; reason is a stable word:
    shortened, no_room.
    """

    kind: str
    ref: str
    tokens: int
    reason: str


@dataclass(frozen=True, slots=True)
class BudgetPlan:
    """The division of the window in tokens. The six parts add up to at most `window`."""

    window: int
    system: int
    history: int
    evidence: int
    question: int
    output: int
    margin: int
    dropped: tuple[Dropped, ...] = ()

    @property
    def total(self) -> int:
        """All parts together."""
        return self.system + self.history + self.evidence + self.question + self.output + self.margin


@dataclass(frozen=True, slots=True)
class BudgetPolicy:
    """How a window is divided: least and most output tokens, output share of the window, safety margin share."""

    min_output: int = 500
    max_output: int = 4096
    output_share: float = 0.15
    margin_share: float = 0.03
    history_share: float = HISTORY_SHARE
    min_evidence: int = 2


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something that wants a place: `sizes` are its token counts from the shortest form to the full one, ascending.

    `unit` names the group that stays or leaves together; candidates come in order of value, best first.
    """

    ref: str
    sizes: tuple[int, ...]
    unit: str


@dataclass(frozen=True, slots=True)
class Allocation:
    """What each candidate got: an index into its `sizes`, or absent when it was left out.

    `evidence_limit` is how many tokens of evidence one prompt may hold beside this history.
    """

    plan: BudgetPlan
    evidence_limit: int
    evidence: dict[str, int]
    history: dict[str, int]


def plan_budget(
    window: int,
    *,
    system: int,
    question: int,
    history: Sequence[Candidate] = (),
    evidence: Sequence[Candidate] = (),
    evidence_frame: int = 0,
    policy: BudgetPolicy | None = None,
) -> Allocation:
    """Divide a window of `window` tokens.

    `system` and `question` are counted tokens that always stay; `evidence_frame` is the cost of the evidence area around its
    items, paid once when any is shown. Unused shares are lent: history's to evidence first, evidence's to history. Raises QuestionTooLong when
    system text, question and the least output do not fit.
    """
    policy = policy or BudgetPolicy()
    margin, least, output = _held_back(window, policy)
    if window - margin - system - question < least:
        raise QuestionTooLong(window=window, system=system, question=question, output=least)
    free = max(0, window - margin - system - question - output)
    need_history, need_evidence = _full(history), _full(evidence) + evidence_frame * bool(evidence)
    reserved = int(free * policy.history_share)
    evidence_limit = free - min(need_history, reserved) - evidence_frame
    history_limit = free - min(need_evidence, free - reserved)
    got_evidence = _fill(evidence, evidence_limit, policy.min_evidence)
    got_history = _fill(history, history_limit, 1)
    used_evidence = _used(evidence, got_evidence) + evidence_frame * bool(got_evidence)
    used_history = _used(history, got_history)
    left = window - margin - system - question - used_evidence - used_history
    plan = BudgetPlan(
        window=window,
        system=system,
        history=used_history,
        evidence=used_evidence,
        question=question,
        output=min(left, policy.max_output),
        margin=margin,
        dropped=(*_losses("history", history, got_history), *_losses("evidence", evidence, got_evidence)),
    )
    return Allocation(plan, max(0, evidence_limit), got_evidence, got_history)


def _held_back(window: int, policy: BudgetPolicy) -> tuple[int, int, int]:
    """Margin, least output and reserved output of a window.

    Margin and output are rounded together, so that their sum never grows by more than one token when the window grows
    by one; else a larger window could leave less for evidence.
    """
    margin = int(window * policy.margin_share)
    least = min(policy.min_output, int(window * (policy.margin_share + 0.25)) - margin)
    share = min(policy.max_output, int(window * (policy.margin_share + policy.output_share)) - margin)
    return margin, least, max(least, share)


def _full(candidates: Sequence[Candidate]) -> int:
    return sum(candidate.sizes[-1] for candidate in candidates)


def _used(candidates: Sequence[Candidate], got: dict[str, int]) -> int:
    return sum(candidate.sizes[got[candidate.ref]] for candidate in candidates if candidate.ref in got)


def _fill(candidates: Sequence[Candidate], limit: int, minimum: int) -> dict[str, int]:
    """Take steps in their fixed order while they fit; the first that does not fit ends the filling."""
    got: dict[str, int] = {}
    used = 0
    for unit, level in _steps(_units(candidates), minimum):
        cost = sum(_rise(candidate, got.get(candidate.ref), level) for candidate in unit)
        if used + cost > limit:
            break
        used += cost
        got.update({candidate.ref: min(level, len(candidate.sizes) - 1) for candidate in unit})
    return got


def _units(candidates: Sequence[Candidate]) -> list[list[Candidate]]:
    units: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        units.setdefault(candidate.unit, []).append(candidate)
    return list(units.values())


def _steps(units: Sequence[list[Candidate]], minimum: int) -> Iterator[tuple[list[Candidate], int]]:
    """The order in which evidence is let in; it depends on nothing but the candidates.

    First the best `minimum` units and those in conflict, all in their shortest form, then all of these longer and longer;
    then every other unit in its middle form, then those in full.
    """
    leading = [*units[:minimum], *(unit for unit in units[minimum:] if len(unit) > 1)]
    rest = [unit for unit in units[minimum:] if len(unit) == 1]
    deepest = max((len(candidate.sizes) for unit in units for candidate in unit), default=0)
    for level in range(deepest):
        for unit in leading:
            yield unit, level
    for level in range(max(0, deepest - 2), deepest):
        for unit in rest:
            yield unit, level


def _rise(candidate: Candidate, before: int | None, level: int) -> int:
    level = min(level, len(candidate.sizes) - 1)
    paid = 0 if before is None else candidate.sizes[before]
    return max(0, candidate.sizes[level] - paid)


def _losses(kind: str, candidates: Sequence[Candidate], got: dict[str, int]) -> Iterator[Dropped]:
    for candidate in candidates:
        level = got.get(candidate.ref)
        if level is None:
            yield Dropped(kind, candidate.ref, candidate.sizes[-1], "no_room")
        elif candidate.sizes[level] < candidate.sizes[-1]:
            yield Dropped(kind, candidate.ref, candidate.sizes[-1] - candidate.sizes[level], "shortened")
