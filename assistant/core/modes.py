"""Synthesis modes and the policy that picks one per turn, with its reason."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from assistant.core.questions import QuestionKind


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
    def reads_all(self) -> bool:
        """Whether all of the evidence is read, in as many prompts as it takes."""
        return self in _READ_ALL

    @property
    def drafts(self) -> bool:
        """Whether each prompt holds the draft of the one before."""
        return self in (Mode.REFINE, Mode.COMPACT)

    @property
    def one_each(self) -> bool:
        """Whether each piece of evidence (or each group that conflicts) is read in a prompt of its own."""
        return self in (Mode.REFINE, Mode.ACCUMULATE)


_READ_ALL: Final = frozenset({Mode.REFINE, Mode.COMPACT, Mode.TREE_SUMMARIZE, Mode.ACCUMULATE, Mode.COMPACT_ACCUMULATE})


class Tier(StrEnum):
    """Which of the configured models a turn needs."""

    MAIN = "main"
    SIMPLE = "simple"


@dataclass(frozen=True, slots=True)
class ModeChoice:
    """The chosen mode and why: `code` is stable (for translation), `reason` the English sentence for people.

    `mode` is the name of a mode or of a registered synthesizer; `tier` says which model is enough.
    """

    mode: Mode | str
    code: str
    reason: str
    tier: Tier = Tier.MAIN


@dataclass(frozen=True, slots=True)
class TurnFacts:
    """What the policy measures.

    `pieces` and `sources` of evidence, `conflicts` among them; whether all `fits` one prompt; how many `groups` it fills
    otherwise; how many model calls can be `afforded`; whether there are `images` that the model can see; the mode that
    was `requested`, and the one that the operator `preferred` for the collection.
    """

    kind: QuestionKind
    pieces: int
    conflicts: int
    fits: bool
    requested: Mode | str | None = None
    preferred: Mode | str | None = None
    sources: int = 1
    groups: int = 1
    afforded: int = 32
    images: bool = False


def _wants_each(facts: TurnFacts) -> bool:
    return facts.kind is QuestionKind.PER_SOURCE and facts.sources > 1


def _wants_all(facts: TurnFacts) -> bool:
    return facts.kind in (
        QuestionKind.SUMMARY,
        QuestionKind.COMPARISON,
        QuestionKind.PROCEDURE,
        QuestionKind.PER_SOURCE,
    )


@dataclass(frozen=True, slots=True)
class Rule:
    """One row of the policy: when it applies (in words and as a function), which mode it picks, and why."""

    code: str
    when: str
    applies: Callable[[TurnFacts], bool]
    mode: Mode
    reason: str
    tier: Tier = Tier.MAIN


POLICY: Final = (
    Rule(
        "small_talk",
        "small talk",
        lambda facts: facts.kind is QuestionKind.SMALL_TALK,
        Mode.GENERATION,
        "This is small talk; no document is needed.",
        Tier.SIMPLE,
    ),
    Rule(
        "nothing_found",
        "no evidence",
        lambda facts: facts.pieces == 0,
        Mode.SIMPLE_SUMMARIZE,
        "Nothing was found that could answer this.",
        Tier.SIMPLE,
    ),
    Rule(
        "images",
        "images that the model can see; all fits one prompt",
        lambda facts: facts.images and facts.fits,
        Mode.MULTI_MODAL,
        "Images among the evidence are shown to the model.",
    ),
    Rule(
        "each_source",
        "an answer per source, several sources; a call for each piece can be afforded",
        lambda facts: _wants_each(facts) and facts.pieces <= facts.afforded,
        Mode.ACCUMULATE,
        "An answer per source is asked; each piece is answered on its own.",
    ),
    Rule(
        "each_source_grouped",
        "an answer per source, several sources; a call for each group can be afforded",
        lambda facts: _wants_each(facts) and facts.groups <= facts.afforded,
        Mode.COMPACT_ACCUMULATE,
        "An answer per source is asked; there are too many pieces for a call each, so they are grouped.",
    ),
    Rule(
        "simple_fits",
        "a fact, nothing conflicts; all fits one prompt",
        lambda facts: facts.fits and not facts.conflicts and facts.kind is QuestionKind.LOOKUP,
        Mode.SIMPLE_SUMMARIZE,
        "All evidence fits into one prompt.",
        Tier.SIMPLE,
    ),
    Rule(
        "fits",
        "all fits one prompt",
        lambda facts: facts.fits,
        Mode.SIMPLE_SUMMARIZE,
        "All evidence fits into one prompt.",
    ),
    Rule(
        "summary_of_all",
        "a summary; a call for each group and one more can be afforded",
        lambda facts: facts.kind is QuestionKind.SUMMARY and facts.groups < facts.afforded,
        Mode.TREE_SUMMARIZE,
        "A summary needs all of the evidence, more than one prompt holds; the parts are summarized side by side.",
    ),
    Rule(
        "needs_all",
        "a comparison, a procedure, a list per source; a call for each group can be afforded",
        lambda facts: _wants_all(facts) and facts.groups <= facts.afforded,
        Mode.COMPACT,
        "The question needs all of the evidence, which is more than one prompt holds.",
    ),
    Rule(
        "ceiling",
        "a question that needs all of the evidence",
        _wants_all,
        Mode.SIMPLE_SUMMARIZE,
        "Reading all of the evidence would cost too much; the most relevant fits into one prompt.",
    ),
    Rule(
        "lookup_trimmed",
        "otherwise",
        lambda _: True,
        Mode.SIMPLE_SUMMARIZE,
        "A fact is asked; the most relevant evidence fits into one prompt.",
    ),
)
"""The rows in order; the first that applies decides, after a mode that was requested or preferred for the collection."""

REASONS: Final[dict[str, str]] = {
    "requested": "You chose this mode.",
    "collection": "This collection is answered in this mode.",
    **{rule.code: rule.reason for rule in POLICY},
}


def choose_mode(facts: TurnFacts) -> ModeChoice:
    """Pick the mode of a turn; the first row of the table that applies decides."""
    if facts.requested is not None:
        return ModeChoice(facts.requested, "requested", REASONS["requested"])
    if facts.preferred is not None and facts.pieces and facts.kind is not QuestionKind.SMALL_TALK:
        return ModeChoice(facts.preferred, "collection", REASONS["collection"])
    rule = next(rule for rule in POLICY if rule.applies(facts))
    return ModeChoice(rule.mode, rule.code, rule.reason, rule.tier)


def is_grounded(mode: Mode | str) -> bool:
    """Whether the answers of a mode rest on evidence; those of a registered one do."""
    return mode is not Mode.GENERATION


def mode_named(name: str) -> Mode | str:
    """The built-in mode of this name, or the name itself, which a registered synthesizer may have."""
    return Mode(name) if name in set(Mode) else name


def policy_table() -> str:
    """The policy as a Markdown table, for the documentation."""
    lines = ["| | when | mode | model | reason shown |", "| --- | --- | --- | --- | --- |"]
    asked = [
        ("requested", "a mode was asked for", "that mode", "main", REASONS["requested"]),
        ("collection", "the operator set a mode for the collection", "that mode", "main", REASONS["collection"]),
    ]
    rows = [*asked, *((rule.code, rule.when, rule.mode.value, rule.tier.value, rule.reason) for rule in POLICY)]
    lines += [f"| `{code}` | {when} | {mode} | {tier} | {reason} |" for code, when, mode, tier, reason in rows]
    return "\n".join(lines) + "\n"
