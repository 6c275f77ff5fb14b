"""What is fetched, from where, and how much of it; a real server on loopback."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from assistant.errors import BadSetting
from assistant.transport.auth.fetching import MOST_BYTES, Fetcher, Unavailable, check_url


@asynccontextmanager
async def serving(
    answer: bytes, *, then: Callable[[], Awaitable[Any]] | None = None, tls: ssl.SSLContext | None = None
) -> AsyncIterator[tuple[str, list[bytes]]]:
    """A server that reads a request and answers these bytes; its URL, and the requests."""
    asked: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(answer)
        try:
            await writer.drain()
            if then is not None:
                await then()
        except ConnectionError:
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/keys", asked


def http(body: bytes, status: str = "200 OK", *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


async def test_a_small_object_is_fetched() -> None:
    async with serving(http(b'{"keys":[]}')) as (url, asked):
        assert await Fetcher().get(url) == {"keys": []}
        assert await Fetcher().get(url.replace("127.0.0.1", "localhost")) == {"keys": []}
    assert asked[0].startswith(b"GET /keys HTTP/1.1\r\n")
    assert b"Host: localhost:" in asked[1]


@pytest.mark.parametrize("answer", [
    http(b"{}", "302 Found", "Location: http://127.0.0.1:1/"),
    http(b"{}", "404 Not Found"),
    http(b"{}", "204 No Content"),
    http(b"[]"),
    http(b"{"),
    http(b""),
    http(b"\x1f\x8b\x08\x00", "200 OK", "Content-Encoding: gzip"),
    http(b'{"x":"' + b"a" * MOST_BYTES + b'"}'),
    b"HTTP/1.1 200 OK\r\n\r\n" + b"a" * (MOST_BYTES + 1),
    b"nonsense\r\n\r\n",
    b"",
])  # fmt: skip
async def test_anything_else_is_unavailable(answer: bytes) -> None:
    async with serving(answer) as (url, _):
        with pytest.raises(Unavailable):
            await Fetcher().get(url)


async def test_a_server_that_never_ends_is_left() -> None:
    forever = asyncio.Event()
    async with serving(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{", then=forever.wait) as (url, _):
        with pytest.raises(Unavailable, match="TimeoutError"):
            await Fetcher(within_s=0.2).get(url)
        forever.set()


async def test_nobody_there() -> None:
    async with serving(b"") as (url, _):
        pass
    with pytest.raises(Unavailable):
        await Fetcher().get(url)


@pytest.mark.parametrize("host", [
    "10.0.0.1", "192.168.1.1", "172.16.0.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "127.0.0.2",
    "[::ffff:10.0.0.1]", "[::ffff:169.254.169.254]", "[fe80::1]", "[fd00::1]", "[::]", "224.0.0.1", "2130706434",
])  # fmt: skip
async def test_inner_addresses_are_not_asked(host: str) -> None:
    with pytest.raises(Unavailable, match="may be asked"):
        await Fetcher().get(f"https://{host}/keys")


@pytest.mark.parametrize("host", ["169.254.169.254", "0.0.0.0", "127.0.0.2", "[fe80::1]", "[::ffff:127.0.0.2]"])
async def test_some_not_even_in_an_intranet(host: str) -> None:
    with pytest.raises(Unavailable, match="may be asked"):
        await Fetcher(private=True).get(f"https://{host}/keys")


async def test_a_name_that_leads_inside_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    async def resolve(*_: Any, **__: Any) -> list[Any]:
        return [(2, 1, 6, "", ("93.184.216.34", 443)), (2, 1, 6, "", ("10.0.0.7", 443))]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", resolve)
    with pytest.raises(Unavailable, match="may be asked"):
        await Fetcher().get("https://keys.example/")


async def test_localhost_is_this_machine_only(monkeypatch: pytest.MonkeyPatch) -> None:
    async def resolve(*_: Any, **__: Any) -> list[Any]:
        return [(2, 1, 6, "", ("93.184.216.34", 80))]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", resolve)
    with pytest.raises(Unavailable, match="may be asked"):
        await Fetcher().get("http://localhost/")


BAD_URLS = (
    "", "keys.example", "http://keys.example/", "http://10.0.0.1/", "ftp://keys.example/", "file:///etc/passwd",
    "https://", "https://user:secret@keys.example/", "https://keys.example/#x", "javascript:alert(1)",
    "http://localhost.evil.example/", "http://127.0.0.1.evil.example/", "https://[::1", "gopher://127.0.0.1/",
)  # fmt: skip


@pytest.mark.parametrize("url", BAD_URLS)
async def test_urls_that_are_never_asked(url: str) -> None:
    with pytest.raises(BadSetting) as refused:
        check_url(url, "auth.jwks_url")
    assert refused.value.data["setting"] == "auth.jwks_url"
    with pytest.raises(Unavailable):
        await Fetcher().get(url)


@pytest.mark.parametrize(
    "url", ["https://keys.example/x?y=1", "http://localhost:8080/", "http://127.0.0.1/", "http://[::1]/"]
)
def test_urls_that_may_be_set(url: str) -> None:
    check_url(url, "auth.jwks_url")


def certificate(folder: Path, name: str) -> tuple[Path, ssl.SSLContext]:
    """A self-signed certificate for a name, with its key in one file, and a context that trusts it alone."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path = folder / f"{name}.pem"
    path.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    return path, ssl.create_default_context(cadata=made.public_bytes(serialization.Encoding.PEM).decode())


@pytest.mark.parametrize(("name", "good"), [("localhost", True), ("keys.example", False)])
async def test_the_certificate_must_be_for_the_name_though_the_address_is_asked(
    tmp_path: Path, name: str, good: bool
) -> None:
    path, trusting = certificate(tmp_path, name)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path)
    async with serving(http(b"{}"), tls=context) as (url, asked):
        fetcher = Fetcher(trusted=trusting)
        there = url.replace("http://127.0.0.1", "https://localhost")
        if good:
            assert await fetcher.get(there) == {}
            return
        with pytest.raises(Unavailable):
            await fetcher.get(there)
        assert asked == []
