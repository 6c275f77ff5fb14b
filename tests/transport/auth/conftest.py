"""An authenticator on a real store, and its clock."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from assistant.store.engine import open_database
from assistant.store.identity import SqlIdentity
from assistant.transport.auth.tokens import TokenAuthenticator
from tests.transport.auth.making import Clock, Issuer, make_authenticator


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def issuer() -> Issuer:
    return Issuer()


@pytest_asyncio.fixture
async def identities(sqlite_url: str, clock: Clock) -> AsyncIterator[SqlIdentity]:
    database = open_database(sqlite_url)
    yield SqlIdentity(database, clock=clock.now)
    await database.close()


@pytest.fixture
def authenticator(identities: SqlIdentity, clock: Clock, issuer: Issuer) -> TokenAuthenticator:
    return make_authenticator(identities, clock, issuer=issuer)
