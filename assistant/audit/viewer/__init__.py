"""The page of an export: one file that shows the package and verifies it in a browser, without a network.

Its policy allows only the style and script it was made with, named by their hashes; data lie in blocks that no browser executes.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Iterator
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Final

PAGE: Final = "audit.html"

EMBEDDED: Final = ("records.jsonl", "texts.jsonl", "passages.jsonl", "proof.jsonl")
"""The files whose lines the page holds."""

MOST_BYTES: Final = 64 * 1024 * 1024
"""A page with more than this is slow to open; it asks its reader for the files instead."""

_SCRIPTS: Final = ("canonical.js", "tree.js", "words.js", "check.js", "answer.js", "show.js")


def write_page(folder: Path, manifest: str, *, embed: bool) -> None:
    """Write the page beside the files of the package; with `embed` it holds them as long as they are not too large."""
    whole = embed and sum((folder / name).stat().st_size for name in EMBEDDED) <= MOST_BYTES
    before, after = _frame()
    descriptor = os.open(folder / PAGE, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as page:
        page.write(before)
        page.write(_block("manifest.json", _json(manifest)))
        for name in EMBEDDED if whole else ():
            for part in _lines(folder / name):
                page.write(part)
        page.write(after)


def _lines(path: Path) -> Iterator[str]:
    """A data block with the lines of a file as an array of strings."""
    yield f'<script type="application/json" id="{path.name}">['
    glue = "\n"
    with path.open(encoding="utf-8", newline="\n") as lines:
        for line in lines:
            yield glue + _json(line.removesuffix("\n"))
            glue = ",\n"
    yield "]</script>\n"


def _block(name: str, content: str) -> str:
    return f'<script type="application/json" id="{name}">{content}</script>\n'


def _json(text: str) -> str:
    """The text as a JSON string that can stand in a script element: nothing in it begins a tag or a comment."""
    written = json.dumps(text, ensure_ascii=False)
    return written.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


@lru_cache(maxsize=1)
def _frame() -> tuple[str, str]:
    """The page before its data, and after them: the script comes last, when all data are there."""
    style = _read("audit.css")
    script = '"use strict";\n' + "\n".join(_read(name) for name in _SCRIPTS)
    page = _read(PAGE).replace("{policy}", _policy(style, script)).replace("{style}", style)
    before, end, after = page.rpartition("</body>")
    return before, f"<script>{script}</script>\n{end}{after}"


def _policy(style: str, script: str) -> str:
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src '{_source(script)}'",
            f"style-src '{_source(style)}'",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        )
    )


def _source(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _read(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8").replace("\r\n", "\n")
