"""Picture files as documents: what stands for them, what they may be, the text that a program reads from them."""

from pathlib import Path

import pytest

from assistant.errors import BadDocument
from assistant.knowledge import ocr
from assistant.knowledge.drafts import draft
from assistant.knowledge.metadata import Properties
from assistant.knowledge.parsers import parse
from assistant.knowledge.reading import Sources
from tests.knowledge.picture_files import jpeg, png, png_header


@pytest.fixture(autouse=True)
def without_tesseract(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("office_map-2024.png", "[Image: office map 2024]"),
        ("请假流程图.png", "[图片：请假流程图]"),
        ("x.jpg", "[Image: x]"),
    ],
)
def test_a_picture_file_is_a_document_of_its_name(name: str, line: str) -> None:
    page = parse(png(1), name)
    assert (page.text, page.media_type, len(page.images)) == (line, "image/png", 1)
    assert page.text[page.images[0].span.start : page.images[0].span.end] == line


def test_what_a_sidecar_says_stands_for_a_picture_file() -> None:
    said = Properties(title="Map", caption="The way from the station to the office", access=frozenset({"hr"}))
    document = draft(png(1), "maps/a.png", sources=Sources(sidecar=said))
    assert (document.title, document.text) == ("Map", "[Image: The way from the station to the office]")
    assert document.access == {"hr"}
    assert [(image.caption, image.media_type) for image in document.images] == [(said.caption, "image/png")]
    (chunk,) = document.chunks
    assert (chunk.span.start, chunk.span.end) == (0, len(document.text))
    assert "station" in chunk.terms


@pytest.mark.parametrize(
    ("data", "name", "reason"),
    [
        (png(1, (1, 1)), "x.png", "empty"),
        (png_header(50_000, 50_000), "x.png", "bomb"),
        (jpeg(1)[:400], "x.jpg", "corrupt"),
        (b"no picture", "x.png", "corrupt"),
        (b"RIFF\x24\0\0\0WAVEfmt ", "x.webp", "unsupported"),
        (b"BM is how this note begins", "x.gif", "corrupt"),
    ],
)
def test_picture_files_that_are_none(data: bytes, name: str, reason: str) -> None:
    with pytest.raises(BadDocument) as caught:
        parse(data, name)
    assert caught.value.data["reason"] == reason


def test_the_bytes_tell_what_a_picture_is() -> None:
    assert parse(jpeg(1), "x.png").media_type == "image/jpeg"
    assert parse(png(1), "notes.md").media_type == "image/png"
    assert parse(b"BM is how this note begins", "x.txt").text == "BM is how this note begins"


def program(folder: Path, body: str) -> None:
    path = folder / "tesseract"
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)


def test_text_that_a_program_reads_from_a_picture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(
        tmp_path,
        'if [ "$1" = --list-langs ]; then printf "List:\\nchi_sim\\neng\\n"; else /bin/cat >/dev/null; echo "Opening hours 9 to 5, $*"; fi',
    )
    monkeypatch.setenv("PATH", str(tmp_path))
    ocr._languages.cache_clear()
    assert parse(png(1), "sign.png").text == ("[Image: sign]\n\nOpening hours 9 to 5, stdin stdout -l eng+chi_sim")
    program(tmp_path, "exit 3")
    assert parse(png(1), "sign.png").text == "[Image: sign]"


def test_a_program_that_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path, "exec /bin/sleep 60")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(ocr, "_SECONDS", 1)
    ocr._languages.cache_clear()
    assert ocr.text_of(png(1)) == ""
