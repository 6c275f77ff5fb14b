"""A portal as a company would have it: it signs its person in, and shows the assistant under a policy of its own."""

from __future__ import annotations

import contextlib
import json
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

from joserfc import jwt
from joserfc.jwk import OctKey

from assistant.app import PAGE

SECRET: Final = "a secret of the portal and the assistant alone"
_FRAME: Final = """
import { connectAssistant } from '/embed-host.js';
const getToken = async () => (await (await fetch('/token')).json()).token;
window.look = connectAssistant(document.querySelector('iframe'), { getToken, theme: 'dark', locale: 'zh' });
"""


@dataclass(slots=True)
class Portal:
    """What the portal shows; `person` is who is signed in, empty for nobody."""

    port: int
    assistant: str = ""
    person: str = "ann"
    given: list[str] = field(default_factory=list)
    """The tokens that it has given out."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def page(self, path: str) -> tuple[int, str, str]:
        """Status, media type and body of a path."""
        name, _, query = path.partition("?")
        if name == "/token":
            return self._token()
        if name == "/embed-host.js":
            return 200, "text/javascript", (PAGE / "embed-host.js").read_text("utf-8")
        if name == "/frame.js":
            return 200, "text/javascript", _FRAME
        bodies = {
            "/": '<assistant-chat display="launcher" token-url="/token" locale="en"></assistant-chat>',
            "/citation": f'<assistant-citation token-url="/token" locale="en" {query.replace("&", " ")}></assistant-citation>',
            "/frame": f'<iframe src="{self.assistant}/embed.html" width="900" height="700" title="Assistant"></iframe>',
        }
        if name not in bodies:
            return 404, "text/plain", ""
        inside, outside = ("", bodies[name]) if name == "/" else (bodies[name], "")
        script = "/frame.js" if name == "/frame" else f"{self.assistant}/assistant-chat.js"
        html = f'<!doctype html><html lang="en"><title>Portal</title><main><h1>Portal</h1>{inside}</main>{outside}'
        return 200, "text/html; charset=utf-8", f'{html}<script type="module" src="{script}"></script>'

    def policy(self) -> str:
        """The policy that docs/embedding.md asks of a portal."""
        socket = self.assistant.replace("http", "ws", 1)
        return (
            f"default-src 'none'; script-src 'self' {self.assistant}; connect-src 'self' {self.assistant} {socket}; "
            f"img-src blob:; frame-src {self.assistant}; require-trusted-types-for 'script'; trusted-types lit-html"
        )

    def _token(self) -> tuple[int, str, str]:
        if not self.person:
            return 403, "application/json", "{}"
        now = int(time.time())
        claims: dict[str, Any] = {"iss": "portal", "aud": "assistant", "sub": self.person, "iat": now, "exp": now + 60}
        token = jwt.encode(
            {"alg": "HS256", "typ": "JWT"}, {**claims, "jti": secrets.token_hex(8)}, OctKey.import_key(SECRET)
        )
        self.given.append(token)
        return 200, "application/json", json.dumps({"token": token})


@contextlib.contextmanager
def portal() -> Iterator[Portal]:
    """A portal on a free port until the block ends."""
    shown = Portal(0)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(lambda: shown))
    shown.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield shown
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def settings_for(shown: Portal, folder: Path) -> dict[str, str]:
    """Settings of a server that trusts this portal."""
    return {
        "retrieval__embedder": "none",
        "auth__portal_secret": SECRET,
        "auth__key": str(folder / "auth.key"),
        "auth__origins": json.dumps([shown.url]),
        "widget__portals": json.dumps([shown.url]),
    }


def _handler(shown: Callable[[], Portal]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, media, body = shown().page(self.path)
            self.send_response(status)
            self.send_header("Content-Type", media)
            self.send_header("Content-Security-Policy", shown().policy())
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name of the base
            return

    return Handler
