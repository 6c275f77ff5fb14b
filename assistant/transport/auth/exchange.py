"""The door where a page exchanges the token of its portal for one of this server."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Header

from assistant.transport.auth.authenticator import AccessToken
from assistant.transport.http import DoorsHere, bearer

router = APIRouter(prefix="/api/auth")


@router.post("/exchange")
async def exchange(doors: DoorsHere, authorization: Annotated[str | None, Header()] = None) -> dict[str, Any]:
    """A token of this server for one of the portal, sent as Authorization: Bearer, which is spent by it."""
    return shown(await doors.authenticator.exchange(bearer(authorization)))


def shown(token: AccessToken) -> dict[str, Any]:
    """An access token as pages get it."""
    return {
        "access_token": token.token,
        "token_type": "Bearer",
        "expires_at": token.expires_at.isoformat(),
        "roles": sorted(token.roles),
    }
