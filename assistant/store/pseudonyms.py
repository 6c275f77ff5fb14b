"""Pseudonyms: names for people that are the same everywhere in a tenant and do not tell who it is."""

from __future__ import annotations

import hashlib

from assistant.core.access import Caller


def pseudonym(caller: Caller) -> str:
    """A name for the caller that is the same in all conversations of the tenant and does not tell who it is."""
    return "u" + hashlib.sha256(f"{caller.tenant}\0{caller.user}".encode()).hexdigest()[:20]
