"""Doctor: look at everything that a working assistant needs and say what to do."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Final

from assistant.app import PAGE, Parts, assemble
from assistant.config import Settings
from assistant.core.messages import Message, ModelDelta, Role
from assistant.core.prompt import ModelRequest, Sampling
from assistant.errors import AssistantError, BadSetting
from assistant.store.migrations import current_and_head
from assistant.transport.auth import check_identity

WAYS_IN: Final = ("portal_secret", "jwks_url", "jwks_file", "oidc_issuer", "service_keys_only")
"""The settings of auth by which somebody may come in, outside of development."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at: whether it is well, and what it says or what to do."""

    what: str
    ok: bool
    says: str


async def examine(settings: Settings) -> list[Finding]:
    """Look at settings, database, index, model, identity and page; never raises."""
    findings = [await _looked("database", lambda: _database(settings))]
    if findings[0].ok:
        async with assemble(settings) as parts:
            findings.append(await _looked("index", lambda: _index(parts)))
            findings.append(await _looked("model", lambda: _model(parts)))
    return [*findings, _identity(settings), _page()]


async def _looked(what: str, look: Callable[[], Awaitable[Finding]]) -> Finding:
    try:
        return await look()
    except AssistantError as error:
        return Finding(what, False, f"{error.code}: {error.detail}")
    except Exception as error:
        return Finding(what, False, f"{type(error).__name__}: {error}")


async def _database(settings: Settings) -> Finding:
    current, head = await current_and_head(settings.database.url)
    if current == head:
        return Finding("database", True, f"at revision {head}")
    return Finding("database", False, f"at revision {current or 'none'} of {head}; run `assistant migrate`")


async def _index(parts: Parts) -> Finding:
    state = await parts.store.state()
    documents, chunks = state["documents"], state["chunks"]
    if not documents:
        return Finding("index", False, "no documents; run `assistant ingest PATH --collection NAME`")
    return Finding("index", True, f"{documents} documents, {chunks} chunks{await _waiting(parts)}")


async def _waiting(parts: Parts) -> str:
    if parts.embedder is None:
        return "; search by words only"
    waiting = len(await parts.store.documents.chunks_without_vectors(parts.embedder.name, 1000))
    many = f"{waiting} or more" if waiting == 1000 else str(waiting)
    return f"; {many} still wait for a vector (the server makes them)" if waiting else ""


async def _model(parts: Parts) -> Finding:
    request = ModelRequest(
        messages=(Message(Role.USER, "Say: ready"),),
        sampling=Sampling(16),
        question="Hello",
        evidence=(),
        conflicts=(),
        language="en",
        purpose="generation",
    )
    async with aclosing(parts.model.stream(request)) as chunks:
        async for chunk in chunks:
            if isinstance(chunk, ModelDelta):
                return Finding("model", True, f"{parts.model.name} answers; window of {parts.model.window} tokens")
    return Finding("model", False, f"{parts.model.name} gives no text")


def _identity(settings: Settings) -> Finding:
    auth = settings.auth
    try:
        check_identity(settings)
    except BadSetting as error:
        return Finding("identity", False, f"{error.code}: {error.detail}")
    if auth.development_user:
        return Finding("identity", True, f"development: everyone is {auth.development_user}; not for production")
    if ways := [name for name in WAYS_IN if getattr(auth, name)]:
        return Finding("identity", True, f"people come in by {', '.join(f'auth.{name}' for name in ways)}")
    return Finding("identity", False, "nobody may come in; set ASSISTANT_AUTH__DEVELOPMENT_USER for development")


def _page() -> Finding:
    built = (PAGE / "index.html").is_file()
    return Finding("page", built, "built" if built else "not built; run `make web`")
