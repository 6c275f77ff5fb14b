"""The shapes of the responses for administrators."""

from __future__ import annotations

import datetime as dt
from typing import Literal

from pydantic import BaseModel

from assistant.core.evidence import Authority

Names = list[str]


class Collection(BaseModel):
    """A collection with how much is in it."""

    name: str
    documents: int
    chunks: int
    updated_at: dt.datetime


class CollectionList(BaseModel):
    """All collections."""

    collections: list[Collection]


class Document(BaseModel):
    """A live document; `settings` are the fields that a person set, `uploaded` says whether its original is kept."""

    id: str
    collection: str
    uri: str
    title: str
    owner: str | None
    language: str
    media_type: str
    version: int
    chunks: int
    uploaded: bool
    authority: Authority
    date: dt.date | None
    created_at: dt.datetime
    updated_at: dt.datetime
    access: Names
    settings: Names


class DocumentList(BaseModel):
    """A page of documents by collection and uri; `next` is the `cursor` of the following one."""

    documents: list[Document]
    next: str | None


class DocumentVersion(BaseModel):
    """A kept version, and how many kept answers cite it."""

    number: int
    sha256: str
    title: str
    date: dt.date | None
    created_at: dt.datetime
    answers: int


class DocumentWithVersions(Document):
    """A document with its kept versions, the latest first."""

    versions: list[DocumentVersion]


class TextPart(BaseModel):
    """A part of a text, in code points; `next` is the offset of the following part."""

    text: str
    offset: int
    length: int
    next: int | None


class Ingested(BaseModel):
    """What became of a file; `reason` says why it was skipped."""

    uri: str
    outcome: Literal["added", "updated", "unchanged", "skipped"]
    id: str | None
    version: int | None
    reason: str | None = None


class Person(BaseModel):
    """Somebody who asked, or of whom something was said; groups of null are those of their tokens."""

    user: str
    groups: Names | None
    not_before: dt.datetime | None


class People(BaseModel):
    """A page of people by name; `next` is the `after` of the following one."""

    people: list[Person]
    next: str | None


class Key(BaseModel):
    """The key of a service; its secret is not kept."""

    id: str
    name: str
    groups: Names
    roles: Names
    made_at: dt.datetime
    expires_at: dt.datetime | None
    revoked_at: dt.datetime | None
    last_used: dt.date | None


class NewKey(Key):
    """A new key with its secret, which is shown this once."""

    secret: str


class Job(BaseModel):
    """Work that is done while nobody waits for it; `due` is null for at once."""

    id: str
    name: str
    status: str
    attempts: int
    due: dt.datetime | None


class JobList(BaseModel):
    """The jobs that are not done, the newest first."""

    jobs: list[Job]


class Keys(BaseModel):
    """The keys of services, the oldest first."""

    keys: list[Key]
