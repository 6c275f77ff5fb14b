"""What is said about a document that is sent in."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from assistant.core.evidence import Authority
from assistant.errors import BadDocument
from assistant.knowledge.metadata import Properties
from assistant.knowledge.said import plain_of, properties_said


def test_what_was_said_is_read_and_written_back() -> None:
    values = {"title": "Leave", "date": "2025-02-01", "authority": "high", "owner": "HR", "access": ["hr", "board"]}
    said = properties_said(values)
    assert said == Properties("Leave", date(2025, 2, 1), Authority.HIGH, "HR", frozenset({"hr", "board"}))
    assert properties_said(plain_of(said)) == said
    assert properties_said({}) == Properties()
    assert plain_of(Properties()) == {}


@pytest.mark.parametrize(
    "values",
    [
        {"acess": ["hr"]},
        {"access": []},
        {"access": [""]},
        {"access": ["hr", 7]},
        {"access": {"hr": True}},
        {"authority": "highest"},
        {"authority": ["high"]},
        {"date": "soon"},
        {"date": 20250201},
        {"title": ["x"]},
        {"title": "   "},
        {"owner": 5},
    ],
)
def test_a_slip_is_refused(values: dict[str, Any]) -> None:
    with pytest.raises(BadDocument) as refused:
        properties_said(values)
    assert refused.value.data["reason"] == "bad_metadata"
