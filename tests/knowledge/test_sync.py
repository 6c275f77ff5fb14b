import os
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest
import pytest_asyncio
from blockbuster import blockbuster_ctx

from assistant.core.access import Caller
from assistant.core.evidence import Authority
from assistant.core.messages import Image
from assistant.errors import BadDocument, NotFound
from assistant.interfaces import ALL_CHUNKS, DocumentDraft, Lane, StoredChunk, Vectors
from assistant.knowledge import ocr, sync
from assistant.knowledge.chunking import ChunkSize
from assistant.knowledge.documents import Limits
from assistant.knowledge.folders import Sidecars, scan_folder
from assistant.knowledge.metadata import Properties
from assistant.knowledge.pool import ReaderPool
from assistant.knowledge.reading import Sources
from assistant.knowledge.sync import IngestOptions, Progress, Report, fingerprint_of, ingest
from tests.knowledge.files import office
from tests.knowledge.picture_files import png


class MemoryStore:
    """A DocumentStore that keeps drafts by uri."""

    def __init__(self, pool: ReaderPool | None) -> None:
        self.pool = pool
        self.drafts: dict[str, DocumentDraft] = {}
        self.prints: dict[str, str] = {}

    async def fingerprints(self, tenant: str, collection: str) -> Mapping[str, str]:
        assert (tenant, collection) == ("acme", "handbook")
        return dict(self.prints)

    async def put(self, tenant: str, collection: str, draft: DocumentDraft, *, fingerprint: str) -> int:
        self.drafts[draft.uri], self.prints[draft.uri] = draft, fingerprint
        return 1

    async def delete(self, tenant: str, collection: str, uri: str) -> bool:
        self.drafts.pop(uri, None)
        return self.prints.pop(uri, None) is not None

    async def version_text(self, document: str, number: int) -> str:
        return self.drafts[document].text

    async def images(self, caller: Caller, document: str, number: int, ids: Sequence[str]) -> dict[str, Image]:
        return {}

    async def chunks_without_vectors(self, embedder: str, limit: int, lane: Lane = ALL_CHUNKS) -> list[StoredChunk]:
        return []

    async def missing_vectors(self, embedder: str, limit: int, after: int = 0) -> list[int]:
        return []

    async def newest_chunk(self) -> int:
        return 0

    async def put_vectors(self, embedder: str, ids: Sequence[int], vectors: Vectors) -> None:
        assert len(ids) == len(vectors)


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def pool() -> AsyncIterator[ReaderPool]:
    async with ReaderPool(2) as one:
        yield one


@pytest.fixture
def store(pool: ReaderPool) -> MemoryStore:
    return MemoryStore(pool)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "docs"
    for name, text in {
        "leave.md": "# Leave\n\nTwenty days.",
        "pay/pay.md": "---\ndate: 2024-01-02\nauthority: low\n---\nPaid monthly.",
        ".git/config.md": "x",
        "node_modules/x.md": "x",
        ".hidden.md": "x",
        "drafts/new.md": "x",
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


async def run(path: Path, store: MemoryStore, options: IngestOptions | None = None) -> Report:
    return await ingest(path, store=store, tenant="acme", collection="handbook", options=options, pool=store.pool)


def counts(report: Report) -> tuple[int, int, int, int, list[tuple[str, str]]]:
    skipped = [(one.uri, one.reason) for one in report.skipped]
    return report.added, report.updated, report.unchanged, report.deleted, skipped


@pytest.mark.asyncio(loop_scope="module")
async def test_a_folder_is_followed(folder: Path, store: MemoryStore) -> None:
    options = IngestOptions(ignore=("drafts",))
    assert counts(await run(folder, store, options)) == (2, 0, 0, 0, [])
    assert sorted(store.drafts) == ["leave.md", "pay/pay.md"]
    assert counts(await run(folder, store, options)) == (0, 0, 2, 0, [])
    (folder / "leave.md").write_text("# Leave\n\nThirty days.")
    (folder / "pay" / "pay.md").unlink()
    (folder / "new.txt").write_text("New.")
    assert counts(await run(folder, store, options)) == (1, 1, 0, 1, [])
    assert sorted(store.drafts) == ["leave.md", "new.txt"]
    assert "Thirty" in store.drafts["leave.md"].text


@pytest.mark.asyncio(loop_scope="module")
async def test_what_is_known_about_a_document(folder: Path, store: MemoryStore) -> None:
    (folder / ".meta.yaml").write_text("owner: Ops\naccess: [staff]\nauthority: high\n")
    (folder / "leave.md.meta.yaml").write_text("access: [hr]\nlast_updated: 2023-05-06\n")
    await run(folder, store, IngestOptions(ignore=("drafts",)))
    leave, pay = store.drafts["leave.md"], store.drafts["pay/pay.md"]
    assert (leave.title, str(leave.date), leave.owner) == ("Leave", "2023-05-06", "Ops")
    assert leave.access == {"hr"}
    assert (pay.title, str(pay.date), pay.authority) == ("pay", "2024-01-02", Authority.LOW)
    assert pay.access == {"staff"}
    assert pay.family == "pay/pay"


@pytest.mark.asyncio(loop_scope="module")
async def test_a_changed_sidecar_or_option_is_a_change(folder: Path, store: MemoryStore) -> None:
    options = IngestOptions(ignore=("drafts", "pay"))
    await run(folder, store, options)
    (folder / ".meta.yaml").write_text("access: [hr]\n")
    assert counts(await run(folder, store, options))[:3] == (0, 1, 0)
    assert store.drafts["leave.md"].access == {"hr"}
    given = IngestOptions(Properties(access=frozenset({"legal"})), ignore=options.ignore)
    assert counts(await run(folder, store, given))[:3] == (0, 1, 0)
    assert store.drafts["leave.md"].access == {"legal"}


@pytest.mark.parametrize("name", ["leave.md.meta.yaml", "leave.meta.yaml", "leave.md.meta.yml", ".meta.yml"])
def test_names_of_sidecars(folder: Path, name: str) -> None:
    (folder / name).write_text("access: [hr]")
    assert Sidecars(folder).of(folder / "leave.md") == Properties(access=frozenset({"hr"}))
    assert name not in {found.uri for found in scan_folder(folder).files}


@pytest.mark.parametrize("content", ["acess: [hr]", "- hr", "access: [", "\x00", "authority: supreme"])
def test_a_sidecar_with_a_slip_is_refused_again_and_again(folder: Path, content: str) -> None:
    (folder / ".meta.yaml").write_text(content)
    sidecars = Sidecars(folder)
    for name in ("leave.md", "pay/pay.md"):
        with pytest.raises(BadDocument) as caught:
            sidecars.of(folder / name)
        assert caught.value.data["reason"] == "bad_metadata"


@pytest.mark.asyncio(loop_scope="module")
async def test_touching_a_file_is_no_change_and_its_time_is_the_last_resort(folder: Path, store: MemoryStore) -> None:
    stamp = datetime(2022, 3, 4, tzinfo=UTC).timestamp()
    os.utime(folder / "leave.md", (stamp, stamp))
    options = IngestOptions(ignore=("drafts", "pay"))
    await run(folder, store, options)
    assert str(store.drafts["leave.md"].date) == "2022-03-04"
    os.utime(folder / "leave.md")
    assert counts(await run(folder, store, options))[:3] == (0, 0, 1)


@pytest.mark.asyncio(loop_scope="module")
async def test_file_times_can_be_left_out(folder: Path, store: MemoryStore) -> None:
    await run(folder, store, IngestOptions(file_dates=False))
    assert store.drafts["leave.md"].date is None


@pytest.mark.asyncio(loop_scope="module")
async def test_bad_files_are_reported_and_keep_what_was_stored(folder: Path, store: MemoryStore) -> None:
    options = IngestOptions(ignore=("drafts",), limits=Limits(bytes=20_000))
    await run(folder, store, options)
    (folder / "leave.md").write_bytes(b"")
    (folder / "locked.pdf").write_bytes(office("password.pdf"))
    (folder / "photo.png").write_bytes(b"\x89PNG")
    (folder / "huge.txt").write_bytes(b"x" * 20_001)
    (folder / "pay" / "pay.md.meta.yaml").write_text("access: [")
    report = await run(folder, store, options)
    assert sorted(counts(report)[4]) == [
        ("huge.txt", "too_large"),
        ("leave.md", "empty"),
        ("locked.pdf", "encrypted"),
        ("pay/pay.md", "bad_metadata"),
        ("photo.png", "corrupt"),
    ]
    assert sorted(store.drafts) == ["leave.md", "pay/pay.md"]
    assert report.deleted == 0


@pytest.mark.asyncio(loop_scope="module")
async def test_links_do_not_lead_out(folder: Path, store: MemoryStore, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("Secret.")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "more.md").write_text("More.")
    (folder / "link.md").symlink_to(tmp_path / "secret.md")
    (folder / "inside.md").symlink_to(folder / "leave.md")
    (folder / "dir").symlink_to(tmp_path / "elsewhere")
    (folder / "loop").symlink_to(folder)
    (folder / "broken.md").symlink_to(folder / "nothing.md")
    os.mkfifo(folder / "pipe.md")
    report = await run(folder, store, IngestOptions(ignore=("drafts", "pay")))
    assert sorted(store.drafts) == ["inside.md", "leave.md"]
    assert sorted(counts(report)[4]) == [
        ("broken.md", "unreadable"),
        ("link.md", "outside"),
        ("pipe.md", "unsupported"),
    ]


@pytest.mark.asyncio(loop_scope="module")
async def test_an_empty_folder_deletes_nothing(folder: Path, store: MemoryStore, tmp_path: Path) -> None:
    await run(folder, store)
    (tmp_path / "empty").mkdir()
    assert counts(await run(tmp_path / "empty", store)) == (0, 0, 0, 0, [])
    assert "leave.md" in store.drafts
    with pytest.raises(NotFound):
        await run(tmp_path / "nothing", store)


@pytest.mark.asyncio(loop_scope="module")
async def test_two_folders_share_a_collection_by_prefix(folder: Path, store: MemoryStore, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "a.md").write_text("A.")
    await run(folder, store, IngestOptions(prefix="docs/"))
    report = await run(other, store, IngestOptions(prefix="other/"))
    assert counts(report)[:4] == (1, 0, 0, 0)
    assert {"docs/leave.md", "other/a.md"} <= set(store.drafts)


@pytest.mark.asyncio(loop_scope="module")
async def test_one_file_deletes_nothing_and_progress_is_told(folder: Path, store: MemoryStore) -> None:
    await run(folder, store)
    told: list[Progress] = []
    await ingest(
        folder / "leave.md", store=store, tenant="acme", collection="handbook", on_progress=told.append, pool=store.pool
    )
    assert told == [Progress(1, 1, "leave.md", "unchanged")]
    assert "pay/pay.md" in store.drafts


@pytest.mark.asyncio(loop_scope="module")
async def test_nothing_blocks_the_loop_not_even_starting_readers(folder: Path) -> None:
    store = MemoryStore(None)
    with blockbuster_ctx("assistant"):
        assert (await run(folder, store)).added == 3


@pytest.mark.asyncio(loop_scope="module")
async def test_errors_of_the_store_end_the_ingest(
    folder: Path, store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: object, **__: object) -> int:
        raise RuntimeError("disk full")

    monkeypatch.setattr(store, "put", broken)
    with pytest.raises(RuntimeError, match="disk full"):
        await run(folder, store)


@pytest.mark.asyncio(loop_scope="module")
async def test_another_parser_version_reads_everything_again(
    folder: Path, store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    await run(folder, store)
    monkeypatch.setattr(sync, "PARSER_VERSION", "other")
    assert counts(await run(folder, store))[:3] == (0, 3, 0)


def test_a_program_that_reads_pictures_makes_them_new_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    def prints() -> list[str]:
        return [fingerprint_of(data, Sources(), ChunkSize()) for data in (png(1), b"Text.")]

    monkeypatch.setattr(ocr, "is_installed", lambda: False)
    before = prints()
    monkeypatch.setattr(ocr, "is_installed", lambda: True)
    after = prints()
    assert [one == other for one, other in zip(before, after, strict=True)] == [False, True]


@pytest.mark.asyncio(loop_scope="module")
async def test_pictures_in_a_folder_are_documents_with_images(folder: Path, store: MemoryStore) -> None:
    (folder / "site_map.png").write_bytes(png(1))
    (folder / "site_map.meta.yaml").write_text("caption: The way from the gate to the canteen")
    (folder / "icon.png").write_bytes(png(2, (16, 16)))
    report = await run(folder, store)
    kept = store.drafts["site_map.png"]
    assert (kept.title, kept.text) == ("site map", "[Image: The way from the gate to the canteen]")
    assert [image.caption for image in kept.images] == ["The way from the gate to the canteen"]
    assert ("icon.png", "empty") in counts(report)[4]
