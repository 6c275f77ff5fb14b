"""Synthesis modes and the policy that picks one per turn, with its reason."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


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


@dataclass(frozen=True, slots=True)
class ModeChoice:
    """The chosen mode and why, in words a person understands (English; `code` is for translation)."""

    mode: Mode
    code: str
    reason: str
