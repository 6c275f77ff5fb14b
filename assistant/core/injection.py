"""Suspicion: text in a document that speaks to the assistant instead of to the reader.

Nothing here claims immunity. What is found is flagged in the plan and to the auditor and fenced in the prompt; the limits of the damage
are set elsewhere (no tools, no images, no links that fetch). See docs/decisions/0005-injection.md for what it finds and what it misses.
"""

from __future__ import annotations

from typing import Final

from assistant.core.suspicion.disguise import hidden, holds_encoded_text, unmasked
from assistant.core.suspicion.scoring import instructs
from assistant.core.suspicion.structure import imitates_structure
from assistant.core.text import remove_invisible

_TOO_MANY_HIDDEN: Final = 3


def suspicions(text: str) -> tuple[str, ...]:
    """The reasons to suspect a passage, in alphabetical order.

    disguised-text (encoded, enciphered or masked writing that reads as language or hides an instruction), hidden-text (invisible
    characters in number), instruction (a sentence that gives orders to the assistant or is foreign to the passage and
    orders something), tag (it imitates the prompt's own structure or a chat template). Linear in the length of the text.
    """
    visible = remove_invisible(text)
    instruction = instructs(visible)
    masked = not instruction and (plain := unmasked(visible)) is not None and instructs(plain)
    found = {
        "disguised-text": masked or holds_encoded_text(visible),
        "hidden-text": hidden(text) >= _TOO_MANY_HIDDEN,
        "instruction": instruction or masked,
        "tag": imitates_structure(visible),
    }
    return tuple(reason for reason, holds in found.items() if holds)
