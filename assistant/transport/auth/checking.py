"""Whether the settings say who may come in, before the server starts."""

from __future__ import annotations

from collections.abc import Iterable

import httpx

from assistant.config import AuthSettings, Settings
from assistant.errors import BadSetting
from assistant.transport.auth.fetching import check_url
from assistant.transport.auth.roles import ROLES

LEAST_SECRET_BYTES = 32
"""An HMAC key shorter than its hash could be found by trying (RFC 7518, 3.2)."""


def check_identity(settings: Settings) -> None:
    """Raises BadSetting, which names the setting, where an identity is half configured, or not fit for production."""
    auth = settings.auth
    if settings.environment == "production":
        _check_production(auth)
    _check_keys(auth)
    _check_provider(auth)
    _check_origins("auth.origins", auth.origins)
    if unknown := {role for roles in auth.roles.values() for role in roles} - ROLES:
        raise BadSetting(f"there is no role {min(unknown)}; there are {', '.join(sorted(ROLES))}", setting="auth.roles")


def _check_production(auth: AuthSettings) -> None:
    if auth.development_user:
        raise BadSetting("production takes no development identity", setting="auth.development_user")
    portal = auth.portal_secret.get_secret_value()
    if not (portal or auth.jwks_url or auth.jwks_file or auth.oidc_issuer or auth.service_keys_only):
        raise BadSetting(
            "nobody could come in: set portal_secret, jwks_url, jwks_file or oidc_issuer, or service_keys_only",
            setting="auth",
        )


def _check_keys(auth: AuthSettings) -> None:
    secret = auth.portal_secret.get_secret_value().encode()
    if secret and len(secret) < LEAST_SECRET_BYTES:
        raise BadSetting("the secret has less than 32 bytes", setting="auth.portal_secret")
    if secret and b"-----BEGIN " in secret:
        raise BadSetting("a public key is no secret; it belongs to jwks_file", setting="auth.portal_secret")
    if auth.jwks_url and auth.jwks_file:
        raise BadSetting("set jwks_url or jwks_file, not both", setting="auth.jwks_file")
    if auth.jwks_url:
        check_url(auth.jwks_url, "auth.jwks_url")


def _check_provider(auth: AuthSettings) -> None:
    if not auth.oidc_issuer:
        return
    check_url(auth.oidc_issuer, "auth.oidc_issuer")
    for name in ("oidc_client", "public_url"):
        if not getattr(auth, name):
            raise BadSetting("the sign-in needs this setting too", setting=f"auth.{name}")
    if "openid" not in auth.oidc_scopes.split():
        raise BadSetting("the scopes must name openid", setting="auth.oidc_scopes")
    check_url(auth.public_url, "auth.public_url")
    if not _is_origin(auth.public_url.rstrip("/")):
        raise BadSetting("give the address without a path", setting="auth.public_url")


def _check_origins(setting: str, origins: Iterable[str]) -> None:
    for origin in origins:
        if not _is_origin(origin):
            raise BadSetting("an origin is scheme://host or scheme://host:port and nothing more", setting=setting)


def _is_origin(text: str) -> bool:
    """Whether a browser could send this as Origin: as it writes it, so that it can be compared letter by letter."""
    try:
        url = httpx.URL(text)
    except (httpx.InvalidURL, ValueError):
        return False
    plain = url.scheme in ("http", "https") and url.host and "*" not in url.host
    return bool(plain) and text == f"{url.scheme}://{url.netloc.decode('ascii')}"
