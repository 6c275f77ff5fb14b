"""What an ordinal points at: "the second one" after an answer that lists its points."""

from __future__ import annotations

import re
from typing import Final

_ITEM: Final = re.compile(r"^[ \t]*(?:\d{1,2}[.)、．]|[(（]\d{1,2}[)）]|[-*•])[ \t]*(?=\S)(.+)$", re.MULTILINE)
_MARKS: Final = re.compile(r"\s*\[\d{1,3}\]|[*_`“”]")
_WIDTH: Final = 80
_MOST: Final = 10_000
_WORDS: Final = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_CARDINALS: Final = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_NUMERALS: Final = "一二三四五六七八九十"
_THING: Final = "one|item|step|point|option|thing|rule|condition|requirement|part"
_ENGLISH: Final = re.compile(
    rf"\b(?:the )?(?P<ordinal>{'|'.join(_WORDS)}|last|final|\d{{1,2}}(?:st|nd|rd|th))(?: (?:{_THING}))?(?=\W*$| (?:{_THING})\b)"
    rf"|\b(?:the )?(?P<named>{'|'.join(_WORDS)}|last|final) (?:{_THING})\b"
    rf"|\b(?:number|{_THING}) (?P<cardinal>{'|'.join(_CARDINALS)}|\d{{1,2}})\b",
    re.IGNORECASE,
)
_CHINESE: Final = re.compile(
    rf"第(?P<ordinal>[{_NUMERALS}]|\d{{1,2}})(?:个|点|条|项|步|种)|(?P<last>最后)一?(?:个|点|条|项|步|种)"
)


def listed(question: str, answer: str) -> str:
    """The point of a list in an answer that a question names by its place, on one line and cut; "" when there is none."""
    place = _place(question)
    items = [_MARKS.sub("", item).strip() for item in _ITEM.findall(answer[:_MOST])] if place else []
    if len(items) < 2 or not place or place > len(items):
        return ""
    item = " ".join(items[place - 1 if place > 0 else -1].split()).rstrip(" 。.;；,，")
    return item if len(item) <= _WIDTH else item[:_WIDTH].rstrip() + "…"


def _place(question: str) -> int:
    """The place a question names, counted from 1; -1 for the last; 0 when it names none."""
    if found := _CHINESE.search(question):
        return -1 if found["last"] else _number(found["ordinal"], _NUMERALS)
    if found := _ENGLISH.search(question):
        word = (found["ordinal"] or found["named"] or found["cardinal"]).lower()
        return -1 if word in {"last", "final"} else _number(word, _CARDINALS if found["cardinal"] else _WORDS)
    return 0


def _number(word: str, names: tuple[str, ...] | str) -> int:
    digits = re.match(r"\d+", word)
    return int(digits.group()) if digits else list(names).index(word) + 1
