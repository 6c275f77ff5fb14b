"""Numerals: the value of a number in digits, English words or Chinese numerals."""

from __future__ import annotations

import re
from typing import Final

from assistant.core.comparing.units import MAGNITUDES, NUMBER_WORDS, TENS

HAN_DIGITS: Final = "零〇一二两三四五六七八九十百千万亿"
_HAN_VALUE: Final = {char: value for value, char in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_HAN_SCALE: Final = {"十": 10, "百": 100, "千": 1000}


def read_number(written: str) -> float:
    """The value of a number in digits, English words or Chinese numerals."""
    if written[0].isdigit():
        return float(written.replace(",", ""))
    if written[0] in HAN_DIGITS or written[0] in "点半":
        return read_han(written)
    return _english(written)


def _english(written: str) -> float:
    total = current = 0.0
    for word in re.findall(r"[a-z]+", written.lower()):
        if word in NUMBER_WORDS or word in TENS:
            current += NUMBER_WORDS.get(word, 0) + TENS.get(word, 0)
        elif word == "hundred":
            current = (current or 1) * 100
        elif word in MAGNITUDES:
            total += (current or 1) * MAGNITUDES[word]
            current = 0.0
    return total + current


def read_han(written: str) -> float:
    """The value of Chinese numerals ("二十一", "一万两千", "三点五")."""
    whole, _, decimals = written.partition("点")
    total = section = digit = 0.0
    seen_scale = False
    for char in whole:
        if char in _HAN_VALUE:
            digit = digit * 10 + _HAN_VALUE[char] if not seen_scale and digit else float(_HAN_VALUE[char])
        elif char in _HAN_SCALE:
            section += (digit or 1) * _HAN_SCALE[char]
            digit, seen_scale = 0.0, True
        elif char in "万亿":
            total = (total + section + digit or 1) * (1e4 if char == "万" else 1e8)
            section = digit = 0.0
            seen_scale = True
    value = total + section + digit
    for place, char in enumerate(decimals, start=1):
        value += _HAN_VALUE.get(char, 0) / 10**place
    return value
