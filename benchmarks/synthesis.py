"""The modes of synthesis beside LlamaIndex's: the same 24 passages, window, output, replies and server, in one run.

Both sides ask the scripted provider of `serving.py` by OpenAI's form and know the same window (8,192 tokens), the same
room for the output (what the assistant's plan of the mode gives) and the same encoding (o200k_base). Two sets of passages:
`both editions` truly disagree, and the assistant reads what disagrees in one prompt (so a refine of 24 passages takes a few
calls less); `one edition` has no conflicts. Rivals take turns; the first turn of each is not counted.

The assistant plans (conflicts, budget), packs, and renders source, section and date of every passage. LlamaIndex gets the
bare texts in one row, and in another the texts with the same three facts as metadata, as its readers give them. Its own OpenAI
classes ask for an older openai client than the lock holds, so it calls through the locked one by the small class below. All
its calls are the asynchronous ones: what can run side by side does, without a limit unless a row says so.

calls, tokens    calls of the model and the tokens of all their prompts, counted by the server
longest          tokens of the longest prompt
cpu              CPU time until the first call is handed to the client, in ms; `plan` is the part before the synthesizer
                 (`given a plan` starts with the plan made and with nothing counted: the same job as LlamaIndex's)
sent             wall time until the server has the first call, in ms
first            wall time until the first text of the answer, in ms, where it is streamed
wall             wall time of the whole answer, in ms; `open` is how many calls were open at once, seen by the server

The first table of a mode has a server that answers at once, the second one that takes 0.3 s a call. The last table sets the
assistant beside LlamaIndex with metadata, which shows the model the same facts: values below 1 are less than its.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version
from statistics import median
from time import monotonic, process_time
from typing import Any

from llama_index.core import PromptHelper, get_response_synthesizer
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, CompletionResponse, LLMMetadata
from llama_index.core.llms import CustomLLM
from llama_index.core.schema import MetadataMode, TextNode
from making import CHARACTERS, QUESTION, found, passages
from openai import AsyncOpenAI
from plan import ENCODING, caches, fresh_counter, machine
from pydantic import ConfigDict
from serving import Serving, serving

from assistant.core.conflicts import find_conflicts
from assistant.core.evidence import Evidence, Passage, admit
from assistant.core.messages import ModelDelta
from assistant.core.modes import Mode
from assistant.core.planning import Limits, TurnPlan, TurnRequest, plan_turn
from assistant.core.prompt import ModelRequest, Sampling
from assistant.interfaces import TokenCounter
from assistant.llm.openai_stream import OpenAICompatibleModel
from assistant.llm.tokens import CachedCounter, load_encoding
from assistant.prompts import load_prompts
from assistant.synthesis.job import PARALLEL, Job, Step
from assistant.synthesis.registry import get_synthesizer

COUNT, WINDOW, DELAY = 24, 8_192, 0.3
MODES = (Mode.COMPACT, Mode.TREE_SUMMARIZE, Mode.REFINE, Mode.ACCUMULATE, Mode.COMPACT_ACCUMULATE)
STREAMED = (Mode.COMPACT, Mode.REFINE)
OURS, WARM, WIDE = "assistant", "assistant, warm", f"assistant, {COUNT} at once"
GIVEN = "assistant, given a plan"
PEER, TAGGED, NARROW = "LlamaIndex", "LlamaIndex, with metadata", f"LlamaIndex, {PARALLEL} at once"
QUICK, SLOW = "at once", f"{DELAY} s a call"
COLUMNS = ("calls", "tokens", "longest", "cpu", "plan", "sent", "first", "wall", "open")


@dataclass(slots=True)
class Marks:
    """What a run has noted: CPU seconds and clock at its start, CPU seconds when planned and at the first call."""

    cpu: float = field(default_factory=process_time)
    clock: float = field(default_factory=monotonic)
    planned: float = 0.0
    called: float = 0.0
    first: float = 0.0

    def plan_made(self) -> None:
        self.planned = process_time() - self.cpu

    def call(self) -> None:
        self.called = self.called or process_time() - self.cpu

    def text(self) -> None:
        self.first = self.first or monotonic() - self.clock


Run = Callable[[Marks], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Noting:
    """A model that notes when it is first called."""

    inner: OpenAICompatibleModel
    marks: Marks

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def window(self) -> int:
        return self.inner.window

    @property
    def counter(self) -> TokenCounter:
        return self.inner.counter

    def stream(self, request: ModelRequest) -> Any:
        self.marks.call()
        return self.inner.stream(request)


class Peer(CustomLLM):
    """LlamaIndex's door to the same server, by the openai client; `gate` limits its calls."""

    model_config = ConfigDict(arbitrary_types_allowed=True)
    client: Any
    output: int
    marks: Any
    gate: Any

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(context_window=WINDOW, num_output=self.output, is_chat_model=True, model_name="scripted")

    def complete(self, *_: Any, **__: Any) -> CompletionResponse:
        raise NotImplementedError("only asynchronous chats are measured")

    def stream_complete(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError("only asynchronous chats are measured")

    async def achat(self, messages: Sequence[ChatMessage], **_: Any) -> ChatResponse:
        async with self.gate:
            self.marks.call()
            reply = await self.client.chat.completions.create(**self._body(messages))
        return ChatResponse(message=ChatMessage(role="assistant", content=reply.choices[0].message.content))

    async def astream_chat(self, messages: Sequence[ChatMessage], **_: Any) -> AsyncIterator[ChatResponse]:
        self.marks.call()
        chunks = await self.client.chat.completions.create(**self._body(messages), stream=True)

        async def said() -> AsyncIterator[ChatResponse]:
            text = ""
            async for chunk in chunks:
                delta = (chunk.choices[0].delta.content or "") if chunk.choices else ""
                text += delta
                yield ChatResponse(message=ChatMessage(role="assistant", content=text), delta=delta)

        return said()

    def _body(self, messages: Sequence[ChatMessage]) -> dict[str, Any]:
        sent = [{"role": message.role.value, "content": message.content} for message in messages]
        return {"model": "scripted", "messages": sent, "max_tokens": self.output, "temperature": 0.1}


def planned(mode: Mode, evidence: Sequence[Evidence], counter: CachedCounter) -> TurnPlan:
    request = TurnRequest(QUESTION, tuple(evidence), requested=mode)
    return plan_turn(request, Limits(WINDOW, counter.count, load_prompts("en")))


def job_of(plan: TurnPlan, counter: CachedCounter, gate: asyncio.Semaphore) -> Job:
    """The job of a plan, as a turn makes it."""
    return Job.of_plan(plan, sampling=Sampling(plan.budget.output), counter=counter, gate=gate)


def ours(
    model: OpenAICompatibleModel, mode: Mode, held: Sequence[Passage], *, warm: bool = False, wide: int = PARALLEL
) -> Run:
    """The assistant: plan and synthesize. `warm` keeps the counts and the caches of the runs before."""
    evidence, kept = [admit(passage) for passage in held], fresh_counter()

    async def run(marks: Marks) -> None:
        counter = kept if warm else fresh_counter()
        plan = planned(mode, evidence, counter)
        marks.plan_made()
        await heard(get_synthesizer(mode)(Noting(model, marks), job_of(plan, counter, asyncio.Semaphore(wide))), marks)

    return run


def given(model: OpenAICompatibleModel, mode: Mode, held: Sequence[Passage]) -> Run:
    """The synthesizer alone: the plan is made before, and what it counted is forgotten."""
    plan = planned(mode, [admit(passage) for passage in held], fresh_counter())

    async def run(marks: Marks) -> None:
        job = job_of(plan, fresh_counter(), asyncio.Semaphore(PARALLEL))
        await heard(get_synthesizer(mode)(Noting(model, marks), job), marks)

    return run


async def heard(steps: AsyncGenerator[Step, None], marks: Marks) -> None:
    """Run a synthesizer to its end; its first text is noted."""
    async with aclosing(steps):
        async for step in steps:
            if isinstance(step, ModelDelta):
                marks.text()


def theirs(client: AsyncOpenAI, mode: Mode, texts: Sequence[str], output: int, *, wide: int = COUNT) -> Run:
    """LlamaIndex's synthesizer of the same name, streaming where it can."""
    tokenizer = partial(load_encoding(ENCODING).encode, allowed_special="all")
    streams = mode in STREAMED

    async def run(marks: Marks) -> None:
        helper = PromptHelper(context_window=WINDOW, num_output=output, tokenizer=tokenizer)
        model = Peer(client=client, output=output, marks=marks, gate=asyncio.Semaphore(wide))
        synthesizer = get_response_synthesizer(
            llm=model, prompt_helper=helper, response_mode=mode.value, streaming=streams, use_async=True
        )
        answer = await synthesizer.aget_response(QUESTION, texts)
        if streams:
            async for _ in answer:
                marks.text()

    return run


def tagged(passage: Passage) -> str:
    """A text with the facts about it that the assistant renders, as LlamaIndex shows a node to a model."""
    source = passage.source
    facts = {"source": source.title, "section": passage.section, "date": str(source.date or "")}
    return TextNode(text=passage.text, metadata=facts).get_content(metadata_mode=MetadataMode.LLM)


def disagreeing(characters: int) -> list[Passage]:
    return found(COUNT, characters)


def agreeing(characters: int) -> list[Passage]:
    """The best passages of one edition, without those that the assistant finds in conflict."""
    newest = max(passage.source.collection for passage in passages(characters))
    pool = [p for p in found(len(passages(characters)), characters) if p.source.collection == newest][: 3 * COUNT]
    evidence = [admit(passage) for passage in pool]
    while found_now := find_conflicts(evidence, question=QUESTION):
        struck = {side.evidence for conflict in found_now for side in conflict.sides}
        evidence = [item for item in evidence if item.id not in struck]
    kept = {item.id for item in evidence}
    return [passage for passage in pool if admit(passage).id in kept][:COUNT]


@dataclass(frozen=True, slots=True)
class Sides:
    """Both clients, their connections open from one run to the next."""

    server: Serving
    model: OpenAICompatibleModel
    client: AsyncOpenAI

    def quick(self, mode: Mode, held: Sequence[Passage], output: int) -> dict[str, Run]:
        return {
            OURS: ours(self.model, mode, held),
            WARM: ours(self.model, mode, held, warm=True),
            GIVEN: given(self.model, mode, held),
            PEER: theirs(self.client, mode, [passage.text for passage in held], output),
            TAGGED: theirs(self.client, mode, [tagged(passage) for passage in held], output),
        }

    def slow(self, mode: Mode, held: Sequence[Passage], output: int) -> dict[str, Run]:
        texts = [passage.text for passage in held]
        rivals = {
            OURS: ours(self.model, mode, held),
            PEER: theirs(self.client, mode, texts, output),
            TAGGED: theirs(self.client, mode, [tagged(passage) for passage in held], output),
        }
        if mode is not Mode.ACCUMULATE:
            return rivals
        narrow = theirs(self.client, mode, texts, output, wide=PARALLEL)
        return {**rivals, WIDE: ours(self.model, mode, held, wide=COUNT), NARROW: narrow}

    async def compare(self, rivals: Mapping[str, Run], delay: float, repeats: int, unseen: int) -> dict[str, Any]:
        """Medians of each rival over `repeats` runs; `unseen` runs before them do not count."""
        samples: dict[str, list[dict[str, float]]] = {name: [] for name in rivals}
        for _ in range(max(1, repeats) + unseen):
            for name, run in rivals.items():
                samples[name].append(await self._measured(name, run, delay))
        return {name: _medians(taken[unseen:]) for name, taken in samples.items()}

    async def _measured(self, name: str, run: Run, delay: float) -> dict[str, float]:
        for cached in () if name == WARM else caches():
            cached.cache_clear()
        self.server.script(delay)
        gc.collect()
        marks = Marks()
        await run(marks)
        wall, seen = monotonic() - marks.clock, self.server.report()
        sent = seen.pop("first") - marks.clock
        times = {"cpu": marks.called, "plan": marks.planned, "sent": sent, "first": marks.first, "wall": wall}
        return {**seen, **{column: seconds * 1e3 for column, seconds in times.items()}}


def _medians(taken: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The median of each column; of calls and open calls the most, which must never be exceeded."""
    most = ("calls", "open")
    return {column: round((max if column in most else median)([one[column] for one in taken]), 1) for column in COLUMNS}


async def measure(
    sets: Mapping[str, Sequence[Passage]], options: argparse.Namespace, server: Serving
) -> dict[str, Any]:
    """The chosen modes on all sets, printed as they come."""
    results: dict[str, Any] = {}
    model = OpenAICompatibleModel(server.url, "scripted", window=WINDOW, counter=fresh_counter())
    client = AsyncOpenAI(base_url=server.url, api_key="none", max_retries=0)
    sides = Sides(server, model, client)
    for name, held in sets.items():
        for mode in map(Mode, options.modes):
            output = planned(mode, [admit(passage) for passage in held], fresh_counter()).budget.output
            title = f"{mode.value}: {len(held)} passages, {name}, output {output}"
            quick = await sides.compare(sides.quick(mode, held, output), 0.0, options.repeats, 1)
            late = await sides.compare(sides.slow(mode, held, output), DELAY, options.slow, 0)
            results[title] = {QUICK: quick, SLOW: late}
            show(title, results[title])
    await model.aclose()
    await client.close()
    return results


def show(title: str, tables: Mapping[str, Mapping[str, Mapping[str, float]]]) -> None:
    print(f"\n{title}")
    for name, rows in tables.items():
        print(f"  {name:26}" + "".join(f"{column:>9}" for column in COLUMNS))
        for rival, row in rows.items():
            cells = [f"{row[column]:g}" if row[column] else "-" for column in COLUMNS]
            print(f"  {rival:26}" + "".join(f"{cell:>9}" for cell in cells))


def summary(results: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, str | float]]:
    """The assistant beside the peer that shows the same facts: calls of both, then ratios."""
    found_all = {}
    for title, tables in results.items():
        mine, peer, alone = tables[QUICK][OURS], tables[QUICK][TAGGED], tables[QUICK][GIVEN]
        late, late_peer = tables[SLOW][OURS], tables[SLOW][TAGGED]
        found_all[title] = {
            "calls": f"{mine['calls']:g}/{peer['calls']:g}",
            "tokens": _ratio(mine["tokens"], peer["tokens"]),
            "cpu": _ratio(mine["cpu"], peer["cpu"]),
            "cpu given a plan": _ratio(alone["cpu"], peer["cpu"]),
            "cpu after plan": _ratio(mine["cpu"] - mine["plan"], peer["cpu"]),
            "sent": _ratio(mine["sent"], peer["sent"]),
            "sent given a plan": _ratio(alone["sent"], peer["sent"]),
            "first, slow": _ratio(late["first"], late_peer["first"]),
            "wall, slow": _ratio(late["wall"], late_peer["wall"]),
        }
    return found_all


def _ratio(mine: float, peer: float) -> str | float:
    return round(mine / peer, 3) if peer else "-"


def show_summary(rows: Mapping[str, Mapping[str, Any]]) -> None:
    columns = list(next(iter(rows.values())))
    print(f"\n{'assistant / ' + TAGGED:58}" + "".join(f"{column:>19}" for column in columns))
    for title, row in rows.items():
        print(f"{title:58}" + "".join(f"{row[column]:>19}" for column in columns))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=7, help="runs of each rival with a server that answers at once")
    parser.add_argument("--slow", type=int, default=2, help="runs of each rival with a server that takes 0.3 s a call")
    parser.add_argument("--characters", type=int, default=CHARACTERS, help="length of a passage")
    parser.add_argument("--modes", nargs="+", default=[mode.value for mode in MODES], help="only these modes")
    parser.add_argument("--json", action="store_true", help="everything as JSON in the last line")
    options = parser.parse_args()
    about = {"machine": {**machine(), "openai": version("openai")}, **vars(options), "window": WINDOW}
    print(json.dumps(about))
    sets = {"both editions": disagreeing(options.characters), "one edition": agreeing(options.characters)}
    with serving() as server:
        results = asyncio.run(measure(sets, options, server))
    ratios = summary(results)
    show_summary(ratios)
    if options.json:
        print(json.dumps({**about, "results": results, "ratios": ratios}))


if __name__ == "__main__":
    main()
