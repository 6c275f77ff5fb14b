"""Column types that mean the same in both databases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from pgvector.sqlalchemy import VECTOR
from sqlalchemy import JSON, BigInteger, DateTime, Integer, LargeBinary, Text
from sqlalchemy.dialects.postgresql import TSVECTOR
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator, TypeEngine

LONGEST_TERM: Final = 64
"""Index terms are cut to this many code points; PostgreSQL allows 2 kB per lexeme."""

MOST_OCCURRENCES: Final = 200
"""A term counts at most this often in one chunk; PostgreSQL keeps at most 255 positions per lexeme."""

Json: Final = JSON(none_as_null=True)
BigId: Final = BigInteger().with_variant(Integer, "sqlite")


class Instant(TypeDecorator[datetime]):
    """A point in time: aware in Python, timestamptz in PostgreSQL, UTC text in SQLite."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Store UTC; SQLite has no zones, so the zone is dropped there."""
        if value is None:
            return None
        utc = value.astimezone(UTC)
        return utc.replace(tzinfo=None) if dialect.name == "sqlite" else utc

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Give the zone back."""
        return value.replace(tzinfo=UTC) if value is not None and value.tzinfo is None else value


class Vector(TypeDecorator[NDArray[np.float32]]):
    """A float32 vector: pgvector in PostgreSQL, its little-endian bytes in SQLite."""

    impl = LargeBinary
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """The type of the column in this database."""
        return dialect.type_descriptor(VECTOR() if dialect.name == "postgresql" else LargeBinary())

    def process_bind_param(self, value: NDArray[np.float32] | None, dialect: Dialect) -> Any:
        """Bytes for SQLite, the array for pgvector."""
        if value is None or dialect.name == "postgresql":
            return value
        return np.ascontiguousarray(value, dtype="<f4").tobytes()

    def process_result_value(self, value: Any, dialect: Dialect) -> NDArray[np.float32] | None:
        """The vector as float32."""
        if value is None:
            return None
        return np.frombuffer(value, dtype="<f4") if isinstance(value, bytes) else np.asarray(value, dtype=np.float32)


class Terms(TypeDecorator[Sequence[str]]):
    """The index terms of a chunk, with their frequencies: a tsvector in PostgreSQL, text for FTS5 in SQLite.

    Neither database cuts the terms again: a tsvector is written as a literal (the positions only count occurrences),
    and `token` leaves nothing in a term that FTS5's ascii tokenizer would split.
    """

    impl = Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """The type of the column in this database."""
        return dialect.type_descriptor(TSVECTOR() if dialect.name == "postgresql" else Text())

    def process_bind_param(self, value: Sequence[str] | None, dialect: Dialect) -> str | None:
        """The terms in the form of this database."""
        if value is None:
            return None
        if dialect.name == "postgresql":
            return " ".join(_lexeme(term, count) for term, count in Counter(map(token, value)).items() if term)
        return " ".join(filter(None, map(token, value)))


def _lexeme(term: str, count: int) -> str:
    if count == 1:
        return f"'{term}'"  # no position counts as one, and makes the row a quarter smaller
    positions = ",".join(map(str, range(1, min(count, MOST_OCCURRENCES) + 1)))
    return f"'{term}':{positions}"


def token(term: str) -> str:
    """An index term as both databases hold it: ASCII letters and digits and everything beyond ASCII stay, any other
    character is written as _hex_, so that no term can hold a quote, a blank or an operator of a query language.
    """
    if term.isalnum():
        return term[:LONGEST_TERM].lower()
    return "".join(char if _stays(char) else f"_{ord(char):x}_" for char in term[:LONGEST_TERM].lower())


def _stays(char: str) -> bool:
    return char.isalnum() or (ord(char) > 0x7F and not char.isspace() and not "\ud800" <= char <= "\udfff")
