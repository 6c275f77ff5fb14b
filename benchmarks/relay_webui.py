"""One Open WebUI server and clients that say what its own page says, for `relay_peer.py`.

Every client is a user of its own: the server sends the events of a chat to all sockets of its user. Each question begins a new
chat, which is stored as by default (SQLite, the answer once at its end). What would call a model besides (titles, tags, follow-ups)
is not asked for; nothing is embedded; the log is at warnings. The database may wait longer than by default, as a hundred questions at
once would find it locked.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
from relay_peer_chat import Chat, Peer, fail, free_port, running

NAME = "Open WebUI"
PARTS = ("open-webui", "python-socketio", "uvicorn", "websockets")
SETTINGS = {
    "DATA_DIR": "data", "WEBUI_SECRET_KEY": "benchmark", "OFFLINE_MODE": "true", "ENABLE_OLLAMA_API": "false", "RAG_EMBEDDING_ENGINE": "openai",
    "BYPASS_MODEL_ACCESS_CONTROL": "true", "GLOBAL_LOG_LEVEL": "WARNING", "ANONYMIZED_TELEMETRY": "false", "DO_NOT_TRACK": "true",
    "DATABASE_SQLITE_PRAGMA_BUSY_TIMEOUT": "60000", "DATABASE_POOL_TIMEOUT": "120",
}  # fmt: skip


@dataclass(slots=True, eq=False, kw_only=True)
class WebuiChat(Chat):
    token: str
    model: str
    web: httpx.AsyncClient

    async def open(self) -> None:
        self.socket.on("events", self._told)
        await self.connect({"token": self.token})
        await self.socket.call("user-join", {"auth": {"token": self.token}})

    def _told(self, event: dict[str, Any]) -> None:
        kind, data = event["data"]["type"], event["data"].get("data") or {}
        if kind == "response:completion" and data.get("type") == "response.output_text.delta":
            self.more(data["delta"])
        elif kind == "chat:completion" and data.get("done"):
            self.done("".join(part["text"] for item in data["output"] for part in item["content"]))
        elif kind == "chat:active" and not data["active"]:
            self.idle.set()
        elif kind == "chat:message:error":
            fail(str(data))

    async def ask(self) -> None:
        self.reset()
        question: dict[str, Any] = {"id": str(uuid4()), "parentId": None, "role": "user", "content": "hello"}
        body = {
            "model": self.model, "stream": True, "messages": [{"role": "user", "content": "hello"}], "parent_id": None,
            "id": str(uuid4()), "user_message": question, "session_id": self.socket.get_sid(), "background_tasks": {},
        }  # fmt: skip
        said = await self.web.post(
            f"{self.url}/api/chat/completions", json=body, headers={"Authorization": f"Bearer {self.token}"}
        )
        if said.status_code != 200:
            fail(said.text)


@contextmanager
def served(provider: str, model: str, streams: int) -> Iterator[Peer]:
    """A server of the model at this provider with so many users, until the block ends."""
    port, script = free_port(), str(Path(sys.executable).with_name("open-webui"))
    url = f"http://127.0.0.1:{port}"
    with running([script, "serve", "--host", "127.0.0.1", "--port", str(port)], SETTINGS, f"{url}/health") as process:
        tokens = iter(_users(url, provider, model, streams))
        web = httpx.AsyncClient(trust_env=False, timeout=600, limits=httpx.Limits(max_connections=streams))
        yield Peer(
            process,
            lambda expected: WebuiChat(url=url, expected=expected, token=next(tokens), model=model, web=web),
        )


def _users(url: str, provider: str, model: str, count: int) -> list[str]:
    """Set up the provider; the tokens of so many new users."""
    with httpx.Client(base_url=f"{url}/api/v1/auths", trust_env=False, timeout=60) as web:
        admin = _post(web, "/signup", _user("admin"))
        web.headers["Authorization"] = f"Bearer {admin['token']}"
        connection = {"ENABLE_OPENAI_API": True, "OPENAI_API_BASE_URLS": [provider], "OPENAI_API_KEYS": ["none"]}
        connection |= {"OPENAI_API_CONFIGS": {"0": {"enable": True, "model_ids": [model]}}}
        _post(web, f"{url}/openai/config/update", connection)
        made = [_post(web, "/add", _user(f"user{number}") | {"role": "user"}) for number in range(count)]
    return [user["token"] for user in made]


def _user(name: str) -> dict[str, Any]:
    return {"name": name, "email": f"{name}@example.org", "password": "a password of the benchmark"}


def _post(web: httpx.Client, path: str, body: dict[str, Any]) -> dict[str, Any]:
    said: dict[str, Any] = web.post(path, json=body).raise_for_status().json()
    return said
