"""The work behind `assistant audit`: opens the store, does one thing at the auditor's desk, says what was done."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from assistant.app import make_desk, now, open_notary
from assistant.app.storing import open_store
from assistant.audit import package as packages
from assistant.audit.desk import AuditDesk, adopted_json
from assistant.audit.retaining import Retainer, outcome_json, retainer_of
from assistant.audit.signing import read_public_key
from assistant.commands import audit_shown as shown
from assistant.commands.ask import terminal_caller
from assistant.commands.beginning import check_migrated
from assistant.config import Settings
from assistant.core.access import Caller
from assistant.core.audit_filter import AuditFilter
from assistant.core.keeping import HoldScope, KeptText
from assistant.store import Store

_PSEUDONYM: Final = re.compile(r"u[0-9a-f]{12,64}")
"""More than one length: pseudonyms have grown, and old records stay as they are."""


@dataclass(frozen=True, slots=True)
class _Office:
    """An open store with its desk, and who sits at it."""

    settings: Settings
    store: Store
    desk: AuditDesk
    who: Caller

    @property
    def by(self) -> str:
        """The auditor as records have it."""
        return self.store.audit.names.of(self.who)

    def names(self, person: str) -> tuple[str, ...]:
        """All pseudonyms of a user name, the present one first; a pseudonym stays what it is."""
        if _PSEUDONYM.fullmatch(person):
            return (person,)
        return self.store.audit.names.all_of(Caller(self.settings.tenant, person))

    def filter(self, given: AuditFilter) -> AuditFilter:
        """The filter with the person's pseudonyms."""
        if not given.person:
            return given
        present, *former = self.names(given.person)
        return replace(given, person=present, former=former[0] if former else None)

    def retainer(self) -> Retainer:
        """What applies the policies of the settings."""
        return retainer_of(self.settings.retention, self.store.retention, self.store.audit, now)


@asynccontextmanager
async def _office(settings: Settings, *, signs: bool = False) -> AsyncIterator[_Office]:
    await check_migrated(settings)
    notary = await asyncio.to_thread(open_notary, settings.audit, signs=signs)
    async with open_store(settings) as store:
        yield _Office(settings, store, make_desk(settings, store, notary), terminal_caller(settings))


async def find(settings: Settings, filters: AuditFilter, *, limit: int, before: int | None, as_json: bool) -> None:
    """List records in short."""
    async with _office(settings) as office:
        found = await office.desk.find(office.who, office.filter(filters), before, limit)
    shown.records(found, as_json=as_json, more=len(found) == limit)


async def show(settings: Settings, id_: str, reason: str, *, as_json: bool) -> None:
    """Open a record; the look is on the record before anything is printed."""
    async with _office(settings) as office:
        opened = await office.desk.open(office.who, id_, reason)
    shown.record(opened, as_json=as_json)


async def verify_log(settings: Settings, keys: tuple[Path, ...]) -> bool:
    """Verify the log of the tenant; whether everything fits."""
    trusted = _trusted(keys)
    async with _office(settings) as office:
        newest = await office.desk.find(office.who, AuditFilter(), limit=1)
        with shown.counting(newest[0]["seq"] if newest else 0) as counted:
            found = await office.desk.verify(office.who, keys=trusted, on_progress=counted)
    shown.verified(found)
    return found.finding.ok


async def verify_package(package: Path, keys: tuple[Path, ...]) -> bool:
    """Verify an exported package; whether everything fits. Needs no settings and no database."""
    trusted = _trusted(keys)
    with shown.counting(None) as counted:
        found = await packages.verify_package(package, trusted, on_progress=counted)
    shown.verified_package(found, trusted is not None)
    return found.ok


def _trusted(keys: tuple[Path, ...]) -> Mapping[str, bytes] | None:
    return dict(read_public_key(path) for path in keys) if keys else None


async def export(settings: Settings, filters: AuditFilter, target: Path, reason: str) -> None:
    """Write a package."""
    async with _office(settings, signs=True) as office:
        report = await office.desk.export(office.who, office.filter(filters), target, reason)
    shown.say(
        f"{report.records} records exported to {target}, {report.erased} of them with erased text; "
        f"sha256 of manifest.json {report.manifest_sha256}"
    )


async def replay(settings: Settings, id_: str, reason: str, *, model: str | None, as_json: bool) -> None:
    """Answer again and compare; the difference is on the record before it is printed, the new text sealed."""
    async with _office(settings) as office:
        told = await office.desk.replay(office.who, id_, reason, model)
    shown.replay(told, as_json=as_json)


async def erase(settings: Settings, person: str, reason: str, *, dry_run: bool) -> None:
    """Erase a person, or say what would go."""
    async with _office(settings) as office:
        subject, *former = office.names(person)
        report = await office.store.erasure.erase(
            settings.tenant, subject, by=office.by, reason=reason, known_as=former, dry_run=dry_run
        )
    shown.say(
        f"{'would erase' if dry_run else 'erased'} {subject}: {_counted(report.text)}, {report.sealed} sealed records"
    )
    if report.held_by:
        shown.warn(f"forbidden by the holds {', '.join(report.held_by)}")
    _say_scrubbed(dry_run or report.scrubbed)


async def retain(
    settings: Settings, before: datetime, reason: str, *, collection: str | None, sealed: bool, dry_run: bool
) -> None:
    """Apply a retention policy: conversations, then the versions that nothing kept needs."""
    async with _office(settings) as office:
        policy: dict[str, Any] = {"by": office.by, "reason": reason, "collection": collection, "dry_run": dry_run}
        retention = office.store.retention
        gone = await retention.retention(settings.tenant, before, sealed=sealed, **policy)
        pruned = await retention.prune_versions(settings.tenant, before, **policy)
    verb = "would remove" if dry_run else "removed"
    shown.say(f"{verb} {_counted(gone.text)}, {gone.sealed} sealed texts; {gone.held} held, {gone.running} running")
    shown.say(f"{verb} {pruned.versions} document versions; {pruned.held} held")
    _say_scrubbed(dry_run or not gone.records or gone.scrubbed)


async def apply_policies(settings: Settings, reason: str | None, *, dry_run: bool, as_json: bool) -> None:
    """Apply the retention policies of the settings now, as the server does on its schedule, or say what would go."""
    async with _office(settings) as office:
        given = {"by": office.by} | ({"reason": reason} if reason else {})
        outcomes = await office.retainer().apply(settings.tenant, **given, dry_run=dry_run)
    shown.outcomes([outcome_json(each) for each in outcomes], dry_run=dry_run, as_json=as_json)


async def adopt(settings: Settings, correction: str, reason: str) -> None:
    """Make a correction the answer of record to its question."""
    async with _office(settings) as office:
        adopted = await office.store.records_of_answer.adopt(settings.tenant, correction, by=office.by, reason=reason)
    shown.say(f"answer of record {adopted.id} to: {adopted.question}")


async def revoke(settings: Settings, id_: str, reason: str) -> None:
    """Give an answer of record no more."""
    async with _office(settings) as office:
        await office.store.records_of_answer.revoke(settings.tenant, id_, by=office.by, reason=reason)
    shown.say(f"answer of record {id_} revoked")


async def adopted(settings: Settings, *, as_json: bool) -> None:
    """List the answers of record in force."""
    async with _office(settings) as office:
        found = await office.store.records_of_answer.list(settings.tenant)
    shown.answers([adopted_json(each) for each in found], as_json=as_json)


def _counted(text: KeptText) -> str:
    return ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in asdict(text).items() if count) or "nothing"


def _say_scrubbed(done: bool) -> None:
    if not done:
        shown.warn("the database files still hold traces: a long read kept them from being cleaned; run it again")


async def place(settings: Settings, scope: HoldScope, value: str, reason: str) -> None:
    """Place a hold."""
    async with _office(settings) as office:
        covered = office.names(value) if scope is HoldScope.PERSON else (value,)
        for each in covered:
            # Of a former pseudonym nothing may be kept: then there is nothing to hold.
            if each != covered[0] and not await office.desk.find(office.who, AuditFilter(person=each), limit=1):
                continue
            hold = await office.store.holds.place(settings.tenant, scope, each, by=office.by, reason=reason)
            shown.say(f"hold {hold.id} placed on {hold.scope.value} {hold.value}")


async def lift(settings: Settings, id_: str, reason: str) -> None:
    """Lift a hold."""
    async with _office(settings) as office:
        hold = await office.store.holds.lift(settings.tenant, id_, by=office.by, reason=reason)
    shown.say(f"hold {hold.id} lifted from {hold.scope.value} {hold.value}")


async def holds(settings: Settings, *, lifted: bool, as_json: bool) -> None:
    """List holds."""
    async with _office(settings) as office:
        found = await office.store.holds.list(settings.tenant, lifted=lifted)
    shown.holds(found, as_json=as_json)
