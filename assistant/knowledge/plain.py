"""Plain text to pieces, and bytes to text: which encoding, is it text at all, which line ends are only wrapping."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from charset_normalizer import from_bytes

from assistant.knowledge.documents import Kind, Piece, fold, readable, refuse

_BOMS: Final = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
_SAMPLE: Final = 64 * 1024
_CONTROL: Final = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")


def decode(data: bytes, declared: str | None = None) -> str:
    """The text of bytes: byte order mark, UTF-8, the declared encoding, then a guess (charset-normalizer).

    Raises BadDocument empty for nothing, not_text for bytes that are no text in any of these.
    """
    text = _decoded(data, declared) if data.strip(b"\0\t\r\n ") else ""
    if not text.strip("\0\ufeff\t\r\n "):
        raise refuse("empty", "nothing but blanks")
    return text


def _decoded(data: bytes, declared: str | None) -> str:
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return _strict(data, encoding)
    if len(_CONTROL.findall(data[:_SAMPLE])) * 100 > len(data[:_SAMPLE]):
        return _strict(data, _wide(data))
    for encoding in filter(None, ("utf-8", declared)):
        if (text := _tried(data, encoding)) is not None:
            return text
    return _guessed(data)


def _strict(data: bytes, encoding: str) -> str:
    text = _tried(data, encoding) if encoding else None
    if text is None or not plausible(text):
        raise refuse("not_text", "bytes are not text")
    return text


def _wide(data: bytes) -> str:
    """UTF-16 without a mark shows as a zero in every other byte of Latin text."""
    sample = data[:4096]
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    if max(even, odd) * 4 < len(sample) or min(even, odd) * 20 > len(sample):
        return ""
    return "utf-16-le" if odd > even else "utf-16-be"


def _tried(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except (UnicodeError, LookupError, ValueError):
        return None


def plausible(text: str) -> bool:
    """Whether a decoded text looks like one: hardly any control, private or unassigned characters."""
    sample = text[:4096]
    odd = sum(unicodedata.category(char) in {"Cn", "Co", "Cs"} or char in _ODD for char in sample)
    return odd * 50 <= len(sample)


_ODD: Final = frozenset(map(chr, [*range(9), *range(14, 27), *range(28, 32), 0x7F, 0xFFFD]))


def _guessed(data: bytes) -> str:
    """An older encoding, told from a sample; GB 18030 is asked first because its errors are telling."""
    chinese = _tried(data, "gb18030")
    if chinese is not None and _mostly_common_chinese(chinese[:4096]):
        return chinese
    best = from_bytes(data[:_SAMPLE]).best()
    if best is not None and best.encoding:
        text = data.decode(best.encoding, "replace")
        if plausible(text):
            return text
    raise refuse("not_text", "no known encoding")


def _mostly_common_chinese(text: str) -> bool:
    """Whether the characters beyond ASCII are the common ones of GB 2312, whose code points have this range."""
    wide = [char for char in text if ord(char) > 127]
    common = sum(
        "\u4e00" <= char <= "\u9fff" or "\u3000" <= char <= "\u303f" or "\uff00" <= char <= "\uffef" for char in wide
    )
    frequent = sum(char in "的是不一有在人了中和为以及可应时请员工公司日年月或" for char in wide)
    return bool(wide) and common * 10 >= len(wide) * 9 and frequent * 50 >= len(wide)


_UNDERLINE: Final = re.compile(r"^([=\-~^*#+])\1{2,}\s*$")
_BULLET: Final = re.compile(
    r"^(?P<indent>\s*)(?P<mark>[-*•‣◦▪·●○■–]|\(?\d{1,3}[.)）、]|\(?[A-Za-z][.)])(?P<gap>\s+|(?<=、))(?P<text>\S.*)$"
)
_RULE: Final = re.compile(r"^\s*(?:[-=_*~#]\s?){4,}\s*$")
_SENTENCE_END: Final = re.compile(r"[.!?。！？：:；;][\"'”’)）\]]*$")


def parse_plain(text: str) -> list[Piece]:
    """The pieces of a plain text: underlined headings, list items, paragraphs with wrapped lines joined."""
    lines = [line.expandtabs(4).rstrip() for line in readable(text).split("\n")]
    width = wrap_width(lines)
    pieces: list[Piece] = []
    marks: list[str] = []
    for group in _groups(lines):
        if len(group) > 1 and _is_underlined(group[0], group[1]):
            mark = group[1].strip()[0]
            marks += [] if mark in marks else [mark]
            pieces.append(Piece(Kind.HEADING, group[0], min(6, marks.index(mark) + 1)))
            group = group[2:]
        pieces += paragraphs(group, width)
    return pieces


def _is_underlined(title: str, line: str) -> bool:
    return (
        bool(_UNDERLINE.match(line))
        and 0 < len(title.strip()) <= 120
        and len(line.strip()) * 10 >= len(title.strip()) * 6
    )


def _groups(lines: Sequence[str]) -> Iterator[list[str]]:
    """Runs of lines between empty ones; an underlined title begins a run of its own."""
    group: list[str] = []
    for place, line in enumerate(lines):
        titled = place + 1 < len(lines) and line.strip() and _is_underlined(line, lines[place + 1])
        if group and (not line.strip() or titled):
            yield group
            group = []
        if line.strip():
            group.append(line)
    if group:
        yield group


def columns(text: str) -> int:
    """The width of a line on a grid: wide characters take two columns."""
    return (
        sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)
        if not text.isascii()
        else len(text)
    )


def wrap_width(lines: Sequence[str]) -> int:
    """The column at which a text was wrapped by its writer, 0 when its lines are whole paragraphs."""
    widths = sorted(columns(line) for line in lines if len(line) > 20)
    if len(widths) < 3:
        return 0
    high = widths[int(len(widths) * 0.95) - 1] if len(widths) > 20 else widths[-1]
    return high if 40 <= high <= 130 else 0


def paragraphs(lines: Sequence[str], width: int, page: int | None = None) -> list[Piece]:
    """Join wrapped lines and tell items from running text; `width` is the column of wrapping, 0 for none."""
    runs: list[tuple[Piece, list[str]]] = []
    full = False
    for line in lines:
        if _RULE.match(line):
            full = False
            continue
        if item := bullet(line):
            runs.append((item, [item.text]))
        elif runs and (full or runs[-1][0].kind is Kind.PARAGRAPH or line[:1] == " "):
            runs[-1][1].append(("\n" if full or runs[-1][0].kind is Kind.ITEM else "\v") + line.strip())
        else:
            runs.append((Piece(Kind.PARAGRAPH, ""), [line]))
        full = is_full(line, width)
    return [replace(piece, text=unwrap("".join(parts)), page=page) for piece, parts in runs]


def bullet(line: str) -> Piece | None:
    """The list item that a line begins, if it begins one."""
    found = _BULLET.match(line)
    if found is None:
        return None
    mark = found["mark"] if found["mark"][-1] in ".)）、" else "-"
    return Piece(Kind.ITEM, found["text"], min(6, len(found["indent"]) // 2), mark=mark)


def unwrap(text: str) -> str:
    """Lines joined at LF, which is wrapping, and kept apart at VT, which is a line end that was meant.

    A broken word is not mended, because a hyphen may belong to it.
    """
    return "\n".join(fold(line) for line in text.split("\v"))


def is_full(line: str, width: int) -> bool:
    """Whether the line ends because the paper did: it reaches near the wrapping column."""
    return bool(width) and columns(line) >= width * 0.72
