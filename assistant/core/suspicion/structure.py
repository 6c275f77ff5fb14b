"""Imitated structure: tags of the prompt, tokens of chat templates, forged turns and ends of the document."""

from __future__ import annotations

import re
from typing import Final

_TAG: Final = re.compile(
    r"<(?:/\s*(?:user|prompt|context|documents?|data|information|input)"
    r"|/?\s*(?:evidence|evidence-list|instructions?|question|draft|system|assistant))"
    r"\b[^<>\n]{0,80}>",
    re.IGNORECASE,
)
_TOKEN: Final = re.compile(
    r"<(?:\|[a-zA-Z_]{2,24}\|>|｜[^｜\n]{2,24}｜>|</?SYS>>|(?:start|end)_of_turn>|/?s>\s{0,9}\[)|\[/?INST\]"
)
_TEMPLATE_HEADING: Final = re.compile(
    r"^\s{0,9}#{2,4} ?(?:instructions?|system|response|assistant|human|user)(?: prompt| message)? ?:",
    re.IGNORECASE | re.MULTILINE,
)
_END: Final = re.compile(
    r"[-=#*<\[] ?(?:/|end of |end |begin |start of |new )(?:the )?(?:document|context|evidence|input|prompt|session"
    r"|user input|conversation|instructions?|system prompt|system message|email|data|user query|query)s? ?[-=#*>\]]",
    re.IGNORECASE,
)
_ASSISTANT_TURN: Final = re.compile(
    r"^\W{0,4}(?:assistant|ai|chatbot|gpt|model|助手|助理)\W{0,3}[:：]", re.IGNORECASE | re.MULTILINE
)
_OTHER_TURN: Final = re.compile(r"^\W{0,4}(?:user|human|system|用户|系统)\W{0,3}[:：]", re.IGNORECASE | re.MULTILINE)


def imitates_structure(text: str) -> bool:
    """Whether a passage holds tags, template tokens, turns of a chat, or an end of the document as programs write it."""
    if _TAG.search(text) or _TOKEN.search(text) or _END.search(text):
        return True
    if "##" in text and _TEMPLATE_HEADING.search(text):
        return True
    if text.count(":") + text.count("：") < 2:
        return False
    return _ASSISTANT_TURN.search(text) is not None and _OTHER_TURN.search(text) is not None
