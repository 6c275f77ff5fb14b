"""Who signs the audit log, and the desk of the auditors."""

from __future__ import annotations

from functools import partial

import structlog

from assistant.app.replaying import replayed
from assistant.app.values import now
from assistant.audit.checkpointing import Checkpointer
from assistant.audit.desk import AuditDesk, Notary
from assistant.audit.retaining import Retainer, retainer_of
from assistant.audit.signing import known_keys, signer_at
from assistant.audit.targets import Targets, target_at
from assistant.config import AuditSettings, Settings
from assistant.store import Store

log = structlog.get_logger(__name__)


def open_notary(chosen: AuditSettings, *, signs: bool = True) -> Notary:
    """Who signs the audit log, and where its checkpoints go. Reads files: call it in a thread.

    When `signs`, a key is made where there is none; else nothing is made and nothing signed. Raises BadSetting for a key
    that cannot be used and for a target that nothing serves.
    """
    targets = Targets([target_at(where) for where in chosen.targets])
    if not signs:
        return Notary(targets, known_keys(chosen.key.parent))
    signer = signer_at(chosen.key)
    checkpointer = Checkpointer(
        signer, now, targets, every_records=chosen.every_records, every_minutes=chosen.every_minutes
    )
    return Notary(targets, known_keys(chosen.key.parent, signer), signer, checkpointer)


def make_retainer(settings: Settings, store: Store) -> Retainer:
    """What applies the retention policies of the settings."""
    return retainer_of(settings.retention, store.retention, store.audit, now)


def make_desk(settings: Settings, store: Store, notary: Notary, retainer: Retainer | None = None) -> AuditDesk:
    """The desk of the auditors of a store."""
    return AuditDesk(
        store.audit,
        store.audited,
        notary,
        pseudonym=store.audit.names.of,
        clock=now,
        retainer=retainer,
        answers=store.records_of_answer,
        replaying=partial(replayed, settings, store),
    )
