"""History: which past turns matter for this question, and how much of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assistant.core.messages import Message, Role
from assistant.core.text import sentences, terms


@dataclass(frozen=True, slots=True)
class PastTurn:
    """A finished turn: question as asked and as made standalone, answer without marks, ids of its evidence."""

    turn: str
    question: str
    standalone: str
    answer: str
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Recollection:
    """A past turn that may go into the prompt, in full and in brief, with its relatedness 0..1 to the question."""

    turn: str
    relatedness: float
    full: tuple[Message, Message]
    brief: tuple[Message, Message]


def recollect(question: str, past: Sequence[PastTurn], *, topic_change: bool = False) -> tuple[Recollection, ...]:
    """The past turns worth remembering, most valuable first.

    Relatedness is the share of the question's terms that the turn holds, raised for the last turns (a follow-up leans
    on what was just said). After a change of topic only turns that share terms with the new question are kept.
    """
    asked = frozenset(terms(question))
    remembered = [
        _recollection(turn, _relatedness(asked, turn, age, topic_change)) for age, turn in enumerate(reversed(past))
    ]
    kept = [item for item in remembered if item.relatedness > 0 and item.full[1].text.strip()]
    return tuple(sorted(kept, key=lambda item: -item.relatedness))


def in_order(chosen: Sequence[Recollection], past: Sequence[PastTurn]) -> tuple[Recollection, ...]:
    """The chosen turns in the order in which they happened."""
    place = {turn.turn: index for index, turn in enumerate(past)}
    return tuple(sorted(chosen, key=lambda item: place[item.turn]))


def _relatedness(asked: frozenset[str], turn: PastTurn, age: int, topic_change: bool) -> float:
    said = frozenset(terms(f"{turn.standalone} {turn.answer}"))
    shared = len(asked & said) / len(asked) if asked else 0.0
    if topic_change:
        return shared if shared >= 0.5 else 0.0
    recency = 0.6 ** (age + 1)
    return min(1.0, 0.6 * shared + 0.5 * recency)


def _recollection(turn: PastTurn, relatedness: float) -> Recollection:
    def pair(answer: str) -> tuple[Message, Message]:
        return Message(Role.USER, turn.question), Message(Role.ASSISTANT, answer)

    return Recollection(turn.turn, relatedness, pair(turn.answer), pair(_brief(turn.answer)))


def _brief(answer: str) -> str:
    """The first sentence of an answer; a gap mark says that more was said."""
    spans = sentences(answer)
    if len(spans) <= 1:
        return answer
    return answer[spans[0].start : spans[0].end] + " […]"
