"""Who may come in, made from the settings once at start-up."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

import structlog
from joserfc.jwk import OctKey

from assistant.config import AuthSettings, Settings
from assistant.interfaces import IdentityStore
from assistant.transport.auth.authenticator import Authenticator, DevelopmentAuthenticator
from assistant.transport.auth.checking import check_identity
from assistant.transport.auth.claims import Rules
from assistant.transport.auth.fetching import Fetcher
from assistant.transport.auth.jwks import Jwks, load_file
from assistant.transport.auth.mapping import ClaimsMap
from assistant.transport.auth.own import open_own_tokens
from assistant.transport.auth.provider import Provider
from assistant.transport.auth.sign_in import SignIn
from assistant.transport.auth.tokens import Outside, TokenAuthenticator

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Entrance:
    """How callers are told apart, and how people sign in to the stand-alone pages; None: they cannot."""

    authenticator: Authenticator
    sign_in: SignIn | None = None


async def open_entrance(
    settings: Settings, store: IdentityStore, *, now: Callable[[], datetime], new_id: Callable[[], str]
) -> Entrance:
    """The entrance of these settings. Makes the file of the secret where there is none.

    Raises BadSetting where the settings do not say who may come in, or the secret cannot be used.
    """
    check_identity(settings)
    auth = settings.auth
    if auth.development_user:
        log.warning("development identity: everyone who reaches this server is one person", user=auth.development_user)
        return Entrance(
            DevelopmentAuthenticator(
                settings.tenant, auth.development_user, auth.development_groups, auth.development_roles
            )
        )
    own = await open_own_tokens(settings, now=now, new_id=new_id)
    fetcher = Fetcher(auth.private_network)
    life = timedelta(minutes=auth.access_minutes)
    authenticator = TokenAuthenticator(settings.tenant, _outside(auth, fetcher), own, store, access_life=life, now=now)
    if not auth.oidc_issuer:
        return Entrance(authenticator)
    provider = Provider(auth, fetcher, now=now, clock=time.monotonic)
    return Entrance(authenticator, SignIn(settings, provider, own, store, authenticator, now=now))


def _outside(auth: AuthSettings, fetcher: Fetcher) -> Outside:
    secret = auth.portal_secret.get_secret_value()
    return Outside(
        Rules.of(auth), ClaimsMap.of(auth), OctKey.import_key(secret) if secret else None, _keys(auth, fetcher)
    )


def _keys(auth: AuthSettings, fetcher: Fetcher) -> Jwks | None:
    if auth.jwks_file is not None:
        return Jwks(partial(load_file, auth.jwks_file), time.monotonic)
    return Jwks(partial(fetcher.get, auth.jwks_url), time.monotonic) if auth.jwks_url else None
