"""`assistant eval calibrate`: the share of the best score below which passages are left out, measured on
labelled questions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import orjson

from assistant.core.selection import SelectionPolicy
from assistant.errors import BadInput
from assistant.eval.metrics import mean, recall_at
from assistant.eval.retrieval import CHINESE, ENGLISH, Searched, chosen_embedder, documents_of, search_suite
from assistant.interfaces import Embedder
from assistant.retrieval.floors import WORDS, write_entry

SUITES: Final = (ENGLISH, CHINESE)
FETCHED: Final = 24
"""Passages that a turn fetches."""
RECALL: Final = 0.9
LOSS: Final = 0.005
"""What a floor may cost of recall@5 in any suite; one question of a suite with few may always be lost."""
MINIMUM: Final = SelectionPolicy().minimum


@dataclass(frozen=True, slots=True)
class SuiteFloor:
    """What the floor does to one suite: shares of right passages kept and of wrong ones removed, recall@5 around it."""

    suite: str
    questions: int
    kept: float
    removed: float
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """The floor of one embedder with its measurements over all suites."""

    embedder: str
    floor: float
    questions: int
    kept: float
    removed: float
    suites: tuple[SuiteFloor, ...]

    def entry(self) -> dict[str, float | int]:
        """What the file of floors says of the embedder."""
        kept, removed = round(self.kept, 4), round(self.removed, 4)
        return {"floor": self.floor, "questions": self.questions, "recall": kept, "removed": removed}

    def as_json(self) -> str:
        """One line of JSON."""
        suites = {each.suite: _figures(each) for each in self.suites}
        return orjson.dumps(
            {"suite": "calibrate", "embedder": self.embedder, **self.entry(), "suites": suites}
        ).decode()

    def as_text(self) -> str:
        """A line for the floor and one for each suite."""
        lines = [_line(f"floor {self.floor:.4f} of {self.embedder}", self.entry())]
        return "\n".join([*lines, *(_line(f"  {each.suite}", _figures(each)) for each in self.suites)])


def _figures(each: SuiteFloor) -> dict[str, float | int]:
    figures = {"recall": each.kept, "removed": each.removed, "recall@5 before": each.before, "after": each.after}
    return {"questions": each.questions} | {name: round(value, 4) for name, value in figures.items()}


def _line(head: str, figures: Mapping[str, float | int]) -> str:
    return "  ".join([head, *(f"{name} {value}" for name, value in figures.items() if name != "floor")])


def calibrate(
    folder: Path,
    index: Path | None = None,
    embedder: str | None = None,
    recall: float | None = None,
    write: Path | None = None,
) -> Calibration:
    """Measure the floor on the question files of the folder, and put it into the file `write`, if given.

    The floor is the largest score that keeps the share `recall` of the right passages among those that a turn fetches and
    costs no suite more than `LOSS` of recall@5 or one question. Raises BadInput for a recall outside 0..1, for missing or
    broken files and where no right passage was found, BadSetting for an unknown embedder and a file that cannot be written.
    """
    recall = RECALL if recall is None else recall
    if not 0 < recall <= 1:
        raise BadInput("the recall lies above 0 and is at most 1", reason="recall", given=recall)
    used = chosen_embedder(embedder)
    found = _search(folder, index, used)
    result = measure(used.name if used else WORDS, found, recall)
    if write is not None:
        write_entry(write, result.embedder, result.entry())
    return result


def _search(folder: Path, index: Path | None, embedder: Embedder | None) -> dict[str, list[Searched]]:
    suites = [suite for suite in SUITES if (folder / f"{suite.questions}.jsonl").is_file()]
    if not suites:
        names = [f"{suite.questions}.jsonl" for suite in SUITES]
        raise BadInput(f"the folder holds none of {', '.join(names)}", reason="missing_file", known=names)
    return {
        suite.name: [relative(each) for each in search_suite(suite, folder, index, embedder, FETCHED)]
        for suite in suites
    }


def relative(searched: Searched) -> Searched:
    """The same passages with scores as shares of the best one, as selection reads a floor."""
    best = max((passage.score for passage in searched.passages), default=0.0)
    if best <= 0:
        return searched
    return replace(searched, passages=tuple(replace(each, score=each.score / best) for each in searched.passages))


def measure(embedder: str, found: Mapping[str, Sequence[Searched]], recall: float) -> Calibration:
    """The floor over the searched questions of all suites; questions without a right passage have no say."""
    judged = {name: [each for each in searched if each.relevant] for name, searched in found.items()}
    pooled = [each for searched in judged.values() for each in searched]
    floor = choose_floor(judged, recall)
    kept, removed = shares(pooled, floor)
    suites = tuple(_suite(name, searched, floor) for name, searched in judged.items() if searched)
    return Calibration(embedder, floor, len(pooled), kept, removed, suites)


def _suite(name: str, searched: Sequence[Searched], floor: float) -> SuiteFloor:
    kept, removed = shares(searched, floor)
    return SuiteFloor(name, len(searched), kept, removed, recall_behind(searched, 0.0), recall_behind(searched, floor))


def choose_floor(judged: Mapping[str, Sequence[Searched]], recall: float) -> float:
    """The largest score of a right passage, to four places, that keeps `recall` of them and `LOSS` of recall@5.

    Raises BadInput when no right passage was found at all.
    """
    right = sorted(score for searched in judged.values() for each in searched for score in _scores(each, right=True))
    if not right:
        raise BadInput("no question has a right passage among those found", reason="nothing_relevant")
    # A small number is added, for 1 - 0.9 is a little less than a tenth.
    highest = int((1 - recall) * len(right) + 1e-9)
    for score in reversed(right[: highest + 1]):
        floor = math.floor(score * 10_000) / 10_000
        if not any(_costs(searched, floor) for searched in judged.values()):
            return floor
    return 0.0


def _costs(searched: Sequence[Searched], floor: float) -> bool:
    """Whether the floor costs the suite more of recall@5 than it may."""
    loss = recall_behind(searched, 0.0) - recall_behind(searched, floor)
    return loss > max(LOSS, 1 / max(len(searched), 1)) + 1e-9


def shares(searched: Sequence[Searched], floor: float) -> tuple[float, float]:
    """The share of right passages that the floor keeps, and that of wrong ones that it removes."""
    right = [score >= floor for each in searched for score in _scores(each, right=True)]
    wrong = [score < floor for each in searched for score in _scores(each, right=False)]
    return mean(right), mean(wrong)


def _scores(each: Searched, *, right: bool) -> list[float]:
    return [passage.score for passage in each.passages if (passage.source.uri in each.relevant) == right]


def recall_behind(searched: Sequence[Searched], floor: float) -> float:
    """Recall@5 of documents when the floor is applied as selection does it: the best few stay in any case."""
    return mean([recall_at(_left(each, floor), sorted(each.relevant), 5) for each in searched])


def _left(each: Searched, floor: float) -> list[str]:
    above = [passage for passage in each.passages if passage.score >= floor]
    return documents_of(above if len(above) >= MINIMUM else each.passages[:MINIMUM])
