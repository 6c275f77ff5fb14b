"""Files attached to questions: a person sends them into a session of theirs, and nobody else finds them."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Header, Path, Request

from assistant.interfaces import DocumentDesk, FileView, SessionFiles
from assistant.transport.http import SessionId, Who
from assistant.transport.receiving import RAW_BODY, file_name, received

router = APIRouter(prefix="/api/sessions/{session}/files")

_OWNED: Final = "application/octet-stream"


def _files(request: Request) -> SessionFiles:
    files: SessionFiles = request.app.state.doors.files
    return files


def _desk(request: Request) -> DocumentDesk:
    desk: DocumentDesk = request.app.state.doors.desk
    return desk


Files = Annotated[SessionFiles, Depends(_files)]
Desk = Annotated[DocumentDesk, Depends(_desk)]
FileId = Annotated[str, Path(min_length=1, max_length=64)]


@router.post("", status_code=201, openapi_extra=RAW_BODY)
async def attach(
    who: Who,
    files: Files,
    desk: Desk,
    session: SessionId,
    request: Request,
    x_file_name: Annotated[str, Header(min_length=1, max_length=4000)],
    content_type: Annotated[str, Header(max_length=200)] = _OWNED,
) -> dict[str, Any]:
    """Read the body, a file as it is, into the session; X-File-Name is its name as percent-encoded UTF-8.

    It is searched in this session alone and for its owner alone. A file of the same name is replaced. Refused are files that cannot
    be read (bad_document with the reason) and more files than a session may have (too_many_files). Counts as one start of the
    caller's minute.
    """
    await files.files(who, session)  # whose session it is comes before what was sent
    request.app.state.doors.limiter.take(who)
    name = file_name(x_file_name)
    async with received(request) as file:
        return shown(await desk.attach(who, session, name, file, content_type))


@router.get("")
async def attached(who: Who, files: Files, session: SessionId) -> dict[str, Any]:
    """The files of the session by name."""
    return {"files": [shown(file) for file in await files.files(who, session)]}


@router.delete("/{file}", status_code=204)
async def detach(who: Who, desk: Desk, session: SessionId, file: FileId) -> None:
    """Take a file out of the session; what answers cite of it they keep."""
    await desk.detach(who, session, file)


def shown(file: FileView) -> dict[str, Any]:
    """A file of a session as JSON."""
    return {
        "id": file.id,
        "title": file.title,
        "name": file.name,
        "media_type": file.media_type,
        "chunks": file.chunks,
        "updated_at": file.updated_at.isoformat(),
    }
