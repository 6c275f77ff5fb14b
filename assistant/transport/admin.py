"""Documents over REST, for the role admin. For everybody else there is nothing here."""

from __future__ import annotations

import base64
import binascii
import datetime
from typing import Annotated, Any, Final, Literal, TypeVar

import orjson
from fastapi import APIRouter, Depends, Header, Path, Query, Request
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from assistant.codec import storable
from assistant.core.access import Caller
from assistant.core.evidence import Authority
from assistant.errors import BadInput
from assistant.interfaces import DocumentChange, DocumentDesk, DocumentView, Library, Upload, UploadReport
from assistant.transport.audit import Reason
from assistant.transport.auth import ADMIN
from assistant.transport.http import Who, with_role
from assistant.transport.receiving import RAW_BODY, document_uri, metadata_of, received

router = APIRouter(prefix="/api/admin")

LONGEST_REASON: Final = 2000
_HIGHEST: Final = 2**31 - 1

Form = TypeVar("Form", bound=BaseModel)


def admin(who: Who) -> Caller:
    """The caller, who has the role. Raises NotFound for everybody else."""
    return with_role(who, ADMIN)


# The role comes first in each list of parameters: who has it not learns nothing of what a request should look like.
Admin = Annotated[Caller, Depends(admin)]


def _why(_: Admin, reason: Reason) -> str:
    if len(storable(reason)) > LONGEST_REASON:
        raise BadInput("the reason is too long", reason="too_long", limit=LONGEST_REASON)
    return reason


def _library(request: Request) -> Library:
    library: Library = request.app.state.doors.library
    return library


def _desk(request: Request) -> DocumentDesk:
    desk: DocumentDesk = request.app.state.doors.desk
    return desk


class _Change(BaseModel):
    """What is to be set; what is not named stays. A date or owner of null is none."""

    model_config = ConfigDict(extra="forbid")

    access: list[Annotated[str, Field(min_length=1, max_length=200)]] = Field(
        default_factory=list, min_length=1, max_length=200
    )
    authority: Literal["high", "medium", "low"] = "medium"
    date: datetime.date | None = None
    owner: Annotated[str, Field(min_length=1, max_length=200)] | None = None


async def json_of(request: Request, form: type[Form]) -> Form:
    """The JSON body of a request. Not declared as a body, as those are checked before the role. Raises BadInput."""
    try:
        return form.model_validate(orjson.loads(await request.body()))
    except ValidationError as error:
        where = ".".join(map(str, error.errors()[0]["loc"]))
        raise BadInput("the body has not the promised form", reason=f"body.{where}"[:200]) from None
    except orjson.JSONDecodeError:
        raise BadInput("the body is no JSON", reason="body") from None


def json_body(form: type[BaseModel]) -> dict[str, Any]:
    """How OpenAPI describes the body that `json_of` reads."""
    schema = form.model_json_schema()
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


async def _change(_: Admin, request: Request) -> DocumentChange:
    given = await json_of(request, _Change)
    if not given.model_fields_set:
        raise BadInput("nothing is to be changed", reason="body")
    return DocumentChange(
        frozenset(given.model_fields_set),
        frozenset(given.access),
        Authority(given.authority),
        given.date,
        given.owner,
    )


Why = Annotated[str, Depends(_why)]
Lib = Annotated[Library, Depends(_library)]
Desk = Annotated[DocumentDesk, Depends(_desk)]
Change = Annotated[DocumentChange, Depends(_change)]
DocumentId = Annotated[str, Path(min_length=1, max_length=64)]


@router.get("/collections")
async def collections(who: Admin, library: Lib) -> dict[str, Any]:
    """All collections with how much is in them; the files of people's sessions are not shown."""
    return {
        "collections": [
            {
                "name": one.name,
                "documents": one.documents,
                "chunks": one.chunks,
                "updated_at": one.updated_at.isoformat(),
            }
            for one in await library.collections(who.tenant)
        ]
    }


@router.get("/documents")
async def documents(
    who: Admin,
    library: Lib,
    collection: Annotated[str | None, Query(max_length=200)] = None,
    query: Annotated[str, Query(max_length=200)] = "",
    cursor: Annotated[str | None, Query(max_length=8000)] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> dict[str, Any]:
    """Live documents by collection and uri; `query` looks into titles and uris. `next` is the cursor of the following page."""
    after = None if cursor is None else _place(cursor)
    found = await library.documents(who.tenant, collection=collection, query=query, after=after, limit=limit)
    following = _cursor(found[-1]) if len(found) == limit else None
    return {"documents": [shown(document) for document in found], "next": following}


@router.get("/documents/{document}")
async def document(who: Admin, library: Lib, document: DocumentId) -> dict[str, Any]:
    """A document with its kept versions, the latest first, each with the number of kept answers that cite it."""
    view = await library.document(who.tenant, document)
    versions = [
        {
            "number": version.number,
            "sha256": version.sha256,
            "title": version.title,
            "date": version.date.isoformat() if version.date else None,
            "created_at": version.created_at.isoformat(),
            "answers": version.answers,
        }
        for version in await library.versions(who.tenant, document)
    ]
    return {**shown(view), "versions": versions}


@router.get("/documents/{document}/versions/{number}")
async def text(
    who: Admin,
    library: Lib,
    document: DocumentId,
    number: Annotated[int, Path(ge=1, le=_HIGHEST)],
    offset: Annotated[int, Query(ge=0, le=_HIGHEST - 1)] = 0,
    limit: Annotated[int, Query(ge=1, le=100_000)] = 20_000,
) -> dict[str, Any]:
    """A part of the text of a version, in code points; `next` is the offset of the following part, null at the end."""
    page = await library.text(who.tenant, document, number, offset, limit)
    end = page.offset + len(page.text)
    following = end if page.text and end < page.length else None
    return {"text": page.text, "offset": page.offset, "length": page.length, "next": following}


@router.put("/documents", openapi_extra=RAW_BODY)
async def put(
    who: Admin,
    desk: Desk,
    why: Why,
    request: Request,
    collection: Annotated[str, Query(min_length=1, max_length=200)],
    uri: Annotated[str | None, Query(max_length=4000)] = None,
    name: Annotated[str | None, Query(max_length=4000)] = None,
    x_metadata: Annotated[str, Header(max_length=8000)] = "",
    content_type: Annotated[str, Header(max_length=200)] = "",
) -> dict[str, Any]:
    """Read the body, a file as it is, into a collection under its `uri` (or `name`); the same file again changes nothing.

    X-Metadata is a JSON object with the keys of front matter: title, date, authority, owner, access. The outcome is added, updated,
    unchanged, or skipped with the reason why the file cannot be read.
    """
    said, place = metadata_of(x_metadata), document_uri(uri or name or "")
    async with received(request) as file:
        return reported(await desk.put(who, Upload(collection, place, file, content_type, said), why))


@router.post("/documents/{document}/reingest")
async def reingest(who: Admin, desk: Desk, why: Why, document: DocumentId) -> dict[str, Any]:
    """Read the kept original of a document anew; refused with no_original where a folder holds the file."""
    return reported(await desk.reingest(who, document, why))


@router.patch("/documents/{document}", openapi_extra=json_body(_Change))
async def change(who: Admin, desk: Desk, why: Why, change: Change, document: DocumentId) -> dict[str, Any]:
    """Set access (group names), authority, date or owner: in search at once, and whatever is read in later says."""
    return shown(await desk.change(who, document, change, why))


@router.delete("/documents/{document}", status_code=204)
async def delete(who: Admin, desk: Desk, why: Why, document: DocumentId) -> None:
    """Delete a document: it is found no more. Its versions stay while kept answers cite them."""
    await desk.delete(who, document, why)


def shown(view: DocumentView) -> dict[str, Any]:
    """A document as JSON."""
    plain = ("id", "collection", "uri", "title", "owner", "language", "media_type", "version", "chunks", "uploaded")
    return {
        **{name: getattr(view, name) for name in plain},
        "authority": view.authority.value,
        "date": view.date.isoformat() if view.date else None,
        "created_at": view.created_at.isoformat(),
        "updated_at": view.updated_at.isoformat(),
        "access": sorted(view.access),
        "settings": sorted(view.settings),
    }


def reported(report: UploadReport) -> dict[str, Any]:
    """What became of a file as JSON."""
    told = {"uri": report.uri, "outcome": report.outcome, "id": report.document, "version": report.version}
    return told | ({"reason": report.reason} if report.reason else {})


def _cursor(last: DocumentView) -> str:
    return base64.urlsafe_b64encode(orjson.dumps([last.collection, last.uri])).decode()


def _place(cursor: str) -> tuple[str, str]:
    """Where a page begins. Raises BadInput for a cursor that no page gave."""
    try:
        collection, uri = orjson.loads(base64.b64decode(cursor, altchars=b"-_", validate=True))
    except (binascii.Error, ValueError, TypeError):
        raise BadInput("no page ends here", reason="cursor") from None
    if not isinstance(collection, str) or not isinstance(uri, str):
        raise BadInput("no page ends here", reason="cursor")
    return collection, uri
