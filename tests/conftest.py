"""Fixtures that all tests share: databases, property test profiles, no network, no blocking of the event loop."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator

import procrastinate  # noqa: F401 - the product imports it late, in a loop that may not read files
import pytest
from blockbuster import BlockBuster, blockbuster_ctx
from hypothesis import HealthCheck, settings

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")

pytest_plugins = ["tests.databases"]

settings.register_profile(
    "default", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=bool(os.environ.get("CI"))
)
settings.load_profile("default")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Of several workers, each begins with files of tests/e2e: they take longest, and none is left alone with one at the end."""
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: "e2e" not in item.path.parts)


def pytest_collection_finish() -> None:
    """What was imported and collected stays: the garbage collector need not walk through it again and again."""
    gc.collect()
    gc.freeze()


PATH_LOOKS = ("os.path.abspath", "os.getcwd", "os.stat", "os.access", "os.path.islink", "os.readlink")
"""Looks at a path that take microseconds and happen when an engine or a static file is opened."""


@pytest.fixture(autouse=True)
def no_blocking() -> Iterator[BlockBuster]:
    """A blocking call of the product inside the event loop fails the test. Migrations run before a loop serves anyone."""
    with blockbuster_ctx("assistant") as watcher:
        for name in PATH_LOOKS:
            watcher.functions[name].deactivate()
        for function in watcher.functions.values():
            function.can_block_in("store/migrations.py", {"migrate", "current_and_head", "_upgrade", "_make_folder"})
        yield watcher
