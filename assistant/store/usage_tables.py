"""What is used in a day, by person."""

from __future__ import annotations

from typing import Final

from sqlalchemy import BigInteger, Column, Date, Double, Integer, Table, Text

from assistant.store.metadata import metadata

# `person` is the pseudonym: the counts outlive an erasure and do not tell whose they were. The day is of UTC and comes before
# the person, so that the sum of a tenant is one stretch of the key.
usage_days: Final = Table(
    "usage_days",
    metadata,
    Column("tenant", Text, primary_key=True),
    Column("day", Date, primary_key=True),
    Column("person", Text, primary_key=True),
    Column("turns", Integer, nullable=False),
    Column("tokens", BigInteger, nullable=False),
    Column("cost", Double, nullable=False),
)
