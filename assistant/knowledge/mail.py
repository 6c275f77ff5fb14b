"""EML to pieces by the standard library: header lines, the plain text if there is one, else the HTML, attachments."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import date
from email import message_from_bytes, policy
from email.errors import MessageError
from email.message import EmailMessage
from email.utils import parsedate_to_datetime
from typing import Final

from assistant.errors import BadDocument
from assistant.knowledge.documents import Kind, Limits, Piece, refuse
from assistant.knowledge.html import fragment
from assistant.knowledge.metadata import Properties
from assistant.knowledge.plain import decode, parse_plain

_HEADERS: Final = ("From", "To", "Cc", "Date", "Subject")
_ATTACHMENTS: Final = 20
_QUOTE_MARK: Final = re.compile(r"^(?:>[ ]?)+", re.MULTILINE)

ParseAttachment = Callable[[bytes, str], list[Piece]]


def parse_mail(data: bytes, limits: Limits, attachment: ParseAttachment) -> tuple[list[Piece], Properties]:
    """The pieces of a mail and its subject, date and sender.

    `attachment` parses an attached file; when it refuses, the name alone is kept. Raises BadDocument corrupt when
    there is no header at all.
    """
    try:
        message = message_from_bytes(data, policy=policy.default)
        if not isinstance(message, EmailMessage) or not any(
            name in message for name in ("From", "To", "Date", "Subject")
        ):
            raise refuse("corrupt", "no mail header")
        pieces = [Piece(Kind.PARAGRAPH, "\n".join(_header_lines(message))), *_body(message, limits)]
        pieces += [piece for part in _attached(message) for piece in _attachment(part, attachment)]
        return pieces, _properties(message)
    except (MessageError, LookupError, ValueError, TypeError, AttributeError, RecursionError, AssertionError) as error:
        raise refuse("corrupt", f"mail: {type(error).__name__}") from error


def _header_lines(message: EmailMessage) -> Iterator[str]:
    for name in _HEADERS:
        if value := _header(message, name):
            yield f"{name}: {value}"


def _header(message: EmailMessage, name: str) -> str:
    """A header as text; one that the parser cannot read counts as missing."""
    try:
        return " ".join(str(message.get(name, "")).split())
    except (ValueError, TypeError, AttributeError, IndexError, LookupError):
        return ""


def _properties(message: EmailMessage) -> Properties:
    return Properties(
        title=_header(message, "Subject") or None,
        owner=_header(message, "From") or None,
        date=_date(_header(message, "Date")),
    )


def _date(text: str) -> date | None:
    """The day in the sender's own time zone (RFC 5322)."""
    try:
        return parsedate_to_datetime(text).date()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _body(message: EmailMessage, limits: Limits) -> list[Piece]:
    body = message.get_body(preferencelist=("plain", "html"))
    if not isinstance(body, EmailMessage):
        return []
    raw = body.get_payload(decode=True)
    if not isinstance(raw, bytes) or not raw.strip():
        return []
    text = decode(raw, body.get_content_charset())
    if body.get_content_subtype() == "html":
        return fragment(text, limits)
    return parse_plain(_QUOTE_MARK.sub("", text))


def _attached(message: EmailMessage) -> list[EmailMessage]:
    return [part for part in message.iter_attachments() if isinstance(part, EmailMessage)][:_ATTACHMENTS]


def _attachment(part: EmailMessage, attachment: ParseAttachment) -> list[Piece]:
    name = part.get_filename() or ("message.eml" if part.get_content_type() == "message/rfc822" else "")
    if not name:
        return []
    heading = Piece(Kind.HEADING, name, 2)
    try:
        return [heading, *attachment(_bytes(part), name)]
    except BadDocument:
        return [heading]


def _bytes(part: EmailMessage) -> bytes:
    if part.get_content_type() == "message/rfc822":
        inner = part.get_payload(0)
        return inner.as_bytes() if isinstance(inner, EmailMessage) else b""
    raw = part.get_payload(decode=True)
    return raw if isinstance(raw, bytes) else b""
