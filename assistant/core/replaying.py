"""Replay: what is different when the same evidence is answered again, by the same model or another one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from assistant.core.citations import Citation, Verdict
from assistant.core.events import ConflictShown, UsageReported
from assistant.core.text import Span
from assistant.core.turn import TurnMessage
from assistant.core.worddiff import Change, rendered, word_diff


@dataclass(frozen=True, slots=True)
class Changed:
    """A value of the old answer and of the new one; null for an answer that has none."""

    old: Any
    new: Any

    @property
    def same(self) -> bool:
        """Whether both are equal."""
        return bool(self.old == self.new)


@dataclass(frozen=True, slots=True)
class CitedPlace:
    """A place that an answer cites: evidence and span of its document (code points), with the weakest verdict given there."""

    evidence: str
    start: int
    end: int
    title: str
    exact: str
    verdict: Verdict

    def overlaps(self, other: CitedPlace) -> bool:
        """Whether both cite some of the same text."""
        return self.evidence == other.evidence and self.start < other.end and other.start < self.end


@dataclass(frozen=True, slots=True)
class Rejudged:
    """A place that both answers cite, with another verdict."""

    place: CitedPlace
    verdict: Changed


@dataclass(frozen=True, slots=True)
class Refollowed:
    """A conflict that the two answers treat differently: preferred, both, other, silent; null where it was not shown."""

    topic: str
    followed: Changed


@dataclass(frozen=True, slots=True)
class Replay:
    """The difference of two answers to the same evidence.

    `changes` lead from the old text to the new one. A place counts as kept when both answers cite some of the same text of
    one piece of evidence; `kept` is how many. `usage` has the fields of turn.usage.
    """

    old_text: str
    new_text: str
    changes: tuple[Change, ...]
    model: Changed
    prompt: Changed
    mode: Changed
    status: Changed
    finish: Changed
    agreement: Changed
    unsupported: Changed
    added: tuple[CitedPlace, ...]
    lost: tuple[CitedPlace, ...]
    rejudged: tuple[Rejudged, ...]
    kept: int
    conflicts: tuple[Refollowed, ...]
    usage: dict[str, Changed]

    @property
    def same(self) -> bool:
        """Whether the answers say the same, with the same citations, verdicts and sides; the model and the cost may differ."""
        alike = self.status.same and self.finish.same and self.agreement.same and self.unsupported.same
        return (
            alike
            and self.old_text == self.new_text
            and not (self.added or self.lost or self.rejudged or self.conflicts)
        )

    def as_json(self) -> dict[str, Any]:
        """Plain JSON values, for the record of the replay and for people who look at it."""
        pairs = ("model", "prompt", "mode", "status", "finish", "agreement", "unsupported")
        return {
            "same": self.same,
            "text": rendered(self.old_text, self.new_text, self.changes),
            **{name: asdict(getattr(self, name)) for name in pairs},
            "citations": {
                "kept": self.kept,
                "added": [_place_json(place) for place in self.added],
                "lost": [_place_json(place) for place in self.lost],
                "rejudged": [
                    {**_place_json(each.place), "verdict": {"old": str(each.verdict.old), "new": str(each.verdict.new)}}
                    for each in self.rejudged
                ],
            },
            "conflicts": [{"topic": each.topic, "followed": asdict(each.followed)} for each in self.conflicts],
            "usage": {name: asdict(changed) for name, changed in self.usage.items()},
        }


def compare_answers(old: TurnMessage, new: TurnMessage) -> Replay:
    """What the second answer does differently. Both are folded turns over the same evidence; nothing is asked of a model here."""
    ours, theirs = _places(old), _places(new)
    pairs = _paired(ours, theirs)
    met = {id(place) for pair in pairs for place in pair}
    return Replay(
        old_text=old.text,
        new_text=new.text,
        changes=word_diff(old.text, new.text),
        model=Changed(old.model, new.model),
        prompt=Changed(old.prompt, new.prompt),
        mode=Changed(old.plan.mode if old.plan else None, new.plan.mode if new.plan else None),
        status=Changed(old.status, new.status),
        finish=Changed(old.finish, new.finish),
        agreement=Changed(_agreement(old), _agreement(new)),
        unsupported=Changed(_unsupported(old), _unsupported(new)),
        added=tuple(place for place in theirs if id(place) not in met),
        lost=tuple(place for place in ours if id(place) not in met),
        rejudged=tuple(
            Rejudged(one, Changed(one.verdict, other.verdict))
            for one, other in pairs
            if one.verdict is not other.verdict
        ),
        kept=len(pairs),
        conflicts=_refollowed(old, new),
        usage={name: Changed(_usage(old.usage, name), _usage(new.usage, name)) for name in UsageReported.__slots__},
    )


_WEAKEST_FIRST = (Verdict.CONTRADICTED, Verdict.UNSUPPORTED, Verdict.PARTIAL, Verdict.SUPPORTED)


def _places(message: TurnMessage) -> list[CitedPlace]:
    """The places an answer cites, each once, in the order of the answer."""
    found: dict[tuple[str, Span], list[Citation]] = {}
    for item in message.citations.items if message.citations else ():
        found.setdefault((item.evidence, Span(item.source.start, item.source.end)), []).append(item)
    return [_place(items) for items in found.values()]


def _place(items: Sequence[Citation]) -> CitedPlace:
    first = items[0]
    source = first.source
    verdict = min((item.verdict for item in items), key=_WEAKEST_FIRST.index)
    return CitedPlace(first.evidence, source.start, source.end, source.title, source.exact, verdict)


def _place_json(place: CitedPlace) -> dict[str, Any]:
    return {**asdict(place), "verdict": place.verdict.value}


def _paired(ours: Iterable[CitedPlace], theirs: Sequence[CitedPlace]) -> list[tuple[CitedPlace, CitedPlace]]:
    """Places of both answers that are the same: those with the same span first, then those that overlap, each used once."""
    left, pairs = list(theirs), list[tuple[CitedPlace, CitedPlace]]()
    waiting = list(ours)
    for alike in (_same_span, CitedPlace.overlaps):
        for one in list(waiting):
            other = next((place for place in left if alike(one, place)), None)
            if other is not None:
                pairs.append((one, other))
                left.remove(other)
                waiting.remove(one)
    return pairs


def _same_span(one: CitedPlace, other: CitedPlace) -> bool:
    return (one.evidence, one.start, one.end) == (other.evidence, other.start, other.end)


def _refollowed(old: TurnMessage, new: TurnMessage) -> tuple[Refollowed, ...]:
    ours, theirs = _followed(old), _followed(new)
    both = [(key, Changed(ours.get(key), theirs.get(key))) for key in dict.fromkeys([*ours, *theirs])]
    return tuple(Refollowed(key[0], followed) for key, followed in both if not followed.same)


def _followed(message: TurnMessage) -> dict[tuple[str, str, frozenset[str]], str]:
    """What an answer did with each conflict, by topic, kind and the evidence on its sides."""
    items: Iterable[ConflictShown] = message.conflicts.items if message.conflicts else ()
    return {(item.topic, item.kind, frozenset(side.evidence for side in item.sides)): item.followed for item in items}


def _agreement(message: TurnMessage) -> int | None:
    return message.citations.agreement if message.citations else None


def _unsupported(message: TurnMessage) -> int:
    return len(message.citations.unsupported) if message.citations else 0


def _usage(usage: UsageReported | None, name: str) -> int | float | None:
    value: int | float | None = getattr(usage, name, None)
    return value
