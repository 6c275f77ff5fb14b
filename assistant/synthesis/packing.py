"""Packing: evidence into as few groups as fit a prompt, the sides of a conflict always in one group."""

from __future__ import annotations

from collections.abc import Sequence

from assistant.core.evidence import Evidence
from assistant.core.forms import conflict_units
from assistant.core.prompt import render_evidence
from assistant.interfaces import TokenCounter


def pack(evidence: Sequence[Evidence], counter: TokenCounter, limit: int) -> list[tuple[Evidence, ...]]:
    """Fill groups in order up to `limit` tokens of rendered evidence; each piece is counted once.

    The pieces of one conflict never part: a unit that is larger than the limit makes a group of its own.
    """
    groups: list[tuple[Evidence, ...]] = []
    room = 0
    for unit in conflict_units(evidence):
        need = sum(counter.count(render_evidence(item)) for item in unit)
        if groups and need <= room:
            groups[-1] = (*groups[-1], *unit)
            room -= need
        else:
            groups.append(tuple(unit))
            room = limit - need
    return groups
