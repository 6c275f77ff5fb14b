"""One server for all tests of the client."""

from __future__ import annotations

from collections.abc import AsyncIterator
from itertools import count

import pytest
import pytest_asyncio

from assistant.core.access import Caller
from tests.transport.house import House, at_home

_people = count()


@pytest_asyncio.fixture(scope="package", loop_scope="package")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    async with at_home(tmp_path_factory.mktemp("house")) as opened:
        yield opened


@pytest.fixture
def house(server: House) -> House:
    """The server of all these tests, with somebody at the door who was not there before."""
    server.portal.minutes = None
    server.portal.caller = Caller("acme", f"ann-{next(_people)}")
    return server
