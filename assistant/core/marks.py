"""Marks: take out the citation marks that a model writes by itself, while its answer streams.

Known forms: [1], [1, 2], [1-3], [^1], 【1】, 【证据1】, 【12†source】, [e1234567890], (evidence 2) and
（来源：e1234567890）. Ordinary brackets stay: [sic], [2024], (1), [text](url), [text][1], [1]: url,
array[0], and everything inside code.
"""

from __future__ import annotations

import re
from typing import Final

from assistant.core.citations import MarkHint

LONGEST_HELD: Final = 40
"""No more characters than this are ever held back."""

_KEY: Final = (
    r"(?:evidences?|sources?|passages?|documents?|docs?|refs?|references?|citations?|cite|id"
    r"|证据|来源|文档|资料|参考|引用|出处|段落|编号)"
)
_KEY_IN_ROUND: Final = r"(?:evidences?|sources?|passages?|citations?|证据|来源|资料|参考|引用|出处)"
_LEAD: Final = r"(?:(?:see|from|per|cf\.?|参见|见|来自)\s?)?"
_LABEL: Final = r"(?:[1-9]\d?|e[0-9a-f]{10})"
_NEXT: Final = r"\s?(?:[,，、;；&\-–~]|and|和)\s?"


def _list(key: str, *, needed: bool) -> str:
    one = rf"{key}[\s:：#.]{{0,2}}"
    first = rf"{one}(?:{one})?" if needed else rf"(?:{one}){{0,2}}"
    return rf"{_LEAD}{first}{_LABEL}(?:{_NEXT}(?:{one})?{_LABEL})*"


_MARK: Final = re.compile(
    rf"""[ \t]*(?:
        (?P<square>\[\^?{_list(_KEY, needed=False)}\])
      | (?P<other>[【［]{_list(_KEY, needed=False)}[】］]
        | 【[1-9]\d?(?::\d{{1,3}})?†[^】\n]{{0,30}}】
        | [(（](?:{_list(_KEY_IN_ROUND, needed=True)}|{_LEAD}e[0-9a-f]{{10}}(?:{_NEXT}e[0-9a-f]{{10}})*)[)）])
    )""".replace("\\s", "\\x20"),
    re.VERBOSE | re.IGNORECASE,
)
_ONE_LABEL: Final = re.compile(r"(?<![0-9A-Za-z:])(e[0-9a-f]{10}|[1-9]\d?)(?![0-9])", re.IGNORECASE)
_RANGE: Final = re.compile(r"(\d{1,2}) ?[-–~] ?(\d{1,2})")
_OPEN: Final = "[【［(（"
_MAY_BEGIN: Final = frozenset(_OPEN + " \t")
_PLAIN_RUN: Final = re.compile(r"[^\[【［（(`]*[^\[【［（(`\x20\t]")
"""Text up to the next bracket or back-tick, without the white space at its end, which a mark would take with it."""
_CLOSE: Final = re.compile("[]】］)）]")
_KEY_WORDS: Final = """
evidences sources passages documents docs refs references citations cite id see from per cf. and
证据 来源 文档 资料 参考 引用 出处 段落 编号 参见 见 来自 和
"""
_WORDS: Final = tuple(_KEY_WORDS.split())
_PIECE: Final = re.compile(r"[A-Za-z.]+|[一-鿿]+|\d+|e[0-9a-f]+", re.IGNORECASE)
_PLAIN: Final = frozenset(" ,，、;；&-–~^:：#.")
_LOOK_AHEAD: Final = 2
_MOST_OF_RANGE: Final = 10
_CODE_NAME: Final = re.compile(r"(?:^|[^A-Za-z0-9_])(?:[a-z]|\w*_\w*|[a-z]+[A-Z]\w*)$|[)\]\\]$")


class MarkScanner:
    """Removes marks from a stream of text; any chunking gives the same text and the same hints.

    Feed the pieces in order, then close. What may still become a mark is held back, never more than `LONGEST_HELD`
    characters. White space before a removed mark goes with it; so does white space after a mark that opens a line.
    """

    def __init__(self) -> None:
        self._held = ""
        self._tail = ""
        self._sent = 0
        self._swallow = False
        self._follows_mark = False
        self._code = _CodeState()
        self._hints: list[MarkHint] = []

    @property
    def hints(self) -> tuple[MarkHint, ...]:
        """The marks taken out so far; `at` is an offset in the text that was given back."""
        return tuple(self._hints)

    def feed(self, text: str) -> str:
        """Take the next piece and give back what is certain by now."""
        out: list[str] = []
        start = 0
        while start < len(text):
            if plain := self._plain_run(text, start):
                self._emit_plain(plain, out)
                start += len(plain)
                continue
            self._held += text[start]
            start += 1
            self._drain(out, final=False)
        return "".join(out)

    def _plain_run(self, text: str, start: int) -> str:
        """The characters from `start` on that cannot belong to a mark or to code; none while something is held."""
        if self._held or self._swallow or not self._code.idle:
            return ""
        found = _PLAIN_RUN.match(text, start)
        return found.group() if found else ""

    def _emit_plain(self, run: str, out: list[str]) -> None:
        self._follows_mark = False
        self._tail = (self._tail + run)[-LONGEST_HELD:]
        self._sent += len(run)
        out.append(run)

    def close(self) -> str:
        """Give back what was held; the scanner is empty afterwards."""
        out: list[str] = []
        self._drain(out, final=True)
        return "".join(out)

    def _drain(self, out: list[str], *, final: bool) -> None:
        while self._held:
            if self._code.inside or self._held[0] not in _MAY_BEGIN:
                self._emit(out)
                continue
            mark = _MARK.match(self._held) if _CLOSE.search(self._held) else None
            if mark is not None and not final and len(self._held) < mark.end() + _LOOK_AHEAD:
                return
            if mark is not None and self._is_mark(mark):
                self._take(mark)
            elif not final and _may_become_mark(self._held):
                return
            else:
                self._emit(out)

    def _is_mark(self, mark: re.Match[str]) -> bool:
        """Square brackets are also links, link definitions and indices: what stands around them decides."""
        after = self._held[mark.end() : mark.end() + _LOOK_AHEAD]
        if mark["square"] is None:
            return True
        glued = mark.start("square") == 0 and not self._follows_mark
        opens_line = self._tail[-1:] in ("", "\n")
        if after.startswith("(") or after.lstrip(" ").startswith("=") or (opens_line and after.startswith(":")):
            return False
        return not (glued and _CODE_NAME.search(self._tail))

    def _take(self, mark: re.Match[str]) -> None:
        self._swallow = self._tail[-1:] in ("", "\n")
        self._hints.extend(MarkHint(self._sent, label) for label in _labels(mark.group()))
        self._held = self._held[mark.end() :]
        self._follows_mark = True

    def _emit(self, out: list[str]) -> None:
        char, self._held = self._held[0], self._held[1:]
        if self._swallow and char in " \t":
            return
        self._swallow = self._follows_mark = False
        self._code.step(char, self._tail)
        self._tail = (self._tail + char)[-LONGEST_HELD:]
        self._sent += 1
        out.append(char)


class _CodeState:
    """Whether the text stands in a code span or a fenced block (CommonMark 0.31; here a span ends with its line)."""

    def __init__(self) -> None:
        self.inside = False
        self._fence = False
        self._run = 0
        self._opened_by = 0

    @property
    def idle(self) -> bool:
        """Whether the text stands outside of code and no run of back-ticks is open."""
        return not self.inside and not self._run

    def step(self, char: str, before: str) -> None:
        """Take one character of the text; `before` is the end of the text in front of it."""
        if char == "`":
            self._run += 1
        elif self._run:
            self._close_run(before)
            self._run = 0
        if char == "\n" and self.inside and not self._fence:
            self.inside = False

    def _close_run(self, before: str) -> None:
        line = before[: -self._run].rpartition("\n")[2]
        at_line_start = not line.strip(" ")
        if self._fence:
            self._fence = self.inside = not (at_line_start and self._run >= self._opened_by)
        elif self.inside:
            self.inside = self._run != self._opened_by
        else:
            self.inside, self._opened_by = True, self._run
            self._fence = at_line_start and self._run >= _FENCE


_FENCE: Final = 3


def _may_become_mark(held: str) -> bool:
    """Whether the text so far is white space, or an opened bracket that holds nothing but parts of a mark."""
    body = held.lstrip(" \t")
    if len(held) > LONGEST_HELD:
        return False
    if not body:
        return True
    if body[0] not in _OPEN:
        return False
    inside = body[1:]
    if "†" in inside:
        return body[0] == "【" and "】" not in inside and "\n" not in inside
    pieces = _PIECE.findall(inside)
    if sum(map(len, pieces)) + sum(char in _PLAIN for char in _PIECE.sub("", inside)) != len(inside):
        return False
    return all(_is_part(piece.lower()) for piece in pieces)


def _is_part(piece: str) -> bool:
    if piece.isascii() and (piece.isdigit() or re.fullmatch("e[0-9a-f]{0,10}", piece)):
        return True
    return (
        any(word.startswith(piece) for word in _WORDS)
        or re.fullmatch("[a-f.]+|.*(?:证据|来源|文档|资料)", piece) is not None
    )


def _labels(mark: str) -> list[str]:
    """What a mark names, in order: ids as they are, numbers, a range spelled out."""
    if "†" in mark:
        mark = mark.split("†", 1)[0].split(":", 1)[0]
    spelled = _RANGE.sub(lambda found: ",".join(map(str, _numbers(int(found[1]), int(found[2])))), mark)
    return list(dict.fromkeys(label.lower() for label in _ONE_LABEL.findall(spelled)))


def _numbers(low: int, high: int) -> range:
    return range(low, min(high, low + _MOST_OF_RANGE) + 1)


def strip_marks(text: str) -> str:
    """A finished text without citation marks, as it goes back to a model with the history."""
    scanner = MarkScanner()
    return scanner.feed(text) + scanner.close()
