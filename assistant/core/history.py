"""History: which past turns matter for this question, how much of each, and what notes stand for the older ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from assistant.core.evidence import Place
from assistant.core.marks import strip_marks
from assistant.core.messages import Message, Role
from assistant.core.text import sentences, terms

NOTES: Final = "notes"
"""The name of the notes among the turns of a plan."""
KEPT_TURNS: Final = 4
"""So many turns at the end are never summarised: follow-ups lean on their words."""
ENOUGH_TURNS: Final = 3
"""So many turns must have left the end before they are worth a new summary."""
_NOTES_VALUE: Final = 0.25
_LONGEST_NOTES: Final = 2400
_LONGEST_LINE: Final = 200
_EARLIER_TURNS: Final = 3
_EARLIER_PLACES: Final = 24


@dataclass(frozen=True, slots=True)
class PastTurn:
    """A finished turn: question as asked and as made standalone, answer, place in the conversation, what it cited."""

    turn: str
    question: str
    standalone: str
    answer: str
    number: int = 0
    cited: tuple[Place, ...] = ()


@dataclass(frozen=True, slots=True)
class Notes:
    """What is kept of the older turns: `text` stands for all turns up to number `through`."""

    text: str
    through: int


@dataclass(frozen=True, slots=True)
class Recollection:
    """A past turn that may go into the prompt, in full and in brief, with its relatedness 0..1 to the question."""

    turn: str
    relatedness: float
    full: tuple[Message, Message]
    brief: tuple[Message, Message]


def recollect(
    question: str,
    past: Sequence[PastTurn],
    *,
    topic_change: bool = False,
    notes: Notes | None = None,
    recall: str = "",
) -> tuple[Recollection, ...]:
    """The past turns worth remembering, most valuable first; the notes are one of them, as the answer to `recall`.

    Relatedness is the share of the question's terms that the turn holds, raised for the last turns (a follow-up leans
    on what was just said). A turn that the notes cover comes on its own only when it shares terms with the question.
    After a change of topic only turns that share half of the terms of the new question are kept, and no notes.
    """
    asked = frozenset(terms(question))
    covered = notes.through if notes else -1
    remembered = [
        _recollection(turn, _relatedness(asked, turn, age, topic_change, covered=turn.number <= covered))
        for age, turn in enumerate(reversed(past))
    ]
    if notes and notes.text and not topic_change:
        remembered.append(_of_notes(notes, recall))
    kept = [item for item in remembered if item.relatedness > 0 and item.full[1].text.strip()]
    return tuple(sorted(kept, key=lambda item: -item.relatedness))


def in_order(chosen: Sequence[Recollection], past: Sequence[PastTurn]) -> tuple[Recollection, ...]:
    """The chosen turns in the order in which they happened, notes first."""
    place = {turn.turn: index for index, turn in enumerate(past)}
    return tuple(sorted(chosen, key=lambda item: place.get(item.turn, -1)))


def _relatedness(
    asked: frozenset[str], turn: PastTurn, age: int, topic_change: bool, *, covered: bool = False
) -> float:
    shared = len(asked & _said(turn.standalone, turn.answer)) / len(asked) if asked else 0.0
    if topic_change:
        return shared if shared >= 0.5 else 0.0
    if covered and not shared:
        return 0.0
    recency = 0.6 ** (age + 1)
    return min(1.0, 0.6 * shared + 0.5 * recency)


@lru_cache(maxsize=2048)
def _said(standalone: str, answer: str) -> frozenset[str]:
    return frozenset(terms(f"{standalone} {answer}"))


def _recollection(turn: PastTurn, relatedness: float) -> Recollection:
    answer = strip_marks(turn.answer)
    return Recollection(turn.turn, relatedness, _pair(turn.question, answer), _pair(turn.question, _brief(answer)))


def _of_notes(notes: Notes, recall: str) -> Recollection:
    text = strip_marks(notes.text)
    return Recollection(NOTES, _NOTES_VALUE, _pair(recall, text), _pair(recall, _end(text, _LONGEST_NOTES // 4)))


def _pair(question: str, answer: str) -> tuple[Message, Message]:
    return Message(Role.USER, question), Message(Role.ASSISTANT, answer)


def _brief(answer: str) -> str:
    """The first sentence of an answer; a gap mark says that more was said."""
    spans = sentences(answer)
    if len(spans) <= 1:
        return answer
    return answer[spans[0].start : spans[0].end] + " […]"


def _end(text: str, longest: int) -> str:
    """The last sentences of a text, at least one; a gap mark says that more was said."""
    spans = sentences(text)
    start = next((span.start for span in spans if len(text) - span.start <= longest), spans[-1].start if spans else 0)
    return text if start == 0 else "[…] " + text[start:]


def due_for_notes(past: Sequence[PastTurn], notes: Notes | None) -> tuple[PastTurn, ...]:
    """The turns that should go into the notes now, oldest first; none while too few have left the end."""
    covered = notes.through if notes else 0
    leaving = tuple(turn for turn in past[: max(0, len(past) - KEPT_TURNS)] if turn.number > covered)
    return leaving if len(leaving) >= ENOUGH_TURNS else ()


def condense(notes: str, turns: Sequence[PastTurn]) -> str:
    """Notes by rule: the earlier notes, then each question with the first sentence of its answer; old lines go first."""
    lines = [*notes.splitlines(), *(_line(turn) for turn in turns if turn.answer.strip())]
    while len(lines) > 1 and sum(map(len, lines)) + len(lines) > _LONGEST_NOTES:
        del lines[0]
    return "\n".join(lines)[-_LONGEST_NOTES:]


def _line(turn: PastTurn) -> str:
    question = " ".join(turn.standalone.split())[:_LONGEST_LINE]
    answer = " ".join(_brief(strip_marks(turn.answer)).split())[:_LONGEST_LINE]
    return f"- {question} — {answer}"


def bounded_notes(text: str) -> str:
    """What a model wrote as notes, without marks and within bounds; empty when it wrote nothing."""
    return strip_marks(text.strip()[:_LONGEST_NOTES]).strip()


def earlier_places(past: Sequence[PastTurn], *, topic_change: bool) -> tuple[Place, ...]:
    """The places that the last answers cited, the latest answer first; none after a change of topic."""
    return () if topic_change else tuple(dict.fromkeys(_latest(past)))[:_EARLIER_PLACES]


def _latest(past: Sequence[PastTurn]) -> Iterator[Place]:
    for turn in reversed(past[-_EARLIER_TURNS:]):
        yield from turn.cited
