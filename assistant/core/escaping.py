"""Text of strangers inside Markdown that is written here: shown as it stands, never as a link, an image or a page structure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

# What begins a link, an image, a footnote, code, HTML, an entity, strike-through or mathematics, and what makes readers of
# Markdown see an address in plain words.
_SIGNS: Final = re.compile(r"[\\`<>&\[\]~$@]|:(?=//)|(?<=www)\.", re.IGNORECASE)
_ALL_SIGNS: Final = re.compile(r"[\\`<>&\[\]~$@*_|#!+=(){}^]|:(?=//)|(?<=www)\.|^-", re.IGNORECASE)
_NUMBERED: Final = re.compile(r"^(\d+)\.")
_CONTROL: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x85\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_LINE_END: Final = re.compile(r"\r\n|\r|\n")
_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})[^`]*$")
_TICKS: Final = re.compile("`+")
_WEB: Final = re.compile(
    r"(https?)://([A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?)(:\d{1,5})?(?=[/?#]|$)", re.ASCII
)
_NOT_IN_ADDRESS: Final = re.compile(r"[^A-Za-z0-9\-._~:/?#@!$&'*+,;=%]")


def inline(text: str) -> str:
    """A short text (title, section, claim) as words in one line, with no sign of Markdown left in force."""
    return _NUMBERED.sub(r"\1\.", _ALL_SIGNS.sub(_escaped, " ".join(_CONTROL.sub("", text).split())))


def _escaped(found: re.Match[str]) -> str:
    return "\\" + found.group()


def link(uri: str) -> str:
    """A web address as a link that shows its host and nothing else; any other address as words.

    Addresses with a user before the host, or a host that is not plain ASCII, are words: their host is not what it seems.
    """
    found = _WEB.match(uri)
    if found is None:
        return inline(uri)
    host, rest = found.group(2).lower(), uri[found.end() :]
    target = f"{found.group(1)}://{host}{found.group(3) or ''}{_NOT_IN_ADDRESS.sub(_percent, rest)}"
    return f"[{host}](<{target}>)"


def _percent(found: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in found.group().encode(errors="replace"))


@dataclass(frozen=True, slots=True)
class Mark:
    """Something of ours, Markdown already, to stand at an offset (code points) of a text of strangers."""

    at: int
    markdown: str


def quoted(text: str, marks: Sequence[Mark] = ()) -> str:
    """A text that may be Markdown as a quotation, whose lines all begin with `>`, with our marks in it.

    Emphasis, lists, tables and fenced code keep their form; links, images and HTML are shown as the signs they are written
    with; headings and what is left open end with the quotation. Marks inside code come behind it, those beyond the end at the end.
    """
    placed = sorted((Mark(min(mark.at, len(text)), mark.markdown) for mark in marks), key=lambda mark: mark.at)
    return "\n".join(f"> {line}" if line.strip() else ">" for line in _lines(text, placed))


def _lines(text: str, marks: Sequence[Mark]) -> list[str]:
    lines: list[str] = []
    waiting, code, fence = list(marks), list[str](), ""
    for start, line in _cut(text):
        end = start + len(line)
        if fence:
            if _closes(line, fence):
                lines += [*_block(code), *_behind(waiting, end)]
                code, fence = [], ""
            else:
                code.append(_CONTROL.sub("", line))
        elif opening := _FENCE.match(line):
            fence = opening.group(1)
        else:
            lines.append(_marked(line, start, _taken(waiting, end)))
    if fence:
        lines += _block(code)
    return lines + _behind(waiting, len(text))


def _cut(text: str) -> list[tuple[int, str]]:
    """The lines of a text with their offsets, as CommonMark cuts it."""
    cuts, start = list[tuple[int, str]](), 0
    for end in _LINE_END.finditer(text):
        cuts.append((start, text[start : end.start()]))
        start = end.end()
    return [*cuts, (start, text[start:])]


def _closes(line: str, fence: str) -> bool:
    stripped = line.strip()
    return len(stripped) >= len(fence) and not stripped.strip(fence[0]) and len(line) - len(line.lstrip(" ")) <= 3


def _block(code: Sequence[str]) -> list[str]:
    """Code between fences that are longer than any in it."""
    longest = max((len(run) for line in code for run in _TICKS.findall(line)), default=0)
    fence = "`" * max(3, longest + 1)
    return [fence, *code, fence]


def _taken(waiting: list[Mark], end: int) -> list[Mark]:
    """The marks up to an offset, which do not wait any more."""
    taken = [mark for mark in waiting if mark.at <= end]
    del waiting[: len(taken)]
    return taken


def _behind(waiting: list[Mark], end: int) -> list[str]:
    marks = _taken(waiting, end)
    return [" ".join(mark.markdown for mark in marks)] if marks else []


def _marked(line: str, start: int, marks: Sequence[Mark]) -> str:
    """A line with its marks, each behind the words it belongs to; in a table inside the last cell, as readers drop what follows."""
    parts, last = list[str](), 0
    edge = len(line.rstrip())
    if line.lstrip().startswith("|") and line.rstrip().endswith("|"):
        edge -= 1
    for mark in marks:
        at = max(last, min(mark.at - start, edge))
        parts += [_plain(line, last, at), f" {mark.markdown}"]
        last = at
    return "".join([*parts, _plain(line, last, len(line))])


def _plain(line: str, start: int, end: int) -> str:
    return _SIGNS.sub(_escaped, _CONTROL.sub("", line[start:end]))
