"""Serve: settings, migrations, demo documents, and the server process."""

from __future__ import annotations

import asyncio
import gc
import socket
from pathlib import Path
from typing import Any, Final

import structlog
import uvicorn
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from assistant.app import create_app
from assistant.app.storing import bring_up
from assistant.commands.ingest import ingest_here
from assistant.config import AuthSettings, Settings, WidgetSettings
from assistant.telemetry import configure_tracing
from assistant.transport.auth import ROLES, check_identity
from assistant.transport.doors import Doors
from assistant.transport.metrics import serve_metrics

log = structlog.get_logger(__name__)

DEMO: Final = Path(__file__).parents[1] / "demo"
DEMO_COLLECTIONS: Final = ("18f-handbook", "18f-handbook-2021", "opensource-guide-zh")
DEMO_EXAMPLES: Final = (
    "How many hours must be billable?",
    "How do I report a security incident?",
    "Can I carry over annual leave to the next year?",
    "如何让开源项目被更多人发现？",
)
DRAIN_S: Final = 3.0
"""How long clients may take to go when the server stops, in seconds."""
LINGER_S: Final = 2.0
"""How long a closed socket may take to read what it was sent, in seconds."""
MAX_FRAME_BYTES: Final = 256 * 1024
"""Frames above this are cut off by the server itself; smaller ones that are too large get a typed refusal."""


class Sockets(WebSocketsSansIOProtocol):
    """The sans-I/O websocket of uvicorn, which waits for ever to close a socket whose peer does not read.

    A connection that the application is done with is gone after a moment, read or not; what was missed is in the log.
    """

    def send_receive_event_to_app(self) -> None:
        """Hand a message on; text that is no UTF-8 as bytes, which are refused as a bad frame. Uvicorn logs a trace of each."""
        if self.curr_msg_data_type == "text":
            try:
                b"".join(self.frames).decode()
            except UnicodeDecodeError:
                self.curr_msg_data_type = "bytes"
        super().send_receive_event_to_app()

    def on_task_complete(self, task: asyncio.Task[None]) -> None:
        """Close as uvicorn does, then cut the connection if it is still there."""
        super().on_task_complete(task)
        self.loop.call_later(LINGER_S, self.transport.abort)


GARBAGE: Final = 20_000
"""New objects after which the collector looks for circles. At Python's 700 it took a sixth of the time of a busy relay."""


class Server(uvicorn.Server):
    """The server of uvicorn, which tells its clients to go elsewhere before it stops."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start as ever; then spare the collector of garbage what stays for good."""
        await super().startup(sockets)
        gc.collect()
        gc.freeze()
        gc.set_threshold(GARBAGE, 20, 20)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Send everybody away with a word about coming back, then stop as ever."""
        doors: Doors | None = getattr(getattr(self.config.app, "state", None), "doors", None)
        if doors is not None:
            await doors.presence.drain(DRAIN_S)
        await super().shutdown(sockets)


def serve_forever(settings: Settings, *, demo: bool = False, host: str | None = None, port: int | None = None) -> None:
    """Migrate, read the demo documents when asked, then serve until stopped."""
    if demo:
        settings = demo_settings(settings)
    check_identity(settings)
    configure_tracing(content=settings.telemetry.content)
    asyncio.run(_prepare(settings, demo))
    server = settings.server
    address, number = host or server.host, server.port if port is None else port
    log.info("serving", url=f"http://{address}:{number}", model=settings.model.kind)
    if server.metrics_port:
        serve_metrics(address, server.metrics_port)
    app = create_app(settings)
    Server(uvicorn.Config(app, host=address, port=number, **server_options())).run()


def server_options() -> dict[str, Any]:
    """How uvicorn runs: the sans-I/O websocket implementation, no deflate, no access log, our own logging."""
    return {
        "ws": Sockets,
        "ws_max_size": MAX_FRAME_BYTES,
        "ws_per_message_deflate": False,
        "log_config": None,
        "access_log": False,
        "server_header": False,
        "timeout_graceful_shutdown": 15,
    }


def demo_settings(settings: Settings) -> Settings:
    """The settings with a development identity and example questions, where none are set."""
    auth, widget = settings.auth, settings.widget
    if not auth.development_user:
        auth = AuthSettings(**{**auth.model_dump(), "development_user": "demo", "development_roles": sorted(ROLES)})
    if not widget.examples:
        widget = WidgetSettings(**{**widget.model_dump(), "examples": list(DEMO_EXAMPLES)})
    return settings.model_copy(update={"auth": auth, "widget": widget})


async def _prepare(settings: Settings, demo: bool) -> None:
    await bring_up(settings)
    for collection in DEMO_COLLECTIONS if demo else ():
        report = await ingest_here(settings, DEMO / collection, collection, quiet=True)
        log.info("demo documents", collection=collection, added=report.added, unchanged=report.unchanged)
        for skipped in report.skipped:
            log.warning("demo document skipped", uri=skipped.uri, reason=skipped.reason)
