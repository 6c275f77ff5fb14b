"""assistant audit: what an auditor does at the command line. Each command says what it did; wrong input is one clear line."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from assistant.commands.beginning import command_settings
from assistant.core.audit import AuditKind
from assistant.core.audit_filter import AuditFilter
from assistant.core.citations import Verdict
from assistant.core.keeping import HoldScope

app = typer.Typer(
    help="Look at, verify, export and replay what was answered; holds, erasure, retention.", add_completion=False
)
hold = typer.Typer(help="Legal holds: what they cover is neither erased nor removed by a policy.")
app.add_typer(hold, name="hold")
answers = typer.Typer(help="Answers of record: what people said instead of the model.")
app.add_typer(answers, name="answers")

_TIMES: Final = ["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%S%z"]
Reason = Annotated[str, typer.Option(help="Why. It is kept on the record in the open: do not name anybody.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")]
Time = Annotated[datetime | None, typer.Option(formats=_TIMES, help="UTC, unless it says otherwise.")]


def _filter(
    person: Annotated[str | None, typer.Option(help="Whose answers: a user name or a pseudonym.")] = None,
    session: Annotated[str | None, typer.Option(help="Id of a session.")] = None,
    document: Annotated[str | None, typer.Option(help="Id of a document that is cited.")] = None,
    model: Annotated[str | None, typer.Option(help="Name of the model.")] = None,
    mode: Annotated[str | None, typer.Option(help="Name of the mode.")] = None,
    verdict: Annotated[Verdict | None, typer.Option(help="The worst verdict of the answer.")] = None,
    conflict: Annotated[bool | None, typer.Option(help="Whether the evidence disagreed.")] = None,
    changed: Annotated[bool | None, typer.Option(help="Whether a cited document changed since.")] = None,
    feedback: Annotated[str | None, typer.Option(help="The last rating: up or down.")] = None,
    kind: Annotated[AuditKind | None, typer.Option(help="What the record tells of.")] = None,
    since: Time = None,
    until: Time = None,
) -> AuditFilter:
    """The filter that these options make; `person` as it was given."""
    return AuditFilter(
        kind=kind,
        since=_utc(since) if since else None,
        until=_utc(until) if until else None,
        person=person,
        session=session,
        document=document,
        model=model,
        mode=mode,
        verdict=verdict,
        conflict=conflict,
        source_changed=changed,
        feedback=feedback,
    )


def _utc(at: datetime) -> datetime:
    try:
        return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except OverflowError:
        raise typer.BadParameter("this time is out of range") from None


def _filtered(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the options of a filter in the place of its parameter `filters`."""
    own, options = (inspect.signature(function, eval_str=True).parameters for function in (command, _filter))

    def with_options(**given: Any) -> None:
        filters = _filter(**{name: given.pop(name) for name in options})
        command(filters=filters, **given)

    kept = [parameter for name, parameter in own.items() if name != "filters"]
    signature = inspect.Signature([each.replace(kind=each.KEYWORD_ONLY) for each in (*kept, *options.values())])
    with_options.__signature__ = signature  # type: ignore[attr-defined]
    with_options.__annotations__ = {each.name: each.annotation for each in signature.parameters.values()}
    with_options.__name__, with_options.__doc__ = command.__name__, command.__doc__
    return with_options


@app.command(name="list")
@_filtered
def list_(
    filters: AuditFilter,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="At most so many.")] = 50,
    before: Annotated[int | None, typer.Option(min=1, help="Only those behind the record with this number.")] = None,
    as_json: Json = False,
) -> None:
    """List records, the latest first."""
    from assistant.commands import auditing

    asyncio.run(auditing.find(command_settings(), filters, limit=limit, before=before, as_json=as_json))


@app.command()
def show(id: Annotated[str, typer.Argument(help="Id of a record.")], reason: Reason, as_json: Json = False) -> None:  # noqa: A002
    """Open a record with its text, evidence and citations as they were; the look is itself on the record."""
    from assistant.commands import auditing

    asyncio.run(auditing.show(command_settings(), id, reason, as_json=as_json))


@app.command()
def verify(
    package: Annotated[Path | None, typer.Option(exists=True, help="An exported package instead of the log.")] = None,
    key: Annotated[
        list[Path] | None, typer.Option(exists=True, dir_okay=False, help="Trust this public key alone; repeatable.")
    ] = None,
) -> None:
    """Check that the log, or a package, is what was written; else name the first record that does not fit."""
    keys = tuple(key or ())
    from assistant.commands import auditing

    work = auditing.verify_log(command_settings(), keys) if package is None else auditing.verify_package(package, keys)
    raise typer.Exit(0 if asyncio.run(work) else 1)


@app.command()
@_filtered
def export(
    target: Annotated[Path, typer.Argument(help="A zip file that is not there yet, or a folder.")],
    reason: Reason,
    filters: AuditFilter,
) -> None:
    """Write a package of records with text, passages and proof, which can be verified offline; it goes on the record."""
    from assistant.commands import auditing

    asyncio.run(auditing.export(command_settings(), filters, target, reason))


@app.command()
def replay(
    id: Annotated[str, typer.Argument(help="Id of the record of an answer.")],  # noqa: A002
    reason: Reason,
    model: Annotated[str | None, typer.Option(help="Another model of the same endpoint.")] = None,
    as_json: Json = False,
) -> None:
    """Put the prompts of an answer to the model again, or to another, and show what is different."""
    from assistant.commands import auditing

    asyncio.run(auditing.replay(command_settings(), id, reason, model=model, as_json=as_json))


@app.command()
def erase(
    person: Annotated[str, typer.Argument(help="A user name or a pseudonym.")], reason: Reason, dry_run: DryRun = False
) -> None:
    """Destroy the key of a person and everything they wrote or were answered; the chain stays valid."""
    from assistant.commands import auditing

    asyncio.run(auditing.erase(command_settings(), person, reason, dry_run=dry_run))


@app.command()
def retention(
    before: Annotated[
        datetime | None,
        typer.Option(formats=_TIMES, help="What was left before then goes; without it the policies of the settings."),
    ] = None,
    collection: Annotated[str | None, typer.Option(help="With --before: only what rests on this collection.")] = None,
    sealed: Annotated[
        bool, typer.Option("--sealed", help="With --before: the sealed text of audit records too.")
    ] = False,
    reason: Annotated[str | None, typer.Option(help="Why, where it is not the policy. It is kept in the open.")] = None,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Apply the retention policies of the settings; or remove what is older than a date, then versions that nothing kept needs."""
    if before is None:
        if collection or sealed:
            raise typer.BadParameter("--collection and --sealed need --before")
        from assistant.commands import auditing

        asyncio.run(auditing.apply_policies(command_settings(), reason, dry_run=dry_run, as_json=as_json))
        return
    why = reason or "retention policy"
    from assistant.commands import auditing

    asyncio.run(
        auditing.retain(command_settings(), _utc(before), why, collection=collection, sealed=sealed, dry_run=dry_run)
    )


@app.command()
def adopt(correction: Annotated[str, typer.Argument(help="Id of the record of a correction.")], reason: Reason) -> None:
    """Make a correction the answer to its question, given first to all who may read its sources."""
    from assistant.commands import auditing

    asyncio.run(auditing.adopt(command_settings(), correction, reason))


@answers.command(name="list")
def adopted(as_json: Json = False) -> None:
    """List the answers of record in force, the latest first."""
    from assistant.commands import auditing

    asyncio.run(auditing.adopted(command_settings(), as_json=as_json))


@answers.command()
def revoke(id: Annotated[str, typer.Argument(help="Id of an answer of record.")], reason: Reason) -> None:  # noqa: A002
    """Give an answer of record no more."""
    from assistant.commands import auditing

    asyncio.run(auditing.revoke(command_settings(), id, reason))


@hold.command()
def place(
    scope: Annotated[HoldScope, typer.Argument(help="What kind of thing is held.")],
    value: Annotated[str, typer.Argument(help="Which: a user name or pseudonym, or the id or name of the others.")],
    reason: Reason,
) -> None:
    """Hold everything of a person, session, document or collection, from now on."""
    from assistant.commands import auditing

    asyncio.run(auditing.place(command_settings(), scope, value, reason))


@hold.command()
def lift(id: Annotated[str, typer.Argument(help="Id of a hold.")], reason: Reason) -> None:  # noqa: A002
    """End a hold."""
    from assistant.commands import auditing

    asyncio.run(auditing.lift(command_settings(), id, reason))


@hold.command(name="list")
def holds(
    lifted: Annotated[bool, typer.Option("--lifted", help="Those that were lifted too.")] = False, as_json: Json = False
) -> None:
    """List the holds in force, the oldest first."""
    from assistant.commands import auditing

    asyncio.run(auditing.holds(command_settings(), lifted=lifted, as_json=as_json))
