"""What the citations after an answer cost: alignment of an answer to its evidence, beside rapidfuzz in the same run.

PYTHONPATH=. .venv/bin/python benchmarks/cite.py [--sentences 20] [--passages 20] [--repeats 30] [--json]
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import platform
import sys
from collections.abc import Callable, Iterator, Mapping
from statistics import median
from time import process_time
from typing import Any

from making import answer, found
from rapidfuzz import fuzz

from assistant.core.citations import align
from assistant.core.evidence import admit
from assistant.core.text import sentences

COLD, WARM = "assistant, nothing seen before", "assistant, evidence seen before"
PEER = "rapidfuzz partial_ratio, all pairs"
PLACES = "rapidfuzz partial_ratio_alignment, all pairs"
Work = Callable[[], Any]


def rivals(count: int, passages: int) -> dict[str, Work]:
    """The same answer and passages for all: places and verdicts of ours, scores of the peer, scores with places of the peer."""
    held = found(passages)
    text, evidence = answer(held, count), [admit(passage) for passage in held]
    claims = [text[span.start : span.end] for span in sentences(text)]
    texts = [passage.text for passage in held]

    def judged() -> Any:
        return align(text, evidence)

    def scan() -> list[float]:
        return [max(fuzz.partial_ratio(claim, each) for each in texts) for claim in claims]

    def places() -> list[Any]:
        pairs = ([fuzz.partial_ratio_alignment(claim, each) for each in texts] for claim in claims)
        return [max(row, key=lambda one: one.score if one else 0.0) for row in pairs]

    return {COLD: judged, WARM: judged, PEER: scan, PLACES: places}


def measure(works: Mapping[str, Work], repeats: int) -> dict[str, dict[str, float]]:
    """Milliseconds of CPU: median, least, most. Rivals take turns; the first turn is not counted.

    Caches of the core are emptied before every run but a warm one, which follows the same work.
    """
    taken: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(repeats + 1):
        for name, work in works.items():
            for cached in () if name is WARM else caches():
                cached.cache_clear()
            gc.collect()
            start = process_time()
            work()
            taken[name].append((process_time() - start) * 1e3)
    return {name: _summed(times[1:]) for name, times in taken.items()}


def _summed(times: list[float]) -> dict[str, float]:
    return {"cpu": round(median(times), 2), "least": round(min(times), 2), "most": round(max(times), 2)}


def caches() -> Iterator[Any]:
    modules = [module for name, module in list(sys.modules.items()) if name.startswith("assistant.core")]
    return (value for module in modules for value in list(vars(module).values()) if hasattr(value, "cache_clear"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--sentences", type=int, default=20)
    parser.add_argument("--passages", type=int, default=20)
    parser.add_argument("--repeats", type=int, default=30, help="runs of each rival")
    parser.add_argument("--json", action="store_true", help="everything as JSON in the last line")
    options = parser.parse_args()
    works = rivals(options.sentences, options.passages)
    aligned = works[COLD]()
    verdicts = [each.verdict.value for each in aligned.sentences]
    counts = {verdict: verdicts.count(verdict) for verdict in sorted(set(verdicts))}
    print(f"{options.sentences} sentences, {options.passages} passages: {len(aligned.citations)} citations, {counts}")
    times = measure(works, options.repeats)
    for name, time in times.items():
        ratio = times[PEER]["cpu"] / time["cpu"]
        print(f"  {name:46} cpu {time['cpu']:8.2f} ms ({time['least']}-{time['most']}) {ratio:6.2f}x")
    if options.json:
        machine = {"cores": os.cpu_count(), "load": os.getloadavg()[0], "python": platform.python_version()}
        print(json.dumps({"machine": machine, "verdicts": counts, "times": times}))


if __name__ == "__main__":
    main()
