"""What the pure part of a turn costs, as ratios against named peers in the same run. See README.md beside this file."""

from __future__ import annotations

import argparse
import gc
import json
import os
import platform
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any

from llama_index.core import PromptHelper, get_response_synthesizer
from llama_index.core.llms.mock import MockLLM
from llama_index.core.prompts.default_prompts import DEFAULT_REFINE_PROMPT, DEFAULT_TEXT_QA_PROMPT
from making import QUESTION, answer, editions, found
from rapidfuzz import fuzz

from assistant.core.budget import BudgetPolicy
from assistant.core.citations import align
from assistant.core.conflicts import Conflict, find_conflicts
from assistant.core.evidence import Evidence, Passage, admit
from assistant.core.modes import Mode
from assistant.core.planning import Limits, TurnRequest, plan_turn
from assistant.core.prompt import Sampling, answer_request
from assistant.core.selection import SelectionPolicy, select
from assistant.core.text import sentences
from assistant.llm.tokens import CachedCounter, TiktokenCounter, load_encoding
from assistant.prompts import load_prompts
from assistant.synthesis.packing import pack

ENCODING, LIMIT = "o200k_base", 10
OURS, WARM = "assistant", "assistant, warm"
PEER, SCAN = "LlamaIndex compact, packing", "rapidfuzz partial_ratio, all pairs"
Work = Callable[[], Any]


def fresh_counter() -> CachedCounter:
    return CachedCounter(TiktokenCounter(ENCODING))


def plan(passages: Sequence[Passage], limit: int, window: int) -> list[str]:
    """From passages to the texts for the model: select, plan, pack, render, with a token counter that has seen nothing."""
    counter = fresh_counter()
    request = TurnRequest(QUESTION, select(passages, SelectionPolicy(limit=limit)))
    made = plan_turn(request, Limits(window, counter.count, load_prompts("en")))
    compact = made.choice.mode is Mode.COMPACT
    groups = pack(made.evidence, counter, made.group_tokens) if compact else [made.evidence]
    return [render(group, made.conflicts) for group in groups]


def render(group: Sequence[Evidence], conflicts: Sequence[Conflict] = ()) -> str:
    request = answer_request(
        prompts=load_prompts("en"),
        question=QUESTION,
        evidence=group,
        conflicts=conflicts,
        history=(),
        sampling=Sampling(0),
    )
    return "\n".join(message.text for message in request.messages)


def pack_only(evidence: Sequence[Evidence], window: int) -> list[str]:
    """Only what the peer does: all texts counted, put into as few prompts as hold them, rendered."""
    counter = fresh_counter()
    room = window - output_of(window) - counter.count(render(()))
    return [render(group) for group in pack(evidence, counter, room)]


def output_of(window: int) -> int:
    return int(window * BudgetPolicy().output_share)


def llama_index(passages: Sequence[Passage], window: int) -> dict[str, Work]:
    """Compact mode on the same texts with the same encoding: packing and rendering, and a whole answer of a mock model."""
    tokenizer = partial(load_encoding(ENCODING).encode, allowed_special="all")
    helper = PromptHelper(context_window=window, num_output=output_of(window), tokenizer=tokenizer)
    compact = get_response_synthesizer(llm=MockLLM(max_tokens=1), prompt_helper=helper, response_mode="compact")
    texts = [passage.text for passage in passages]

    def packing() -> list[str]:
        first, *rest = compact._make_compact_text_chunks(QUESTION, texts)  # noqa: SLF001 (it has no public name)
        refine = partial(DEFAULT_REFINE_PROMPT.format, query_str=QUESTION, existing_answer="")
        head = DEFAULT_TEXT_QA_PROMPT.format(query_str=QUESTION, context_str=first)
        return [head, *(refine(context_msg=text) for text in rest)]

    return {PEER: packing, "LlamaIndex compact, get_response": partial(compact.get_response, QUESTION, texts)}


def planning(count: int, characters: int, window: int) -> tuple[str, str, dict[str, Work]]:
    passages = found(count, characters)
    whole, evidence = partial(plan, passages, count, window), [admit(passage) for passage in passages]
    few, packing = partial(plan, passages, LIMIT, window), partial(pack_only, evidence, window)
    default, same = f"assistant, {LIMIT} pieces (default)", "assistant, only pack and render"
    ours: dict[str, Work] = {OURS: whole, WARM: whole, default: few, f"{default}, warm": few, same: packing}
    rivals = {**ours, **llama_index(passages, window)}
    return f"plan a turn: {count} passages of {characters} characters, window {window}", PEER, rivals


def selecting(count: int) -> tuple[str, str, dict[str, Work]]:
    passages = found(count)
    few, peer = partial(plan, passages, LIMIT, 8_192), llama_index(passages, 8_192)[PEER]
    alone = partial(select, passages, SelectionPolicy(limit=LIMIT))
    rivals: dict[str, Work] = {OURS: few, WARM: few, "assistant, only select": alone, PEER: peer}
    return f"plan a turn: {count} passages, {LIMIT} pieces kept", PEER, rivals


def conflicts(count: int) -> tuple[str, str, dict[str, Work]]:
    passages = editions(count)
    evidence = [admit(passage) for passage in passages]
    asked, every = partial(find_conflicts, evidence, question=QUESTION), partial(find_conflicts, evidence)
    rivals: dict[str, Work] = {
        OURS: asked,
        WARM: asked,
        "assistant, no question": every,
        PEER: llama_index(passages, 8_192)[PEER],
    }
    return f"find conflicts: {count} passages of two editions", PEER, rivals


def alignment(count: int) -> tuple[str, str, dict[str, Work]]:
    passages = found(count)
    text, evidence = answer(passages), [admit(passage) for passage in passages]
    claims = [text[span.start : span.end] for span in sentences(text)]

    def judged() -> Sequence[Any]:
        return align(text, evidence).sentences

    def scan() -> list[float]:
        return [max(fuzz.partial_ratio(claim, passage.text) for passage in passages) for claim in claims]

    return f"align: {len(claims)} sentences, {count} passages", SCAN, {OURS: judged, WARM: judged, SCAN: scan}


def measure(rivals: Mapping[str, Work], repeats: int) -> dict[str, dict[str, float]]:
    """Medians in milliseconds. Rivals take turns, so that a busy moment of the machine hits all; the first turn is not counted.

    Every cache of the assistant's core is emptied before each run, except before a warm one, which follows the same work.
    """
    samples: dict[str, list[tuple[float, float]]] = {name: [] for name in rivals}
    for _ in range(repeats + 1):
        for name, work in rivals.items():
            for cached in () if name.endswith("warm") else caches():
                cached.cache_clear()
            gc.collect()
            wall, cpu = perf_counter(), process_time()
            work()
            samples[name].append(((process_time() - cpu) * 1e3, (perf_counter() - wall) * 1e3))
    return {name: _medians(taken[1:]) for name, taken in samples.items()}


def _medians(taken: Sequence[tuple[float, float]]) -> dict[str, float]:
    cpus, walls = zip(*taken, strict=True)
    values = {"cpu": median(cpus), "wall": median(walls), "least": min(cpus), "most": max(cpus)}
    return {name: round(value, 2) for name, value in values.items()}


def caches() -> Iterator[Any]:
    modules = [module for name, module in list(sys.modules.items()) if name.startswith("assistant.core")]
    return (value for module in modules for value in list(vars(module).values()) if hasattr(value, "cache_clear"))


def machine() -> dict[str, Any]:
    cpus = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    model = next((line.split(":")[1].strip() for line in cpus if line.startswith("model name")), platform.machine())
    packages = ("llama-index-core", "tiktoken", "rapidfuzz", "rjieba", "pystemmer", "numpy")
    where = {
        "processor": model,
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0],
        "python": platform.python_version(),
    }
    return {**where, **{name: version(name) for name in packages}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=15, help="runs of each rival")
    parser.add_argument("--json", action="store_true", help="everything as JSON in the last line")
    options = parser.parse_args()
    results: dict[str, Any] = {"machine": machine(), "repeats": options.repeats}
    print(json.dumps(results))
    sizes = [(1_100, 8_192), (1_800, 8_192), (1_100, 4_096), (4_400, 8_192)]
    turns = [*(planning(24, characters, window) for characters, window in sizes), selecting(1_000)]
    for title, peer, rivals in [*turns, conflicts(50), alignment(24)]:
        fewer = min(5, options.repeats) if title.startswith("plan a turn: 1000") else options.repeats
        times = results[title] = measure(rivals, fewer)
        print(f"\n{title}   (times faster than: {peer})")
        for name, time in times.items():
            made = rivals[name]()
            ratio = time["ratio"] = round(times[peer]["cpu"] / time["cpu"], 2)
            spread = f"({time['least']}-{time['most']})"
            size = f"{len(made)} results" if isinstance(made, (list, tuple)) else "1 answer"
            print(
                f"  {name:36} cpu {time['cpu']:8.1f} ms {spread:18} wall {time['wall']:8.1f} ms {ratio:7.2f}x  {size}"
            )
    if options.json:
        print(json.dumps(results))


if __name__ == "__main__":
    main()
