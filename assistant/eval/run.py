"""The suites by name, and their results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import orjson

from assistant.errors import BadInput
from assistant.eval import abstention, citations, conflicts, injection, office, retrieval

Measure = Callable[[Path, Path | None, str | None], tuple[int, dict[str, float]]]


@dataclass(frozen=True, slots=True)
class Result:
    """What a suite measured on `n` items."""

    suite: str
    n: int
    metrics: Mapping[str, float]

    def as_json(self) -> str:
        """One line of JSON."""
        rounded = {name: round(value, 4) for name, value in self.metrics.items()}
        return orjson.dumps({"suite": self.suite, "n": self.n, "metrics": rounded}).decode()

    def as_text(self) -> str:
        """One line for people."""
        figures = "  ".join(f"{name} {value:.3f}" for name, value in self.metrics.items())
        return f"{self.suite:18} n={self.n:<5} {figures}"


def _plain(measure: Callable[[Path], tuple[int, dict[str, float]]]) -> Measure:
    return lambda folder, _index, _embedder: measure(folder)


SUITES: Final[Mapping[str, Measure]] = {
    "retrieval": retrieval.english,
    "retrieval-zh": retrieval.chinese,
    "conflicts-policy": _plain(conflicts.policy),
    "conflicts-web": _plain(conflicts.web),
    "citations": _plain(citations.expert),
    "citations-wice": _plain(citations.wice),
    "unsupported": _plain(citations.unsupported),
    "abstention": _plain(abstention.measure),
    "injection": _plain(injection.measure),
    "office": _plain(office.measure),
}


def evaluate(suite: str, folder: Path, *, index: Path | None = None, embedder: str | None = None) -> Iterator[Result]:
    """Measure one suite, or all of them in order; BadInput for an unknown name, and where the data is not as promised."""
    if suite != "all" and suite not in SUITES:
        raise BadInput(f"unknown suite; known are {', '.join(SUITES)}", reason="suite", known=list(SUITES))
    for name in SUITES if suite == "all" else (suite,):
        n, metrics = SUITES[name](folder, index, embedder)
        yield Result(name, n, metrics)
