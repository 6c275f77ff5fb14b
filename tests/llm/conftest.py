from collections.abc import Iterator

import pytest

from assistant.llm.scripted_http import Behaviour, Provider, running_provider


@pytest.fixture(scope="session")
def running() -> Iterator[Provider]:
    with running_provider() as provider:
        yield provider


@pytest.fixture
def provider(running: Provider) -> Provider:
    running.behave(Behaviour())
    return running
