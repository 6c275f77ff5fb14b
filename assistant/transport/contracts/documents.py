"""The generated files, by their place in the repository."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, Final

from assistant.transport.contracts.asyncapi import asyncapi
from assistant.transport.contracts.openapi import openapi_of
from assistant.transport.contracts.typescript import typescript
from assistant.transport.server import make_app


def _openapi() -> str:
    return _pretty(openapi_of(make_app(_never, Path("never"))))


def _never() -> AbstractAsyncContextManager[Any]:
    raise RuntimeError("this application only shows its routes")


def _pretty(document: Mapping[str, Any]) -> str:
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


GENERATED: Final[Mapping[str, Callable[[], str]]] = {
    "docs/openapi.json": _openapi,
    "docs/asyncapi.json": lambda: _pretty(asyncapi()),
    "web/src/protocol.generated.ts": typescript,
}


def generate(root: Path, *, write: bool = True) -> list[str]:
    """The files below `root` that are not what the code makes now; with `write` they are made anew."""
    stale = []
    for name, make in GENERATED.items():
        path, text = root / name, make()
        if not path.is_file() or path.read_text("utf-8") != text:
            stale.append(name)
            if write:
                path.write_text(text, "utf-8")
    return stale
