"""Whether a text holds a word, whatever the case of its letters: found alike in both databases and in any locale of them."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import ColumnElement, literal

_GLOB_SIGNS: Final = frozenset("*?[")


def contains(dialect: str, column: ColumnElement[str], words: str) -> ColumnElement[bool]:
    """The condition that `words` stand in the column, spaces included; no character of them is a wildcard.

    The cases of letters are written out for each character, since SQLite knows only those of ASCII and PostgreSQL those of its
    locale. `words` must be storable.
    """
    if dialect == "postgresql":
        return _holds(column, "~", "".join(map(_regular, words)))
    if all(_cases(char).isascii() for char in words):  # LIKE folds ASCII itself, and is many times as fast as GLOB
        return column.contains(words, autoescape=True, escape="\\")
    return _holds(column, "GLOB", f"*{''.join(map(_glob, words))}*")


def _holds(column: ColumnElement[str], operator: str, pattern: str) -> ColumnElement[bool]:
    condition: ColumnElement[Any] = column.bool_op(operator)(literal(pattern))
    return condition


def _cases(char: str) -> str:
    """The forms of a character that differ in case only, where each is one character."""
    forms = {char, char.lower(), char.upper(), char.upper().lower(), char.lower().upper()}
    return "".join(sorted(form for form in forms if len(form) == 1 and form.isalpha()))


def _glob(char: str) -> str:
    cases = _cases(char)
    return f"[{cases}]" if len(cases) > 1 else f"[{char}]" if char in _GLOB_SIGNS else char


def _regular(char: str) -> str:
    cases = _cases(char)
    if len(cases) > 1:
        return f"[{cases}]"
    return f"\\{char}" if char.isascii() and not char.isalnum() else char
