"""Make a follow-up stand on its own: explainable rules for ellipsis, pronouns, corrections and changes of topic.

A rule must read naturally, since its text is shown and goes into the prompt, and it must not lose what was asked: where
the missing part is certain it is put in place; otherwise the question is kept and what it refers to is added to it.
Search gets a last wording made of the conversation, which counts less than the first: the last turns where something is
missing, only the last questions where the question is complete. Joining all turns into one query is no alternative: it
drowns a question that stands alone (measured, docs/decisions/0003).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Final

from assistant.core import followups_en, followups_zh
from assistant.core.followups_listed import listed
from assistant.core.text import index_terms, language, terms

Turns = Sequence[tuple[str, str]]
"""Past turns, oldest first: the question (made standalone) and the answer."""

CONTEXT_TURNS: Final = 6
CONTEXT_QUESTIONS: Final = 2
# How much of a past turn goes into a search: what was asked, and how its answer begins (there it names its subject).
# A Chinese character counts as two, for it says about as much.
_QUESTION_WIDTH: Final = 160
_ANSWER_WIDTH: Final = 60
_LONGEST_FOLLOW_UP: Final = 500
"""A question longer than this says itself what it is about."""
_SHORT: Final = 60
"""A longer question with an ordinal in it says itself what that is."""
_SHORTEST_TOLD: Final = 12
_LOWER: Final = re.compile(r"[a-z\u3400-\u9fff]")
"""A text this short without one of these tells no language: 2023?, Q3, VPN."""
_SAID: Final = 2000
_NEW_TOPIC: Final = re.compile(
    r"^(?:new (?:topic|question)|another (?:topic|question)|(?:on )?(?:a )?different (?:topic|subject|note)"
    r"|(?:let's |let us )?chang(?:e|ing) (?:the )?(?:topic|subject)|unrelated(?: question)?|moving on)\b[\s,.:!-]*"
    r"|^(?:换个话题|换个问题|另一个问题|另外一个问题|问个别的|说点别的|新问题|不相关的问题)[\s，,。：:！!]*",
    re.IGNORECASE,
)
_ASIDE: Final = re.compile(r"^by the way\b[\s,.:!-]*|^顺便问?一?下?[\s，,。：:！!]*", re.IGNORECASE)
"""Announces a new topic only when what follows stands alone."""


@dataclass(frozen=True, slots=True)
class Standalone:
    """A question that can be understood without its conversation.

    `text` is for people and the prompt; `searches` are the wordings to search, the most trusted first; `rule` names
    what was done: first, complete, new_topic, correction, fragment, pronoun or ellipsis (a language model adds
    "+model"). `sure` is False when a language model could do better.
    """

    text: str
    searches: tuple[str, ...]
    changed: bool
    topic_change: bool
    rule: str
    sure: bool = True


def standalone(question: str, history: Turns) -> Standalone:
    """The question made standalone by rules, from the past turns, oldest first."""
    asked = question.strip()
    past = [(before.strip(), answer) for before, answer in history if before.strip() or answer.strip()]
    if not past:
        return Standalone(asked, (asked,), changed=False, topic_change=False, rule="first")
    if announced := _announced(asked, past):
        return Standalone(announced, (announced,), changed=announced != asked, topic_change=True, rule="new_topic")
    rule, rest = _depends(asked, past)
    previous = next((before for before, _ in reversed(past) if before), "")[:_LONGEST_FOLLOW_UP]
    item = listed(asked, past[-1][1]) if len(asked) <= _SHORT else ""
    if not previous or (rule == "complete" and not item):
        return _complete(asked, past)
    if item:
        rule, rest, asked = "pronoun", asked, _named(asked, item)
    text, sure = _rules(asked, past).fill(rule, rest, asked, previous)
    # What a fragment itself says weighs most while it is not certain what it continues.
    first = (asked, text) if rule == "fragment" and not sure else (text,)
    searches = _distinct(*first, context(past))
    return Standalone(text, searches, changed=text != question.strip(), topic_change=False, rule=rule, sure=sure)


def _named(asked: str, item: str) -> str:
    """A question with the point of the last answer that it speaks of."""
    core = asked.rstrip("?？!！.。 ")
    return f"{core} (“{item}”)?" if language(asked) == "en" else f"{core}（“{item}”）？"


def _rules(asked: str, past: Turns = ()) -> ModuleType:
    """The rules of the language of a question; a number or an abbreviation is read in that of the question before."""
    told = asked
    if len(asked) <= _SHORTEST_TOLD and not _LOWER.search(asked):
        told = next((before for before, _ in reversed(past) if before.strip()), asked)
    return followups_en if language(told) == "en" else followups_zh


def _depends(asked: str, past: Turns) -> tuple[str, str]:
    if len(asked) > _LONGEST_FOLLOW_UP:
        return "complete", asked
    rule, rest = _rules(asked, past).depends(asked)
    return rule, rest


def _announced(asked: str, past: Turns) -> str:
    """What follows the announcement of a new topic, or "" when none is announced."""
    found = _NEW_TOPIC.match(asked) or _ASIDE.match(asked)
    rest = asked[found.end() :].strip() if found else ""
    if not rest or (_ASIDE.match(asked) and _depends(rest, past)[0] != "complete"):
        return ""
    return rest[:1].upper() + rest[1:]


def _complete(asked: str, past: Turns) -> Standalone:
    """A question that stands alone: kept as it is, with the last questions as weak context unless the topic is new."""
    if is_new_topic(asked, past):
        return Standalone(asked, (asked,), changed=False, topic_change=True, rule="new_topic")
    questions = [_beginning(before, _QUESTION_WIDTH) for before, _ in past[-CONTEXT_QUESTIONS:] if before]
    searches = _distinct(asked, "\n".join(questions))
    return Standalone(asked, searches, changed=False, topic_change=False, rule="complete")


def is_new_topic(asked: str, past: Turns) -> bool:
    """Whether a question has a subject of its own (a name or three terms) and shares no term with the last turns."""
    said = "\n".join(f"{before}\n{answer[:_SAID]}" for before, answer in past[-CONTEXT_TURNS:])
    if not frozenset(index_terms(said)).isdisjoint(index_terms(asked)):
        return False
    return len(set(terms(asked))) >= 3 or bool(_rules(asked).names(asked))


def context(past: Turns) -> str:
    """The last turns as a search text, the latest first: the questions, and how their answers begin."""
    lines = []
    for before, answer in reversed(past[-CONTEXT_TURNS:]):
        lines += [_beginning(before, _QUESTION_WIDTH), _beginning(answer, _ANSWER_WIDTH)]
    return "\n".join(line for line in lines if line)


def _beginning(text: str, width: int) -> str:
    text = " ".join(text[: 4 * width].split())
    return text[: width if language(text) == "en" else width // 2]


def _distinct(*wordings: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(wording for wording in wordings if wording.strip()))
