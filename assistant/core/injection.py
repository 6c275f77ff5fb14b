"""Suspicion: text in a document that speaks to the assistant instead of to the reader.

Nothing here claims immunity. What is found is flagged in the plan and to the auditor and fenced in the prompt; the limits of the damage
are set elsewhere (no tools, no images, no links that fetch).
"""

from __future__ import annotations

import re
from typing import Final

from assistant.core.text import remove_invisible

_ADDRESSED: Final = re.compile(
    r"\b(?:ignore|disregard|forget|override)\b.{0,40}\b(?:previous|prior|above|earlier|all|any|these|your)\b.{0,30}"
    r"\b(?:instructions?|prompts?|rules?|directions?|context)\b"
    r"|\byou are (?:now|an? (?:ai|assistant|language model|chatbot))\b"
    r"|\b(?:system|developer) (?:prompt|message|instructions?)\b"
    r"|\b(?:as an ai|dear (?:ai|assistant|chatbot)|attention,? (?:ai|assistant|model))\b"
    r"|\b(?:do not|don't|never) (?:tell|reveal|mention|inform)\b.{0,30}\b(?:user|anyone|human)\b"
    r"|(?:忽略|无视|忘记|不要理会).{0,12}(?:之前|以上|上述|先前|所有|前面).{0,12}(?:指令|指示|提示|规则|要求|内容)"
    r"|你(?:现在)?是(?:一个|一名)?(?:人工智能|AI|语言模型|助手)|系统提示词?",
    re.IGNORECASE | re.DOTALL,
)
_TAG: Final = re.compile(
    r"</?\s*(?:evidence|instructions?|question|system|assistant|user)\b[^>]*>|<\|[a-z_]+\|>", re.IGNORECASE
)


def suspicions(text: str) -> tuple[str, ...]:
    """The reasons to suspect a passage, in alphabetical order.

    hidden-text (it holds invisible characters in number), instruction (it addresses the assistant), tag (it imitates the
    prompt's own structure).
    """
    visible = remove_invisible(text)
    found = set()
    if len(text) - len(visible) >= 3:
        found.add("hidden-text")
    if _ADDRESSED.search(visible):
        found.add("instruction")
    if _TAG.search(visible):
        found.add("tag")
    return tuple(sorted(found))
