"""Renaming: the names that a text says are names of one thing, in English and Chinese.

"Atlas is now called Orion", "Orion (formerly Atlas)", "Human Resources (HR)", "北斗平台已更名为星辰平台".
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from assistant.core.text import CJK

_NAME: Final = r"[A-Z#][\w#&.'’-]*(?:[ ](?:of[ ]|and[ ])?[A-Z\d][\w&'’-]*){0,4}"
_HAN_NAME: Final = rf"[{CJK}A-Za-z0-9]{{2,12}}?"
_QUOTES: Final = "[\"“'「《]?"
_NOW: Final = (
    r"(?:is|are|was|were|has\s+been|have\s+been)\s+(?:now\s+|since\s+)?(?:called|known\s+as|renamed(?:\s+(?:to|as))?)"
    r"|(?:is|are)\s+now|(?:now|formerly|previously|originally)(?:\s+(?:called|known\s+as|named))?|became"
    r"|changed\s+its\s+name\s+to|also\s+(?:called|known\s+as)|aka"
)
_PATTERNS: Final = (
    re.compile(
        rf"(?P<one>{_NAME})\s*[,(]?\s*(?:which\s+)?(?:{_NOW})\s+(?:the\s+)?{_QUOTES}(?P<other>{_NAME})",
    ),
    re.compile(rf"(?P<one>{_NAME})\s*\((?P<other>[A-Z]{{2,6}})\)"),
    re.compile(
        rf"(?P<one>{_HAN_NAME})[”」》]?(?:现?已经?|于[^，。]{{0,12}})?(?:正式)?(?:更名|改名|改称|重命名)[为成]{_QUOTES}(?P<other>{_HAN_NAME})"
        rf"(?=[”」》。，；、）)\s]|$)"
    ),
    re.compile(
        rf"(?P<one>{_HAN_NAME})[”」》]?[（(，](?:原名|曾用名|原称|旧称|以下简称|简称|又称|原)[为：:]?{_QUOTES}(?P<other>{_HAN_NAME})"
        rf"(?=[”」》。，；、）)\s]|$)"
    ),
)
_SIGN: Final = re.compile(
    r"named|called|known|formerly|previously|originally|became|\bnow\b|aka|name to|\([A-Z]{2}|名|称|（原"
)


def one_thing(left: str, right: str, texts: Iterable[str]) -> bool:
    """Whether a text says that two names are names of one thing; a name may be given by some of its words."""
    one, other = left.lower(), right.lower()
    return any(
        (_names(one, first) and _names(other, second)) or (_names(other, first) and _names(one, second))
        for text in texts
        for first, second in _renamed(text)
    )


def _names(written: str, name: str) -> bool:
    return bool(written) and (written in name or name in written)


@lru_cache(maxsize=1024)
def _renamed(text: str) -> tuple[tuple[str, str], ...]:
    if _SIGN.search(text) is None:
        return ()
    found = (match for pattern in _PATTERNS for match in pattern.finditer(text))
    return tuple((match["one"].lower(), match["other"].lower()) for match in found)
