"""What `assistant audit` prints: tables and records for people, JSON for programs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any, Final

import orjson
from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from assistant.audit.checking import Verified
from assistant.audit.package import PackageFinding
from assistant.core.keeping import Hold

console = Console(highlight=False, soft_wrap=True)
errors = Console(stderr=True, highlight=False, soft_wrap=True)

Json = Mapping[str, Any]


_CONTROLS: Final = {
    code: "\N{REPLACEMENT CHARACTER}" for code in (*range(32), *range(127, 160)) if chr(code) not in "\n\t"
}
"""What documents and people wrote must not steer the terminal of an auditor."""


def say(text: str) -> None:
    """One line of what was done."""
    console.print(text.translate(_CONTROLS), markup=False)


def warn(text: str) -> None:
    """One line of what to look at."""
    errors.print(text, markup=False)


def _as_json(value: Any) -> None:
    sys.stdout.write(orjson.dumps(value, option=orjson.OPT_INDENT_2).decode() + "\n")


def records(found: Sequence[Json], *, as_json: bool, more: bool) -> None:
    """A line for each record, and how to go on."""
    if as_json:
        _as_json(found)
        return
    table = Table("seq", "id", "at", "kind", "by", "person", "mode", "model", "verdict", "conflict", "rating", box=None)
    for each in found:
        kept = (each["mode"], each["model"], each["verdict"], "yes" if each["has_conflict"] else "", each["rating"])
        shown = (str(each["seq"]), each["id"], each["at"], each["kind"], each["actor"], each["subject"], *kept)
        table.add_row(*(escape(str(value or "").translate(_CONTROLS)) for value in shown))
    # A table fits itself to the terminal and would cut ids that are to be copied.
    Console(highlight=False, width=max(console.width, 220)).print(table)
    if more:
        say(f"more: --before {found[-1]['seq']}")


def record(opened: Json, *, as_json: bool) -> None:
    """A record, what was said, what it rested on, and what became of that."""
    if as_json:
        _as_json(opened)
        return
    told = opened["record"]
    say(f"record {told['seq']} {told['id']} {told['kind']} at {told['at']} by {told['actor']}")
    say(f"hash {told['hash']}, previous {told['previous']}")
    _texts(opened)
    body = told["body"]
    for name in (
        "mode",
        "reason",
        "model",
        "prompt",
        "status",
        "finish",
        "error",
        "rights",
        "parameters",
        "budget",
        "usage",
    ):
        if body.get(name) is not None:
            say(f"{name}: {_short(body[name])}")
    _citations(body)
    for conflict in _items(body, "conflicts"):
        say(
            f"conflict: {conflict.get('topic')}: {conflict.get('note')} ({conflict.get('resolution')}, {conflict.get('followed')})"
        )
    for each in opened["evidence"]:
        say(f"\nevidence {each['id']}: {each['title']} > {each['section']} (version {each['version']}, {each['date']})")
        say(each["exact"])
    for source in opened["sources"]:
        _source(source)


def _texts(opened: Json) -> None:
    if opened["tampered"]:
        warn("the sealed text is not what was sealed")
    elif opened["erased"]:
        say("the text was erased")
    for name, text in (opened["texts"] or {}).items():
        say(f"{name}: {text}")


def _citations(body: Json) -> None:
    for item in _items(body, "citations"):
        source = item.get("source", {})
        say(
            f"[{item.get('n')}] {item.get('verdict')} {source.get('title')} (version {source.get('version')}): {source.get('exact')}"
        )
    held = body.get("citations")
    for item in held.get("unsupported", ()) if isinstance(held, Mapping) else ():
        say(f"not carried: {item.get('start')}..{item.get('end')} ({item.get('verdict')})")


def _items(body: Json, name: str) -> Sequence[Json]:
    held = body.get(name)
    return held.get("items", ()) if isinstance(held, Mapping) else ()


def _short(value: Any) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def _source(source: Json) -> None:
    say(f"\nsource [{source['n']}] {source['title']}: {source['state']}")
    if source["current"]:
        say(f"now version {source['current']['version']}, {source['current']['date']}")
    if source["diff"] and source["state"] == "changed":
        _difference(source["diff"])


def _difference(parts: Sequence[Json]) -> None:
    """Words that went and words that came, in between what stayed."""
    for part in parts:
        if part["old"] == part["new"]:
            console.print(part["old"].translate(_CONTROLS), end="", markup=False)
            continue
        for text, style, mark in ((part["old"], "red", "-"), (part["new"], "green", "+")):
            if text:
                console.print(f"[{mark}{text.translate(_CONTROLS)}{mark}]", end="", style=style, markup=False)
    say("")


class _Rate(ProgressColumn):
    """How many records a second are checked."""

    def render(self, task: Task) -> Text:
        """The speed of the last moments; nothing until it is known."""
        speed = task.finished_speed or task.speed
        return Text("" if speed is None else f"{speed:,.0f}/s", style="progress.data.speed")


@contextmanager
def counting(total: int | None) -> Iterator[Callable[[int], None]]:
    """A bar that is told how many records were checked; on the error stream, so that the result stays alone."""
    columns = (
        TextColumn("records"),
        BarColumn(),
        MofNCompleteColumn(),
        _Rate(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=errors, transient=True, disable=not errors.is_terminal) as bar:
        task = bar.add_task("records", total=total)
        yield lambda done: bar.update(task, completed=done)


def verified(found: Verified) -> None:
    """The finding over a log, in one line, and what it was held against."""
    finding = found.finding
    if found.damaged:
        warn(f"{found.damaged} lines of the targets are no checkpoints")
    if finding.ok:
        say(
            f"ok: {finding.checked} records fit; signatures reach over the first {finding.covered}; "
            f"{found.external} checkpoints of {found.targets} targets agree"
        )
        if finding.unsigned:
            warn(f"no signature reaches the last {finding.unsigned} records yet: the chain alone holds them")
        return
    until = f" to {finding.until}" if finding.until is not None and finding.until != finding.seq else ""
    say(f"does not fit: record {finding.seq}{until}: {finding.reason} ({finding.checked} records before it fit)")


def verified_package(found: PackageFinding, trusted: bool) -> None:
    """The finding over a package, in one line."""
    if not found.ok:
        where = f"record {found.seq}" if found.seq is not None else found.file or "the package"
        say(f"does not fit: {where}: {found.reason} ({found.records} records before it fit)")
        return
    signed = "signed" if found.signed else "not signed"
    say(f"ok: {found.records} records fit; the checkpoint covers {found.covered}; the manifest is {signed}")
    if not trusted:
        warn("checked with the keys in the package only: give --key to know who signed it")


def replay(told: Json, *, as_json: bool) -> None:
    """What the new answer does differently."""
    if as_json:
        _as_json(told)
        return
    say("the answers say the same" if told["same"] else "the answers differ")
    for name in ("model", "mode", "status", "finish", "agreement", "unsupported"):
        say(f"{name}: {_change(told[name])}")
    cited = told["citations"]
    say(f"citations: {cited['kept']} kept, {len(cited['added'])} added, {len(cited['lost'])} lost")
    for mark, places in (("+", cited["added"]), ("-", cited["lost"])):
        for each in places:
            say(f"  {mark} {each['title']} ({each['verdict']}): {each['exact']}")
    for each in cited["rejudged"]:
        say(f"  verdict of {each['title']}: {_change(each['verdict'])}")
    for each in told["conflicts"]:
        say(f"conflict {each['topic']}: {_change(each['followed'])}")
    for each in told["left_out"]:
        say(
            f"not made again: {each['purpose']} by {each['model']} ({each['tokens_in']} + {each['tokens_out']} tokens): {each['why']}"
        )
    if told["lost_images"]:
        warn(f"{told['lost_images']} images are no longer kept and were not sent")
    for name in ("calls", "tokens_in", "tokens_out", "cost", "ms_answer"):
        say(f"{name}: {_change(told['usage'][name])}")
    _difference(told["text"])


def _change(pair: Json) -> str:
    return str(pair["old"]) if pair["old"] == pair["new"] else f"{pair['old']} -> {pair['new']}"


def outcomes(found: Sequence[Json], *, dry_run: bool, as_json: bool) -> None:
    """What each retention policy took or would take, one a line."""
    if as_json:
        _as_json(found)
        return
    verb = "would remove" if dry_run else "removed"
    for each in found:
        of = f" of {each['collection']}" if each["collection"] else ""
        say(
            f"{verb} {each['gone']} {each['what']}{of} from before {each['before']}; {each['held']} held, {each['running']} running"
        )
    if not found:
        say("no policies: everything stays")


def answers(found: Sequence[Json], *, as_json: bool) -> None:
    """The answers of record."""
    if as_json:
        _as_json(found)
        return
    for each in found:
        say(f"{each['id']} since {each['at']} by {each['by']}: {each['question']}\n{each['text']}")
    if not found:
        say("no answers of record")


def holds(found: Sequence[Hold], *, as_json: bool) -> None:
    """The holds, one a line."""
    if as_json:
        _as_json([asdict(each) for each in found])
        return
    for each in found:
        lifted = f", lifted {each.lifted_at.isoformat()}" if each.lifted_at else ""
        say(f"{each.id} {each.scope.value} {each.value} since {each.at.isoformat()}{lifted}: {each.reason}")
    if not found:
        say("no holds")
