"""A server that answers what it is told to."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from assistant.conversation.answering import Route
from assistant.llm.scripted import ScriptedModel
from tests.transport.house import House


def speaks(house: House, *texts: str, **more: Any) -> ScriptedModel:
    """Let the server answer with these texts, one after another."""
    model = ScriptedModel(texts, **more)
    manager = house.doors.live._manager
    manager._cache = None
    manager._answering = replace(manager._answering, main=Route(model), simple=None)
    return model
