"""How long things are kept: legal holds, and what an erasure or a retention policy took away (or would take)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from assistant.core.audit import AuditRecord


class HoldScope(StrEnum):
    """What a hold covers: a person (pseudonym), a session, a document or a collection."""

    PERSON = "person"
    SESSION = "session"
    DOCUMENT = "document"
    COLLECTION = "collection"


@dataclass(frozen=True, slots=True)
class Hold:
    """A legal hold: as long as it is not lifted, nothing that it covers is erased or removed by a policy.

    `value` names what is covered: a pseudonym, a session id, a document id or a collection.
    """

    id: str
    tenant: str
    scope: HoldScope
    value: str
    reason: str
    by: str
    at: datetime
    lifted_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class KeptText:
    """Rows whose personal text went, or would go, by what they are."""

    conversations: int = 0
    turns: int = 0
    messages: int = 0
    events: int = 0
    model_calls: int = 0
    notes: int = 0
    feedback: int = 0

    def __add__(self, other: KeptText) -> KeptText:
        """The rows of both."""
        return KeptText(*(getattr(self, name) + getattr(other, name) for name in self.__slots__))


@dataclass(frozen=True, slots=True)
class ErasureReport:
    """What the erasure of a person took, or would take when `dry_run`.

    `sealed` counts the audit records whose text can no longer be opened. `held_by` are the holds that forbid it (only in a dry run:
    else it is refused). `scrubbed` says that the database files no longer hold what was removed; False when readers of a long
    query kept the files from being cleaned: then `scrub` has to be called again.
    """

    tenant: str
    subject: str
    dry_run: bool
    text: KeptText
    sealed: int
    held_by: tuple[str, ...]
    record: AuditRecord | None = None
    scrubbed: bool = False


@dataclass(frozen=True, slots=True)
class RetentionReport:
    """What a retention policy took, or would take when `dry_run`.

    `held` conversations are kept by a hold, `running` ones because a turn has not ended. `sealed` counts the audit records that
    lost their sealed text. `records` are the numbers of the audit records that tell of it; `scrubbed` as with an erasure.
    """

    tenant: str
    before: datetime
    dry_run: bool
    text: KeptText
    held: int
    running: int
    sealed: int = 0
    records: tuple[int, ...] = ()
    scrubbed: bool = False


@dataclass(frozen=True, slots=True)
class PruneReport:
    """Document versions that went, or would go when `dry_run`; `held` ones are kept by a hold."""

    tenant: str
    dry_run: bool
    versions: int
    held: int
    records: tuple[int, ...] = ()


class Retained(StrEnum):
    """What a policy is about; in the order in which policies are applied, as what goes first may free what comes later."""

    CONVERSATIONS = "conversations"
    TEXTS = "texts"
    """The sealed text of audit records: questions, answers, feedback. The records stay."""
    VERSIONS = "versions"
    """Document versions that were replaced or deleted, and that no kept answer cites."""


@dataclass(frozen=True, slots=True)
class RetentionPolicy:
    """What goes when it is older than `keep_days`, of one collection or all (None), of one tenant or all (None)."""

    what: Retained
    keep_days: int
    collection: str | None = None
    tenant: str | None = None

    def before(self, now: datetime) -> datetime:
        """The moment before which things are too old."""
        return now - timedelta(days=self.keep_days)


@dataclass(frozen=True, slots=True)
class PolicyOutcome:
    """What a policy took, or would take: how many conversations, texts or versions; `held` ones a hold keeps, `running` have not ended."""

    policy: RetentionPolicy
    before: datetime
    gone: int
    held: int
    running: int = 0
    records: tuple[int, ...] = ()


def policies_of(policies: Iterable[RetentionPolicy], tenant: str) -> list[RetentionPolicy]:
    """Those of a tenant, in the order in which they are applied."""
    kinds = list(Retained)
    mine = [policy for policy in policies if policy.tenant in (None, tenant)]
    return sorted(mine, key=lambda policy: kinds.index(policy.what))
