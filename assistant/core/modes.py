"""Synthesis modes and the policy that picks one per turn, with its reason."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Mode(StrEnum):
    """How evidence and question become an answer."""

    SIMPLE_SUMMARIZE = "simple_summarize"
    REFINE = "refine"
    COMPACT = "compact"
    TREE_SUMMARIZE = "tree_summarize"
    ACCUMULATE = "accumulate"
    COMPACT_ACCUMULATE = "compact_accumulate"
    GENERATION = "generation"
    NO_TEXT = "no_text"
    CONTEXT_ONLY = "context_only"
    MULTI_MODAL = "multi_modal"
    VERIFIED = "verified"

    @property
    def grounded(self) -> bool:
        """Whether the answer rests on evidence."""
        return self is not Mode.GENERATION


class QuestionKind(StrEnum):
    """What a question asks for."""

    LOOKUP = "lookup"
    COMPARISON = "comparison"
    SUMMARY = "summary"
    PER_SOURCE = "per_source"
    PROCEDURE = "procedure"
    SMALL_TALK = "small_talk"


@dataclass(frozen=True, slots=True)
class ModeChoice:
    """The chosen mode and why: `code` is stable (for translation), `reason` the English sentence for people."""

    mode: Mode
    code: str
    reason: str


@dataclass(frozen=True, slots=True)
class TurnFacts:
    """What the policy measures: kind of question, pieces of evidence and conflicts, whether all evidence fits one prompt."""

    kind: QuestionKind
    pieces: int
    conflicts: int
    fits: bool
    requested: Mode | None = None


REASONS: Final[dict[str, str]] = {
    "requested": "You chose this mode.",
    "small_talk": "This is small talk; no document is needed.",
    "fits": "All evidence fits into one prompt.",
    "lookup_trimmed": "A fact is asked; the most relevant evidence fits into one prompt.",
    "needs_all": "The question needs all of the evidence, which is more than one prompt holds.",
    "nothing_found": "Nothing was found that could answer this.",
}


def choose_mode(facts: TurnFacts) -> ModeChoice:
    """Pick the mode of a turn; the first row of the table that applies decides."""
    if facts.requested is not None:
        return _choice(facts.requested, "requested")
    if facts.kind is QuestionKind.SMALL_TALK:
        return _choice(Mode.GENERATION, "small_talk")
    if facts.pieces == 0:
        return _choice(Mode.SIMPLE_SUMMARIZE, "nothing_found")
    if facts.fits:
        return _choice(Mode.SIMPLE_SUMMARIZE, "fits")
    if facts.kind in (QuestionKind.SUMMARY, QuestionKind.COMPARISON, QuestionKind.PER_SOURCE):
        return _choice(Mode.COMPACT, "needs_all")
    return _choice(Mode.SIMPLE_SUMMARIZE, "lookup_trimmed")


def _choice(mode: Mode, code: str) -> ModeChoice:
    return ModeChoice(mode, code, REASONS[code])


_GREETING: Final = re.compile(
    r"^\s*(?:(?:hi|hello|hey|good (?:morning|afternoon|evening)|thanks?(?: you)?(?: (?:so|very) much)?|thx|bye|goodbye|ok(?:ay)?"
    r"|great|perfect|nice|cool|how are you(?: doing)?|who are you|what (?:are you|can you do))(?:\s+(?:there|all|everyone|again|a lot))?"
    r"|你好|您好|嗨|早上好|下午好|晚上好|谢谢(?:你|您)?|多谢|再见|拜拜|好的|你是谁|你能做什么|你会什么)[\s!！.。?？,，~～]*$",
    re.IGNORECASE,
)
_KINDS: Final[tuple[tuple[QuestionKind, re.Pattern[str]], ...]] = (
    (
        QuestionKind.PER_SOURCE,
        re.compile(
            r"\b(?:each|every) (?:document|source|page|policy|file)\b|每(?:个|份|篇)(?:文档|文件|来源|政策)|分别(?:说|列)",
            re.IGNORECASE,
        ),
    ),
    (
        QuestionKind.COMPARISON,
        re.compile(
            r"\b(?:compare|comparison|differences?|differ|versus|vs\.?|changed? (?:since|between))\b|比较|对比|区别|不同|差异|有什么变化",
            re.IGNORECASE,
        ),
    ),
    (
        QuestionKind.SUMMARY,
        re.compile(
            r"\b(?:summari[sz]e|summary|overview|outline|main points|tell me (?:all|everything) about)\b|总结|概括|概述|综述|归纳|介绍一下",
            re.IGNORECASE,
        ),
    ),
    (
        QuestionKind.PROCEDURE,
        re.compile(
            r"\b(?:how (?:do|can|should|would) (?:i|we|you|one)|how to|steps?|procedure|process for)\b|怎么(?:办|做|申请|提交)?|如何|步骤|流程|怎样",
            re.IGNORECASE,
        ),
    ),
)


def question_kind(question: str) -> QuestionKind:
    """Classify a question by its words, English and Chinese; a plain question is a lookup."""
    if _GREETING.match(question):
        return QuestionKind.SMALL_TALK
    return next((kind for kind, pattern in _KINDS if pattern.search(question)), QuestionKind.LOOKUP)
