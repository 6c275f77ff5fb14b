"""One question in the terminal, of this machine or of a server: the same turn that a page would get, printed as it streams."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import aclosing
from typing import Any

import orjson
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from assistant.app import assemble, new_id
from assistant.client import Asked, Item, Reloaded, Withheld, connect
from assistant.codec import encode
from assistant.commands.beginning import check_migrated
from assistant.config import Settings
from assistant.conversation.turns import Question
from assistant.core.access import EVERYONE, Caller
from assistant.core.calls import ModelCall
from assistant.core.citations import Citation
from assistant.core.events import (
    AnswerDelta,
    AnswerFinished,
    CitationsAdded,
    ConflictsFound,
    TurnFinished,
    TurnPlanned,
    TurnProgress,
)
from assistant.synthesis.registry import read_mode

console = Console(highlight=False, soft_wrap=True)


def terminal_caller(settings: Settings) -> Caller:
    """The person at the terminal: the development user where one is set; has the machine anyway."""
    user = settings.auth.development_user or "terminal"
    return Caller(settings.tenant, user, frozenset({EVERYONE, *settings.auth.development_groups}))


async def ask_here(
    settings: Settings,
    question: str,
    *,
    mode: str = "auto",
    collections: Sequence[str] | None = None,
    as_json: bool = False,
    show_plan: bool = False,
    session: str | None = None,
    verbose: bool = False,
) -> str:
    """Ask and print; the status of the turn. Raises what a socket would be refused with."""
    await check_migrated(settings)
    async with assemble(settings) as parts:
        caller = terminal_caller(settings)
        opened = await parts.store.conversations.open(caller, session)
        begun = await parts.live.start(
            caller,
            opened.id,
            Question(
                client_id=new_id(),
                text=question,
                mode=read_mode(mode),
                collections=frozenset(collections) if collections else None,
            ),
        )
        status = "failed"
        async with aclosing(parts.live.follow(opened.id, opened.head_seq)) as events:
            async for numbered in events:
                if numbered.turn != begun.turn:
                    continue
                if as_json:
                    _print_json(numbered.seq, numbered.turn, numbered.event)
                else:
                    _print(numbered.event, show_plan, verbose)
                if isinstance(numbered.event, TurnFinished):
                    status = numbered.event.status
                    break
        if not as_json:
            console.print(f"\n[dim]session {opened.id}[/dim]")
        await parts.live.wait(begun.turn)
        if verbose and not as_json:
            _print_calls(await parts.store.conversations.calls_of(caller, opened.id, begun.turn))
        await parts.live.settle()
        return status


async def ask_there(
    server: str,
    question: str,
    *,
    token: str | None = None,
    mode: str = "auto",
    collections: Sequence[str] | None = None,
    as_json: bool = False,
    show_plan: bool = False,
    session: str | None = None,
    verbose: bool = False,
) -> str:
    """Ask a server and print; the status of the turn. Raises what the server refuses with, and Unreachable."""
    async with connect(server, token=token, session=session) as there:
        asked = there.ask(question, mode=mode, collections=tuple(collections or ()))
        if as_json:
            async for seq, item in asked.numbered():
                _print_json(seq, asked.turn or "", item)
            return asked.message.status
        await _print_as_it_comes(asked, show_plan, verbose)
        console.print(f"\n[dim]session {there.id}[/dim]")
        if verbose and asked.turn:
            _print_calls(await there.calls(asked.turn))
        return asked.message.status


async def _print_as_it_comes(asked: Asked, show_plan: bool, verbose: bool) -> None:
    """The events of a turn; where it was loaded anew, what was not printed yet."""
    printed = ""
    async for item in asked:
        match item:
            case Reloaded():
                _print_reloaded(printed, item)
                printed = item.message.text
            case Withheld():
                pass
            case _:
                _print(item, show_plan, verbose)
                printed += item.text if isinstance(item, AnswerDelta) else ""


def _print_reloaded(printed: str, reloaded: Reloaded) -> None:
    message = reloaded.message
    again = message.text.startswith(printed)
    console.print(message.text[len(printed) :] if again else f"\n\n{message.text}", end="", markup=False)
    if message.stage == "done":
        console.print("\n")
    for part in (message.citations, message.conflicts):
        _print(part, show_plan=False, verbose=False)


def _print_json(seq: int, turn: str, event: Item) -> None:
    match event:
        case Withheld():
            d: dict[str, Any] = {}
        case Reloaded():
            d = {"text": event.message.text, "status": event.message.status}
        case _:
            d = encode(event)
    line = {"seq": seq, "turn": turn, "type": event.type, "d": d}
    sys.stdout.write(orjson.dumps(line).decode() + "\n")
    sys.stdout.flush()


def _print(event: Any, show_plan: bool, verbose: bool) -> None:
    match event:
        case TurnProgress() if verbose:
            _print_step(event)
        case TurnPlanned():
            _print_plan(event, show_plan)
        case AnswerDelta():
            console.print(event.text, end="", markup=False)
        case AnswerFinished():
            console.print("\n" if event.length else "")
        case CitationsAdded():
            _print_citations(event)
        case ConflictsFound():
            _print_conflicts(event)
        case TurnFinished() if event.status != "completed":
            console.print(f"[red]{event.status}[/red] {event.error or ''}")
        case _:
            pass


def _print_plan(plan: TurnPlanned, in_full: bool) -> None:
    console.print(f"[dim]{plan.mode}: {plan.reason}[/dim]")
    if not in_full:
        return
    console.print(f"[dim]asked as: {escape(plan.standalone)}[/dim]")
    budget = plan.budget
    parts = Table("part", "tokens", "share", title=f"window of {budget.window} tokens")
    for name in ("system", "history", "evidence", "question", "output", "margin"):
        tokens = getattr(budget, name)
        parts.add_row(name, str(tokens), f"{tokens / budget.window:.0%}")
    console.print(parts)
    shown = Table("evidence", "title", "section", "date", "score", "tokens", "conflicts")
    for item in plan.evidence:
        when = item.date.isoformat() if item.date else ""
        marks = " ".join(item.conflicts) + {True: " preferred", False: " not preferred", None: ""}[item.preferred]
        shown.add_row(
            item.id, escape(item.title), escape(item.section), when, f"{item.score:.2f}", str(item.tokens), marks
        )
    console.print(shown)
    for dropped in budget.dropped:
        console.print(f"[dim]{dropped.reason}: {dropped.kind} {dropped.ref} ({dropped.tokens} tokens)[/dim]")


def _print_step(step: TurnProgress) -> None:
    """A step as it ends: how many of how many, and why it failed."""
    count = f" {step.done}/{step.total}" if step.done is not None else ""
    console.print(f"\n[dim]{step.stage}{count}{f' failed: {step.failed}' if step.failed else ''}[/dim]")


def _print_calls(calls: Sequence[ModelCall]) -> None:
    """How the answer was made: every call with its prompt and its text."""
    for number, call in enumerate(calls, start=1):
        spent = f"{call.usage.tokens_in} tokens in, {call.usage.tokens_out} out, {call.ms} ms"
        console.rule(f"call {number} of {len(calls)}: {call.purpose}, {escape(call.model)}, {call.ended}, {spent}")
        for message in call.messages:
            console.print(f"[bold]{message.role.value}[/bold]")
            console.print(message.text, markup=False)
        console.print("[bold]reply[/bold]")
        console.print(call.text, markup=False)


def _print_citations(found: CitationsAdded) -> None:
    for line in dict.fromkeys(_place(item) for item in found.items):
        console.print(line, markup=False)
    for lonely in found.unsupported:
        console.print(f"not in the documents: {lonely.start}..{lonely.end} ({lonely.verdict.value})", markup=False)
    if found.agreement is not None:
        console.print(f"[dim]agreement with the evidence: {found.agreement} of 5[/dim]")


def _place(item: Citation) -> str:
    source = item.source
    place = f"{source.title} > {source.section}" if source.section else source.title
    when = f", {source.date.isoformat()}" if source.date else ""
    return f"[{item.n}] {place} (version {source.version}{when}, {item.verdict.value})"


def _print_conflicts(found: ConflictsFound) -> None:
    for conflict in found.items:
        console.print(
            f"\nThe documents disagree on {conflict.topic}: {conflict.note} ({conflict.resolution})", markup=False
        )
        for side in conflict.sides:
            mark = "preferred" if side.preferred else "the other side"
            when = side.date.isoformat() if side.date else "no date"
            console.print(f"  {mark}, {side.title}, {when}: {side.claim}", markup=False)
