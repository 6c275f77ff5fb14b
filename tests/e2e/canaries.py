"""Documents of several rights that each carry a word of their own, people of several kinds, and real servers that have both."""

from __future__ import annotations

import asyncio
import io
import json
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import quote

import httpx
from joserfc import jwt
from joserfc.jwk import OctKey
from PIL import Image
from ulid import ULID
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Origin, Subprotocol

from tests.e2e.portal import SECRET
from tests.e2e.serving import Frame, Server, environment, free_port

LAMPS: Final = "How often are the harbour lamps tested?"
DOOR: Final = "Which colour has the canteen door?"
BICYCLES: Final = "Who repairs broken bicycles?"
BOATS: Final = "What does the sketch of the rescue boats show?"
QUESTIONS: Final = (LAMPS, DOOR, BICYCLES, BOATS)

CANARIES: Final[Mapping[str, tuple[str, ...]]] = {
    "open": ("qzopen",),
    "staff": ("qzstafftitle", "qzstaffsection", "qzstaffuri", "qzstafftext", "qzstaffshelf"),
    "picture": ("qzpicture",),
    "gone": ("qzgone",),
    "narrowed": ("qznarrowed",),
    "file": ("qzfilename", "qzfiletext"),
}
"""Words of the documents; whoever meets one of them has met the document."""

STAFF: Final = (
    b"# Lamps qzstafftitle\n\n## Plan qzstaffsection\n\nThe harbour lamps are tested every 9 weeks, says qzstafftext.\n"
)
FILE: Final = b"# My own notes\n\nThe harbour lamps are tested every 2 weeks, says qzfiletext.\n"
_TEXTS: Final = (
    ("shelf", "open.md", b"# Lamps qzopen\n\nThe harbour lamps are tested every 3 weeks.\n", ["everyone"]),
    ("shelf", "door.md", b"# Canteen qznarrowed\n\nThe canteen door has a green colour.\n", ["everyone"]),
    ("shelf", "bicycles.md", b"# Workshop qzgone\n\nBroken bicycles are repaired by the workshop.\n", ["everyone"]),
    ("qzstaffshelf", "qzstaffuri.md", STAFF, ["hr"]),
)
PICTURE: Final = "The sketch of the rescue boats shows ropes and qzpicture.png"


@dataclass(frozen=True, slots=True)
class Person:
    """A person of the portal, or what stands for one."""

    name: str
    groups: tuple[str, ...] = ()
    roles: tuple[str, ...] = ("user",)


PEOPLE: Final = {
    person.name: person
    for person in (
        Person("hanna", ("hr",)),
        Person("bert"),
        Person("rita", ("hr",)),
        Person("otto"),
        Person("audra", roles=("user", "auditor")),
        Person("exa", roles=("user", "exporter")),
        Person("ada", roles=("user", "admin")),
    )
}


@dataclass(frozen=True, slots=True)
class Place:
    """A session with everything that can be asked of it."""

    owner: str
    session: str
    epoch: str
    turns: Mapping[str, tuple[int, ...]]
    """Each turn with the numbers of its citations."""
    images: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


@dataclass(slots=True)
class Sight:
    """What came to one person: all of it as one text, and the status of each request."""

    parts: list[str] = field(default_factory=list)
    statuses: dict[str, int] = field(default_factory=dict)

    def add(self, text: str, path: str = "", status: int = 0) -> None:
        self.parts.append(text)
        if path:
            self.statuses[path] = status

    def add_frames(self, frames: Sequence[Frame]) -> None:
        """Frames as they came, and the text that they make together: a word may be cut in two by them."""
        self.parts += [json.dumps(frame) for frame in frames]
        self.parts.append("".join(str(frame.get("d", {}).get("text", "")) for frame in frames))

    @property
    def met(self) -> set[str]:
        """The documents that are met in it."""
        return met("\n".join(self.parts))


def met(text: str) -> set[str]:
    """The documents whose words stand in the text."""
    folded = text.casefold()
    return {name for name, words in CANARIES.items() if any(word in folded for word in words)}


@dataclass(slots=True)
class Company:
    """A server and the tokens of its people."""

    server: Server
    tokens: dict[str, str] = field(default_factory=dict)
    portal_tokens: list[str] = field(default_factory=list)

    def http(self, name: str | None) -> httpx.AsyncClient:
        """A client that is this person, or nobody."""
        headers = {"Authorization": f"Bearer {self.tokens[name]}"} if name else {}
        return httpx.AsyncClient(base_url=self.server.url, timeout=30, headers=headers)

    async def sign_in(self, person: Person) -> str:
        """Exchange a token of the portal, as a page does; the access token."""
        self.portal_tokens.append(minted(person))
        async with httpx.AsyncClient(base_url=self.server.url) as http:
            got = await http.post("/api/auth/exchange", headers={"Authorization": f"Bearer {self.portal_tokens[-1]}"})
        assert got.status_code == 200, got.text
        self.tokens[person.name] = got.json()["access_token"]
        return self.tokens[person.name]

    async def socket(self, name: str | None, **d: Any) -> ClientConnection:
        """A socket that sent its session.open."""
        socket = await connect(
            self.server.url.replace("http", "ws") + "/v1/ws",
            subprotocols=[Subprotocol("assistant.v1")],
            origin=Origin(self.server.url),
        )
        token = {"token": self.tokens[name]} if name else {}
        await send(socket, "session.open", {**token, **d})
        return socket


def minted(person: Person) -> str:
    """A token of the portal."""
    now = int(time.time())
    claims = {"iss": "portal", "aud": "assistant", "sub": person.name, "iat": now, "exp": now + 60}
    holds = {"groups": list(person.groups), "roles": list(person.roles), "jti": secrets.token_hex(8)}
    return jwt.encode({"alg": "HS256", "typ": "JWT"}, {**claims, **holds}, OctKey.import_key(SECRET))


async def send(socket: ClientConnection, kind: str, d: Frame) -> None:
    await socket.send(json.dumps({"v": 1, "type": kind, "id": str(ULID()), "d": d}))


async def frames_until(socket: ClientConnection, *kinds: str) -> list[Frame]:
    """What came, up to a frame of one of these types or the end of the socket, which comes as a frame `closed`."""
    frames: list[Frame] = []
    async with asyncio.timeout(20):
        while not frames or frames[-1]["type"] not in kinds:
            try:
                frames.append(json.loads(await socket.recv()))
            except ConnectionClosed as closed:
                code = closed.rcvd.code if closed.rcvd else 1006
                return [
                    *frames,
                    {"type": "closed", "d": {"code": code, "text": closed.rcvd.reason if closed.rcvd else ""}},
                ]
    return frames


def a_server(folder: Any, **settings: str) -> Server:
    """A server that trusts the portal, not started; its log has everything."""
    common = {
        "retrieval__embedder": "none",
        "auth__portal_secret": SECRET,
        "server__log_level": "debug",
        "server__starts_per_minute": "1000",
        "server__running_turns_per_user": "50",
    }
    return Server(folder, free_port(), environment(**(common | settings)))


def a_picture() -> bytes:
    """A picture that is more than one colour, which would not be kept."""
    drawn, written = Image.new("RGB", (300, 200), "navy"), io.BytesIO()
    drawn.paste("white", (40, 40, 160, 120))
    drawn.save(written, "PNG")
    return written.getvalue()


async def fill(company: Company) -> dict[str, str]:
    """Read all documents in; their ids by uri."""
    ids = {}
    async with company.http("ada") as http:
        for collection, uri, text, access in (*_TEXTS, ("qzstaffshelf", PICTURE, a_picture(), ["hr"])):
            put = await http.put(
                "/api/admin/documents",
                params={"collection": collection, "uri": uri},
                content=text,
                headers={"X-Audit-Reason": "test", "X-Metadata": json.dumps({"access": access})},
            )
            assert put.json().get("outcome") == "added", put.text
            ids[uri] = put.json()["id"]
    return ids


async def attach(company: Company, name: str, session: str) -> str:
    """Attach the file to a session; its id."""
    async with company.http(name) as http:
        sent = await http.post(
            f"/api/sessions/{session}/files", content=FILE, headers={"X-File-Name": quote("qzfilename.md")}
        )
    assert sent.status_code == 201, sent.text
    return str(sent.json()["id"])
