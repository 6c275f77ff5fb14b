"""What is known about a document besides its text: title, date, authority, owner, who may read it.

Several sources may speak. The first that says something wins, field by field: options given at ingest, front
matter, the sidecar `NAME.meta.yaml`, `.meta.yaml` of the folder and of the folders above, properties of the format,
the time of the file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import date
from html import unescape
from pathlib import PurePosixPath
from typing import Final

import yaml

from assistant.core.evidence import Authority
from assistant.core.text import clean_for_display
from assistant.errors import BadDocument
from assistant.knowledge.dates import parse_date

_YAML_CHARACTERS: Final = 64 * 1024


@dataclass(frozen=True, slots=True)
class Properties:
    """What one source says; None where it says nothing. An empty `access` means that nobody may read.

    `caption` says what a picture file shows.
    """

    title: str | None = None
    date: date | None = None
    authority: Authority | None = None
    owner: str | None = None
    access: frozenset[str] | None = None
    caption: str | None = None

    def over(self, other: Properties) -> Properties:
        """These properties, with the gaps filled from `other`."""
        mine = {one.name: getattr(self, one.name) for one in fields(self)}
        return Properties(**{name: getattr(other, name) if own is None else own for name, own in mine.items()})


_TITLE_KEY: Final = "title"
_CAPTION_KEY: Final = "caption"
_AUTHORITY_KEY: Final = "authority"
_DATE_KEYS: Final = (
    *("effective_date", "effective", "last_updated", "last_update", "updated", "last_modified", "lastmod"),
    *("last_reviewed", "modified", "revised", "date", "published", "created"),
)
_OWNER_KEYS: Final = ("owner", "owners", "maintainer", "author", "authors")
_ACCESS_KEYS: Final = ("access", "access_groups", "groups")


KEYS: Final = frozenset((_TITLE_KEY, _CAPTION_KEY, _AUTHORITY_KEY, *_DATE_KEYS, *_OWNER_KEYS, *_ACCESS_KEYS))
"""Every key that is understood."""


def load_yaml(text: str) -> Mapping[str, object]:
    """A YAML mapping with every scalar as the text that was written (no booleans, no dates, no 1.10 as 1.1).

    Raises BadDocument bad_metadata when it is not a mapping, not YAML, or larger than 64 Ki characters.
    """
    if len(text) > _YAML_CHARACTERS:
        raise BadDocument("metadata too long", reason="bad_metadata")
    try:
        value = yaml.load(text, Loader=yaml.BaseLoader)  # noqa: S506  BaseLoader makes strings, lists and mappings only
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise BadDocument(f"metadata is not YAML: {type(error).__name__}", reason="bad_metadata") from error
    if value in (None, ""):
        return {}
    if not isinstance(value, dict):
        raise BadDocument("metadata is not a mapping", reason="bad_metadata")
    return {str(key).strip().lower().replace("-", "_"): one for key, one in value.items()}


def properties_of(values: Mapping[str, object]) -> Properties:
    """Read the known keys of a front matter or sidecar.

    A title, date or owner that cannot be read counts as not given. An authority or access that cannot be read raises
    BadDocument bad_metadata: a slip there must never make a document more visible or more trusted.
    """
    dates = (parse_date(_text(values.get(key)) or "") for key in _DATE_KEYS)
    owners = (_names(values.get(key)) for key in _OWNER_KEYS)
    return Properties(
        title=_title(values.get(_TITLE_KEY)),
        date=next((one for one in dates if one is not None), None),
        authority=_authority(values.get(_AUTHORITY_KEY)),
        owner=next((one for one in owners if one is not None), None),
        access=next((_groups(values[key]) for key in _ACCESS_KEYS if key in values), None),
        caption=_title(values.get(_CAPTION_KEY)),
    )


def _text(value: object) -> str | None:
    return " ".join(value.split())[:500] or None if isinstance(value, str) else None


def _title(value: object) -> str | None:
    """A title without the tags and entities that a web template would have rendered."""
    text = _text(value)
    return _text(clean_for_display(unescape(text))) if text else None


def stem_title(uri: str) -> str:
    """A title made of the file's name."""
    path = PurePosixPath(uri)
    return " ".join((path.stem or path.name).replace("_", " ").replace("-", " ").split()) or uri


def _names(value: object) -> str | None:
    if isinstance(value, list):
        return ", ".join(one for one in map(_text, value[:20]) if one) or None
    return _text(value)


def _authority(value: object) -> Authority | None:
    if value is None:
        return None
    try:
        return Authority(str(value).strip().lower())
    except ValueError as error:
        raise BadDocument("authority must be high, medium or low", reason="bad_metadata") from error


def _groups(value: object) -> frozenset[str]:
    """Groups as a list, or one text with commas; an empty list is a statement, an empty value is a slip."""
    names: Sequence[object] = (
        value.split(",") if isinstance(value, str) else value if isinstance(value, list) else [None]
    )
    groups = [_text(name) for name in names]
    if any(group is None for group in groups):
        raise BadDocument("access must be a list of group names", reason="bad_metadata")
    return frozenset(group for group in groups if group)


_DATE_PART: Final = re.compile(
    r"(?:19|20)\d\d\s*年(?:\s*\d{1,2}\s*月)?(?:\s*\d{1,2}\s*[日号])?"
    r"|(?<!\d)(?:19|20)\d\d(?:[-_. ]?(?:0[1-9]|1[0-2])(?:[-_. ]?(?:0[1-9]|[12]\d|3[01]))?)?(?!\d)"
)
_VERSION_PART: Final = re.compile(
    r"(?<![^\W_])(?:v|ver|version|rev|revision|edition)[-_. ]?\d+(?:[._]\d+)*(?![^\W_])"
    r"|第[\d一二三四五六七八九十]+[版稿]|\(\d+\)|（\d+）",
    re.IGNORECASE,
)
_COPY_PART: Final = re.compile(
    r"(?:[-_. ]|^)[(（]?(?:copy|final|draft|副本|终稿|定稿|最终版|草稿)[)）]?$", re.IGNORECASE
)
_SEPARATORS: Final = re.compile(r"[\s_.\-–—()（）\[\]]+")


def family(uri: str) -> str:
    """What editions of a document share: the path without dates, versions, copy marks and suffix, lower case.

    Folders that are nothing but a date or version vanish; a file that is nothing but a date keeps its name, because
    minutes of two days are two documents.
    """
    path = PurePosixPath(uri)
    folders = [kept for part in path.parts[:-1] if (kept := _stripped(part))]
    stem = path.stem if path.suffix[1:].isalnum() and not path.suffix[1:].isdigit() else path.name
    name = _stripped(stem) or _SEPARATORS.sub("-", stem.lower()).strip("-") or stem.lower()
    return "/".join([*(folder for folder in folders if folder != "/"), name])


def _stripped(part: str) -> str:
    part = _COPY_PART.sub("", _VERSION_PART.sub(" ", _DATE_PART.sub(" ", part)))
    return _SEPARATORS.sub("-", part.lower()).strip("-")
