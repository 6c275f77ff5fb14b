"""Disguises: text that a model can read and a person does not see, or does not see as text."""

from __future__ import annotations

import base64
import re
import unicodedata
from collections.abc import Iterator
from itertools import islice
from operator import mul
from typing import Final

from assistant.core.text import CJK, remove_invisible

_MOST: Final = 20
"""So many encoded runs of a passage are looked into; more of them are data anyway."""
_LONGEST: Final = 2000
_EMOJI: Final = r"\u2190-\u2bff\u3030\u303d\u3297\u3299\u00a9\u00ae0-9#*\U0001f000-\U0001faff"
_JOINING: Final = r"\u0590-\u08ff\u0900-\u0dff\u0e00-\u0fff\u1000-\u109f\u1780-\u18af\ufb1d-\ufdff\ufe70-\ufefc"
_HARMLESS: Final = re.compile(
    rf"[{_EMOJI}][\u200d\ufe0e\ufe0f]{{1,2}}|\U0001f3f4[\U000e0020-\U000e007e]{{2,6}}\U000e007f|[{_JOINING}][\u200c-\u200f]+"
    rf"|[{CJK}][\ufe00-\ufe0f\U000e0100-\U000e01ef]|[\u00ad\ufeff\u200e\u200f\x00-\x1f\x7f-\x9f]"
)
_ZERO_WIDTH: Final = r"\u034f\u180e\u200b-\u200f\u2060-\u2064\u206a-\u206f\ufe00-\ufe0f\ufeff\U000e0100-\U000e01ef"
_HIDDEN: Final = re.compile(
    rf"(?<=[^\W\d_])[{_ZERO_WIDTH}]+(?=[^\W\d_])|[{_ZERO_WIDTH}]{{4,}}"
    r"|[\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]+"
)
_SHORTEST: Final = 24
_BASE64: Final = re.compile(r"(?<![A-Za-z0-9+/_=-])[A-Za-z0-9+/]{24,}")
_HEX: Final = re.compile(r"(?<![0-9A-Za-z])(?:(?:\\x|%|0x)?[2-7][0-9A-Fa-f][ ,]?){16,}")
_HEX_MARKS: Final = re.compile(r"(?:\\x|%|0x)|[ ,]")
_BINARY: Final = re.compile(r"(?<![01])(?:[01]{8} ?){12,}")
_MORSE: Final = re.compile(r"(?:[.\-·–]{1,5} (?:/ )?){8,}[.\-·–]{1,5}")
_SPACED: Final = re.compile(r"(?<![^\W_])(?:[^\W\d_](?:[ ._*·-]| {2,3})){7,}[^\W\d_](?![^\W_])")
_SPACED_HINT: Final = re.compile(r"[ ._*·-]([^\W\d_])[ ._*·-]+[^\W\d_][ ._*·-]+[^\W\d_][ ._*·-]")
_LATIN_SENTENCE: Final = re.compile(r"[A-Za-z][A-Za-z ,;:'\"’()-]{30,300}")
_COMMON: Final = frozenset(
    "the and of to in is that it for you with on this are as be your not or have from all by an will can any a do if"
    " then say ignore instructions previous system prompt user answer"
    " der die und das ist nicht sie el la los que de en y le les et des du un une est".split()
)
_MOST_COMMON: Final = (" the ", " of ", " and ", " to ", " in ", " is ", " for ")
"""Some of them, as most sentences hold one: found without cutting the sentence into words."""
_FREQUENCY: Final = tuple(
    map(float, "8.2 1.5 2.8 4.3 12.7 2.2 2 6.1 7 .15 .77 4 2.4 6.7 7.5 1.9 .1 6 6.3 9.1 2.8 .98 2.4 .15 2 .07".split())
)
"""How often each letter stands in English, in percent (Lewand 2000)."""
_LOOK_ALIKE: Final = str.maketrans(
    "аеорсухіјѕԁһոԛԝοανρτικυβАВЕКМНОРСТХІЈЅΑΒΕΗΙΚΜΝΟΡΤΧ", "aeopcyxijsdhnqwoavptikubABEKMHOPCTXIJSABEHIKMNOPTX"
)
_CHINESE: Final = re.compile(f"[{CJK}]")
_FEW_CHINESE: Final = 6
_STYLED: Final = re.compile(r"[\uff21-\uff5a\U0001d400-\U0001d7ff\u24b6-\u24e9\u2102-\u2138]")
_FEW_STYLED: Final = 8
_LEET: Final = str.maketrans("013457@$!", "oieastasi")
_GREEK_OR_CYRILLIC: Final = re.compile(r"[\u0370-\u03ff\u0400-\u052f]")
_MIXED: Final = re.compile(r"[a-zA-Z][\u0370-\u03ff\u0400-\u052f]|[\u0370-\u03ff\u0400-\u052f][a-zA-Z]")
_LEET_HINT: Final = re.compile(r"[013457@$!](?:[a-z]|(?<=[a-z].))")
_LEET_WORD: Final = re.compile(r"\b(?=[a-z]{0,20}[013457@$!])(?=[013457@$!]{0,20}[a-z])[a-z013457@$!]{4,24}\b")


def hidden(text: str) -> int:
    """How many characters hide something: invisible ones inside words or in a row, tags, overridden direction.

    Zero-width spaces between words, soft hyphens, and what emoji and joining scripts need are furniture of web pages.
    """
    if text.isascii() or len(text) == len(remove_invisible(text)):
        return 0
    return sum(len(match.group()) for match in _HIDDEN.finditer(_HARMLESS.sub("", text)))


def holds_encoded_text(text: str) -> bool:
    """Whether a run of base64, digits or Morse, or a sentence in a Caesar cipher or backwards, reads as language."""
    decoded = (_reads(found) for found in islice(_decoded(text), _MOST))
    return any(decoded) or _holds_morse(text) or any(map(_is_shifted, islice(_latin(text), _MOST)))


def _holds_morse(text: str) -> bool:
    """Whether dots and dashes come in groups of several kinds, as letters do and rules and ellipses do not."""
    if text.count(". ") + text.count("- ") < 8:
        return False
    for match in islice(_MORSE.finditer(text), _MOST):
        groups = {group for group in match.group().split() if group != "/"}
        if len(groups) >= 4 and any("." in group and "-" in group for group in groups):
            return True
    return False


def _decoded(text: str) -> Iterator[str]:
    """What runs of base64, hexadecimal and binary digits hold. Most passages have none, which a count tells cheaply."""
    if max(map(len, text.split()), default=0) >= _SHORTEST:
        for match in _BASE64.finditer(text):
            run = match.group()[:_LONGEST]
            yield _printable(base64.b64decode(run[: len(run) // 4 * 4]))
    if sum(map(text.count, "234567")) >= _SHORTEST // 2:
        for match in _HEX.finditer(text):
            digits = _HEX_MARKS.sub("", match.group())[:_LONGEST]
            yield _printable(bytes.fromhex(digits[: len(digits) // 2 * 2]))
    if text.count("0") + text.count("1") >= 8 * 12:
        for match in _BINARY.finditer(text):
            bits = match.group().replace(" ", "")[:_LONGEST]
            yield _printable(int(bits, 2).to_bytes(len(bits) // 8, "big"))


def _printable(data: bytes) -> str:
    return data.replace(b"\0", b"").decode("utf-8", "replace")


def _reads(text: str) -> bool:
    """Whether decoded bytes are prose: mostly letters and blanks, with common words, or Chinese."""
    if not text or sum(char.isalpha() or char == " " for char in text) < 0.75 * len(text):
        return False
    if 2 * len(_CHINESE.findall(text)) > len(text):
        return len(text) >= _FEW_CHINESE
    words = text.lower().split()
    common = sum(word.strip(".,:;!?\"'") in _COMMON for word in words)
    return common >= 2 and 5 * common >= len(words)


def _latin(text: str) -> Iterator[str]:
    """Sentences of Latin letters without a single common word."""
    for match in _LATIN_SENTENCE.finditer(text):
        sentence = match.group()
        if any(word in sentence for word in _MOST_COMMON):
            continue
        words = sentence.lower().split()
        if len(words) >= 5 and _COMMON.isdisjoint(words):
            yield sentence.lower()


def _is_shifted(sentence: str) -> bool:
    """Whether reading backwards or a Caesar shift, the one that fits letter frequencies best, makes words of it."""
    if _is_common(sentence[::-1]):
        return True
    counts = [sentence.count(chr(97 + letter)) for letter in range(26)]
    twice = counts + counts
    shift = max(range(1, 26), key=lambda by: sum(map(mul, twice[by : by + 26], _FREQUENCY)))
    alphabet = "abcdefghijklmnopqrstuvwxyz"
    return _is_common(sentence.translate(str.maketrans(alphabet[shift:] + alphabet[:shift], alphabet)))


def _is_common(text: str) -> bool:
    """Whether a quarter of the words, and three different ones at least, are common."""
    words = [word.strip(".,:;'\"()") for word in text.split()]
    common = [word for word in words if word in _COMMON]
    return len(set(common)) >= 3 and 4 * len(common) >= len(words)


def unmasked(text: str) -> str | None:
    """The passage with full-width, look-alike, spaced and digit-for-letter writing undone; None when it has none."""
    plain = text if text.isascii() else unicodedata.normalize("NFKC", text)
    changed = plain is not text and len(_STYLED.findall(text)) >= _FEW_STYLED
    if not plain.isascii() and _GREEK_OR_CYRILLIC.search(plain) and _MIXED.search(plain):
        plain, changed = plain.translate(_LOOK_ALIKE), True
    if _SPACED_HINT.search(plain) and _SPACED.search(plain):
        plain, changed = _SPACED.sub(_closed, plain), True
    lowered = plain.lower()
    if _LEET_HINT.search(lowered) and sum(1 for _ in islice(_LEET_WORD.finditer(lowered), 2)) == 2:
        plain, changed = _LEET_WORD.sub(lambda found: found.group().translate(_LEET), lowered), True
    return plain if changed else None


def _closed(found: re.Match[str]) -> str:
    """Spaced letters closed up; two blanks or more stay as one."""
    words = re.split(r" {2,}", found.group())
    return " ".join(re.sub(r"[ ._*·-]", "", word) for word in words)
