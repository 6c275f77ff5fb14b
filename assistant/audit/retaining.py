"""Retention by policies: what is too old goes; every run is on the record."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any, Final, Protocol

from assistant.config import RetentionSettings
from assistant.core.audit import AuditDraft, AuditKind, AuditRecord, stamp
from assistant.core.keeping import (
    PolicyOutcome,
    PruneReport,
    Retained,
    RetentionPolicy,
    RetentionReport,
    policies_of,
)

SCHEDULE: Final = "policies"
"""The name under which the processes of an installation agree who applies the policies."""
BY: Final = "policy"
"""Who does what the schedule does, as records have it."""
REASON: Final = "policies of the settings"


class Retention(Protocol):
    """What takes things away. Each method leaves out what a hold covers, and records what it took."""

    async def retention(
        self,
        tenant: str,
        before: datetime,
        *,
        by: str,
        reason: str,
        collection: str | None = None,
        dry_run: bool = False,
    ) -> RetentionReport:
        """Remove conversations whose last turn lies before."""
        ...

    async def texts(
        self,
        tenant: str,
        before: datetime,
        *,
        by: str,
        reason: str,
        collection: str | None = None,
        dry_run: bool = False,
    ) -> RetentionReport:
        """Remove the sealed text of records from before."""
        ...

    async def prune_versions(
        self,
        tenant: str,
        before: datetime,
        *,
        by: str,
        reason: str,
        collection: str | None = None,
        dry_run: bool = False,
    ) -> PruneReport:
        """Remove document versions that were replaced or deleted before and that no kept answer cites."""
        ...


class RunLog(Protocol):
    """The part of an audit log that runs are written to."""

    async def append_one(self, draft: AuditDraft) -> AuditRecord:
        """Add a record."""
        ...


class Retainer:
    """Applies the policies of the settings."""

    def __init__(
        self,
        retention: Retention,
        run_log: RunLog,
        policies: Sequence[RetentionPolicy],
        clock: Callable[[], datetime],
    ) -> None:
        self._retention = retention
        self._log = run_log
        self._policies = tuple(policies)
        self._clock = clock

    async def apply(
        self, tenant: str, *, by: str = BY, reason: str = REASON, dry_run: bool = False
    ) -> list[PolicyOutcome]:
        """Apply the policies of a tenant, one after the other, then put the run on the record, whether anything went or not.

        A dry run says what each policy alone would take, and leaves no record: whoever asks for one does.
        """
        given: dict[str, Any] = {"by": by, "reason": reason, "dry_run": dry_run}
        outcomes = [await self._applied(policy, tenant, given) for policy in policies_of(self._policies, tenant)]
        if not dry_run:
            body = {"what": "run", "reason": reason, "policies": [outcome_json(each) for each in outcomes]}
            await self._log.append_one(AuditDraft(tenant, AuditKind.RETENTION, by, self._clock(), body=body))
        return outcomes

    async def _applied(self, policy: RetentionPolicy, tenant: str, given: dict[str, Any]) -> PolicyOutcome:
        before = policy.before(self._clock())
        given = {**given, "collection": policy.collection}
        if policy.what is Retained.VERSIONS:
            pruned = await self._retention.prune_versions(tenant, before, **given)
            return PolicyOutcome(policy, before, pruned.versions, pruned.held, records=pruned.records)
        if policy.what is Retained.TEXTS:
            sealed = await self._retention.texts(tenant, before, **given)
            return PolicyOutcome(policy, before, sealed.sealed, sealed.held, records=sealed.records)
        gone = await self._retention.retention(tenant, before, **given)
        return PolicyOutcome(policy, before, gone.text.conversations, gone.held, gone.running, gone.records)


def retainer_of(
    settings: RetentionSettings, retention: Retention, run_log: RunLog, clock: Callable[[], datetime]
) -> Retainer:
    """The retainer of these settings."""
    policies = [
        RetentionPolicy(Retained(each.what), each.keep_days, each.collection or None, each.tenant or None)
        for each in settings.policies
    ]
    return Retainer(retention, run_log, policies, clock)


def outcome_json(outcome: PolicyOutcome) -> dict[str, Any]:
    """An outcome as plain JSON values."""
    told = {name: value for name, value in asdict(outcome).items() if name != "policy"}
    policy = {**asdict(outcome.policy), "what": outcome.policy.what.value}
    return {**policy, **told, "before": stamp(outcome.before), "records": list(outcome.records)}
