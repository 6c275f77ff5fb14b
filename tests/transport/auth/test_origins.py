"""From where a websocket may be opened."""

from __future__ import annotations

import pytest

from assistant.transport.auth import origin_allowed

ALLOWED = ("https://portal.example", "https://intranet.example:8443")


@pytest.mark.parametrize("origin", [
    None,
    "https://portal.example",
    "https://intranet.example:8443",
    "https://assistant.example:9000",
    "http://assistant.example:9000",
])  # fmt: skip
def test_allowed(origin: str | None) -> None:
    assert origin_allowed(origin, "assistant.example:9000", ALLOWED)


@pytest.mark.parametrize("origin", [
    "null", "", " ", "*", "https://evil.example", "http://portal.example", "https://portal.example:443",
    "https://portal.example:8443", "https://intranet.example", "https://intranet.example:844", "https://intranet.example:84433",
    "https://sub.portal.example", "https://portal.example.evil.example", "https://evilportal.example", "https://portal.example/",
    "https://portal.example@evil.example", "https://evil.example@portal.example", "https://portal.example#", "https://portal.example.",
    "https://PORTAL.example", "https://portal.examplе", "portal.example", "//portal.example", "https:portal.example",
    "https://assistant.example", "https://assistant.example:9001", "https://x.assistant.example:9000",
    "https://assistant.example:9000.evil.example", "https://assistant.example:9000/x", "wss://assistant.example:9000",
    "file://assistant.example:9000", "https://u@assistant.example:9000", "https://portal.example, https://evil.example",
    "https://[::1", "\ud800", "https://portal.example\n",
])  # fmt: skip
def test_refused(origin: str) -> None:
    assert not origin_allowed(origin, "assistant.example:9000", ALLOWED)


@pytest.mark.parametrize("host", [None, ""])
@pytest.mark.parametrize("origin", ["https://", "http://", "https://evil.example", "https://None", "null"])
def test_without_a_host_nothing_is_the_own(origin: str, host: str | None) -> None:
    assert not origin_allowed(origin, host, ALLOWED)


def test_null_is_refused_even_where_it_is_configured() -> None:
    assert not origin_allowed("null", "null", ("null",))
