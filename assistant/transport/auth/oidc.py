"""The pages' way to the OpenID provider and back: login, callback, logout, and a token for the page.

The cookie of a signed-in person gets access tokens for a page of this origin and does nothing else: requests of the API
carry a token, never a cookie, so that no other site can make a browser ask in a person's name.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import JSONResponse, RedirectResponse, Response

from assistant.errors import NotFound
from assistant.transport.auth.exchange import shown
from assistant.transport.auth.refusing import refused
from assistant.transport.auth.sign_in import AT_THE_PROVIDER, SIGNED_IN, SignIn

router = APIRouter(prefix="/auth")

LOGIN_COOKIE: Final = "assistant_login"
SESSION_COOKIE: Final = "assistant_session"
_PATH: Final = "/auth"
_PRIVATE: Final = {"Cache-Control": "no-store"}


def _sign_in(request: Request) -> SignIn:
    sign_in: SignIn | None = request.app.state.doors.sign_in
    if sign_in is None:
        raise NotFound("no provider is configured")
    return sign_in


Here = Annotated[SignIn, Depends(_sign_in)]
Short = Annotated[str, Query(max_length=4096)]


def _from_own_page(request: Request, sign_in: Here) -> None:
    """Raises NotAuthenticated unless a page of this origin asks; browsers say so, and no page can say it falsely."""
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    own = site == "same-origin" if site is not None else origin == sign_in.public_url
    if not own:
        raise refused("origin")


OwnPage = Depends(_from_own_page)


@router.get("/login")
async def login(sign_in: Here, back: Annotated[str, Query(alias="return", max_length=4096)] = "/") -> Response:
    """Send the browser to the provider; `return` is the path of this site where it goes on afterwards."""
    address, carried = await sign_in.begin(back)
    response = RedirectResponse(address, 303, _PRIVATE)
    # Lax: the provider sends the browser back from another site, and the cookie must come along.
    _keep(response, sign_in, LOGIN_COOKIE, carried, int(AT_THE_PROVIDER.total_seconds()), "lax")
    return response


@router.get("/callback")
async def callback(
    request: Request, sign_in: Here, state: Short = "", code: Short = "", iss: Short | None = None
) -> Response:
    """Where the provider sends the browser: the code becomes a session, and the browser goes on where it came from."""
    if not code or not state:
        raise refused("missing")  # the person said no, or the provider did
    done = await sign_in.finish(request.cookies.get(LOGIN_COOKIE, ""), state, code, iss)
    response = RedirectResponse(done.back, 303, _PRIVATE)
    _keep(response, sign_in, SESSION_COOKIE, done.cookie, int(SIGNED_IN.total_seconds()), "strict")
    _forget(response, LOGIN_COOKIE)
    return response


@router.get("/token", dependencies=[OwnPage])
async def token(request: Request, sign_in: Here) -> Response:
    """A new access token for the page of a signed-in person."""
    found: dict[str, Any] = shown(await sign_in.access(request.cookies.get(SESSION_COOKIE)))
    return JSONResponse(found, headers=_PRIVATE)


@router.post("/logout", dependencies=[OwnPage])
async def logout(request: Request, sign_in: Here) -> Response:
    """End the session for good. Access tokens that were given out end by themselves within minutes."""
    await sign_in.end(request.cookies.get(SESSION_COOKIE))
    response = JSONResponse({"signed_in": False}, headers=_PRIVATE)
    _forget(response, SESSION_COOKIE)
    return response


def _keep(
    response: Response, sign_in: SignIn, name: str, value: str, seconds: int, same_site: Literal["lax", "strict"]
) -> None:
    secure = sign_in.public_url.startswith("https://")  # settings allow http for this machine only
    response.set_cookie(name, value, seconds, path=_PATH, secure=secure, httponly=True, samesite=same_site)


def _forget(response: Response, name: str) -> None:
    response.delete_cookie(name, path=_PATH)
