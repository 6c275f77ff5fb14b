"""Suite office: are the strings of real office files found in what the parsers give?"""

from __future__ import annotations

from pathlib import Path

from assistant.errors import BadDocument
from assistant.eval.data import Item, read_items
from assistant.eval.metrics import mean
from assistant.knowledge.parsers import parse


def measure(folder: Path) -> tuple[int, dict[str, float]]:
    """The share of expected strings found (white space folded) and of files that behave as expected in all respects."""
    items = read_items(folder, "office_files")
    results = [_file(folder, item) for item in items]
    return len(items), {
        "found": mean([hit for hits in results for hit in hits]),
        "files": mean([min(hits, default=1.0) for hits in results]),
    }


def _file(folder: Path, item: Item) -> list[float]:
    path = folder / item["file"]
    try:
        parsed = parse(path.read_bytes(), path.name)
    except BadDocument as error:
        return [float(item.get("expect") == f"{error.data.get('reason')}_error")]
    text = _folded(parsed.text)
    wanted = [*item["expect_all"], *item.get("headers", []), *item.get("footers", [])]
    absent = [float(string not in parsed.text) for string in item.get("must_not_contain", [])]
    return [float(_folded(string) in text) for string in wanted] + absent


def _folded(text: str) -> str:
    return " ".join(text.split())
