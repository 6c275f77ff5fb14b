"""One Chainlit server (`chainlit run relay_chainlit_app.py`) and clients that say what its own page says, for `relay_peer.py`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

from relay_peer_chat import Chat, Peer, fail, free_port, running

NAME = "Chainlit"
PARTS = ("chainlit", "openai", "python-socketio", "uvicorn")


@dataclass(slots=True, eq=False, kw_only=True)
class ChainlitChat(Chat):
    session: str = field(default_factory=lambda: str(uuid4()))

    async def open(self) -> None:
        for name, handler in self._handlers().items():
            self.socket.on(name, handler)
        told = {"sessionId": self.session, "clientType": "webapp", "userEnv": "{}", "chatProfile": "", "threadId": ""}
        await self.connect(told)
        await self.socket.emit("connection_successful")
        await self.until(self.idle)

    def _handlers(self) -> dict[str, Any]:
        return {
            "stream_start": lambda step: self.more(step["output"]),
            "stream_token": lambda piece: self.more(piece["token"]),
            "update_message": self._updated,
            "new_message": self._said,
            "clear_call_fn": lambda _: self.idle.set(),
            "task_end": lambda _: self.ended.is_set() and self.idle.set(),
        }

    def _updated(self, step: dict[str, Any]) -> None:
        if step["type"] == "assistant_message":  # not a run, which is around each handler of the app
            self.done(step["output"])

    def _said(self, step: dict[str, Any]) -> None:
        if step["isError"]:
            fail(step["output"])

    async def ask(self) -> None:
        self.reset()
        step = {"id": str(uuid4()), "threadId": "", "name": "user", "type": "user_message", "output": "hello"}
        step |= {"createdAt": "2026-01-01T00:00:00Z"}
        await self.socket.emit("client_message", {"message": step, "fileReferences": None})


@contextmanager
def served(provider: str, model: str, _: int) -> Iterator[Peer]:
    """A server of the model at this provider, until the block ends; its number of clients is not known before."""
    port, app = free_port(), str(Path(__file__).with_name("relay_chainlit_app.py"))
    url, settings = (
        f"http://127.0.0.1:{port}",
        {"OPENAI_BASE_URL": provider, "OPENAI_API_KEY": "none", "RELAY_MODEL": model},
    )
    command = [sys.executable, "-m", "chainlit", "run", app, "--headless", "--host", "127.0.0.1", "--port", str(port)]
    with running(command, settings, url) as process:
        yield Peer(process, lambda expected: ChainlitChat(url=url, expected=expected))
