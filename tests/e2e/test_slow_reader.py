from __future__ import annotations

import base64
import json
import socket
import sqlite3
import time
from pathlib import Path

import httpx
import pytest
from ulid import ULID

from tests.e2e.serving import Server, serving

pytestmark = pytest.mark.e2e


def handshake(server: Server) -> socket.socket:
    """A websocket that has sent its handshake and will never read."""
    peer = socket.socket()
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    peer.connect(("127.0.0.1", server.port))
    key = base64.b64encode(b"0" * 16).decode()
    lines = (
        "GET /v1/ws HTTP/1.1", f"Host: 127.0.0.1:{server.port}", "Upgrade: websocket", "Connection: Upgrade",
        f"Sec-WebSocket-Key: {key}", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Protocol: assistant.v1",
    )  # fmt: skip
    peer.sendall("\r\n".join((*lines, "", "")).encode())
    return peer


def masked(text: str) -> bytes:
    """A client's text frame with a mask of zeros."""
    body = text.encode()
    length = bytes([0x80 | len(body)]) if len(body) < 126 else bytes([0x80 | 126]) + len(body).to_bytes(2, "big")
    return b"\x81" + length + bytes(4) + body


def open_sockets(server: Server) -> int:
    assert server.process is not None
    place = Path(f"/proc/{server.process.pid}/fd")
    return sum(str(link.readlink()).startswith("socket") for link in place.iterdir() if link.is_symlink())


def long_session(server: Server, folder: Path) -> tuple[str, str]:
    """A session whose log is far larger than any socket buffer: id and epoch."""
    session = httpx.post(f"{server.url}/api/sessions").json()
    url, headers = f"{server.url}/api/sessions/{session['session_id']}/turns", {"Idempotency-Key": "1"}
    turn = httpx.post(url, headers=headers, json={"text": "hello"}, timeout=30).json()["turn"]
    with sqlite3.connect(folder / "var" / "assistant.db") as database:
        (head,) = database.execute("SELECT head_seq FROM conversations").fetchone()
        piece = json.dumps({"off": 0, "text": "x" * 10_000})
        rows = [
            (session["session_id"], head + n, turn, "answer.delta", "2025-01-01 00:00:00.000000", piece)
            for n in range(1, 1501)
        ]
        database.executemany(
            "INSERT INTO events (conversation, seq, turn, type, at, d) VALUES (?, ?, ?, ?, ?, ?)", rows
        )
        database.execute("UPDATE conversations SET head_seq = ?", (head + 1500,))
    return session["session_id"], session["epoch"]


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="counts the sockets of a process in /proc")
def test_readers_that_never_read_are_cut_off_and_hold_up_nobody(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        session, epoch = long_session(server, tmp_path)
        before = open_sockets(server)
        d = {"session_id": session, "resume": {"epoch": epoch, "seq": 0}}
        peers = [handshake(server) for _ in range(5)]
        for peer in peers:
            peer.sendall(masked(json.dumps({"v": 1, "type": "session.open", "id": str(ULID()), "d": d})))
        deadline, seen = time.monotonic() + 30, before
        while time.monotonic() < deadline:
            time.sleep(0.5)
            assert httpx.get(f"{server.url}/healthz", timeout=2).status_code == 200
            now = open_sockets(server)
            if seen > before + 4 and now <= before + 1:
                break
            seen = max(seen, now)
        assert seen >= before + 5
        assert open_sockets(server) <= before + 1
        started = time.monotonic()
        server.end()
        assert time.monotonic() - started < 8
