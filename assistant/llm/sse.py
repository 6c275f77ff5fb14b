"""Server-sent events as a pure parser: bytes in, events out, the same for any chunking.

Source: WHATWG HTML Living Standard, 9.2.6 "Interpreting an event stream". One leniency: `finish` also gives the
event that a server left without its closing blank line.
"""

from __future__ import annotations

from typing import Final, NamedTuple

MAX_EVENT_BYTES: Final = 1024 * 1024
_BOM: Final = b"\xef\xbb\xbf"


class SseEvent(NamedTuple):
    """One event: its data lines joined by a line feed, as bytes, and its name ("" when it has none)."""

    data: bytes
    name: str = ""


class SseOverflowError(ValueError):
    """A line or an event grows past MAX_EVENT_BYTES: this is not an event stream."""


class SseParser:
    """Reads an event stream piece by piece. Bytes are only split at line ends, so no character is ever torn."""

    def __init__(self, max_bytes: int = MAX_EVENT_BYTES) -> None:
        self._max = max_bytes
        self._rest: list[bytes] = []
        self._rest_size = 0
        self._data: list[bytes] = []
        self._size = 0
        self._name = b""
        self._after_cr = False
        self._at_start = True

    def feed(self, piece: bytes) -> list[SseEvent]:
        """The events that this piece completes. Raises SseOverflowError when one grows too large."""
        lines = self._lines(piece)
        events: list[SseEvent] = []
        for line in lines:
            if line:
                self._field(line)
            elif event := self._dispatch():
                events.append(event)
        return events

    def finish(self) -> list[SseEvent]:
        """The event that stood unfinished when the stream ended, if any; its data may be cut short."""
        events = self.feed(b"\n") if self._rest_size else []
        last = self._dispatch()
        return [*events, last] if last else events

    def _lines(self, piece: bytes) -> list[bytes]:
        """The lines that this piece completes; a CR ends a line at once, and a LF that follows it is skipped."""
        piece = self._without_split_crlf(piece)
        if b"\r" in piece:
            piece = piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        head, *others = piece.split(b"\n")
        self._rest.append(head)
        self._rest_size += len(head)
        if self._rest_size > self._max:
            raise SseOverflowError(f"a line of more than {self._max} bytes")
        if not others:
            return []
        first = b"".join(self._rest)
        if self._at_start:
            first, self._at_start = first.removeprefix(_BOM), False
        last = others.pop()
        self._rest, self._rest_size = [last], len(last)
        return [first, *others]

    def _without_split_crlf(self, piece: bytes) -> bytes:
        if not piece:
            return piece
        skip = self._after_cr and piece[0] == 0x0A
        self._after_cr = piece[-1] == 0x0D
        return piece[1:] if skip else piece

    def _field(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._size += len(value) + 1
            if self._size > self._max:
                raise SseOverflowError(f"an event of more than {self._max} bytes")
            self._data.append(value)
        elif name == b"event":
            self._name = value

    def _dispatch(self) -> SseEvent | None:
        """End the event; without data there is none, as the standard says."""
        event = SseEvent(b"\n".join(self._data), self._name.decode("utf-8", "replace")) if self._data else None
        self._data, self._size, self._name = [], 0, b""
        return event
