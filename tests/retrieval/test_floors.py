"""Floors by embedder: packaged, the operator's, broken files."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from assistant.errors import BadSetting
from assistant.retrieval.embedders import choose_embedder
from assistant.retrieval.floors import PACKAGED, WORDS, floor_for, load_floors, read_entries, write_entry


def test_the_built_in_searches_have_measured_floors() -> None:
    floors = load_floors()
    use = choose_embedder("use")
    assert use is not None
    assert 0 < floor_for(use.name, floors) < 1
    assert 0 < floor_for(None, floors) < 1
    assert floor_for("never-measured-1", floors) == 0
    assert all(entry["recall"] >= 0.9 and entry["questions"] > 0 for entry in read_entries(PACKAGED).values())


def test_the_operators_file_wins_where_it_has_a_floor(tmp_path: Path) -> None:
    own = tmp_path / "floors.json"
    own.write_text('{"words": {"floor": 0.5}, "ours": {"floor": 1, "note": "kept"}}')
    floors = load_floors(own)
    assert floors[WORDS] == 0.5
    assert floors["ours"] == 1
    assert floors.keys() > load_floors().keys()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\xfe",
        b"[]",
        b"null",
        b'{"use": 0.3}',
        b'{"use": {}}',
        b'{"use": {"floor": "0.3"}}',
        b'{"use": {"floor": true}}',
        b'{"use": {"floor": NaN}}',
        b'{"use": {"floor": -0.1}}',
        b'{"use": {"floor": 1.01}}',
        b'{"use": {"floor": 1e999}}',
        b"[" * 5000,
    ],
)
def test_a_broken_file_is_refused_by_name_and_stays_as_it_is(tmp_path: Path, content: bytes) -> None:
    own = tmp_path / "floors.json"
    own.write_bytes(content)
    with pytest.raises(BadSetting, match="file of floors") as refused:
        load_floors(own)
    assert refused.value.data == {"setting": "retrieval.floors", "file": "floors.json"}
    with pytest.raises(BadSetting):
        write_entry(own, "use", {"floor": 0.3})
    assert own.read_bytes() == content


def test_a_file_that_cannot_be_read_or_written_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match="cannot be read"):
        load_floors(tmp_path / "missing.json")
    with pytest.raises(BadSetting, match="cannot be read"):
        load_floors(tmp_path)
    with pytest.raises(BadSetting, match="cannot be written"):
        write_entry(tmp_path / "no folder" / "floors.json", "use", {"floor": 0.3})


def test_an_entry_joins_what_is_there_and_leaves_nothing_else_behind(tmp_path: Path) -> None:
    own = tmp_path / "floors.json"
    write_entry(own, "one", {"floor": 0.25, "questions": 7})
    write_entry(own, "模型", {"floor": 0.5})
    write_entry(own, "one", {"floor": 0.3})
    assert orjson.loads(own.read_bytes()) == {"one": {"floor": 0.3}, "模型": {"floor": 0.5}}
    assert [path.name for path in tmp_path.iterdir()] == ["floors.json"]
