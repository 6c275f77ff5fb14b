"""Make a follow-up stand on its own: explainable rules for ellipsis, pronouns, corrections and changes of topic.

A rule must read naturally, since its text is shown and goes into the prompt, and it must not lose what was asked: where
the missing part is certain it is put in place; otherwise the question is kept and what it refers to is added to it.
Search gets a second wording made of the conversation, which counts less than the first: context that is certain to be
needed is given in full (last turns with answers), context that may help only as the last questions. Joining all turns
into one query is no alternative: it drowns a question that stands alone (measured, docs/decisions/0003).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from assistant.core.english_followups import depends_in_english, rewrite_in_english
from assistant.core.chinese_followups import depends_in_chinese, rewrite_in_chinese
from assistant.core.text import index_terms, language

Turns = Sequence[tuple[str, str]]
"""Past turns, oldest first: the question (made standalone) and the answer."""

CONTEXT_TURNS: Final = 4
CONTEXT_QUESTIONS: Final = 2
_ANSWER_CHARACTERS: Final = 400


@dataclass(frozen=True, slots=True)
class Standalone:
    """A question that can be understood without its conversation.

    `text` is for people and the prompt; `searches` are the wordings to search, the most trusted first; `rule` names
    what was done: first, complete, new_topic, correction, fragment, pronoun, ellipsis. `sure` is False when a language
    model could do better.
    """

    text: str
    searches: tuple[str, ...]
    changed: bool
    topic_change: bool
    rule: str
    sure: bool = True
