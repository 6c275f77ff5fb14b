"""The core imports itself, the standard library and a short, named list; nothing that does I/O."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import assistant.core

ALLOWED = {"assistant", "rjieba", "Stemmer", "rapidfuzz", "numpy", "rfc8785"}
INSIDE = ("assistant.core", "assistant.errors")
FORBIDDEN_STANDARD = {
    "asyncio", "datetime.now", "io", "logging", "os", "pathlib", "random", "secrets", "socket", "sqlite3", "subprocess",
    "tempfile", "threading", "time", "urllib", "uuid",
}  # fmt: skip
FILES = sorted(Path(assistant.core.__file__).parent.rglob("*.py"))


def imported(tree: ast.AST) -> list[str]:
    names: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.extend(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.append(node.module)
    return names


def test_core_imports_only_what_is_allowed() -> None:
    assert len(FILES) > 10
    for file in FILES:
        for name in imported(ast.parse(file.read_text("utf-8"))):
            top = name.split(".")[0]
            assert top in ALLOWED or top in sys.stdlib_module_names, f"{file.name} imports {name}"
            assert top not in FORBIDDEN_STANDARD, f"{file.name} imports {name}"
            assert top != "assistant" or name.startswith(INSIDE), f"{file.name} imports {name}"


def test_core_is_neither_async_nor_clocked() -> None:
    for file in FILES:
        tree = ast.parse(file.read_text("utf-8"))
        kinds = (ast.AsyncFunctionDef, ast.Await, ast.AsyncFor, ast.AsyncWith)
        assert not [node for node in ast.walk(tree) if isinstance(node, kinds)], file.name
        calls = [ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)]
        assert not [
            name for name in calls if name.endswith((".now", ".today", ".utcnow")) or name in {"open", "print"}
        ], file.name
