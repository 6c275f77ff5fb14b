"""A portal that shows the assistant to the people who are signed in to it. Its sign-in is a toy, the rest is not."""

import os
import secrets
import time
from html import escape
from pathlib import Path
from string import Template
from urllib.parse import parse_qs

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from fastapi.staticfiles import StaticFiles
from joserfc import jwt
from joserfc.jwk import OctKey

HERE = Path(__file__).parent
ASSISTANT = os.environ.get("PORTAL_ASSISTANT", "http://127.0.0.1:8000")
KEY = OctKey.import_key(os.environ["PORTAL_SECRET"])
PEOPLE = {"ann": ["staff"], "bob": []}  # a real portal knows its people and their groups from its directory
PAGES = {name: Template((HERE / "pages" / f"{name}.html").read_text("utf-8")) for name in ("sign_in", "chat", "frame")}
OURS = "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
SCRIPT = f"script-src {ASSISTANT}; connect-src 'self' {ASSISTANT} {ASSISTANT.replace('http', 'ws', 1)}; img-src blob:"
TYPES = "require-trusted-types-for 'script'; trusted-types lit-html"
POLICIES = {"sign_in": OURS, "chat": f"{OURS}; {SCRIPT}; {TYPES}"}
POLICIES["frame"] = f"{OURS}; script-src 'self'; connect-src 'self'; frame-src {ASSISTANT}"

app = FastAPI(openapi_url=None)
app.mount("/static", StaticFiles(directory=HERE / "static"))
signed_in: dict[str, str] = {}


@app.get("/")
@app.get("/frame")
async def page(request: Request) -> Response:
    """A page for who is signed in; the form for everybody else."""
    person = signed_in.get(request.cookies.get("portal", ""))
    name = ("frame" if request.url.path == "/frame" else "chat") if person else "sign_in"
    html = PAGES[name].substitute(assistant=ASSISTANT, person=escape(person or ""))
    return HTMLResponse(html, headers={"Content-Security-Policy": POLICIES[name], "Cache-Control": "no-store"})


@app.post("/sign-in")
async def sign_in(request: Request) -> Response:
    """Take the word of whoever comes. This is the toy."""
    person = parse_qs((await request.body()).decode("utf-8", "replace")).get("person", [""])[0]
    back = RedirectResponse("/", 303)
    if person in PEOPLE:
        signed_in[session := secrets.token_urlsafe()] = person
        back.set_cookie("portal", session, httponly=True, samesite="lax", secure=request.url.scheme == "https")
    return back


@app.post("/sign-out")
async def sign_out(request: Request) -> Response:
    """Forget the session."""
    signed_in.pop(request.cookies.get("portal", ""), None)
    return RedirectResponse("/", 303)


@app.get("/token")
async def token(request: Request) -> Response:
    """A token that says who asks, for the assistant alone: good for a minute, and once."""
    person = signed_in.get(request.cookies.get("portal", ""))
    if person is None:
        return JSONResponse({"error": "nobody is signed in"}, 401)
    now = int(time.time())
    claims = {"iss": "example-portal", "aud": "assistant", "sub": person, "groups": PEOPLE[person]}
    claims |= {"iat": now, "exp": now + 60, "jti": secrets.token_urlsafe()}
    return JSONResponse({"token": jwt.encode({"alg": "HS256"}, claims, KEY)}, headers={"Cache-Control": "no-store"})
