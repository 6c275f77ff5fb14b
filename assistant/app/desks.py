"""The desks behind the doors of administrators: documents, people."""

from __future__ import annotations

from dataclasses import replace

from assistant.app.values import now
from assistant.audit.people import IdentityDesk
from assistant.config import LimitSettings
from assistant.knowledge.desk import DeskPolicy, KnowledgeDesk
from assistant.knowledge.documents import Limits
from assistant.knowledge.pool import ReaderPool
from assistant.store import Store


def make_document_desk(store: Store, readers: ReaderPool, chosen: LimitSettings) -> KnowledgeDesk:
    """Where documents come in one by one, within what the settings allow."""
    policy = DeskPolicy(limits=replace(Limits(), bytes=chosen.upload_bytes), files=chosen.files_per_session)
    return KnowledgeDesk(store.library, store.files, readers, pseudonym=store.audit.names.of, policy=policy)


def make_people_desk(store: Store) -> IdentityDesk:
    """Where administrators set groups, revoke people and keep service keys."""
    return IdentityDesk(store.identity, store.people, store.audit, pseudonym=store.audit.names.of, clock=now)
