"""What is said about a document that is sent in: the keys of front matter as JSON, taken strictly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, Final

from assistant.errors import BadDocument
from assistant.knowledge.metadata import KEYS, Properties, properties_of

_MUST_BE_READ: Final = ("title", "date", "owner", "caption")


def properties_said(values: Mapping[str, Any]) -> Properties:
    """The properties that these values give. A person is waiting: what front matter would forgive is refused.

    Raises BadDocument bad_metadata for a key that is not understood and for a value that cannot be read, an empty list of
    access groups included: nobody could read the document.
    """
    given = {str(key).lower().replace("-", "_"): value for key, value in values.items() if value is not None}
    if unknown := sorted(given.keys() - KEYS):
        raise BadDocument(f"unknown key {unknown[0][:40]}", reason="bad_metadata")
    said = properties_of(given)
    for name in _MUST_BE_READ:
        if name in given and getattr(said, name) is None:
            raise BadDocument(f"{name} cannot be read", reason="bad_metadata")
    if said.access is not None and not said.access:
        raise BadDocument("no access group at all", reason="bad_metadata")
    return said


def plain_of(said: Properties) -> dict[str, Any]:
    """The properties that say something, as plain JSON values; `properties_said` reads them back."""
    values: dict[str, Any] = {one.name: getattr(said, one.name) for one in fields(said)}
    if said.access is not None:
        values["access"] = sorted(said.access)
    if said.date is not None:
        values["date"] = said.date.isoformat()
    if said.authority is not None:
        values["authority"] = said.authority.value
    return {name: value for name, value in values.items() if value is not None}
