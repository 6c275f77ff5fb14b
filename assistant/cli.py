"""The command line: serve, ingest, ask, audit, eval, migrate, doctor."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterable
from datetime import datetime
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from rich.console import Console
from rich.markup import escape
from typer.core import TyperGroup

from assistant import __version__
from assistant.commands.beginning import command_settings
from assistant.core.evidence import Authority
from assistant.errors import AssistantError
from assistant.telemetry import configure_logging

LATER: Final = {name: f"assistant.commands.{name}" for name in ("audit", "jobs", "token")}
"""Groups of commands that are imported when they are called: what they need takes a second to load."""


class _Later(TyperGroup):
    """A group of commands that knows its subgroups by name."""

    def list_commands(self, ctx: Any) -> list[str]:
        return [*super().list_commands(ctx), *LATER]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in LATER:
            return super().get_command(ctx, cmd_name)
        found = typer.main.get_command(import_module(LATER[cmd_name]).app)
        found.name = cmd_name
        return found


app = typer.Typer(
    cls=_Later,
    name="assistant",
    help="A chat assistant that grounds every turn in your own documents.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
console = Console(soft_wrap=True)
errors = Console(stderr=True, soft_wrap=True)


def run() -> None:
    """Run a command; a typed error becomes one clear line and exit code 2."""
    try:
        app()
    except AssistantError as error:
        errors.print(f"[red]{error.code}[/red]: {error.detail}", highlight=False)
        raise SystemExit(2) from None


@app.callback(invoke_without_command=True)
def version(show: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    """Print the version when asked."""
    if show:
        console.print(__version__)
        raise typer.Exit


@app.command()
def serve(
    demo: Annotated[bool, typer.Option("--demo", help="Serve the demo corpus with a development identity.")] = False,
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on.")] = None,
) -> None:
    """Serve the page and the API."""
    from assistant.app import open_notary
    from assistant.commands.serve import serve_forever

    settings = command_settings()
    open_notary(settings.audit)  # what is wrong with the key or a target is told before anything starts
    serve_forever(settings, demo=demo, host=host, port=port)


@app.command()
def ingest(
    path: Annotated[Path, typer.Argument(exists=True, help="A file, or a folder that is kept in step.")],
    collection: Annotated[str, typer.Option(help="Name of the collection.")],
    authority: Annotated[
        Authority | None, typer.Option(help="Weight when documents of about the same date disagree.")
    ] = None,
    access: Annotated[
        list[str] | None, typer.Option(help="Group that may read; give it several times. Default: everyone.")
    ] = None,
    date: Annotated[
        datetime | None, typer.Option(formats=["%Y-%m-%d"], help="Date that the documents speak for.")
    ] = None,
    vectors: Annotated[bool, typer.Option(help="Wait until every chunk has its vector.")] = False,
) -> None:
    """Read documents into a collection; again: only what changed, deletions included."""
    from assistant.commands.ingest import ingest_here

    report = asyncio.run(
        ingest_here(
            command_settings(),
            path,
            collection,
            authority=authority,
            access=frozenset(access or ()),
            on=date.date() if date else None,
            vectors=vectors,
        )
    )
    for item in report.skipped:
        errors.print(
            f"[yellow]skipped[/yellow] {escape(item.uri)}: {item.reason} {escape(item.detail)}", highlight=False
        )
    console.print(
        f"{report.added} added, {report.updated} updated, {report.unchanged} unchanged, {report.deleted} deleted, "
        f"{len(report.skipped)} skipped in {report.seconds:.1f} s",
        highlight=False,
    )


@app.command()
def ask(
    question: Annotated[str, typer.Argument(help="The question.")],
    mode: Annotated[str, typer.Option(help="auto, or the name of a mode.")] = "auto",
    collection: Annotated[list[str] | None, typer.Option(help="Search only this collection; may be repeated.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the events, one JSON object a line.")] = False,
    plan: Annotated[bool, typer.Option("--plan", help="Show how the context window was divided.")] = False,
    session: Annotated[str | None, typer.Option(help="Go on with this session.")] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Show the steps, and every model call with its prompt.")
    ] = False,
    server: Annotated[str | None, typer.Option(help="Ask this server (http or https) instead of this machine.")] = None,
    token: Annotated[str | None, typer.Option(envvar="ASSISTANT_TOKEN", help="Token for the server.")] = None,
) -> None:
    """Ask one question in the terminal."""
    from assistant.commands.ask import ask_here, ask_there

    if server:
        configure_logging("console", "warning")
        asking = partial(ask_there, server, token=token)
    else:
        asking = partial(ask_here, command_settings())
    status = asyncio.run(
        asking(
            question,
            mode=mode,
            collections=collection,
            as_json=as_json,
            show_plan=plan,
            session=session,
            verbose=verbose,
        )
    )
    raise typer.Exit(0 if status == "completed" else 1)


@app.command()
def backup(target: Annotated[Path, typer.Argument(help="File that is made; it must not be there.")]) -> None:
    """Copy the SQLite database to a file while servers use it. Keys lie beside it and are backed up apart."""
    from assistant.commands.backing_up import backup as copy

    copy(target)


@app.command()
def restored() -> None:
    """Make a restored database ready: newest form, new epochs. Before a server starts on it."""
    from assistant.commands.backing_up import restored as make_ready

    make_ready()


@app.command(hidden=True)
def contracts(check: Annotated[bool, typer.Option("--check", help="Only say what is stale.")] = False) -> None:
    """Write the generated contracts of the repository anew."""
    from assistant.commands.contracts import write_contracts

    stale = write_contracts(Path.cwd(), check=check)
    for name in stale:
        console.print(name)
    raise typer.Exit(1 if check and stale else 0)


@app.command()
def worker() -> None:
    """Do jobs and nothing else; as many processes as you like."""
    from assistant.commands.jobs import work_forever

    work_forever(command_settings())


@app.command()
def migrate() -> None:
    """Bring the database to the newest form."""
    from assistant.app.storing import bring_up
    from assistant.jobs.opening import prepare_jobs

    url = asyncio.run(bring_up(command_settings()))
    asyncio.run(prepare_jobs(url))
    console.print("The database is up to date.")


@app.command()
def doctor() -> None:
    """Check settings, database, index, model and page; say what to do."""
    from assistant.commands.doctor import examine

    findings = asyncio.run(examine(command_settings()))
    for finding in findings:
        mark = "[green]ok[/green]  " if finding.ok else "[red]look[/red]"
        console.print(f"{mark} {finding.what}: {finding.says}", highlight=False)
    raise typer.Exit(0 if all(finding.ok for finding in findings) else 1)


@app.command(name="eval")
def evaluate(
    suite: Annotated[str, typer.Argument(help="Name of a suite, `all`, or `calibrate`.")],
    data: Annotated[Path, typer.Option(exists=True, file_okay=False, help="Folder with the labelled files.")],
    as_json: Annotated[bool, typer.Option("--json", help="The last line is one JSON object.")] = False,
    index: Annotated[Path | None, typer.Option(help="Folder that keeps the index between runs.")] = None,
    embedder: Annotated[str | None, typer.Option(help="Embedder instead of the one of the settings.")] = None,
    recall: Annotated[float, typer.Option(help="calibrate: share of right passages that the floor keeps.")] = 0.9,
    write: Annotated[Path | None, typer.Option(help="calibrate: file of floors to put the result into.")] = None,
) -> None:
    """Measure on labelled questions; `calibrate` chooses the least score of evidence for an embedder."""
    from assistant.eval.calibration import Calibration, calibrate
    from assistant.eval.run import Result
    from assistant.eval.run import evaluate as measure

    configure_logging("console", "warning")
    results: Iterable[Result | Calibration] = (
        [calibrate(data, index, embedder, recall, write)]
        if suite == "calibrate"
        else measure(suite, data, index=index, embedder=embedder)
    )
    for result in results:
        if as_json:
            sys.stdout.write(result.as_json() + "\n")
        else:
            console.print(result.as_text(), highlight=False)
