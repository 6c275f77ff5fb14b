"""Small JSON documents of an issuer or provider, fetched with bounds: from where, how much, how long."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import httpx
import orjson

from assistant.errors import BadSetting

MOST_BYTES: Final = 256 * 1024
_LOCAL: Final = frozenset({"localhost", "127.0.0.1", "::1"})

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class Unavailable(Exception):
    """The document cannot be had now; the text says why without what was received."""


def check_url(url: str, setting: str) -> None:
    """Raises BadSetting unless the URL is https, or http to a loopback address, without user name or fragment."""
    if not is_safe(url):
        raise BadSetting("give a https URL, or a http URL of this machine", setting=setting)


def is_safe(url: str) -> bool:
    """Whether a URL is one that is asked at all: https, or http to a loopback address."""
    try:
        parts = httpx.URL(url)
    except (httpx.InvalidURL, ValueError):
        return False
    if not parts.host or parts.userinfo or parts.fragment:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and is_local(parts.host))


def is_local(host: str) -> bool:
    """Whether a host is this machine by its name."""
    return host in _LOCAL


@cache
def _authorities() -> ssl.SSLContext:
    """Those whose certificates are believed, SSL_CERT_FILE included. Reads files, once."""
    return httpx.create_ssl_context()


@dataclass(frozen=True, slots=True)
class Fetcher:
    """Fetches JSON objects. `private` allows addresses of an intranet.

    The address is looked up and judged once and then asked itself, so that a name cannot lead elsewhere the second time.
    Redirects are refused, proxies not used. `trusted` stands in the place of the usual authorities.
    """

    private: bool = False
    within_s: float = 5.0
    trusted: ssl.SSLContext | None = None

    async def get(self, url: str) -> dict[str, Any]:
        """The JSON object at this URL. Raises Unavailable."""
        return await self._fetch("GET", url)

    async def post(self, url: str, form: Mapping[str, str], login: tuple[str, str] | None = None) -> dict[str, Any]:
        """The JSON object that answers a form. `login` goes as HTTP Basic. Raises Unavailable."""
        return await self._fetch("POST", url, data=dict(form), auth=login)

    async def _fetch(self, method: str, url: str, **more: Any) -> dict[str, Any]:
        if not is_safe(url):
            raise Unavailable("the URL is not https")
        try:
            async with asyncio.timeout(self.within_s):
                found = orjson.loads(await self._read(method, httpx.URL(url), **more))
        except (httpx.HTTPError, httpx.InvalidURL, TimeoutError, OSError, ValueError) as error:
            raise Unavailable(f"no answer that can be used: {type(error).__name__}") from None
        if not isinstance(found, dict):
            raise Unavailable("the answer is no JSON object")
        return found

    async def _read(self, method: str, url: httpx.URL, **more: Any) -> bytes:
        verify = await asyncio.to_thread(_authorities) if self.trusted is None else self.trusted
        async with httpx.AsyncClient(verify=verify, trust_env=False, follow_redirects=False) as client:
            for address in await self._addresses(url):
                try:
                    return await _ask(client, method, url, address, **more)
                except httpx.ConnectError:
                    continue
        raise Unavailable("nobody answers there")

    async def _addresses(self, url: httpx.URL) -> list[Address]:
        port = url.port or (443 if url.scheme == "https" else 80)
        found = await asyncio.get_running_loop().getaddrinfo(url.host, port, type=socket.SOCK_STREAM)
        addresses = [ipaddress.ip_address(each[4][0]) for each in found]
        if not all(self._may_ask(address, url.host) for address in addresses):
            raise Unavailable("the address is not one that may be asked")
        return addresses

    def _may_ask(self, address: Address, host: str) -> bool:
        if is_local(host):
            return address.is_loopback
        plain = getattr(address, "ipv4_mapped", None) or address
        if plain.is_multicast or plain.is_unspecified or plain.is_loopback or plain.is_link_local:
            return False  # link-local holds the metadata services of clouds
        return plain.is_global or self.private


async def _ask(client: httpx.AsyncClient, method: str, url: httpx.URL, address: Address, **more: Any) -> bytes:
    headers = {"Host": url.netloc.decode("ascii"), "Accept": "application/json", "Accept-Encoding": "identity"}
    there = url.copy_with(host=str(address))
    asked = client.stream(method, there, headers=headers, extensions={"sni_hostname": url.host}, **more)
    async with asked as response:
        if response.status_code != 200:
            raise Unavailable(f"the answer has status {response.status_code}")
        return await _bounded(response)


async def _bounded(response: httpx.Response) -> bytes:
    body = b""
    async for piece in response.aiter_raw():
        body += piece
        if len(body) > MOST_BYTES:
            raise Unavailable("the answer is too large")
    return body
