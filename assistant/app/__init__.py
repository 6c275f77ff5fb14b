"""The composition root: the only room that names concrete adapters."""

from __future__ import annotations

from assistant.app.assembling import Parts, assemble
from assistant.app.auditing import make_desk, open_notary
from assistant.app.background import embed_all
from assistant.app.models import make_embedder, open_model
from assistant.app.policies import chosen_floor, has_all_vectors
from assistant.app.serving import PAGE, create_app
from assistant.app.values import new_id, now

__all__ = [
    "PAGE",
    "Parts",
    "assemble",
    "chosen_floor",
    "create_app",
    "embed_all",
    "has_all_vectors",
    "make_desk",
    "make_embedder",
    "new_id",
    "now",
    "open_model",
    "open_notary",
]
