"""Record golden transcripts: `python -m tests.transcripts.record`. The server tests and the page replay them.

Some come from a real server over real pages, the others are the scripted turns of tests/transcripts/scripted.py.
"""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import Final

from tests.e2e.conftest import copy_pages
from tests.e2e.serving import Client, Server, run, serving
from tests.transcripts.fixing import write
from tests.transcripts.scripted import record_all

HERE: Final = Path(__file__).parent
SCENES: Final[dict[str, tuple[str, ...]]] = {
    "conflict": ("How many hours must be billable in a week?", "And for supervisors?"),
    "refusal-zh": ("钨的沸点是多少？", "你好"),
    "each-source": ("What does each page say about billable hours?",),
    "steps": ("What information do I need to set up a Tock project?",),
}


async def record(server: Server, name: str, questions: tuple[str, ...]) -> None:
    """Ask the questions in one session and keep every numbered frame, one a line."""
    page = Client(server.url)
    await page.open()
    for question in questions:
        await page.ask(question)
    await page.close()
    write(HERE / f"{name}.jsonl", page.frames)


def main() -> None:
    """Record every scene anew."""
    for name, frames in asyncio.run(record_all()).items():
        write(HERE / f"{name}.jsonl", frames)
    record_pages()


def record_pages() -> None:
    """Record the scenes over two editions of one real page."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        copy_pages(folder)
        run(folder, "migrate")
        for collection in ("18f-handbook", "18f-handbook-2021"):
            run(folder, "ingest", collection, "--collection", collection)
        with serving(folder) as server:
            for name, questions in SCENES.items():
                asyncio.run(record(server, name, questions))


if __name__ == "__main__":
    main()
