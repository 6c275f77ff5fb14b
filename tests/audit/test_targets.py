from __future__ import annotations

import asyncio
import stat
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import fsspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from structlog.testing import capture_logs

from assistant.audit.checkpoints import Checkpoint
from assistant.audit.targets import FileTarget, FolderUrl, GrowingUrl, ReadBack, Target, Targets, target_at
from assistant.errors import BadSetting
from tests.audit.chains import chain, checkpoint

LOG = chain(9)
MARKS = [checkpoint(LOG, size) for size in (3, 6, 9)]
RIVAL = checkpoint(chain(4, "rival"), 4)
_numbers = count()


@pytest.fixture(params=["file", "file url", "growing", "folder"])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> Target:
    """A fresh target of each kind."""
    if request.param == "file":
        return target_at(str(tmp_path / "beside" / "checkpoints.jsonl"))
    if request.param == "file url":
        return target_at(f"file://{tmp_path}/beside/checkpoints.jsonl")
    place = f"memory://audit-{next(_numbers)}/checkpoints"
    return (GrowingUrl if request.param == "growing" else FolderUrl)(place)


async def test_what_is_added_can_be_read_in_order(target: Target) -> None:
    assert await target.read("acme") == ReadBack()
    await target.append(MARKS[:2])
    await target.append([RIVAL])
    await target.append(MARKS[2:])
    assert await target.read("acme") == ReadBack(tuple(MARKS))
    assert await target.read("rival") == ReadBack((RIVAL,))
    assert await target.read("nobody") == ReadBack()


async def test_a_file_is_for_its_owner_only_and_only_grows(tmp_path: Path) -> None:
    path = tmp_path / "beside" / "checkpoints.jsonl"
    await FileTarget(path).append(MARKS[:1])
    before = path.read_bytes()
    await FileTarget(path).append(MARKS[1:])
    assert path.read_bytes().startswith(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize("cut", [1, 20, 300])
async def test_a_line_torn_by_a_crash_costs_only_itself(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "checkpoints.jsonl"
    path.write_bytes(MARKS[0].line() + MARKS[1].line()[:-cut])
    await FileTarget(path).append(MARKS[2:])
    held = await FileTarget(path).read("acme")
    whole = cut == 1
    assert held.checkpoints == ((MARKS[0], MARKS[1], MARKS[2]) if whole else (MARKS[0], MARKS[2]))
    assert held.damaged == (0 if whole else 1)


async def test_a_torn_line_of_a_growing_url_costs_only_itself() -> None:
    place = f"memory://audit-{next(_numbers)}"
    system, path = fsspec.core.url_to_fs(place)
    system.pipe_file(path, MARKS[0].line() + b'{"torn')
    await GrowingUrl(place).append(MARKS[1:])
    assert await GrowingUrl(place).read("acme") == ReadBack(tuple(MARKS), 1)


@given(st.lists(st.binary(max_size=100), max_size=5))
async def test_whatever_stands_in_a_file_is_read_or_counted(noise: list[bytes]) -> None:
    place = f"memory://audit-{next(_numbers)}"
    system, at = fsspec.core.url_to_fs(place)
    system.pipe_file(at, b"\n".join([*noise, MARKS[0].line()]))
    held = await GrowingUrl(place).read("acme")
    assert held.checkpoints == (MARKS[0],)
    assert held.damaged == len([line for line in b"\n".join(noise).split(b"\n") if line.strip()])


async def test_a_line_without_end_does_not_fill_the_memory(tmp_path: Path) -> None:
    path = tmp_path / "checkpoints.jsonl"
    path.write_bytes(b"x" * 100_000 + b"\n" + MARKS[0].line())
    held = await FileTarget(path).read("acme")
    assert held.checkpoints == (MARKS[0],)
    assert held.damaged == 7


async def test_no_tenant_leads_out_of_the_folder() -> None:
    place = f"memory://audit-{next(_numbers)}/in"
    system, path = fsspec.core.url_to_fs(place)
    target = FolderUrl(place)
    hostile = ["../../out", "..", ".", "a/b", "", "租户", "a%2Fb"]
    marks = [checkpoint(chain(1, tenant), 1) for tenant in hostile]
    await target.append(marks)
    assert all(name.startswith(f"{path}/tenant-") for name in system.find(path.rpartition("/")[0]))
    assert [(await target.read(tenant)).checkpoints for tenant in hostile] == [(mark,) for mark in marks]


async def test_an_object_is_never_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    place = f"memory://audit-{next(_numbers)}/in"
    system, _ = fsspec.core.url_to_fs(place)
    await FolderUrl(place).append(MARKS)
    held = {name: system.cat_file(name) for name in system.find(place.removeprefix("memory:/"))}
    assert len(held) == len(MARKS)
    monkeypatch.setattr(type(system), "pipe_file", lambda *_: pytest.fail("written again"))
    await FolderUrl(place).append(MARKS)
    assert {name: system.cat_file(name) for name in system.find(place.removeprefix("memory:/"))} == held


@pytest.mark.parametrize("where", ["nosuch://bucket/x", "http//x://", "s3x://b", "::://", "://"])
def test_a_url_that_nothing_serves_is_a_bad_setting(where: str) -> None:
    with pytest.raises(BadSetting):
        target_at(where)


def test_the_name_of_a_target_holds_no_credentials() -> None:
    assert target_at("http://user:secret@host/folder?token=secret").name == "http://host/folder"


def test_kinds_are_chosen_by_what_a_file_system_can_do(tmp_path: Path) -> None:
    assert isinstance(target_at("memory://audit/x"), GrowingUrl)
    assert isinstance(target_at(f"file://{tmp_path}/x"), FileTarget)
    assert isinstance(target_at("checkpoints.jsonl"), FileTarget)
    assert isinstance(target_at("http://127.0.0.1/x"), FolderUrl)


@dataclass
class Flaky:
    """A target that fails when told to, before or after it wrote."""

    held: list[Checkpoint] = field(default_factory=list)
    name: str = "flaky"
    fails: str = ""

    async def append(self, checkpoints: Sequence[Checkpoint]) -> None:
        if self.fails == "before":
            raise ConnectionError
        self.held.extend(checkpoints)
        if self.fails == "after":
            raise TimeoutError

    async def read(self, tenant: str) -> ReadBack:
        if self.fails == "reading":
            raise PermissionError
        return ReadBack(tuple(one for one in self.held if one.tenant == tenant))


@given(st.lists(st.sampled_from(["", "before", "after", "reading", "restart"]), max_size=8))
async def test_no_failure_and_no_restart_loses_or_repeats_a_checkpoint(steps: list[str]) -> None:
    records = chain(len(steps) + 1)
    target, sound = Flaky(), Flaky(name="sound")
    targets = Targets([target, sound])
    saved: list[Checkpoint] = []

    async def stored() -> list[Checkpoint]:
        return saved

    for size, step in enumerate([*steps, ""], start=1):
        target.fails = "" if step == "restart" else step
        targets = Targets([target, sound]) if step == "restart" else targets
        saved.append(checkpoint(records, size))
        failed = await targets.write(saved[-1], stored)
        assert failed in {(), ("flaky",)}
        assert sound.held == saved
    assert target.held == saved


async def test_a_failure_is_logged() -> None:
    async def stored() -> list[Checkpoint]:
        return MARKS

    with capture_logs() as logs:
        assert await Targets([Flaky(fails="before")]).write(MARKS[0], stored) == ("flaky",)
    assert [(line["event"], line["log_level"]) for line in logs] == [("audit.target.failed", "error")]


async def test_a_target_that_hangs_is_given_up() -> None:
    class Hanging(Flaky):
        async def append(self, checkpoints: Sequence[Checkpoint]) -> None:
            await asyncio.Event().wait()

    async def stored() -> list[Checkpoint]:
        return MARKS

    assert await Targets([Hanging()], deadline_s=0.01).write(MARKS[0], stored) == ("flaky",)


async def test_a_database_that_is_behind_its_target_is_logged() -> None:
    async def stored() -> list[Checkpoint]:
        return MARKS[:1]

    target = Flaky(held=[*MARKS])
    with capture_logs() as logs:
        await Targets([target]).write(MARKS[0], stored)
    assert [line["event"] for line in logs] == ["audit.target.ahead"]
    assert logs[0]["size"] == 6


async def test_reading_all_targets_raises_what_one_raises() -> None:
    assert await Targets([Flaky(held=[*MARKS]), Flaky()]).read("acme") == (ReadBack(tuple(MARKS)), ReadBack())
    with pytest.raises(PermissionError):
        await Targets([Flaky(), Flaky(fails="reading")]).read("acme")
